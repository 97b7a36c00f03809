-- expect: check-fails=*
-- row 46: memory filled at the top of the file
local s = "x"
while true do s = s .. s end
return policy {
  api = 1, name = "x46-header-memory", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    return skip(all { check("never", 1, "==", 2) })
  end,
}
