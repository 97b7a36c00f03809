-- expect: error
-- row 11: coroutines shorter than the hook's count
return policy {
  api = 1, name = "r11-short-coroutines", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    while true do coroutine.wrap(function() for i = 1, 400 do end end)() end
    return run(all { check("always", 1, "==", 1) }, action.remove_orphan_files { older_than = ctx.now - ctx.params.retain, location = t.location })
  end,
}
