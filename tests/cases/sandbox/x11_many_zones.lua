-- expect: error
-- row 11: more zones than one evaluation may load
return policy {
  api = 1, name = "x11-many-zones", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    for _, z in ipairs { "Europe/Berlin", "Europe/Paris", "Europe/Rome", "Europe/Madrid", "Europe/Vienna", "Europe/Oslo", "Europe/Athens",
      "Asia/Tokyo", "Asia/Seoul", "Asia/Kolkata", "Asia/Dubai", "Asia/Tehran", "America/Chicago", "America/Denver", "America/Lima",
      "America/Bogota", "America/Halifax", "Australia/Sydney", "Africa/Cairo" } do time.civil(ctx.now, z) end
    return run(all { check("always", 1, "==", 1) }, action.remove_orphan_files { older_than = ctx.now - ctx.params.retain, location = t.location })
  end,
}
