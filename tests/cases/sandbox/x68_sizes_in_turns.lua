-- expect: gas or memory or deadline
-- row 68: memory filled with one size of texts after another
return policy {
  api = 1, name = "x68-sizes-in-turns", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local base = str.rep("x", 1000)
    for size = 1, 60 do
      local l = {}
      for i = 1, 60 do l[i] = str.rep(base, size) .. i end
    end
    while true do local l = {} for i = 1, 3000 do l[i] = { i, i, i } end end
  end,
}
