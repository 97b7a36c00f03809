-- expect: error
-- row 39: an error value that is nil
return policy {
  api = 1, name = "x39-error-nil", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    error()
  end,
}
