-- expect: error
-- a list whose length is the greatest number: insert
return policy {
  api = 1, name = "x69-border-insert", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local b = {}
    for k = 0, 62 do b[1 << k] = 1 b[(1 << k) + 1] = 1 end
    b[3] = 1
    b[math.maxinteger] = 1
    note(#b) pcall(table.insert, b, 1)
    note(#b) table.insert(b, 1)
    return skip(all { check("never", 1, "==", 2) })
  end,
}
