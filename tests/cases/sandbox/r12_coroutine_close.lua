-- expect: error
-- row 12: closing coroutines inside each other
return policy {
  api = 1, name = "r12-coroutine-close", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local function nest(n)
      local co = coroutine.create(function() local x <close> = n > 0 and nest(n - 1) or nil coroutine.yield() end)
      coroutine.resume(co)
      return coroutine.close(co)
    end
    nest(180)
    return run(all { check("always", 1, "==", 1) }, action.remove_orphan_files { older_than = ctx.now - ctx.params.retain, location = t.location })
  end,
}
