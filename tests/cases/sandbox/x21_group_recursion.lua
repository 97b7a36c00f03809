-- expect: error or gas or memory
-- row 21: a grouping inside a grouping
return policy {
  api = 1, name = "x21-group-recursion", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local function f() group_by({ 1 }, f) return 1 end
    f()
    return run(all { check("always", 1, "==", 1) }, action.remove_orphan_files { older_than = ctx.now - ctx.params.retain, location = t.location })
  end,
}
