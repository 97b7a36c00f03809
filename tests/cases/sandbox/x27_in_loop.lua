-- expect: gas or deadline or error
-- row 27: a long list asked again and again
return policy {
  api = 1, name = "x27-in-loop", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local l = {}
    for i = 1, 20000 do l[i] = i end
    for i = 1, 1000000 do check_each("i", i, -1, "in", l) end
  end,
}
