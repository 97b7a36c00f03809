-- expect: ok=skip
-- names with a NUL byte
return policy {
  api = 1, name = "x103-nul-fields", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    for _, n in ipairs { "name\0x", "stats\0", "\0", "ok\0x", "keep\0" } do
      for _, o in ipairs { t, ctx, t.stats, all {}, str, math, ctx.params, t.properties, action.rewrite_manifests {} } do pcall(function() return o[n] end) pcall(function() o[n] = 1 end) end
    end
    pcall(check, "a\0b", 1, "==", 1) pcall(check, "a", 1, "==\0", 1) pcall(time.civil, 0, "UTC\0") pcall(ctx.events.list, { "a\0b" }) pcall(defer, all {}, ctx.now + 1, "a\0b") pcall(ctx.runs.count, { outcome = "a\0" })
    note("a\0b") pcall(action.remove_orphan_files, { older_than = 1, location = "file:/x\0y" })
    return skip(all { check("never", 1, "==", 2) })
  end,
}
