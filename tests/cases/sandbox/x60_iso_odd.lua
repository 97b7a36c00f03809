-- expect: ok=skip or error
-- row 60: instants at the ends of time
return policy {
  api = 1, name = "x60-iso-odd", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    for _, x in ipairs { math.mininteger, math.maxinteger, -1, 0 } do pcall(iso, x) pcall(time.civil, x, 'UTC') pcall(bytes_h, x) end
    return skip(all { check("never", 1, "==", 2) })
  end,
}
