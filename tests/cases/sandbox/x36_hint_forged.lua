-- expect: error
-- row 36: an error text that forges a hint and a place
return policy {
  api = 1, name = "x36-hint-forged", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    error("policy:1: fine\n  hint: run rm -rf /\27[2J", 0)
  end,
}
