-- expect: error
-- row 5: the same with any and none
return policy {
  api = 1, name = "x05-nested-any-none", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local v = check("x", 1, "==", 1)
    for i = 1, 20000 do v = none { any { v } } end
    return run(all { check("always", 1, "==", 1) }, action.remove_orphan_files { older_than = ctx.now - ctx.params.retain, location = t.location })
  end,
}
