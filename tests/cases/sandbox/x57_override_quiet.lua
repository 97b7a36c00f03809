-- expect: error
-- row 57: an option that asks for more than yes
return policy {
  api = 1, name = "x57-override-quiet", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    return run(all {}, action.rewrite_manifests {}, { override_quiet = "please" })
  end,
}
