-- expect: ok=skip or gas
-- very many types of events asked for
return policy {
  api = 1, name = "x124-events-types", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    for i = 1, 5000 do ctx.events.count { 'type.' .. i } end
    return skip(all { check("never", 1, "==", 2) })
  end,
}
