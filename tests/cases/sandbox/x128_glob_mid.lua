-- expect: gas
-- globs at their worst, middling
return policy {
  api = 1, name = "x128-glob-mid", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local s = str.rep('a', 300) local g = '*' .. str.rep('a', 250) .. 'b' while true do glob(g, s) end
    return skip(all { check("never", 1, "==", 2) })
  end,
}
