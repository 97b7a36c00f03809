-- expect: gas or memory or deadline
-- row 28: a text split again and again
return policy {
  api = 1, name = "x28-split-loop", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local s = str.rep("a,", 2000)
    while true do str.split(s, ",") end
  end,
}
