-- expect: error or gas
-- row 55: a table of many values
return policy {
  api = 1, name = "r55c-wide", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local x = {}
    for i = 1, 50000 do x[i] = i end
    return run(all {}, action.rewrite_data_files { partitions = x })
  end,
}
