-- expect: error
-- row 55: a wait that lies in the past
return policy {
  api = 1, name = "x55-defer-past", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    return defer(all {}, ctx.now - 1)
  end,
}
