-- expect: gas or memory or deadline
-- row 63: a table that grows by powers and is dropped
return policy {
  api = 1, name = "x63-table-resize", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    while true do local x = table.unpack({ {} }) for i = 1, 4096 do x[i] = i end end
  end,
}
