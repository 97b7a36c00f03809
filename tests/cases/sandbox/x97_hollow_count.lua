-- expect: gas or deadline
-- a table of very many empty slots as options, swallowed: count
return policy {
  api = 1, name = "x97-hollow-count", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local b = {}
    pcall(function() for i = 1, 30000 do b[i * 1000003] = true end end)
    for i = 1, 30000 do b[i * 1000003] = nil end
    local f = ctx.runs.count
    for i = 1, 1e6 do pcall(f, b) end
    return skip(all { check("never", 1, "==", 2) })
  end,
}
