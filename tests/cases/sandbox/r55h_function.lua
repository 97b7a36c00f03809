-- expect: error
-- row 55: a function as a value
return policy {
  api = 1, name = "r55h-function", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local x = { function() end }
    return run(all {}, action.rewrite_data_files { partitions = x })
  end,
}
