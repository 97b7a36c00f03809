-- expect: error
-- the iterator of pairs called by hand with others
return policy {
  api = 1, name = "x79-pairs-iterator", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local f, a = pairs({ a = 1, b = 2 })
    for _, v in ipairs { t, ctx, ctx.params, "x", 5, true, str, all {}, action.rewrite_manifests {}, print == nil } do pcall(f, v) pcall(f, v) pcall(f, v) end
    for i = 1, 1000 do f({}) end
    return skip(all { check("never", 1, "==", 2) })
  end,
}
