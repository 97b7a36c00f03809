-- expect: gas
-- gas that runs out in a helper, and not beyond
return policy {
  api = 1, name = "x117-holes-in-gas", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local l = {} for i = 1, 2000 do l[i] = i end while true do pcall(sort_by, l, function(x) return -x end) end
    return skip(all { check("never", 1, "==", 2) })
  end,
}
