-- expect: ok=skip
-- row 67: tables as keys that come, go and are collected
return policy {
  api = 1, name = "x67-tables-dropped", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local x, l = {}, {}
    for i = 1, 40000 do
      local k = {}
      l[i], l[i - 30] = k, nil
      x[k] = i
      if i > 20 then x[l[i - 20]] = nil x["s" .. i % 31] = i x["s" .. i * 3 % 31] = nil end
    end
    return skip(all { check("never", 1, "==", 2) })
  end,
}
