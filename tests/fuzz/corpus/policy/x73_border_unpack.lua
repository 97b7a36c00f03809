-- expect: ok=skip
-- unpack up to the greatest number
return policy {
  api = 1, name = "x73-border-unpack", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    note(select('#', table.unpack({}, math.maxinteger - 1, math.maxinteger)))
    note(select('#', table.unpack({}, math.maxinteger)))
    return skip(all { check("never", 1, "==", 2) })
  end,
}
