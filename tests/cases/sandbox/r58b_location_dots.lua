-- expect: no-run
-- row 58: a way out by dots
return policy {
  api = 1, name = "r58b-location-dots", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    return run(all {}, action.remove_orphan_files { older_than = ctx.now - ctx.params.retain, location = t.location .. "/../other" })
  end,
}
