-- expect: gas or memory
-- notes of great texts and many values
return policy {
  api = 1, name = "x108-notes-errors", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local big = {}
    for i = 1, 200 do big[i] = str.rep("x", 60000) end
    for i = 1, 200 do pcall(note, table.unpack(big)) end
    return skip(all { check("never", 1, "==", 2) })
  end,
}
