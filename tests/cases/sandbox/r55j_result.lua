-- expect: error
-- row 55: a result that nothing made
return policy {
  api = 1, name = "r55j-result", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    return { verdict = "run", action = { type = "remove_orphan_files", older_than = 0 } }
  end,
}
