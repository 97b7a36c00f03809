-- expect: ok=skip
-- libraries asked for inside decide, swallowed
return policy {
  api = 1, name = "x119-use-pcall", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    for i = 1, 1000 do pcall(use, 'x') pcall(use, '../x') pcall(policy, {}) pcall(param, 'x') pcall(time.calendar, 'x') end
    return skip(all { check("never", 1, "==", 2) })
  end,
}
