-- expect: no-run
-- row 43: an action made before there were facts
local ready = action.remove_orphan_files { older_than = 4102444800000 }
return policy {
  api = 1, name = "x43-action-from-header", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    return run(all {}, ready)
  end,
}
