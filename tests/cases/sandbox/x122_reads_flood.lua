-- expect: ok=skip or gas
-- very many different reads, so that the read set is cut
return policy {
  api = 1, name = "x122-reads-flood", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    for i = 1, 4000 do local x = t.properties['p' .. i] end
    return skip(all { check("never", 1, "==", 2) })
  end,
}
