-- expect: ok=skip
-- long names of checks read again and again: gas must not depend on where they lie
return policy {
  api = 1, name = "x82-names-of-checks", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local c = {}
    for i = 1, 60 do c[i] = check(str.rep("n", 50) .. fmt("%05d", i), 1, "==", 1) end
    local x
    for r = 1, 300 do for i = 1, 60 do x = c[i].name x = c[i].result x = tostring(true) x = type(t) end end
    return skip(all { check("never", 1, "==", 2) })
  end,
}
