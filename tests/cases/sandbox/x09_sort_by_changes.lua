-- expect: ok=skip or error or gas or memory
-- row 9: lists that change under the other helpers
return policy {
  api = 1, name = "x09-sort-by-changes", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local l = {}
    for i = 1, 100 do l[i] = i end
    local function f(x) l[#l] = nil l[#l + 1] = {} return 1 end
    pcall(sort_by, l, f) pcall(top, l, 3, f) pcall(group_by, l, f) pcall(percentile, l, 50, f) pcall(min_by, l, f) pcall(sum, l, f)
    return skip(all { check("never", 1, "==", 2) })
  end,
}
