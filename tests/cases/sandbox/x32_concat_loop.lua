-- expect: gas or memory or deadline
-- row 32: one long concatenation after another
return policy {
  api = 1, name = "x32-concat-loop", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local a = str.rep("a", 60000)
    while true do local x = a .. a .. a .. a .. a .. a .. a .. a end
  end,
}
