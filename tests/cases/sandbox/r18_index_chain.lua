-- expect: error
-- row 18: a chain of 1900 tables behind each other
return policy {
  api = 1, name = "r18-index-chain", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local x = {}
    for i = 1, 1900 do x = setmetatable({}, { __index = x }) end
    while true do local y = x.none end
    return run(all { check("always", 1, "==", 1) }, action.remove_orphan_files { older_than = ctx.now - ctx.params.retain, location = t.location })
  end,
}
