check("a", ctx.now, "<", 5) n = n + (ctx.now > 1774742400000 + 60000 and 1 or 0)
n = n + (check("b", ctx.now
  - e.age, ">", 1774742400000).ok and 1 or 0)
