local v = any {
  check("a", ctx.now, ">", 1774742400000 + 60000),
  check("b", t.stats.orphans.age, "<", 3600000 + 180000),
}
for _, q in ipairs(t.partitions {}) do check_each("c", q.key, ctx.now - q.last_write, ">=", 2700000) end
if v.ok then n = n + 1 end
