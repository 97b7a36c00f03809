-- expect: error
-- row 10: a zone named empty
return policy {
  api = 1, name = "x10f-zone-empty", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    time.start_of("day", ctx.now, "")
    return run(all { check("always", 1, "==", 1) }, action.remove_orphan_files { older_than = ctx.now - ctx.params.retain, location = t.location })
  end,
}
