-- expect: no-run
-- row 58: the root of everything
return policy {
  api = 1, name = "r58d-location-root", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    return run(all {}, action.remove_orphan_files { older_than = ctx.now - ctx.params.retain, location = "/" })
  end,
}
