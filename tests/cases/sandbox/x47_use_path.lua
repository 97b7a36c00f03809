-- expect: check-fails=*
-- row 47: a path where a library is due
local u = use "../../../etc/passwd"
return policy {
  api = 1, name = "x47-use-path", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    return skip(all { check("never", 1, "==", 2) })
  end,
}
