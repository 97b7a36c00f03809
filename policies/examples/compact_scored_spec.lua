-- SPDX-License-Identifier: Apache-2.0
local ebb = require "ebb.testing"

local GIB = 1 << 30

local function check_of(d, name, key)
  for _, c in ipairs(d.checks) do
    if c.n == name and c.key == key then return c.r end
  end
end

describe("compact-scored", function()
  local s
  before_each(function()
    s = ebb.session { policy = "compact-scored", fixture = "orders.json" }
    s:at "2026-03-29T01:00:00Z"
  end)

  it("takes what gains most for each byte", function()
    local d = s:decide()
    assert.verdict(d, { "run", by = "policy" })
    assert.same({ "ds=2026-03-28", "ds=2026-03-20" }, d.action.partitions)
    ebb.golden(d, "orders")
  end)

  it("leaves hot partitions and those that were just done", function()
    local d = s:decide()
    assert.equal("false", check_of(d, "settled", "ds=2026-03-29"))
    assert.equal("false", check_of(d, "rested", "ds=2026-03-25"))
    s:step "7h"
    d = s:decide() -- in the meantime 03-25 has rested; 03-28 and 03-20 were done
    assert.equal("true", check_of(d, "rested", "ds=2026-03-25"))
    assert.equal("false", check_of(d, "rested", "ds=2026-03-28"))
    assert.same({ "ds=2026-03-29", "ds=2026-03-28", "ds=2026-03-20" }, s.decisions[1].action.partitions)
  end)

  it("finds nothing worth a job when it asks for much", function()
    s = ebb.session { policy = "compact-scored", fixture = "orders.json", params = { min_score = 60 } }
    s:at "2026-03-29T01:00:00Z"
    local d = s:decide()
    assert.verdict(d, { "skip", by = "policy" })
    ebb.golden(d, "nothing_worth")
  end)

  it("keeps within its budget", function()
    s = ebb.session { policy = "compact-scored", fixture = "orders.json", params = { byte_budget = "50GiB" } }
    s:at "2026-03-29T01:00:00Z"
    assert.same({ "ds=2026-03-28" }, s:decide().action.partitions)
  end)

  it("does nothing when the partitions are not known", function()
    s:set("partitions", nil)
    local d = s:decide()
    assert.verdict(d, { "skip", by = "policy" })
    assert.equal("unknown", check_of(d, "worth_a_job"))
  end)

  it("takes a partition for hot when nobody knows when it was written", function()
    s:set("partitions", { { key = "ds=1", files = 900, bytes = GIB, records = 1, delete_records = 0, avg_file = GIB // 900,
                            max_file = GIB } })
    local d = s:decide()
    assert.verdict(d, { "skip", by = "policy" })
    assert.equal("unknown", check_of(d, "settled", "ds=1"))
  end)

  it("stands back from a storm of conflicts", function()
    local now = ebb.at "2026-03-29T01:00:00Z"
    s = ebb.session { policy = "compact-scored", now = now, fixture = {
      table = s.world:facts(1).table,
      runs = { { id = "r-1", started = now - ebb.hours(2), ended = now - ebb.hours(1), outcome = "partial", conflicts = 3 } },
    } }
    assert.verdict(s:decide(), { "skip", failing = { "no_conflict_storm", "settled" } })
  end)

  it("does nothing when nobody knows what was done before", function()
    s:set("runs", nil)
    local d = s:decide()
    assert.verdict(d, { "skip", by = "policy" })
    assert.equal("unknown", check_of(d, "no_conflict_storm"))
    assert.equal("unknown", check_of(d, "rested", "ds=2026-03-28"))
  end)

  it("fires every two hours, and after twenty commits", function()
    s:step "6h"
    assert.equal(3, #s.decisions)
    s:commits(20)
    assert.equal("count", s:step("1m").trigger.kind)
  end)

  it("waits longer after each failure", function()
    s = ebb.session { policy = "compact-scored", fixture = "orders.json", mode = "enforce", params = { rest = "0m" } }
    s:at "2026-03-29T01:00:00Z"
    for _ = 1, 2 do
      assert.verdict(s:manual(), { "run" })
      s:finish "failed"
    end
    s:step "30m"
    s:commits(20)
    assert.verdict(s:step "1m", { "defer", by = "guard.backoff", until_ = ebb.at "2026-03-29T02:00:00Z" })
  end)

  it("never rewrites more than its budget", function()
    local bytes = {}
    for _, p in ipairs(s.world:facts(1).table.partitions) do bytes[p.key] = p.bytes end
    for d in ebb.histories { runs = 100, seed = 3, params = { byte_budget = "45GiB" } } do
      local sum = 0
      for _, key in ipairs(d.verdict == "run" and d.action.partitions or {}) do sum = sum + bytes[key] end
      assert.is_true(sum <= 45 * GIB)
    end
  end)
end)
