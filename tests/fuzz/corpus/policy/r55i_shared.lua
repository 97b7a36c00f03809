-- expect: error
-- row 55: tables that hold each other many times: small here, vast when written out
return policy {
  api = 1, name = "r55i-shared", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local x = { 1 }
    for i = 1, 40 do x = { x, x, x, x } end
    return run(all {}, action.rewrite_data_files { partitions = x })
  end,
}
