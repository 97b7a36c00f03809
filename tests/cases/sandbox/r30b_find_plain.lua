-- expect: ok=skip
-- row 30: a text that looks like a pattern is a text
return policy {
  api = 1, name = "r30b-find-plain", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local from = (("a"):rep(60000)):find(".-b")
    if from then return run(all {}, action.rewrite_manifests {}) end
    return skip(all { check("never", 1, "==", 2) })
  end,
}
