-- expect: error or gas
-- row 15: bounds that wrap around
return policy {
  api = 1, name = "x15-concat-wraps", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    table.concat({}, "", math.maxinteger - 1, math.maxinteger)
    return run(all { check("always", 1, "==", 1) }, action.remove_orphan_files { older_than = ctx.now - ctx.params.retain, location = t.location })
  end,
}
