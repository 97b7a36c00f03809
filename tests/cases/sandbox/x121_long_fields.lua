-- expect: gas or deadline
-- texts of great length as fields of open maps
return policy {
  api = 1, name = "x121-long-fields", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    for i = 1, 100 do local x = t.properties[str.rep("p", 60000) .. i] end note(#"x")
    return skip(all { check("never", 1, "==", 2) })
  end,
}
