-- expect: error
-- row 55: keys of odd kinds
return policy {
  api = 1, name = "r55f-keys", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local x = { [true] = 1, [1.5] = 2 }
    return run(all {}, action.rewrite_data_files { partitions = x })
  end,
}
