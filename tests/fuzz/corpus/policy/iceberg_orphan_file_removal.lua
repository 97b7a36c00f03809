-- SPDX-License-Identifier: Apache-2.0
-- The built-in policy of type system_iceberg_orphan_file_removal. It names no tables: it runs where a binding puts it.
local DAY = 24 * 60 * 60 * 1000

return policy {
  api   = 1,
  name  = "iceberg-orphan-file-removal",
  owner = "ebb",
  doc   = "Once a week, remove the files of a table that no snapshot references and that are older than olderThanDays.",

  params = {
    olderThanDays = { type = "integer", default = 3, min = 0,
                      doc = "Younger files are never candidates. 0 means now and needs allow_below_floor." },
    location      = { type = "location", doc = "Look only here; must be the table's location or lie inside it." },
    dryRun        = { type = "boolean", default = false, doc = "Plan only; the plan is kept and can be applied later." },
  },

  triggers = {
    -- A Sunday that was missed is caught up once, however late, until the next one.
    time.calendar { "Sun 03:00", tz = "UTC", spread = "4h", catch_up = "one" },
  },

  guard = {
    overlap      = "skip",
    min_interval = "5d",
    deletes      = { max_share = 0.5, on_exceed = "hold" },
    backoff      = { after_failures = 1, first = "1h", factor = 2, max = "24h" },
    pause_after  = 10,
    timeout      = "12h",
  },

  decide = function(t, ctx)
    local p = ctx.params
    local gc = t.properties["gc.enabled"] or "true"

    local v = all {
      check("location_is_known", t.location, "exists"),
      check("gc_is_enabled", gc:lower(), "==", "true"),
      check("no_failing_streak", ctx.runs.failed_in_a_row, "<", 10),
    }
    if not v.ok then return skip(v) end

    return run(v, action.remove_orphan_files {
      older_than      = ctx.now - p.olderThanDays * DAY,
      location        = p.location,
      dry_run         = p.dryRun,
      prefix_mismatch = "error",
    })
  end,
}
