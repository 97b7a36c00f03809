-- expect: ok=skip
-- row 42: a counter that must not survive
local kept = { n = 0 }
return policy {
  api = 1, name = "x42-state-kept", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    kept.n = kept.n + 1
    if kept.n ~= 1 then return run(all {}, action.rewrite_manifests {}) end
    return skip(all { check("never", 1, "==", 2) })
  end,
}
