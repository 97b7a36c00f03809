-- expect: check-fails=*
-- a cycle in the data part
local b = {} b.b = b
return policy {
  api = 1, name = "x114-header-cycle", guard = b, target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    
    return skip(all { check("never", 1, "==", 2) })
  end,
}
