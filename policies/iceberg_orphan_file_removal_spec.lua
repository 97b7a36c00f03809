-- SPDX-License-Identifier: Apache-2.0
local ebb = require "ebb.testing"

local function facts()
  return { table = { catalog = "lake", namespace = "db", name = "events", uuid = "3b0c7a90-1d2e-4f5a-8b6c-7d8e9f0a1b2c",
                     location = "s3://lake/db/events", properties = {} } }
end

describe("iceberg-orphan-file-removal", function()
  local s
  local function open(options)
    options.policy, options.fixture = "iceberg-orphan-file-removal", options.fixture or facts()
    s = ebb.session(options)
    s:at "2026-03-02T00:00:00Z" -- a Monday
  end
  before_each(function() open {} end)

  it("explains itself", function()
    ebb.golden(s:decide(), "default")
  end)

  it("runs once a week, and takes what is older than three days", function()
    local d = s:step "7d"
    assert.verdict(d, { "run", by = "policy" })
    assert.equal(ebb.at "2026-03-08T03:00:00Z", ebb.at(d.trigger.scheduled_for))
    assert.equal(ebb.days(3), d.now - d.action.older_than)
    assert.is_false(d.action.dry_run)
    assert.equal(1, #s.decisions)
  end)

  it("takes its parameters from the binding", function()
    open { params = { olderThanDays = 14, dryRun = true, location = "s3://lake/db/events/data" } }
    local d = s:decide()
    assert.equal(ebb.days(14), d.now - d.action.older_than)
    assert.is_true(d.action.dry_run)
    assert.equal("s3://lake/db/events/data", d.action.location)
  end)

  it("does nothing when nobody knows how earlier runs went", function()
    s:set("runs", nil)
    assert.verdict(s:decide(), { "skip", failing = { "no_failing_streak" } })
  end)

  it("is refused where the cutoff is too young or the location is another's", function()
    open { params = { olderThanDays = 0 } }
    assert.verdict(s:decide(), { "refused", by = "guard.floor" })
    open { params = { olderThanDays = 0 }, bind = { allow_below_floor = true } }
    assert.verdict(s:decide(), { "run" })
    open { params = { location = "s3://lake/db/events-2" } }
    assert.verdict(s:decide(), { "refused", by = "guard.location" })
  end)

  it("leaves a table alone whose files others may own", function()
    for _, value in ipairs { "false", "FALSE", "no" } do
      s:set("properties", { ["gc.enabled"] = value })
      assert.verdict(s:decide(), { "skip", failing = { "gc_is_enabled" } })
    end
    s:set("properties", { ["gc.enabled"] = "TRUE" })
    assert.verdict(s:decide(), { "run" })
  end)

  it("needs a location", function()
    s:set("location", nil)
    assert.verdict(s:decide(), { "skip", failing = { "location_is_known" } })
  end)

  it("catches up one Sunday, however late", function()
    s:asleep "17d"
    assert.equal(1, #s.decisions)
    assert.equal("catch_up", s.decisions[1].trigger.kind)
    assert.verdict(s.decisions[1], { "run" })
  end)

  it("stops after ten failures in a row", function()
    open { mode = "enforce" }
    for _ = 1, 10 do
      assert.verdict(s:manual(), { "run" })
      s:finish "failed"
    end
    assert.verdict(s:decide(), { "skip", by = "policy", failing = { "no_failing_streak" } })
  end)

  it("waits between runs", function()
    local first = s:step "7d"
    s:set("properties", {})
    assert.verdict(s:step "7d", { "run" })
    assert.is_true(s.decisions[2].now - first.now >= ebb.days(5))
  end)

  it("never takes files younger than a day", function()
    for d in ebb.histories { runs = 200, seed = 5, params = { olderThanDays = 1 } } do
      assert.is_true(d.verdict ~= "run" or d.now - d.action.older_than >= ebb.days(1))
    end
  end)
end)
