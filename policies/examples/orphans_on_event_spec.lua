-- SPDX-License-Identifier: Apache-2.0
local ebb = require "ebb.testing"

describe("orphans-on-event", function()
  local s
  before_each(function()
    s = ebb.session { policy = "orphans-on-event", fixture = "clicks.json" } -- made by: ebb capture TABLE > clicks.json
    s:at "2026-03-29T00:00:00Z"
  end)

  it("arms a run after a failed commit instead of starting one", function()
    s:event { "commit.failed", files_written = 212 }
    local d = s:step "1h"
    assert.equal("defer", d.verdict)
    assert.equal(ebb.at "2026-04-01T00:00:00Z", d.until_)
    assert.same({ "leftovers_are_ripe", "many_new_snapshots" }, d:failing())
    d = s:step "71h"
    assert.equal("run", d.verdict)
    assert.equal(ebb.at "2026-03-29T00:00:00Z", d.action.older_than)
  end)

  it("keeps quiet hours in the owner's zone", function()
    s:set("properties", { ["owner.timezone"] = "Europe/Berlin" })
    s:at "2026-03-31T09:00:00Z" -- a Tuesday, 11:00 in Berlin
    s:commits(500)
    assert.verdict(s:decide(), { "defer", by = "guard.quiet", until_ = ebb.at "2026-03-31T17:00:00Z" })
  end)

  it("never deletes anything younger than three days", function()
    for d in ebb.histories { runs = 500, seed = 7 } do -- random but reproducible
      assert.is_true(d.verdict ~= "run" or d.now - d.action.older_than >= ebb.days(3))
    end
  end)
end)
