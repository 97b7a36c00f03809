-- expect: gas
-- row 40: every abort caught, again and again
return policy {
  api = 1, name = "x40-swallow-everything", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local function try(f) while true do pcall(f) end end
    try(function() try(function() try(function() while true do end end) end) end)
  end,
}
