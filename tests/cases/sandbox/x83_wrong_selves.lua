-- expect: ok=skip or gas
-- methods with wrong selves
return policy {
  api = 1, name = "x83-wrong-selves", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local others = { t, ctx, ctx.runs, ctx.events, t.stats, t.properties, all {}, check("c", 1, "==", 1), action.rewrite_manifests {}, skip(all {}), str, math, {}, "x", 1, true, type }
    local fs = { t.snapshots, t.partitions, ctx.events.list, ctx.events.count, ctx.runs.count, ctx.runs.conflicts, ctx.runs.since_partition }
    for i = 1, #fs do for j = 1, #others do pcall(fs[i], others[j]) pcall(fs[i], others[j], others[j]) end pcall(fs[i]) end
    for i = 1, #others do for j = 1, #others do
      local a, b = others[i], others[j]
      pcall(function() return a < b end) pcall(function() return a <= b end) pcall(function() return a .. b end) pcall(function() return a == b end)
      pcall(function() return a(b) end) pcall(function() return #a end) pcall(function() return a[b] end) pcall(function() a[b] = 1 end)
      pcall(function() return a + b end) pcall(function() return a | b end) pcall(function() return -a end) pcall(function() return ~a end) pcall(pairs, a)
      pcall(ipairs, a) pcall(sum, a) pcall(top, a, b) pcall(sort_by, a, b) pcall(group_by, a, b) pcall(percentile, a, b, a) pcall(run, a, b) pcall(skip, a, b)
      pcall(defer, a, b, a) pcall(all, a) pcall(all, { a, b }) pcall(rank, a) pcall(rank, { over = a, score = b }) pcall(check, a, b, a, b)
      pcall(check, "x", a, "==", b) pcall(check, "x", a, "<", b) pcall(check, "x", a, "in", b) pcall(check, "x", a, "exists") pcall(check_each, "x", a, b, "==", a)
      pcall(action.remove_orphan_files, a) pcall(action.remove_orphan_files, { older_than = a, location = b, keep = a, equal_schemes = b })
      pcall(action.rewrite_data_files, { partitions = a, partial_progress = b }) pcall(action.expire_snapshots, { snapshot_ids = a })
      pcall(table.insert, a, b) pcall(table.concat, a, b) pcall(table.unpack, a) pcall(table.sort, a, b) pcall(table.remove, a, b)
      pcall(fmt, a, b) pcall(fmt, "%s%d", a, b) pcall(hash, a, b) pcall(iso, a) pcall(bytes_h, a) pcall(time.civil, a, b) pcall(time.start_of, a, b) pcall(note, a, b)
      pcall(clamp, a, b, a) pcall(ratio, a, b) pcall(math.max, a, b) pcall(tostring, a) pcall(tonumber, a, b) pcall(select, a, b) pcall(str.split, a, b)
    end end
    return skip(all { check("never", 1, "==", 2) })
  end,
}
