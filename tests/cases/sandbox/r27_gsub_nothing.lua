-- expect: error
-- row 27: every gap replaced by a long text
return policy {
  api = 1, name = "r27-gsub-nothing", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local x = ("x"):rep(1000):gsub("", ("y"):rep(1000))
    return run(all { check("always", 1, "==", 1) }, action.remove_orphan_files { older_than = ctx.now - ctx.params.retain, location = t.location })
  end,
}
