-- expect: ok=skip
-- row 60: no address shows
return policy {
  api = 1, name = "r60c-addresses", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    for _, v in ipairs { tostring({}), tostring(check), tostring(t), tostring(ctx.events), fmt("%s", {}), tostring(all {}) } do
      if str.contains(v, "0x") then return run(all {}, action.rewrite_manifests {}) end
    end
    return skip(all { check("never", 1, "==", 2) })
  end,
}
