-- expect: memory
-- the memory runs out inside callbacks, in protected calls
return policy {
  api = 1, name = "x105-memory-in-callbacks", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local keep = {}
    local function fill() for i = 1, 1e9 do keep[i] = { i, {} } end end
    pcall(sort_by, { 3, 2, 1 }, function() pcall(rank, { over = { 1 }, score = function() pcall(group_by, { 1 }, fill) return 1 end }) return 1 end)
    do return run(all { check("x", 1, "==", 1) }, action.rewrite_manifests {}) end
    return skip(all { check("never", 1, "==", 2) })
  end,
}
