-- expect: gas or deadline
-- row 26: the same by checks
return policy {
  api = 1, name = "x26-matches-loop", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local g, s = str.rep("*a", 100) .. "*b", str.rep("a", 60000)
    while true do check("m", s, "matches", g) end
  end,
}
