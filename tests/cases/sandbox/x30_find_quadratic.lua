-- expect: gas or deadline
-- row 30: plain search where nearly everything fits
return policy {
  api = 1, name = "x30-find-quadratic", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local s, w = str.rep("a", 60000), str.rep("a", 30000) .. "b"
    while true do str.find(s, w) end
  end,
}
