-- SPDX-License-Identifier: Apache-2.0
-- What tests/bench/policy.c measures: a policy that looks at metadata alone.
return policy {
  api = 1,
  name = "metadata-only",
  doc = "Expire snapshots of tables that have many, by what the metadata says.",
  target = { tables = { "**" } },
  params = {
    keep = { type = "duration", default = "5d" },
    many = { type = "integer", default = 100 },
  },
  triggers = { time.every { "1h", anchor = "epoch" } },
  decide = function(t, ctx)
    local p = ctx.params
    local v = all {
      check("live", t.current_snapshot, "exists"),
      check("format", t.format_version, ">=", 2),
      check("many_snapshots", t.stats.snapshots, ">=", p.many),
      check("alone", t.location_overlaps, "==", 0),
      check("not_off", t.properties["maintenance.expire"], "unknown"),
    }
    if not v.ok then return skip(v) end
    return run(v, action.expire_snapshots { older_than = ctx.now - p.keep })
  end,
}
