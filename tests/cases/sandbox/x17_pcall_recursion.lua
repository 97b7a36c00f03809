-- expect: error or ok=skip or memory or gas
-- row 17: a protected call inside itself
return policy {
  api = 1, name = "x17-pcall-recursion", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local function f() return pcall(f) end
    f()
    return skip(all { check("never", 1, "==", 2) })
  end,
}
