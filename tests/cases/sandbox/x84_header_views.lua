-- expect: ok=skip
-- views made in the data part, over actions
local a = action.remove_orphan_files { older_than = 1000, keep = { "x", "y" }, location = "file:/x", equal_schemes = { s3 = "s3a" } }
local keep, es = a.keep, a.equal_schemes
for k, v in pairs(keep) do end
for k, v in pairs(es) do end
local n = #keep
return policy {
  api = 1, name = "x84-header-views", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    note(a.keep[1], #a.keep, a.location, a.type)
    for k, v in pairs(a.keep) do note(k, v) end
    note(sum({ 1 }), table.concat(a.keep, ","))
    pcall(action.remove_orphan_files, { older_than = 5, keep = a.keep })
    check("k", "x", "in", a.keep) check("e", a.keep, "exists")
    local u = action.remove_orphan_files { older_than = 5, keep = keep, equal_schemes = es }
    note(u.keep[1]) for k, v in pairs(u.equal_schemes) do note(k, v) end
    return skip(all { check("never", 1, "==", 2) })
  end,
}
