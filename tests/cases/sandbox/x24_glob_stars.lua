-- expect: ok=skip
-- row 24: a glob of many stars against one letter
return policy {
  api = 1, name = "x24-glob-stars", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local g, s = str.rep("*a", 100) .. "*b", str.rep("a", 60000)
    do if glob(g, s) then return run(all {}, action.rewrite_manifests {}) end end
    return skip(all { check("never", 1, "==", 2) })
  end,
}
