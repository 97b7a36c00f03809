-- expect: ok=skip or error
-- row 54: a budget without end and below zero
return policy {
  api = 1, name = "x54-rank-budget", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    pcall(rank, { over = { 1, 2 }, score = function() return 1 end, budget = { bytes = -1, count = 1 / 0 } })
    pcall(rank, { over = { 1, 2 }, score = function() return 1e308 end, per = function() return 1e-308 end })
    return skip(all { check("never", 1, "==", 2) })
  end,
}
