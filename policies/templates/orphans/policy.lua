-- SPDX-License-Identifier: Apache-2.0
-- When files that no snapshot references are removed. It names no tables: it runs where a binding puts it.
return policy {
  api  = 1,
  name = "template-name",
  doc  = "Every night, in the night of the table's owners, remove what no snapshot references.",

  params = {
    retain = { type = "duration", default = "5d", min = "3d", doc = "Younger files stay, whatever they are." },
    tz     = { type = "timezone", default = "UTC", property = "owner.timezone" },
  },

  triggers = {
    time.calendar { "*-*-* 02:00", tz = param "tz", spread = "2h" },
  },

  guard = {
    min_interval = "20h",
    deletes      = { max_files = 100000, max_share = 0.05, on_exceed = "hold" },
    timeout      = "2h",
  },

  decide = function(t, ctx)
    local p = ctx.params
    local v = all {
      check("table_is_live", t.current_snapshot, "exists"),
      check("one_location", t.location_overlaps, "==", 0),
      check("no_failing_streak", ctx.runs.failed_in_a_row, "<", 3),
      -- Unknown is not true: a table whose writers were never measured is left alone.
      check("writers_are_short", t.stats.longest_write, "<", p.retain),
    }
    if not v.ok then return skip(v) end

    return run(v, action.remove_orphan_files { older_than = ctx.now - p.retain })
  end,
}
