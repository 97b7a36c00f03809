-- expect: ok=skip or error
-- row 61: durations at the ends of time
return policy {
  api = 1, name = "x61-since-odd", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    for _, x in ipairs { math.mininteger, math.maxinteger, "99999999999999999d", "-1d", "" } do pcall(t.snapshots, { since = x }) pcall(ctx.events.count, { "x", since = x }) pcall(ctx.runs.count, { within = x }) end
    return skip(all { check("never", 1, "==", 2) })
  end,
}
