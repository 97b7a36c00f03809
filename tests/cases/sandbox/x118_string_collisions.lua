-- expect: gas or deadline
-- texts that all meet in one chain as keys of one table
return policy {
  api = 1, name = "x118-string-collisions", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local h = {}
    for i = 1, 1e6 do h[str.rep("k", 20) .. i] = i h[str.rep("k", 20) .. (i - 3)] = nil end
    return skip(all { check("never", 1, "==", 2) })
  end,
}
