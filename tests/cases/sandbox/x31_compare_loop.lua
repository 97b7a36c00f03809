-- expect: gas or deadline or memory
-- row 31: long texts that differ at the end, compared again and again
return policy {
  api = 1, name = "x31-compare-loop", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local a, b = str.rep("a", 60000) .. "1", str.rep("a", 60000) .. "2"
    while true do local x = a < b end
  end,
}
