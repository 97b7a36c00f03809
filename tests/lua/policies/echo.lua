-- SPDX-License-Identifier: Apache-2.0
-- A policy without target, for tests of the module.
return policy {
  api    = 1,
  name   = "echo",
  params = { days = { type = "integer", default = 5, min = 1 } },
  triggers = { time.every { "1d", anchor = "epoch" } },
  guard  = { overlap = "skip", min_interval = "1h" },
  decide = function(t, ctx)
    if t.properties["explode"] == "yes" then error("it was asked to") end
    local v = all {
      check("snapshot", t.current_snapshot and t.current_snapshot.id, ">", 0),
      check("location", t.location, "exists"),
    }
    if not v.ok then return skip(v) end
    return run(v, action.remove_orphan_files { older_than = ctx.now - ctx.params.days * 86400000, location = t.location })
  end,
}
