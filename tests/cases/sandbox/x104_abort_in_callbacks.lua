-- expect: gas
-- the gas runs out inside callbacks, in protected calls, at many depths
return policy {
  api = 1, name = "x104-abort-in-callbacks", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local function burn() while true do end end
    local function deep(n) if n == 0 then burn() end return pcall(table.sort, { 3, 2, 1 }, function(a, b) deep(n - 1) return a < b end) end
    pcall(rank, { over = { 1, 2, 3 }, score = function() deep(10) return 1 end })
    return skip(all { check("never", 1, "==", 2) })
  end,
}
