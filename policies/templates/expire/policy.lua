-- SPDX-License-Identifier: Apache-2.0
-- When old snapshots are expired. It names no tables: it runs where a binding puts it.
return policy {
  api  = 1,
  name = "template-name",
  doc  = "Once a day, expire the snapshots that are older than anyone goes back.",

  params = {
    keep_for  = { type = "duration", default = "7d", min = "1d", doc = "Younger snapshots stay." },
    keep_last = { type = "integer", default = 10, min = 1, doc = "So many stay, however old." },
    tz        = { type = "timezone", default = "UTC", property = "owner.timezone" },
  },

  triggers = {
    time.calendar { "*-*-* 04:00", tz = param "tz", spread = "2h" },
  },

  guard = {
    min_interval = "20h",
    timeout      = "1h",
  },

  decide = function(t, ctx)
    local p         = ctx.params
    local snapshots = t.snapshots {}
    local oldest    = snapshots and snapshots[1]

    local v = all {
      check("more_than_needed", t.stats.snapshots, ">", p.keep_last),
      check("oldest_is_old", oldest and oldest.at, "<", ctx.now - p.keep_for),
      check("no_failing_streak", ctx.runs.failed_in_a_row, "<", 3),
    }
    if not v.ok then return skip(v) end

    return run(v, action.expire_snapshots { older_than = ctx.now - p.keep_for, retain_last = p.keep_last })
  end,
}
