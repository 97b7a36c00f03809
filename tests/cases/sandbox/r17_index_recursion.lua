-- expect: error
-- row 17: an index function that asks itself
return policy {
  api = 1, name = "r17-index-recursion", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local x = setmetatable({}, { __index = function(s, k) return s[k] end }).x
    return run(all { check("always", 1, "==", 1) }, action.remove_orphan_files { older_than = ctx.now - ctx.params.retain, location = t.location })
  end,
}
