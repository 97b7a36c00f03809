-- SPDX-License-Identifier: Apache-2.0
-- Run with: ebb test
local ebb = require "ebb.testing"

describe("template-name", function()
  local s
  before_each(function()
    -- The fixture is a captured table; ebb capture TABLE > fixtures/mine.json makes one of yours.
    s = ebb.session { policy = "template-name", fixture = "template_name.json" }
    s:at "2026-03-31T12:00:00Z"
  end)

  it("runs in the night, with a cutoff of five days", function()
    local d = s:step "1d"
    assert.verdict(d, { "run", by = "policy" })
    assert.equal("time", d.trigger.kind)
    assert.equal(ebb.days(5), d.now - d.action.older_than)
  end)

  it("leaves a table alone that holds nothing, or that is not alone in its place", function()
    s:set("current_snapshot", nil)
    assert.verdict(s:decide(), { "skip", failing = { "table_is_live" } })
    s:set("location_overlaps", 1)
    assert.verdict(s:decide(), { "skip", failing = { "one_location", "table_is_live" } })
    s:set("location_overlaps", nil)
    assert.verdict(s:decide(), { "skip", failing = { "one_location", "table_is_live" } })
  end)

  it("leaves a table alone whose writers are slow, or were never measured", function()
    s:set("stats.longest_write", ebb.days(5))
    assert.verdict(s:decide(), { "skip", failing = { "writers_are_short" } })
    s:set("stats.longest_write", nil)
    assert.verdict(s:decide(), { "skip", failing = { "writers_are_short" } })
  end)

  it("stops after three failures in a row", function()
    s = ebb.session { policy = "template-name", fixture = "template_name.json", mode = "enforce" }
    s:at "2026-03-31T12:00:00Z"
    for _ = 1, 3 do
      s:manual()
      s:finish "failed"
      s:step "1h"
    end
    assert.verdict(s:decide(), { "skip", failing = { "no_failing_streak" } })
  end)

  it("never takes anything younger than three days", function()
    for d in ebb.histories { runs = 50, seed = 1 } do
      assert.is_true(d.verdict ~= "run" or d.now - d.action.older_than >= ebb.days(3))
    end
  end)
end)
