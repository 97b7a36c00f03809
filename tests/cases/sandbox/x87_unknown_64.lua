-- expect: gas or deadline
-- unknown names that are nearly known, swallowed
return policy {
  api = 1, name = "x87-unknown-64", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local n = str.rep("x", 40)
    for i = 1, 1e6 do pcall(function() return t[n] end) end
    return skip(all { check("never", 1, "==", 2) })
  end,
}
