-- expect: ok=skip or error
-- row 6: a list that shrinks while it is sorted
return policy {
  api = 1, name = "x06-sort-shrinks", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local l = {}
    for i = 1, 300 do l[i] = 300 - i end
    table.sort(l, function(a, b)
      for i = #l, 1, -1 do l[i] = nil end
      return (a or 0) < (b or 0)
    end)
    return skip(all { check("never", 1, "==", 2) })
  end,
}
