-- expect: ok=skip
-- row 3: the least whole number by minus one
return policy {
  api = 1, name = "x03-ratio-minus", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local a, b, c = ratio(math.mininteger, -1), math.mininteger // -1, math.mininteger % -1
    local d = math.fmod(math.mininteger, -1)
    return skip(all { check("never", 1, "==", 2) })
  end,
}
