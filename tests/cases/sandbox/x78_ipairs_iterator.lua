-- expect: ok=skip
-- the iterator of ipairs called by hand at the ends
return policy {
  api = 1, name = "x78-ipairs-iterator", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local f = ipairs({})
    for _, i in ipairs { math.maxinteger, math.mininteger, -1, 0 } do
      for _, v in ipairs { {}, t, ctx.events, "x", 5, true, check } do pcall(f, v, i) end
    end
    f({}, math.maxinteger)
    return skip(all { check("never", 1, "==", 2) })
  end,
}
