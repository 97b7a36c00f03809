-- expect: error
-- row 55: a table nested a thousand deep
return policy {
  api = 1, name = "r55b-deep", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local x = {}
    for i = 1, 1000 do x = { x } end
    return run(all {}, action.rewrite_data_files { partitions = x })
  end,
}
