-- expect: error
-- row 53: a score that is no number
return policy {
  api = 1, name = "x53-rank-nan", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local r = rank { over = { 1, 2, 3 }, score = function() return 0 / 0 end }
    return run(all { check("always", 1, "==", 1) }, action.remove_orphan_files { older_than = ctx.now - ctx.params.retain, location = t.location })
  end,
}
