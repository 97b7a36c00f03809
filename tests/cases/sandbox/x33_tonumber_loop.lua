-- expect: gas or deadline or memory
-- row 33: long texts that are nearly numbers
return policy {
  api = 1, name = "x33-tonumber-loop", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local a = str.rep("1", 60000)
    while true do tonumber(a) tonumber(a, 36) end
  end,
}
