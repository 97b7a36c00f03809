-- expect: ok=skip
-- a list whose length is the greatest number: the list helpers
return policy {
  api = 1, name = "x74-border-lists", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local b = {}
    for k = 0, 62 do b[1 << k] = 1 b[(1 << k) + 1] = 1 end
    b[3] = 1
    b[math.maxinteger] = 1
    
    for _, f in ipairs { sum, min_by, max_by, sort_by, group_by } do pcall(f, b) end
    pcall(top, b, 3) pcall(percentile, b, 50) pcall(rank, { over = b, score = function() return 1 end })
    pcall(check, "x", 7, "in", b)
    return skip(all { check("never", 1, "==", 2) })
  end,
}
