-- expect: gas or memory or deadline
-- row 1: float keys that all have one hash
return policy {
  api = 1, name = "x01-float-keys", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local x = {}
    for i = 1, 200000 do x[1 + i * 2 ^ -52] = i end
    return run(all { check("always", 1, "==", 1) }, action.remove_orphan_files { older_than = ctx.now - ctx.params.retain, location = t.location })
  end,
}
