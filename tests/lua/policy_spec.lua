-- SPDX-License-Identifier: Apache-2.0
local ebb = require "ebb"

local ON_EVENT, CLICKS = "policies/examples/orphans_on_event.lua", "tests/fixtures/facts/clicks.json"
local NOW = ebb.time.parse "2026-03-29T00:55:12Z"

local function facts()
  return {
    table = { catalog = "prod", namespace = "events", name = "clicks", uuid = "7d1e9a52-5f5b-4c1b-9a55-0c5e3c1f0b42",
              location = "s3://lake/prod/events/clicks" },
    events = { { id = "e-1", type = "commit.failed", at = NOW - 60000, files_written = 212 } },
  }
end

local function checks(record)
  local result = {}
  for _, c in ipairs(record.checks) do result[c.n] = c.r end
  return result
end

describe("ebb.policy", function()
  it("loads a file", function()
    local policy = assert(ebb.policy.load(ON_EVENT))
    assert.equal("orphans-on-event", policy:name())
    assert.equal(ON_EVENT, policy:file())
    assert.truthy(policy:bundle():match "^sha256:%x+$")
    local manifest = policy:manifest()
    assert.equal("orphans-on-event", manifest.name)
    assert.equal(2, #manifest.triggers)
    assert.same({ "prod.events.*", "prod.billing.*" }, manifest.target.tables)
  end)

  it("decides on tables", function()
    local policy <close> = assert(ebb.policy.load(ON_EVENT))
    local record = assert(policy:decide(facts(), { now = NOW }))
    assert.equal("defer", record.verdict)
    assert.equal("2026-04-01T00:54:12Z", record["until"])
    assert.same({ many_new_snapshots = "false", failed_commits = "true", leftovers_are_ripe = "false" }, checks(record))
    assert.equal("manual", record.trigger.kind)
    assert.equal("observe", record.mode)
  end)

  it("counts an event that was told after the run, whenever it happened", function()
    local policy <close> = assert(ebb.policy.load(ON_EVENT))
    local given = facts()
    given.runs = { { id = "r-1", started = NOW - 3600000, ended = NOW - 3000000, outcome = "success" } }
    given.events[1].at = NOW - 7200000
    assert.equal("false", checks(assert(policy:decide(given, { now = NOW }))).failed_commits)
    given.events[1].received = NOW - 3400000 -- while it ran
    assert.equal("true", checks(assert(policy:decide(given, { now = NOW }))).failed_commits)
    given.events[1].received = NOW - 3700000
    assert.equal("false", checks(assert(policy:decide(given, { now = NOW }))).failed_commits)
  end)

  it("decides on a captured table", function()
    local policy = assert(ebb.policy.load(ON_EVENT))
    local record = assert(policy:decide(CLICKS, { now = NOW, mode = "enforce", id = "d-x", params = { every_n = 50 },
                                                  trigger = { kind = "event", scheduled_for = NOW } }))
    assert.equal("defer", record.verdict)
    assert.equal("d-x", record.id)
    assert.equal("enforce", record.mode)
    assert.equal("event", record.trigger.kind)
    assert.equal(50, record.params.every_n)
  end)

  it("keeps integers whole", function()
    local policy = assert(ebb.policy.load("tests/lua/policies/echo.lua"))
    local given = facts()
    given.table.current_snapshot = { id = 3776207205136740581, at = NOW }
    local record = assert(policy:decide(given, { now = NOW }))
    assert.equal(3776207205136740581, record.checks[1].a)
    assert.equal("integer", math.type(record.checks[1].a))
    assert.equal("run", record.verdict)
    assert.equal(NOW - 5 * 86400000, record.action.older_than)
  end)

  it("runs a policy without target only where a binding names the table", function()
    local policy = assert(ebb.policy.load("tests/lua/policies/echo.lua"))
    assert.equal("skip", policy:decide(facts(), { now = NOW, bound = false }).verdict)
  end)

  it("says what goes wrong", function()
    local policy, err = ebb.policy.load "tests/lua/no_such_policy.lua"
    assert.is_nil(policy)
    assert.equal("io.not_found", err.code)
    policy, err = ebb.policy.load "tests/lua/module_spec.lua"
    assert.is_nil(policy)
    assert.truthy(err.code:match "^policy%.")
    policy, err = ebb.policy.load "a\0b"
    assert.is_nil(policy)
    assert.equal("usage", err.code)
    policy = assert(ebb.policy.load("tests/lua/policies/echo.lua"))
    local record
    record, err = policy:decide(facts(), { now = NOW, params = { days = 0 } })
    assert.is_nil(record)
    assert.equal("config.invalid", err.code)
    record, err = policy:decide("tests/lua/no_such.json", { now = NOW })
    assert.is_nil(record)
    assert.equal("io.not_found", err.code)
    local given = facts()
    given.table.properties = { explode = "yes" }
    record, err = policy:decide(given, { now = NOW })
    assert.is_nil(record)
    assert.equal("policy.error", err.code)
  end)

  it("raises on wrong arguments", function()
    local policy = assert(ebb.policy.load(ON_EVENT))
    local cycle = {}
    cycle.cycle = cycle
    for _, bad in ipairs { {}, { now = 1.5 }, { now = "2026" }, { now = NOW, mode = "force" }, { now = NOW, moed = 1 },
                           { now = NOW, params = print }, { now = NOW, 1 } } do
      assert.error(function() policy:decide(facts(), bad) end)
    end
    for _, bad in ipairs { false, 7, print, cycle, { table = { [1] = 1, x = 2 } }, { table = { 1, nil, 3 } },
                           { table = { x = 0 / 0 } }, { table = { x = math.huge } }, { ["a\0"] = 1 },
                           { table = { [1.5] = 1 } }, { table = setmetatable({}, { __index = print }), x = print } } do
      assert.error(function() policy:decide(bad, { now = NOW }) end)
    end
    assert.error(function() policy.decide({}, facts(), { now = NOW }) end)
    assert.error(function() policy.name(ebb) end)
    assert.error(function() ebb.policy.load() end)
  end)

  it("is closed by its end", function()
    local kept
    do
      local policy <close> = assert(ebb.policy.load(ON_EVENT))
      kept = policy
    end
    assert.error(function() kept:name() end)
  end)
end)
