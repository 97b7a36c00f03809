-- expect: ok=skip
-- comparison of facts with themselves and others
return policy {
  api = 1, name = "x116-same-table-compared", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    note(tostring(t == t), tostring(t == ctx), tostring(t.stats == t.stats), tostring(ctx.fleet == ctx.fleet), tostring(all {} == all {}))
    return skip(all { check("never", 1, "==", 2) })
  end,
}
