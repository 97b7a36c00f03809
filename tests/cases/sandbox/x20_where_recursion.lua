-- expect: error or gas or memory or ok=skip
-- row 20: events inside the filter of events
return policy {
  api = 1, name = "x20-where-recursion", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local function f() return ctx.events.count { "commit.failed", since = 1, where = f } == 0 end
    f()
    return skip(all { check("never", 1, "==", 2) })
  end,
}
