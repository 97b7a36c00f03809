-- SPDX-License-Identifier: Apache-2.0
-- Example 1: a time trigger. One sweep in the week, at night on the wall clock of the team that owns the table.
return policy {
  api   = 1,
  name  = "orphans-weekly",
  owner = "lakehouse-ops",
  doc   = "Sweep each production table once a week, in the night of its owners, when there is something to gain.",

  target = {
    tables  = { "prod.*.*" },
    exclude = { "prod.scratch.*" },
    -- Whoever owns a table can opt out with a property, without touching this file.
    where   = { property = "maintenance.orphans", is_not = "off" },
  },

  params = {
    retain       = { type = "duration", default = "5d", min = "3d", doc = "Files younger than this stay, whatever they are." },
    tz           = { type = "timezone", default = "UTC", property = "owner.timezone" },
    min_waste    = { type = "bytes", default = "1GiB", min = "0B", doc = "Less than this is not worth a run." },
    max_scan_age = { type = "duration", default = "14d", doc = "An older estimate of the waste is not believed." },
  },

  triggers = {
    -- 02:00 does not exist on one Sunday in spring and comes twice in autumn: the engine fires once in either case.
    time.calendar { "Sun 02:00", tz = param "tz",
                    spread = "3h",       -- a fixed offset for each table, so that not all start together
                    catch_up = "one",    -- Sundays missed while the engine was off become one late run
                    late_by = "36h" },   -- but not one that begins on Monday afternoon
  },

  guard = {
    overlap      = "skip",
    min_interval = "6d",
    quiet        = { { days = "Mon..Fri", from = "07:00", to = "20:00", tz = param "tz" } },
    deletes      = { max_files = 250000, max_share = 0.05, on_exceed = "hold" },
    timeout      = "4h",
  },

  decide = function(t, ctx)
    local p     = ctx.params
    local waste = t.stats.orphans      -- what the last listing found; its fields are nil when there was none

    local v = all {
      check("table_is_live", t.current_snapshot, "exists"),
      check("one_location", t.location_overlaps, "==", 0),
      check("no_failing_streak", ctx.runs.failed_in_a_row, "<", 3),
      -- Unknown when no writer has been measured, and unknown is not true: such a table is left alone.
      check("writers_are_short", t.stats.longest_write, "<", p.retain),
      any {
        check("waste_is_worth_it", waste.bytes, ">=", p.min_waste),
        check("estimate_is_stale", waste.age, ">", p.max_scan_age),
        check("never_scanned", waste.age, "unknown"),
      },
    }
    if not v.ok then return skip(v) end

    return run(v, action.remove_orphan_files {
      older_than      = ctx.now - p.retain,
      location        = t.location,
      prefix_mismatch = "error",
      keep            = { "metadata/version-hint.text", "*.stats", "*.puffin" },
    })
  end,
}
