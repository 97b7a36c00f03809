-- expect: error or gas or ok=skip
-- row 50: more checks than are kept
return policy {
  api = 1, name = "x50-checks-flood", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    for i = 1, 100000 do check("c" .. i, i, "==", 0) end
    return skip(all { check("never", 1, "==", 2) })
  end,
}
