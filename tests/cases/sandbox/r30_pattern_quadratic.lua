-- expect: error
-- row 30: patterns that look from every start
return policy {
  api = 1, name = "r30-pattern-quadratic", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local a, b = (("a"):rep(60000)):find(".-b"), (("("):rep(60000)):match("%b()")
    return run(all { check("always", 1, "==", 1) }, action.remove_orphan_files { older_than = ctx.now - ctx.params.retain, location = t.location })
  end,
}
