-- expect: error
-- row 55: more results than one
return policy {
  api = 1, name = "r55k-many", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    return skip(all {}), skip(all {})
  end,
}
