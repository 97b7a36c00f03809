-- expect: gas or memory or deadline
-- row 35: the same by pairs
return policy {
  api = 1, name = "r35b-pairs-over-holes", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local x = {}
    for i = 1, 30000 do x[i] = i end
    for i = 1, 30000 do x[i] = nil end
    while true do for k in pairs(x) do end end
  end,
}
