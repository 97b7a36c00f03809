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

  it("takes the partitions with small files, the ones that gain most per byte first", function()
    local d = s:decide()
    assert.verdict(d, { "run", by = "policy" })
    assert.same({ "ds=2026-03-28", "ds=2026-03-26" }, d.action.partitions)
  end)

  it("waits for twenty commits", function()
    s:commits(19)
    assert.is_nil(s:step "1m")
    s:commits(1)
    assert.verdict(s:step "1m", { "run" })
  end)

  it("leaves hot partitions alone", function()
    s = ebb.session { policy = "template-name", fixture = "template_name.json", params = { settle = "30d" } }
    s:at "2026-03-31T12:00:00Z"
    assert.verdict(s:decide(), { "skip", failing = { "settled", "worth_a_job" } })
  end)
end)
