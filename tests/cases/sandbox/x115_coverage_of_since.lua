-- expect: ok=skip
-- windows at the ends
return policy {
  api = 1, name = "x115-coverage-of-since", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    for _, s in ipairs { 0, 1, 99999999999, 100000000000, math.maxinteger, math.maxinteger - 1 } do
      ctx.events.count { "snapshot.committed", since = s } t.snapshots { since = s, limit = 0 } t.snapshots { limit = math.mininteger } t.partitions { newer_than = s, limit = -1 }
      ctx.runs.count { since = s, within = s } ctx.runs.conflicts { within = s }
    end
    return skip(all { check("never", 1, "==", 2) })
  end,
}
