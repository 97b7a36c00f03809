-- expect: ok=skip or memory
-- row 66: tables as keys that come and go, all of them kept elsewhere
return policy {
  api = 1, name = "x66-tables-come-and-go", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local x, l = {}, {}
    for i = 1, 60000 do
      local k = {}
      l[#l + 1] = k
      x[k] = i
      if i > 20 then x[l[i - 20]] = nil x["s" .. i % 31] = i x["s" .. i * 3 % 31] = nil end
    end
    return skip(all { check("never", 1, "==", 2) })
  end,
}
