-- expect: error
-- row 55: an argument that does not exist
return policy {
  api = 1, name = "r55l-unknown-key", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    return run(all {}, action.remove_orphan_files { older_than = 1, older = 2 })
  end,
}
