-- expect: error
-- row 38: an error value that is a table
return policy {
  api = 1, name = "x38-error-table", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    error({ code = 1 })
  end,
}
