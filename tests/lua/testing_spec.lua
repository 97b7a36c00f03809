-- SPDX-License-Identifier: Apache-2.0
local ebb = require "ebb.testing"

local ON_EVENT = "policies/examples/orphans_on_event.lua"
local CLICKS = "tests/fixtures/facts/clicks.json"

local function open(options)
  options = options or {}
  options.policy, options.fixture = options.policy or ON_EVENT, options.fixture or CLICKS
  local s = ebb.session(options)
  s:at "2026-03-29T00:00:00Z"
  return s
end

local function fails(f, ...)
  local ok, err = pcall(f, ...)
  assert.is_false(ok)
  return tostring(err)
end

describe("ebb.testing", function()
  it("counts in milliseconds", function()
    assert.equal(1774742400000, ebb.at "2026-03-29T00:00:00Z")
    assert.equal(60000, ebb.minutes(1))
    assert.equal(5400000, ebb.hours(1.5))
    assert.equal(259200000, ebb.days(3))
    assert.equal("integer", math.type(ebb.hours(1.5)))
    assert.error(function() ebb.at "tomorrow" end)
    assert.error(function() ebb.days(1e-9) end)
  end)

  it("moves the clock and keeps what was decided", function()
    local s = open()
    assert.equal(ebb.at "2026-03-29T00:00:00Z", s:now())
    assert.is_nil(s:step "1h")
    assert.equal(ebb.at "2026-03-29T01:00:00Z", s:now())
    assert.equal("e-s1", s:event { "commit.failed", files_written = 212 }:gsub("%d+$", "1"))
    local d = s:step(3600000)
    assert.equal(1, #s.decisions)
    assert.equal(d, s.decisions[1])
    assert.equal(ebb.at "2026-03-29T01:10:00Z", d.now)
    assert.equal("policy", d.by)
    assert.equal("event", d.trigger.kind)
    assert.equal("orphans-on-event", d.policy)
    assert.equal("prod.events.clicks", d.table)
    assert.equal("observe", d.mode)
    assert.is_nil(d.action)
    assert.truthy(d.why:find("ripen", 1, true))
    assert.equal(3, #d.checks)
    assert.equal("guard.target", d.guards[1].n)
    assert.same({ "leftovers_are_ripe", "many_new_snapshots" }, d:failing())
  end)

  it("starts at what the fixture knows, unless told otherwise", function()
    assert.equal(1774742400000, ebb.session { policy = ON_EVENT, fixture = CLICKS }:now())
    assert.equal(5, ebb.session { policy = ON_EVENT, fixture = CLICKS, now = 5 }:now())
  end)

  it("overrides parameters", function()
    local s = open { params = { every_n = 50 } }
    s:commits(50)
    assert.verdict(s:decide(), { "run" })
    assert.truthy(fails(open, { params = { every_n = 1 } }):find("every_n", 1, true))
  end)

  it("takes what a binding may add", function()
    local s = open { bind = { blackouts = { "2026-03-29" }, blackout_tz = "Europe/Berlin" } }
    s:commits(500)
    assert.equal("defer", s:decide().verdict)
    s:at "2026-03-29T22:00:00Z" -- midnight in Berlin
    s:commits(500)
    assert.verdict(s:decide(), { "run" })
    s = open { bind = { guard = { min_interval = "5d" } } }
    s:commits(500)
    assert.verdict(s:step "1m", { "run" })
    s:commits(500)
    assert.verdict(s:step "1d", { "defer", by = "guard.min_interval", until_ = ebb.at "2026-04-03T00:00:00Z" })
    assert.error(function() open { bind = { guard = { min_intervall = "5d" } } } end)
  end)

  it("runs until the job ends", function()
    local s = open { mode = "enforce" }
    assert.truthy(fails(s.finish, s, "success"):find("run.wrong_state", 1, true))
    s:commits(500)
    assert.verdict(s:manual(), { "run" })
    s:commits(500)
    assert.verdict(s:decide(), { "defer", by = "guard.overlap" })
    s:finish "failed"
    assert.verdict(s:decide(), { "run" })
    assert.error(function() s:finish "somehow" end)
  end)

  it("sleeps, pauses and lets the wall clock jump", function()
    local s = open()
    s:pause()
    s:commits(500)
    assert.is_nil(s:step "1h")
    assert.verdict(s:resume(), { "run" })
    s = open()
    s:commits(500)
    assert.verdict(s:asleep "2d", { "run" })
    s = open()
    s:clock_step "-1h"
    assert.equal(ebb.at "2026-03-28T23:00:00Z", s:now())
  end)

  it("takes another revision of the policy", function()
    local s = open()
    local file = os.tmpname() .. ".lua"
    local f = assert(io.open(file, "w"))
    local text = assert(io.open(ON_EVENT)):read "a"
    f:write((text:gsub("default = 500", "default = 60")))
    f:close()
    s:commits(60)
    assert.verdict(s:decide(), { "skip" })
    assert.verdict(s:reload(file), { "run" }) -- enough commits for this one
    os.remove(file)
  end)

  it("sets what may be known", function()
    local s = open { policy = "tests/lua/policies/echo.lua", bind = { allow_below_floor = true } }
    assert.verdict(s:decide(), { "run" })
    s:set("current_snapshot", nil)
    assert.verdict(s:decide(), { "skip", failing = { "snapshot" } })
    s:set("properties", { explode = "yes" })
    local d = s:decide()
    assert.equal("error", d.verdict)
    assert.equal("policy.error", d.error.code)
    assert.truthy(d.error.message:find("it was asked to", 1, true))
    assert.truthy(tostring(d):find("policy.error", 1, true))
    assert.error(function() s:set("flags", print) end)
  end)

  it("knows policies by their names", function()
    local s = ebb.session { policy = "policies/echo.lua", fixture = { table = {} } }
    assert.equal("echo", s.policy)
    assert.truthy(fails(ebb.session, { policy = "no-such-policy" }):find("no-such-policy", 1, true))
    assert.truthy(fails(ebb.session, { policy = "no_such.lua" }):find("no such policy file", 1, true))
    assert.truthy(fails(ebb.session, { policy = "module_spec.lua" }):find("policy.", 1, true))
    assert.truthy(fails(ebb.session, { policy = ON_EVENT, fixture = "none.json" }):find("no such fixture", 1, true))
    assert.truthy(fails(ebb.session, { policy = ON_EVENT, fixtures = {} }):find("unknown option 'fixtures'", 1, true))
    assert.truthy(fails(ebb.session, { policy = ON_EVENT, bind = { moed = 1 } }):find("unknown option 'moed'", 1, true))
    assert.truthy(fails(ebb.session, { policy = ON_EVENT, mode = "force" }):find("observe, approve or enforce", 1, true))
    assert.error(function() ebb.session {} end)
  end)

  it("says what was got", function()
    local s = open()
    local said = fails(assert.verdict, s:decide(), { "run", by = "policy", until_ = ebb.at "2026-04-01T00:00:00Z" })
    assert.truthy(said:find("want run by policy until 2026-04-01T00:00:00Z, got skip by policy because", 1, true), said)
    assert.truthy(said:find("many_new_snapshots  false    0 >= 500", 1, true), said)
    assert.truthy(said:find("guard.min_interval", 1, true), said)
    assert.truthy(fails(assert.verdict, nil, { "run" }):find("want run, got no decision", 1, true))
    assert.truthy(fails(assert.verdict, s:decide(), { "skip", bye = 1 }):find("unknown field 'bye'", 1, true))
    assert.error(function() assert.verdict(s:decide(), "skip") end)
    assert.is_not.verdict(s:decide(), { "run" })
  end)

  it("compares explanations", function()
    local s = open()
    assert.truthy(fails(ebb.golden, s:decide(), "none"):find("--update-golden", 1, true))
    assert.truthy(fails(ebb.golden, s:decide(), "../none"):find("a name of letters", 1, true))
    assert.truthy(fails(ebb.golden, nil, "none"):find("no decision", 1, true))
    assert.equal("  a\n- b\n+ x\n  c\n+ d", require "ebb.explain".diff("a\nb\nc\n", "a\nx\nc\nd\n"))
    assert.equal("", require "ebb.explain".diff("", ""))
    assert.is_nil(ebb.explain(s:decide()):find("gas", 1, true))
  end)

  it("makes the same histories from the same seed", function()
    local function told(seed)
      local list = {}
      for d, run in ebb.histories { runs = 12, seed = seed, policy = ON_EVENT, fixture = CLICKS } do
        list[#list + 1] = run .. " " .. ebb.explain(d)
      end
      return list
    end
    local first = told(1)
    assert.is_true(#first > 12)
    assert.same(first, told(1))
    assert.are_not.same(first, told(2))
    assert.error(function() ebb.histories { run = 1 } end)
  end)

  it("knows which lines can be executed", function()
    local lines = require "ebb.coverage".executable [[
local function f(x)
  if x then
    return g(x,
      1)
  end
  return 2
end
return f
]]
    local list = {}
    for line in pairs(lines) do list[#list + 1] = line end
    table.sort(list)
    assert.same({ 2, 3, 4, 6 }, list)
    assert.is_nil(require "ebb.coverage".executable "x = = 1")
  end)
end)

describe("ebb.session", function()
  local world = require "ebb.session"

  it("raises on wrong arguments", function()
    local s = world.new(0)
    assert.error(function() world.new() end)
    assert.error(function() world.new(1.5) end)
    assert.error(function() s:step "1h" end)
    assert.error(function() s:event(1, { type = "x" }) end) -- there is no table
    assert.error(function() s:bind({}) end)
    assert.error(function() world.matches("(", "x") end)
    assert.error(function() s.step({}, 1) end)
    local n, err = s:add "no_such.json"
    assert.is_nil(n)
    assert.equal("io.not_found", err.code)
    s, err = world.files "no/such/folder"
    assert.is_nil(s)
    assert.equal("config.invalid", err.code)
  end)

  it("copies plain data without loss", function()
    local json = require "dkjson"
    local value = { n = math.maxinteger, m = math.mininteger, f = 0.1, s = "a\0\"\xc3\xa9", t = true,
                    list = { 1, { x = { 2 } }, "3" } }
    assert.same(value, json.decode(world.json(value)))
    assert.equal("{}", world.json {})
    local deep = {}
    for _ = 1, 29 do deep = { deep } end
    assert.equal(29, select(2, world.json(deep):gsub("%[", "")))
    for _ = 1, 3 do deep = { deep } end
    assert.error(function() world.json(deep) end)
  end)

  it("is closed by its end", function()
    local kept
    do
      local s <close> = world.new(0)
      kept = s
    end
    assert.error(function() kept:now() end)
  end)

  it("outlives neither policies nor their closing", function()
    local lib = require "ebb"
    local s = world.new(ebb.at "2026-03-29T00:00:00Z")
    assert(s:add(CLICKS))
    do
      local policy <close> = assert(lib.policy.load(ON_EVENT))
      assert(s:bind(policy, {}))
    end
    collectgarbage()
    assert.equal("skip", assert(s:decide(1, "orphans-on-event")).verdict)
    assert(s:bind(assert(lib.policy.load(ON_EVENT)), { mode = "enforce" }))
    collectgarbage()
    assert.equal("enforce", assert(s:decide(1, "orphans-on-event")).record.mode)
  end)
end)
