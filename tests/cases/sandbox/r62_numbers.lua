-- expect: ok=skip
-- row 62: numbers are written in one way everywhere
return policy {
  api = 1, name = "r62-numbers", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    if fmt("%.1f %g", 1.5, 0.25) ~= "1.5 0.25" or tostring(1.5) ~= "1.5" then return run(all {}, action.rewrite_manifests {}) end
    return skip(all { check("never", 1, "==", 2) })
  end,
}
