-- expect: ok=skip or error or gas or memory
-- row 7: a list that grows while it is sorted
return policy {
  api = 1, name = "x07-sort-grows", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local l = { 3, 1, 2 }
    table.sort(l, function(a, b) for i = 1, 100 do l[#l + 1] = i end return a < b end)
    return skip(all { check("never", 1, "==", 2) })
  end,
}
