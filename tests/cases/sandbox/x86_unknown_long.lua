-- expect: gas or deadline
-- unknown names of great length, swallowed
return policy {
  api = 1, name = "x86-unknown-long", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local n = str.rep("x", 60000)
    for i = 1, 1e6 do pcall(function() return str[n .. i % 3] end) end
    return skip(all { check("never", 1, "==", 2) })
  end,
}
