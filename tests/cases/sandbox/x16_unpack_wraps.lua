-- expect: error
-- row 16: bounds of unpack that wrap around
return policy {
  api = 1, name = "x16-unpack-wraps", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local n = select('#', table.unpack({}, math.mininteger, math.maxinteger))
    return run(all { check("always", 1, "==", 1) }, action.remove_orphan_files { older_than = ctx.now - ctx.params.retain, location = t.location })
  end,
}
