-- expect: error
-- row 56: a wait of a thousand years
return policy {
  api = 1, name = "x56-defer-far", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    return defer(all {}, ctx.now + 1000 * 366 * 86400000)
  end,
}
