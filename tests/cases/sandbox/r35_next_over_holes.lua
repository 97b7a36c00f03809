-- expect: gas or memory or error
-- row 35: a great table that was emptied, asked for its first key
return policy {
  api = 1, name = "r35-next-over-holes", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local x = {}
    for i = 1, 500000 do x[i] = i end
    for i = 1, 500000 do x[i] = nil end
    while true do next(x) end
    return run(all { check("always", 1, "==", 1) }, action.remove_orphan_files { older_than = ctx.now - ctx.params.retain, location = t.location })
  end,
}
