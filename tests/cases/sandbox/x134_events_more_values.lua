-- expect: ok=skip
-- a filter of events is not passed over for values that come after it
return policy {
  api = 1, name = "x134-events-more-values", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local seen = 0
    local n = ctx.events.list({ "commit.failed", where = function() seen = seen + 1 return false end }, nil, nil)
    if n and #n > 0 then return run(all { check("passed_over", 1, "==", 1) }, action.rewrite_manifests {}) end
    return skip(all { check("never", 1, "==", 2) })
  end,
}
