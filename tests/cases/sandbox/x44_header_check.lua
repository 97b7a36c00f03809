-- expect: check-fails=*
-- row 44: a check where there are no facts
local early = check("x", 1, "==", 1)
return policy {
  api = 1, name = "x44-header-check", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    return skip(all { check("never", 1, "==", 2) })
  end,
}
