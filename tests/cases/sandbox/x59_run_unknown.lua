-- expect: error
-- row 59: a run whose checks nobody knows
return policy {
  api = 1, name = "x59-run-unknown", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    return run(all { check("what", nil, "==", 2) }, action.rewrite_manifests {})
  end,
}
