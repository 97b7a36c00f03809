-- expect: no-run
-- row 57: a cutoff at this instant
return policy {
  api = 1, name = "r57-cutoff-now", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    return run(all {}, action.remove_orphan_files { older_than = ctx.now, location = t.location })
  end,
}
