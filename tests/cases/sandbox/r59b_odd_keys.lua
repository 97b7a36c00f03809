-- expect: error
-- row 59: keys without an order
return policy {
  api = 1, name = "r59b-odd-keys", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    for k in pairs { [{}] = 1, [true] = 2 } do end
    return run(all { check("always", 1, "==", 1) }, action.remove_orphan_files { older_than = ctx.now - ctx.params.retain, location = t.location })
  end,
}
