-- SPDX-License-Identifier: Apache-2.0
-- Run with: ebb test
local ebb = require "ebb.testing"

describe("template-name", function()
  local s
  before_each(function()
    -- The fixture is a captured table; ebb capture TABLE > fixtures/mine.json makes one of yours.
    s = ebb.session { policy = "template-name", fixture = "template_name.json", params = { keep_last = 2 } }
    s:at "2026-04-30T12:00:00Z"
  end)

  it("expires what is older than a week, but for the last ones", function()
    local d = s:step "1d"
    assert.verdict(d, { "run", by = "policy" })
    assert.equal(ebb.days(7), d.now - d.action.older_than)
    assert.equal(2, d.action.retain_last)
  end)

  it("leaves few snapshots alone", function()
    s:set("stats.snapshots", 2)
    assert.verdict(s:decide(), { "skip", failing = { "more_than_needed" } })
    s:set("stats.snapshots", nil)
    assert.verdict(s:decide(), { "skip", failing = { "more_than_needed" } })
  end)

  it("leaves young snapshots alone", function()
    s = ebb.session { policy = "template-name", fixture = "template_name.json", params = { keep_last = 2 } }
    s:at "2026-03-30T12:00:00Z"
    assert.verdict(s:decide(), { "skip", failing = { "oldest_is_old" } })
    s:set("snapshots", nil)
    assert.verdict(s:decide(), { "skip", failing = { "oldest_is_old" } })
  end)

  it("stops after three failures in a row", function()
    s = ebb.session { policy = "template-name", fixture = "template_name.json", mode = "enforce", params = { keep_last = 2 } }
    s:at "2026-04-30T12:00:00Z"
    for _ = 1, 3 do
      s:manual()
      s:finish "failed"
      s:step "1h"
    end
    assert.verdict(s:decide(), { "skip", failing = { "no_failing_streak" } })
  end)
end)
