-- expect: gas or memory or deadline
-- row 29: a text replaced again and again
return policy {
  api = 1, name = "x29-replace-loop", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local s = str.rep("a", 60000)
    while true do str.replace(s, "b", "c") end
  end,
}
