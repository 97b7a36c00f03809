-- SPDX-License-Identifier: Apache-2.0
-- Run with: ebb test
local ebb = require "ebb.testing"

describe("template-name", function()
  it("decides nothing yet", function()
    -- The fixture is a captured table; ebb capture TABLE > fixtures/mine.json makes one of yours.
    local s = ebb.session { policy = "template-name", fixture = "template_name.json" }
    s:at "2026-03-31T12:00:00Z"
    assert.verdict(s:decide(), { "skip" })
  end)
end)
