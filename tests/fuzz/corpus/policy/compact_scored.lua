-- SPDX-License-Identifier: Apache-2.0
-- Example 3: a score for each partition. Where rewriting gains most for each byte read, as far as a budget goes.

local WEIGHT = { small = 55, deletes = 35, skew = 10 } -- 100 together

-- How much a partition would gain, 0 to 100, and of what that is made. The same statistics give the same number.
local function score(part, params)
  local ideal   = math.max(1, math.ceil(part.bytes / params.target_size))
  local surplus = ratio(part.files - ideal, part.files)        -- the share of files that could go
  local deletes = clamp(ratio(part.delete_records, part.records) / 0.30, 0, 1)
  local skew    = clamp(ratio(part.max_file, math.max(part.avg_file, 1)) / 64, 0, 1)
  return WEIGHT.small * surplus + WEIGHT.deletes * deletes + WEIGHT.skew * skew,
         { small = surplus, deletes = deletes, skew = skew }
end

return policy {
  api   = 1,
  name  = "compact-scored",
  owner = "lakehouse-ops",
  doc   = "Compact the partitions that gain most per byte read; those that are being written or were just done are left alone.",

  target = { tables = { "prod.*.*" }, where = { property = "maintenance.compact", is_not = "off" } },

  params = {
    target_size = { type = "bytes", default = "512MiB", property = "write.target-file-size-bytes" },
    min_score   = { type = "number", default = 40, min = 1, max = 100, doc = "Less gain than this is not worth a rewrite." },
    settle      = { type = "duration", default = "45m", doc = "A partition that was written more recently is still hot." },
    rest        = { type = "duration", default = "12h", doc = "The same partition is not taken again before this." },
    byte_budget = { type = "bytes", default = "200GiB", doc = "One run reads no more than this." },
    max_parts   = { type = "integer", default = 50, min = 1, max = 500 },
  },

  triggers = {
    on.count { "snapshot.committed", n = 20, since = "last_run" },
    time.every { "2h", anchor = "start_of_day", tz = "UTC", spread = "20m" },
  },

  guard = {
    overlap      = "skip",
    min_interval = "30m",
    ignore_own   = true,                -- what compaction commits is no reason to compact
    fleet        = { slot = "compaction", max_running = 4 },
    rewrites     = { max_bytes = "400GiB", on_exceed = "trim" },
    backoff      = { after_failures = 2, first = "1h", factor = 2, max = "24h" },
    timeout      = "6h",
  },

  decide = function(t, ctx)
    local p     = ctx.params
    local parts = t.partitions { min_files = 2 }   -- nil when the manifests were not read

    local ranked = parts and rank {
      over   = parts,
      keep   = function(part)
        return check_each("settled", part.key, part.last_write and ctx.now - part.last_write, ">=", p.settle)
           and check_each("rested", part.key, ctx.runs.since_partition(part.key), ">=", p.rest)
      end,
      score  = function(part) return score(part, p) end,
      per    = function(part) return part.bytes end,
      min    = p.min_score,
      budget = { bytes = p.byte_budget, count = p.max_parts },
    }

    local v = all {
      check("worth_a_job", ranked and ranked.count, ">=", 1),
      check("no_conflict_storm", ctx.runs.conflicts { within = "6h" }, "<", 3),
    }
    if not v.ok then return skip(v) end

    return run(v, action.rewrite_data_files {
      strategy         = "binpack",
      partitions       = ranked.keys,
      target_file_size = p.target_size,
      delete_ratio     = 0.3,
      partial_progress = { commits = math.min(10, ranked.count) },
    }, { note = fmt("%d partitions, %s, best score %.0f", ranked.count, bytes_h(ranked.bytes), ranked.best) })
  end,
}
