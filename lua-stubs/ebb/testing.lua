---@meta
-- SPDX-License-Identifier: Apache-2.0
-- What specs of policies use, for lua-language-server: local ebb = require "ebb.testing".

---@class ebb.testing
local testing = {}

---@class ebb.testing.decision
---@field policy string
---@field now ebb.instant
---@field verdict "run"|"skip"|"defer"|"refused"|"error"
---@field by string? Who decided: "policy", or a guard.
---@field until_ ebb.instant? Of a defer.
---@field why string?
---@field action table? What would run; the type is action.type.
---@field error string?
---@field trigger table
---@field checks table[] Each with n, a, op, b and r.
---@field guards table[]
---@field notes string[]
---@field ranked table?
---@field params table
---@field mode string
---@field table string?
---@field record table The decision record.
local Decision = {}

---Names of the checks that are false or unknown, sorted, each once.
---@return string[]
function Decision:failing() end

---@class ebb.testing.session
---@field decisions ebb.testing.decision[] All decisions so far.
---@field dropped table[] Occurrences that came to nothing: policy, now, why.
local Session = {}

---Go to an instant.
---@param instant string|ebb.instant
---@return ebb.testing.decision? last
function Session:at(instant) end

---Let time pass.
---@param duration string|ebb.duration
---@return ebb.testing.decision? last
function Session:step(duration) end

---The process does not run for so long.
---@param duration string|ebb.duration
---@return ebb.testing.decision? last
function Session:asleep(duration) end

---The wall clock jumps, forward or with "-1h" backward.
---@param duration string|ebb.duration
---@return ebb.testing.decision? last
function Session:clock_step(duration) end

---The policy is paused, and goes on.
function Session:pause() end

---@return ebb.testing.decision? last
function Session:resume() end

---@return ebb.instant
function Session:now() end

---An event: s:event { "commit.failed", files_written = 212 }.
---@param event table
---@return string id
function Session:event(event) end

---So many snapshots by writers, until now.
---@param n integer
function Session:commits(n) end

---Set a fact by its path below t ("stats.bytes"), "flags.NAME", or "runs" (the history); nil: unknown.
---@param path string
---@param value any
function Session:set(path, value) end

---What it would decide now; nothing starts and nothing is remembered.
---@return ebb.testing.decision
function Session:decide() end

---A run by hand.
---@return ebb.testing.decision? last
function Session:manual() end

---The running job ends.
---@param outcome? "success"|"failed"|"partial"
---@return ebb.testing.decision? last
function Session:finish(outcome) end

---Another file takes the policy's place; schedule and runs stay.
---@param file string
---@return ebb.testing.decision? last
function Session:reload(file) end

---A world in memory with one table and one policy.
---@param options { policy: string, fixture?: string|table, mode?: "observe"|"approve"|"enforce", params?: table, bind?: table, now?: string|ebb.instant }
---@return ebb.testing.session
function testing.session(options) end

---Iterate over the decisions of random but reproducible histories.
---@param options { runs?: integer, seed?: integer, policy?: string, fixture?: string|table, params?: table, bind?: table }
---@return fun(): ebb.testing.decision?, integer?
function testing.histories(options) end

---An instant, "2026-03-29T00:00:00Z", as milliseconds.
---@param text string
---@return ebb.instant
function testing.at(text) end

---@param n number
---@return ebb.duration
function testing.minutes(n) end

---@param n number
---@return ebb.duration
function testing.hours(n) end

---@param n number
---@return ebb.duration
function testing.days(n) end

---Compare the explanation with golden/<spec>/<name>.txt; ebb test --update-golden writes it.
---@param decision ebb.testing.decision?
---@param name string
function testing.golden(decision, name) end

---The explanation of a decision.
---@param decision ebb.testing.decision
---@return string
function testing.explain(decision) end

---The verdict and more: assert.verdict(d, { "skip", by = "guard.quiet", failing = { "a_check" } }).
---@param decision ebb.testing.decision?
---@param want table
function assert.verdict(decision, want) end

return testing
