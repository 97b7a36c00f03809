-- expect: error
-- row 55: what is endless
return policy {
  api = 1, name = "r55e-inf", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local x = { 1 / 0 }
    return run(all {}, action.rewrite_data_files { partitions = x })
  end,
}
