-- expect: ok=skip or error
-- row 62: limits at the ends of numbers
return policy {
  api = 1, name = "x62-limits-odd", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    for _, x in ipairs { math.mininteger, math.maxinteger, -1, 0, 1.5 } do pcall(t.snapshots, { limit = x }) pcall(t.partitions, { limit = x, min_files = x }) pcall(top, { 1, 2 }, x) end
    return skip(all { check("never", 1, "==", 2) })
  end,
}
