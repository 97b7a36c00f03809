-- expect: error
-- row 55: a text longer than any value may be
return policy {
  api = 1, name = "r55g-long", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local x = { str.rep("x", 60000) }
    return run(all {}, action.rewrite_data_files { partitions = x })
  end,
}
