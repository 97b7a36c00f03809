local v = all { check("old", t.stats.orphans.age, ">", ctx.params.d + 60000) }
if v.ok then return run(v, action.remove_orphan_files { older_than = 1774742400000 - 90000000, location = t.location }) end
return skip(v, t.properties["a"])
