-- expect: gas
-- search at its worst, periodic
return policy {
  api = 1, name = "x130-memmem-periodic", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local s = str.rep(str.rep('a', 100) .. 'b', 640) local w = str.rep('a', 101) while true do str.find(s, w) end
    return skip(all { check("never", 1, "==", 2) })
  end,
}
