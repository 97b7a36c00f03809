-- expect: gas or memory or deadline
-- row 34: formats of the greatest width
return policy {
  api = 1, name = "x34-fmt-loop", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    while true do fmt("%64.20f%64.20f%64d", 1e308, -1e308, 1) end
  end,
}
