-- expect: no-run
-- row 58: a neighbour whose name begins alike
return policy {
  api = 1, name = "r58c-location-sibling", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    return run(all {}, action.remove_orphan_files { older_than = ctx.now - ctx.params.retain, location = t.location .. "_2" })
  end,
}
