-- expect: gas
-- globs at their worst
return policy {
  api = 1, name = "x125-matches-worst", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local s = str.rep('a', 60000) local g = str.rep('a', 250) .. '*b' while true do check('m', s, 'matches', g) end
    return skip(all { check("never", 1, "==", 2) })
  end,
}
