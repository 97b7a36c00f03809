-- expect: ok=skip
-- every function with more values than it takes: they are no tables
return policy {
  api = 1, name = "x133-more-values", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local odd = { 81985529216486895, 8, 1.5, "x", true, type, t, all {}, {}, math.huge }
    local l, f = { 3, 1, 2 }, function(x) return x end
    local calls = { { type, 1 }, { tostring, 1 }, { tonumber, "1", 10 }, { ipairs, l }, { pairs, l }, { select, 1 }, { glob, "a", "a" }, { fmt, "%d", 1 }, { hash, "a", 5 }, { iso, 1 }, { bytes_h, 1 },
      { ratio, 1, 2 }, { clamp, 1, 2, 3 }, { sum, l, f }, { min_by, l, f }, { max_by, l, f }, { percentile, l, 50, f }, { sort_by, l, f, "desc" }, { group_by, l, f }, { top, l, 2, f },
      { rank, { over = l, score = f } }, { check, "c", 1, "==", 1 }, { check_each, "c", "k", 1, "==", 1 }, { all, {} }, { any, {} }, { none, {} }, { skip, all {}, "y" }, { defer, all {}, ctx.now + 1, "y" },
      { run, all {}, action.rewrite_manifests {}, {} }, { table.concat, l, ",", 1, 2 }, { table.unpack, l, 1, 2 }, { table.sort, l, nil }, { table.remove, { 1 }, 1 },
      { str.len, "a" }, { str.lower, "A" }, { str.upper, "a" }, { str.trim, "a" }, { str.split, "a,b", "," }, { str.starts, "a", "a" }, { str.ends, "a", "a" }, { str.contains, "a", "a" }, { str.find, "a", "a", 1 },
      { str.sub, "a", 1, 1 }, { str.rep, "a", 2, "," }, { str.replace, "a", "a", "b" }, { time.civil, 0, "UTC" }, { time.start_of, "day", 0, "UTC" }, { math.abs, 1 }, { math.floor, 1.5 }, { math.fmod, 1, 2 },
      { math.modf, 1.5 }, { math.tointeger, 1 }, { math.type, 1 }, { math.ult, 1, 2 }, { math.log, 2, 2 }, { math.atan, 1, 2 }, { action.rewrite_manifests, {} },
      { t.snapshots, {} }, { t.partitions, {} }, { ctx.events.list, { "commit.failed" } }, { ctx.events.count, "commit.failed" }, { ctx.runs.count, {} }, { ctx.runs.conflicts, {} }, { ctx.runs.since_partition, "k" } }
    for _, c in ipairs(calls) do
      for i = 1, #odd do
        local a = {}
        for k = 1, 6 do a[k] = c[k + 1] end
        local n = #c - 1
        for k = n + 1, n + 3 do a[k] = odd[(i + k) % #odd + 1] end
        pcall(c[1], table.unpack(a, 1, n + 3))
        pcall(c[1], table.unpack(a, 1, n + 1))
      end
    end
    return skip(all { check("never", 1, "==", 2) })
  end,
}
