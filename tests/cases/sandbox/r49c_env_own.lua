-- expect: error
-- row 49: an environment that lies about the functions
return policy {
  api = 1, name = "r49c-env-own", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local _ENV = { run = run, all = all, action = { remove_orphan_files = function(a) return a end }, t = t, ctx = ctx }
    return run(all {}, action.remove_orphan_files { older_than = ctx.now })
  end,
}
