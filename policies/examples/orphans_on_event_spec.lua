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
    assert.equal(ebb.at "2026-04-01T00:00:00Z", d.until_) -- instants are integers, ms UTC
    assert.same({ "leftovers_are_ripe", "many_new_snapshots" }, d:failing())
    ebb.golden(d, "armed")
    d = s:step "71h"
    assert.equal("run", d.verdict)
    assert.equal(ebb.at "2026-03-29T00:00:00Z", d.action.older_than)
    ebb.golden(d, "ripe")
  end)

  it("waits for a burst of failures to calm down, but not for ever", function()
    for _ = 1, 13 do
      s:event { "commit.failed", files_written = 1 }
      s:step "5m"
    end
    assert.equal(1, #s.decisions)
    assert.equal(ebb.at "2026-03-29T01:00:00Z", s.decisions[1].now)
  end)

  it("takes no notice of a conflict that was retried and won, nor of one that wrote nothing", function()
    s:event { "commit.failed", files_written = 9, retried_ok = true }
    s:event { "commit.failed", files_written = 0 }
    assert.is_nil(s:step "1d")
  end)

  it("sweeps after many commits", function()
    s:commits(499)
    assert.is_nil(s:step "1m")
    s:commits(1)
    local d = s:step "1m"
    assert.verdict(d, { "run", by = "policy" })
    assert.equal("count", d.trigger.kind)
    assert.equal(ebb.days(3), d.now - d.action.older_than)
  end)

  it("counts from the last good sweep", function()
    s:commits(500)
    assert.verdict(s:step "1m", { "run" })
    s:commits(499)
    assert.is_nil(s:step "2d")
    assert.verdict(s:decide(), { "skip", failing = { "failed_commits", "leftovers_are_ripe", "many_new_snapshots" } })
  end)

  it("keeps twenty hours between sweeps", function()
    s:commits(500)
    local first = s:step "1m"
    s:commits(500)
    assert.verdict(s:step "1m", { "defer", by = "guard.min_interval", until_ = first.now + ebb.hours(20) })
  end)

  it("keeps quiet hours in the owner's zone", function()
    s:set("properties", { ["owner.timezone"] = "Europe/Berlin" })
    s:at "2026-03-31T09:00:00Z" -- a Tuesday, 11:00 in Berlin
    s:commits(500)
    assert.verdict(s:decide(), { "defer", by = "guard.quiet", until_ = ebb.at "2026-03-31T17:00:00Z" })
  end)

  it("leaves weekends alone while there is a freeze", function()
    s:commits(500)
    assert.verdict(s:decide(), { "run" })
    s:set("flags.freeze", true) -- Sunday until 02:00 in Berlin, which is midnight in UTC
    assert.verdict(s:decide(), { "defer", by = "guard.quiet", until_ = ebb.at "2026-03-30T00:00:00Z" })
  end)

  it("asks to override quiet hours for old leftovers, which the binding must grant", function()
    for _, grants in ipairs { false, true } do
      s = ebb.session { policy = "orphans-on-event", fixture = "clicks.json", bind = { allow_override_quiet = grants } }
      s:at "2026-03-29T00:00:00Z"
      s:pause()
      s:event { "commit.failed", files_written = 1 }
      s:step(ebb.days(10) + ebb.hours(9)) -- a Wednesday morning
      assert.verdict(s:decide(), grants and { "run", by = "policy" } or { "defer", by = "guard.quiet" })
    end
  end)

  it("queues one sweep while one is running", function()
    s = ebb.session { policy = "orphans-on-event", fixture = "clicks.json", mode = "enforce" }
    s:at "2026-03-29T00:00:00Z"
    s:commits(500)
    assert.verdict(s:step "1m", { "defer", by = "guard.overlap" })
    assert.verdict(s.decisions[1], { "run" })
    s:finish "success"
    assert.verdict(s:decide(), { "skip", by = "policy" })
  end)

  it("does nothing when nobody tells of events", function()
    s = ebb.session { policy = "orphans-on-event", now = "2026-03-29T00:00:00Z",
                      fixture = { table = { catalog = "prod", namespace = "events", name = "clicks",
                                            uuid = "7d1e9a52-5f5b-4c1b-9a55-0c5e3c1f0b42",
                                            location = "s3://lake/prod/events/clicks" } } }
    local d = s:decide()
    assert.verdict(d, { "skip", by = "policy" })
    for _, c in ipairs(d.checks) do assert.equal("unknown", c.r, c.n) end
  end)

  it("never deletes anything younger than three days", function()
    for d in ebb.histories { runs = 500, seed = 7 } do -- random but reproducible
      assert.is_true(d.verdict ~= "run" or d.now - d.action.older_than >= ebb.days(3))
    end
  end)
end)
