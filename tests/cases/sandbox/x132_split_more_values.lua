-- expect: ok=skip
-- str.split with more values than it takes: they are no tables
return policy {
  api = 1, name = "x132-split-more-values", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    for _, x in ipairs { 81985529216486895, 8, 1.5, "x", true, check, t, all {}, {} } do note(#str.split("a,b,c", ",", x), #("a,b"):split(",", x, x)) end
    note(#str.split("a,b", ",", nil), #str.split("a,b", ",", nil, nil))
    return skip(all { check("never", 1, "==", 2) })
  end,
}
