-- expect: ok=skip
-- a result that was made by another call and kept in the data part
local kept = {}
return policy {
  api = 1, name = "x120-decide-returns-old", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    kept.r = kept.r or skip(all {})
    do return kept.r end
    return skip(all { check("never", 1, "==", 2) })
  end,
}
