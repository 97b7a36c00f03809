-- expect: error
-- row 39: a packed text of two gigabytes
return policy {
  api = 1, name = "r39-pack", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    string.pack("c2000000000", "")
    return run(all { check("always", 1, "==", 1) }, action.remove_orphan_files { older_than = ctx.now - ctx.params.retain, location = t.location })
  end,
}
