-- expect: error
-- row 20: concat of a table that says it is endless
return policy {
  api = 1, name = "r20-concat-endless", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    table.concat(setmetatable({}, { __len = function() return 1 << 62 end, __index = function() return "" end }))
    return run(all { check("always", 1, "==", 1) }, action.remove_orphan_files { older_than = ctx.now - ctx.params.retain, location = t.location })
  end,
}
