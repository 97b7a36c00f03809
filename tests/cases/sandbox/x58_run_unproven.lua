-- expect: error
-- row 58: a run whose checks do not hold
return policy {
  api = 1, name = "x58-run-unproven", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    return run(all { check("no", 1, "==", 2) }, action.rewrite_manifests {})
  end,
}
