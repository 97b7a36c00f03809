-- expect: error or memory or gas or deadline
-- row 22: arguments doubled until there is no room
return policy {
  api = 1, name = "x22-vararg-bomb", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local function f(...) return f(..., ...) end
    local function g(...) return g(0, ...) end
    g()
    return run(all { check("always", 1, "==", 1) }, action.remove_orphan_files { older_than = ctx.now - ctx.params.retain, location = t.location })
  end,
}
