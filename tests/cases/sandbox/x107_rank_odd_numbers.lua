-- expect: ok=skip
-- ranks with infinities, negative weights and budgets
return policy {
  api = 1, name = "x107-rank-odd-numbers", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local v = { math.huge, -math.huge, 0.0, -0.0, 1e308, -1e308, 5e-324, math.maxinteger, math.mininteger }
    for _, a in ipairs(v) do for _, b in ipairs(v) do
      local r = rank { over = { { key = 1 }, { key = "x" }, 3 }, score = function() return a, { p = b } end, per = function() return b end, min = -math.huge, budget = { bytes = a, count = b } }
      note(r.count, r.bytes, r.best)
    end end
    return skip(all { check("never", 1, "==", 2) })
  end,
}
