-- expect: error
-- row 41: functions of the API replaced inside their tables
return policy {
  api = 1, name = "x41-frozen-tables", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    pcall(table.insert, action, 1)
    pcall(function() str.len = nil end)
    pcall(table.sort, math)
    pcall(table.remove, t)
    action.remove_orphan_files = function() end
  end,
}
