-- expect: error
-- row 4: combinations nested 20000 deep
return policy {
  api = 1, name = "x04-nested-all", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local v = check("x", 1, "==", 1)
    for i = 1, 20000 do v = all { v } end
    return run(all { check("always", 1, "==", 1) }, action.remove_orphan_files { older_than = ctx.now - ctx.params.retain, location = t.location })
  end,
}
