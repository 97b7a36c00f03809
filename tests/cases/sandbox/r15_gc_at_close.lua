-- expect: error
-- row 15: a finalizer without end that waits for the state's end
return policy {
  api = 1, name = "r15-gc-at-close", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local keep = setmetatable({}, { __gc = function() while true do end end })
    return run(all { check("always", 1, "==", 1) }, action.remove_orphan_files { older_than = ctx.now - ctx.params.retain, location = t.location })
  end,
}
