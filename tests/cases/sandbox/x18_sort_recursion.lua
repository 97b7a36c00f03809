-- expect: error or gas or memory
-- row 18: a sort inside the comparison of a sort
return policy {
  api = 1, name = "x18-sort-recursion", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local function f() table.sort({ 2, 1 }, f) return true end
    f()
    return run(all { check("always", 1, "==", 1) }, action.remove_orphan_files { older_than = ctx.now - ctx.params.retain, location = t.location })
  end,
}
