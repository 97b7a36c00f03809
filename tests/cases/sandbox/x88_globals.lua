-- expect: gas or deadline
-- unknown globals, swallowed
return policy {
  api = 1, name = "x88-globals", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    for i = 1, 1e6 do pcall(function() return replaces_them_by_something_other_xxxxxx end) end
    return skip(all { check("never", 1, "==", 2) })
  end,
}
