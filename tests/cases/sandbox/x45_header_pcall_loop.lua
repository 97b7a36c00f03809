-- expect: check-fails=*
-- row 45: an abort caught at the top of the file
while true do pcall(function() while true do end end) end
return policy {
  api = 1, name = "x45-header-pcall-loop", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    return skip(all { check("never", 1, "==", 2) })
  end,
}
