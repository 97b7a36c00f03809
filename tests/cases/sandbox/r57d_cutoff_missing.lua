-- expect: error
-- row 57: no cutoff at all
return policy {
  api = 1, name = "r57d-cutoff-missing", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    return run(all {}, action.remove_orphan_files { location = t.location })
  end,
}
