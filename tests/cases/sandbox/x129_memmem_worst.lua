-- expect: gas
-- search at its worst
return policy {
  api = 1, name = "x129-memmem-worst", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local s = str.rep('a', 65536) local w = str.rep('a', 32768) .. 'b' while true do str.find(s, w) str.contains(s, w) pcall(str.replace, s, w, 'x') end
    return skip(all { check("never", 1, "==", 2) })
  end,
}
