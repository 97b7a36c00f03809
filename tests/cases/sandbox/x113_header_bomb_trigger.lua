-- expect: check-fails=*
-- shared tables that unfold into very many, in a trigger
local b = { 1 }
for i = 1, 10 do b = { b, b, b, b, b, b, b, b } end
return policy {
  api = 1, name = "x113-header-bomb-trigger", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00", tz = b, x = b } },
  decide = function(t, ctx)
    
    return skip(all { check("never", 1, "==", 2) })
  end,
}
