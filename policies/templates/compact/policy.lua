-- SPDX-License-Identifier: Apache-2.0
-- Which partitions are compacted. It names no tables: it runs where a binding puts it.

-- The share of a partition's files that could go, 0 to 100. The same statistics give the same number.
local function score(part, target_size)
  local ideal = math.max(1, math.ceil(part.bytes / target_size))
  return 100 * ratio(part.files - ideal, part.files)
end

return policy {
  api  = 1,
  name = "template-name",
  doc  = "After every 20 commits, rewrite the partitions with the most small files, within a budget.",

  params = {
    target_size = { type = "bytes", default = "512MiB", property = "write.target-file-size-bytes" },
    min_score   = { type = "number", default = 50, min = 1, max = 100, doc = "Less gain is not worth a rewrite." },
    settle      = { type = "duration", default = "1h", doc = "A partition written more recently is still hot." },
    byte_budget = { type = "bytes", default = "100GiB", doc = "One run reads no more than this." },
  },

  triggers = {
    on.count { "snapshot.committed", n = 20, since = "last_run" },
  },

  guard = {
    min_interval = "1h",
    backoff      = { first = "1h", factor = 2, max = "24h" },
    timeout      = "6h",
  },

  decide = function(t, ctx)
    local p = ctx.params
    local ranked = rank {
      over   = t.partitions { min_files = 2 },
      keep   = function(part)
        return check_each("settled", part.key, part.last_write, "<=", ctx.now - p.settle)
      end,
      score  = function(part) return score(part, p.target_size) end,
      per    = function(part) return part.bytes end,
      min    = p.min_score,
      budget = { bytes = p.byte_budget },
    }

    local v = all { check("worth_a_job", ranked.count, ">=", 1) }
    if not v.ok then return skip(v) end

    return run(v, action.rewrite_data_files {
      strategy         = "binpack",
      partitions       = ranked.keys,
      target_file_size = p.target_size,
    }, { note = fmt("%d partitions, %s", ranked.count, bytes_h(ranked.bytes)) })
  end,
}
