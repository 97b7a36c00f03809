-- expect: gas or memory or deadline
-- row 23: functions made without end
return policy {
  api = 1, name = "x23-closures", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local l = {}
    while true do l[#l + 1] = function() return l end end
  end,
}
