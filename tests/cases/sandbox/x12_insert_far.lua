-- expect: error
-- row 12: an element put 4 exabytes away
return policy {
  api = 1, name = "x12-insert-far", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    table.insert({}, 1 << 62, 1)
    return run(all { check("always", 1, "==", 1) }, action.remove_orphan_files { older_than = ctx.now - ctx.params.retain, location = t.location })
  end,
}
