-- SPDX-License-Identifier: Apache-2.0
-- Example 2: triggers by events. A failed commit does not start a sweep: it arms one for the time when its leftovers are ripe.

-- A commit that lost a race, tried again and won has left nothing behind.
local function aborted(event)
  return event.retried_ok ~= true and (event.files_written or 0) > 0
end

return policy {
  api   = 1,
  name  = "orphans-on-event",
  owner = "lakehouse-ops",
  doc   = "Sweep after many commits, or when what a failed commit left behind is old enough to be touched.",

  target = { tables = { "prod.events.*", "prod.billing.*" } },

  params = {
    every_n  = { type = "integer", default = 500, min = 50, doc = "This many commits since the last good sweep are enough." },
    retain   = { type = "duration", default = "3d", min = "3d", doc = "How long a writer may still come back to its files." },
    tz       = { type = "timezone", default = "UTC", property = "owner.timezone" },
    max_wait = { type = "duration", default = "7d",
                 doc = "After this, quiet hours no longer hold a sweep back, if the binding agrees." },
  },

  triggers = {
    on.count { "snapshot.committed", n = param "every_n", since = "last_success" },
    on.event { "commit.failed", where = aborted, debounce = "10m", max_hold = "1h" },
  },

  guard = {
    overlap      = "queue_one",
    min_interval = "20h",
    quiet        = { { days = "Mon..Fri", from = "08:00", to = "19:00", tz = param "tz" },
                     { days = "Sat,Sun", from = "00:00", to = "00:00", tz = "UTC", only_if = "freeze" } },
    deletes      = { max_files = 100000, max_share = 0.02, on_exceed = "hold" },
    ignore_own   = true,
    timeout      = "2h",
  },

  decide = function(t, ctx)
    local p      = ctx.params
    local fresh  = ctx.events.count { "snapshot.committed", since = "last_success" }
    -- nil, and with it the check unknown, when nobody tells of such events
    local count  = ctx.events.count { "commit.failed", since = "last_success", where = aborted }
    local failed = ctx.events.list { "commit.failed", since = "last_success", where = aborted }

    -- The first leftovers to ripen decide when to look again.
    local oldest  = min_by(failed, "at")
    local ripe_at = oldest and oldest.at + p.retain

    local v = any {
      check("many_new_snapshots", fresh, ">=", p.every_n),
      all {
        check("failed_commits", count, ">", 0),
        check("leftovers_are_ripe", ripe_at, "<=", ctx.now),
      },
    }

    if not v.ok then
      if ripe_at then return defer(v, ripe_at, "the leftovers of a failed commit ripen then") end
      return skip(v)
    end

    local urgent = ripe_at ~= nil and ctx.now - ripe_at >= p.max_wait
    return run(v, action.remove_orphan_files {
      older_than      = ctx.now - p.retain,
      location        = t.location,
      prefix_mismatch = "error",
    }, { override_quiet = urgent })
  end,
}
