-- expect: error or gas or ok=skip or memory
-- row 51: more single checks than are kept
return policy {
  api = 1, name = "x51-each-flood", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    for i = 1, 100000 do check_each("c", str.rep("k", 4000) .. i, i, "==", 0) end
    return skip(all { check("never", 1, "==", 2) })
  end,
}
