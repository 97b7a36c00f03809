-- expect: gas
-- shared tables that unfold into very many, as arguments of actions
return policy {
  api = 1, name = "x111-action-bomb", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local b = { 1 }
    for i = 1, 7 do b = { b, b, b, b, b, b, b, b } end
    for i = 1, 1e5 do pcall(action.rewrite_data_files, { partitions = b, partial_progress = { x = b } }) end
    return skip(all { check("never", 1, "==", 2) })
  end,
}
