-- expect: error or gas or memory
-- row 19: a ranking inside the score of a ranking
return policy {
  api = 1, name = "x19-rank-recursion", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local function f() return rank { over = { 1, 2 }, score = f }.count end
    f()
    return run(all { check("always", 1, "==", 1) }, action.remove_orphan_files { older_than = ctx.now - ctx.params.retain, location = t.location })
  end,
}
