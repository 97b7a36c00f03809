-- expect: error
-- row 55: a table that holds itself
return policy {
  api = 1, name = "r55-cycle", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local x = {}
    x.x = x
    return run(all {}, action.rewrite_data_files { partitions = x })
  end,
}
