-- expect: ok=skip
-- row 61: lists with holes, and ratio
return policy {
  api = 1, name = "r61c-holes", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local x = { 1, nil, 3, nil, nil, 6 }
    local n = #x
    if ratio(1, 0) ~= 0 or n < 1 then return run(all {}, action.rewrite_manifests {}) end
    return skip(all { check("never", 1, "==", 2) })
  end,
}
