-- SPDX-License-Identifier: Apache-2.0
-- Decides nothing yet. It names no tables: it runs where a binding puts it.
return policy {
  api  = 1,
  name = "template-name",
  doc  = "What this policy is for.",

  triggers = {
    time.calendar { "*-*-* 02:00", spread = "2h" },
  },

  guard = {
    min_interval = "20h",
  },

  decide = function(t, ctx)
    local v = all {
      check("table_is_live", t.current_snapshot, "exists"),
      check("no_failing_streak", ctx.runs.failed_in_a_row, "<", 3),
    }
    -- When it should run: if v.ok then return run(v, action.remove_orphan_files { older_than = … }) end
    return skip(v)
  end,
}
