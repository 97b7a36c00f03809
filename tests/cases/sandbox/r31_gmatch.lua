-- expect: error
-- row 31: words of a pattern with many choices
return policy {
  api = 1, name = "r31-gmatch", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    for w in (("a"):rep(50000)):gmatch(".-.-.-b") do end
    return run(all { check("always", 1, "==", 1) }, action.remove_orphan_files { older_than = ctx.now - ctx.params.retain, location = t.location })
  end,
}
