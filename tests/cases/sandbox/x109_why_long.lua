-- expect: ok=skip
-- a reason that is cut inside of a character
return policy {
  api = 1, name = "x109-why-long", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    do return skip(all {}, str.rep("x", 511) .. "\xc3\xa9" .. str.rep("y", 9000)) end
    return skip(all { check("never", 1, "==", 2) })
  end,
}
