-- expect: error
-- row 27: a replacement that makes a text of a gigabyte
return policy {
  api = 1, name = "r27b-replace-long", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local x = str.replace(("x"):rep(60000), "x", ("y"):rep(20000))
    return run(all { check("always", 1, "==", 1) }, action.remove_orphan_files { older_than = ctx.now - ctx.params.retain, location = t.location })
  end,
}
