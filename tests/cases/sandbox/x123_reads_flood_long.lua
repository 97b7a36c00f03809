-- expect: gas or deadline
-- very many long different reads
return policy {
  api = 1, name = "x123-reads-flood-long", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    for i = 1, 3000 do local x = t.properties[str.rep('p', 5000) .. i] end
    return skip(all { check("never", 1, "==", 2) })
  end,
}
