-- expect: error
-- row 35: a format that makes a text of megabytes
return policy {
  api = 1, name = "x35-fmt-bomb", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    fmt(str.rep("%s", 150), table.unpack(group_by({}, "x")), str.rep("x", 60000), str.rep("x", 60000))
    return run(all { check("always", 1, "==", 1) }, action.remove_orphan_files { older_than = ctx.now - ctx.params.retain, location = t.location })
  end,
}
