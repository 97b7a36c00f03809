-- expect: check-fails=*
-- row 49: what policy makes is no table
local p = policy { api = 1 }
p.api = 2
return policy {
  api = 1, name = "x49-policy-twice", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    return skip(all { check("never", 1, "==", 2) })
  end,
}
