-- expect: check-fails=*
-- row 48: a library that is not there, caught again and again
while true do pcall(use, "none") end
return policy {
  api = 1, name = "x48-use-pcall", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    return skip(all { check("never", 1, "==", 2) })
  end,
}
