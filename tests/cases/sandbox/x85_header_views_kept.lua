-- expect: ok=skip
-- what the data part keeps does not change from one evaluation to the next
local seen, count = {}, 0
return policy {
  api = 1, name = "x85-header-views-kept", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    seen[#seen + 1] = t
    seen.n = (seen.n or 0) + 1
    count = count + 1
    if count > 1 or seen.n > 1 or #seen > 1 then return run(all { check("leak", 1, "==", 1) }, action.rewrite_manifests {}) end
    return skip(all { check("never", 1, "==", 2) })
  end,
}
