-- expect: error
-- row 14: a finalizer without end, met by allocating
return policy {
  api = 1, name = "r14-gc-later", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    setmetatable({}, { __gc = function() while true do end end })
    for i = 1, 100000 do local x = { i } end
    return run(all { check("always", 1, "==", 1) }, action.remove_orphan_files { older_than = ctx.now - ctx.params.retain, location = t.location })
  end,
}
