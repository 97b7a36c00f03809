n = n + ctx.events.count { "x", since = "2h" } + #t.snapshots { since = "90m" } + ctx.runs.count { within = "3h" }
if check("a", ctx.runs.since_partition("p"), ">=", 7200000 + 300000).ok then return skip(all {}) end
