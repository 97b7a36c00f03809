-- expect: error
-- row 41: the collector as a lever
return policy {
  api = 1, name = "r41-collect", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    while true do collectgarbage() collectgarbage("stop") end
    return run(all { check("always", 1, "==", 1) }, action.remove_orphan_files { older_than = ctx.now - ctx.params.retain, location = t.location })
  end,
}
