-- expect: check-fails=*
-- shared tables that unfold into very many, in the data part
local b = { 1 }
for i = 1, 12 do b = { b, b, b, b, b, b, b, b } end
return policy {
  api = 1, name = "x112-header-bomb", doc = b, owner = b, labels = b, target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    
    return skip(all { check("never", 1, "==", 2) })
  end,
}
