-- expect: error
-- row 52: more actions than one evaluation may make
return policy {
  api = 1, name = "x52-actions-flood", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    for i = 1, 1000 do action.rewrite_manifests {} end
    return run(all { check("always", 1, "==", 1) }, action.remove_orphan_files { older_than = ctx.now - ctx.params.retain, location = t.location })
  end,
}
