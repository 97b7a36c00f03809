-- expect: error
-- row 37: odd levels of an error
return policy {
  api = 1, name = "x37-error-levels", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    pcall(error, "x", math.maxinteger) pcall(error, "x", math.mininteger) pcall(error, "x", -1)
    error("x", 1 << 40)
  end,
}
