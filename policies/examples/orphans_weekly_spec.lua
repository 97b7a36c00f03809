-- SPDX-License-Identifier: Apache-2.0
local ebb = require "ebb.testing"

local GIB = 1 << 30

describe("orphans-weekly", function()
  local s
  before_each(function()
    s = ebb.session { policy = "orphans-weekly", fixture = "clicks.json" }
    s:at "2026-03-23T00:00:00Z" -- a Monday; the owners live in Berlin
    s:set("stats.orphans", { files = 212, bytes = 2 * GIB, at = ebb.at "2026-03-22T00:00:00Z" })
  end)

  it("sweeps in the night to Sunday, on the clock of the owners", function()
    s:set("properties", { ["owner.timezone"] = "America/New_York" })
    local d = s:step "7d"
    assert.verdict(d, { "run", by = "policy" })
    assert.equal(ebb.at "2026-03-29T06:00:00Z", ebb.at(d.trigger.scheduled_for)) -- 02:00 in New York
    assert.is_true(d.now - ebb.at(d.trigger.scheduled_for) < ebb.hours(3))       -- the spread
    assert.equal(ebb.days(5), d.now - d.action.older_than)
    assert.equal(1, #s.decisions)
  end)

  it("explains itself", function()
    ebb.golden(s:decide(), "worth")
  end)

  it("sweeps once on the Sunday without a 02:00", function()
    local d = s:step "7d" -- 02:00 to 03:00 on 29 March does not exist in Berlin
    assert.equal(ebb.at "2026-03-29T01:00:00Z", ebb.at(d.trigger.scheduled_for))
    assert.equal(1, #s.decisions)
  end)

  it("leaves little waste for another week", function()
    s:set("stats.orphans.bytes", GIB - 1)
    assert.verdict(s:step "7d", { "skip", failing = { "estimate_is_stale", "never_scanned", "waste_is_worth_it" } })
  end)

  it("does not believe an old estimate", function()
    s:set("stats.orphans", { files = 0, bytes = 0, at = ebb.at "2026-03-01T00:00:00Z" })
    assert.verdict(s:step "7d", { "run", failing = { "never_scanned", "waste_is_worth_it" } })
  end)

  it("scans what was never scanned", function()
    s:set("stats.orphans", nil)
    assert.verdict(s:step "7d", { "run", failing = { "estimate_is_stale", "waste_is_worth_it" } })
    ebb.golden(s:decide(), "never_scanned")
  end)

  it("leaves a table alone whose writers were never measured", function()
    s:set("stats.longest_write", nil)
    ebb.golden(s:decide(), "writers_unknown")
    assert.verdict(s:step "7d", { "skip", by = "policy" })
  end)

  it("leaves a table alone whose writers take longer than files are kept", function()
    s:set("stats.longest_write", ebb.days(5))
    assert.verdict(s:step "7d", { "skip", by = "policy" })
  end)

  it("leaves a table alone that has no snapshot, or shares its location, or may do so", function()
    s:set("current_snapshot", nil)
    assert.verdict(s:decide(), { "skip", by = "policy" })
    s:set("current_snapshot", { id = 1, at = ebb.at "2026-03-22T00:00:00Z" })
    assert.verdict(s:decide(), { "run" })
    for _, overlaps in ipairs { 1, false } do
      s:set("location_overlaps", overlaps or nil)
      assert.verdict(s:decide(), { "skip", by = "policy" })
    end
  end)

  it("stops after three failures in a row", function()
    s = ebb.session { policy = "orphans-weekly", fixture = "clicks.json", mode = "enforce" }
    s:at "2026-03-23T00:00:00Z"
    for _ = 1, 3 do
      assert.verdict(s:manual(), { "run" })
      s:finish "failed"
    end
    assert.verdict(s:decide(), { "skip", by = "policy" })
  end)

  it("does nothing when nobody knows how earlier runs went", function()
    s:set("runs", nil)
    assert.verdict(s:step "7d", { "skip", failing = { "estimate_is_stale", "never_scanned", "no_failing_streak" } })
  end)

  it("is off where the owner says so", function()
    s:set("properties", { ["maintenance.orphans"] = "off" })
    assert.is_nil(s:step "14d")
    assert.verdict(s:decide(), { "skip", by = "guard.target" })
  end)

  it("catches up Sundays that were slept through, once and not too late", function()
    s:asleep "9d" -- to a Wednesday: later than 36 h
    assert.equal(0, #s.decisions)
    assert.equal("late", s.dropped[1].why)
    s:at "2026-04-06T00:00:00Z"
    s:asleep "13d12h" -- to the noon of the second Sunday
    assert.equal(1, #s.decisions)
    assert.equal("catch_up", s.decisions[1].trigger.kind)
    assert.equal(1, s.decisions[1].trigger.missed)
  end)

  it("never deletes what is younger than asked for, nor under a changed location", function()
    for d in ebb.histories { runs = 300, seed = 11 } do
      assert.is_true(d.verdict ~= "run" or d.now - d.action.older_than >= ebb.days(5))
      assert.is_true(d.verdict ~= "run" or d.action.location == "s3://lake/prod/events/clicks")
    end
  end)
end)
