-- SPDX-License-Identifier: Apache-2.0
local ebb = require "ebb"
local cases = require "cases"

local function instant(text)
  return assert(ebb.time.parse((text:gsub("T(%d%d:%d%d)Z$", "T%1:00Z"))))
end

local function code(...)
  local got, err = ebb.schedule.next(...)
  assert.is_nil(got)
  return err.code
end

describe("ebb.schedule.next", function()
  for _, row in cases.rows "schedule.tsv" do
    it(row.id .. " " .. row.trigger, function()
      local got = {}
      local fires = assert(ebb.schedule.next(row.trigger, instant(row.from), math.tointeger(row.n), row.guard))
      for i, fire in ipairs(fires) do got[i] = ebb.time.format(fire.fires) end
      assert.same(cases.json(row.fires), got)
    end)
  end

  it("is strictly after the instant", function()
    local first = ebb.schedule.next('time.calendar { "02:00" }', 0, 1)[1]
    assert.same({ nominal = 7200000, fires = 7200000, why = "" }, first)
    assert.equal(7200000 + 86400000, ebb.schedule.next('time.calendar { "02:00" }', 7200000, 1)[1].fires)
    assert.same({}, ebb.schedule.next('time.calendar { "02:00" }', 0, 0))
  end)

  it("reads options and blanks", function()
    local text = "time.calendar{'02:00',tz='UTC',catch_up=\"all\", max = 3, late_by='5h',\n}"
    assert.equal(7200000, ebb.schedule.next(text, 0, 1)[1].fires)
  end)

  it("refuses bad texts", function()
    for _, text in ipairs {
      "", "time", "time.", "time.calendars { '02:00' }", "cron { '0 2 * * *' }", "time.cron { }", "time.cron { '0 2 * * *'",
      "time.cron { '0 2 * * *' } x", "time.cron { '0 2 * * * }", "time.cron { \"0 2\\n\" }", "time.cron { '61 2 * * *' }",
      "time.calendar { 'Sun 02:00' tz = 'UTC' }", "time.calendar { 'Sun 02:00', zone = 'UTC' }",
      "time.calendar { 'Sun 02:00', tz }", "time.calendar { 'Sun 02:00', tz = UTC }", "time.calendar { 'x' }",
      "time.calendar { 'Sun 02:00', anchor = 'epoch' }", "time.every { '2h' }", "time.every { '2h', anchor = 'noon' }",
      "time.every { '2h', anchor = 'epoch', tz = 'UTC' }", "time.calendar { 'Sun 02:00', catch_up = 'some' }",
      "time.calendar { '" .. ("x"):rep(1000) .. "' }", "time.calendar { 'Sun 02:00' }\0",
    } do
      assert.equal("schedule.invalid", code(text, 0, 1), text)
    end
    for _, text in ipairs {
      "time.calendar { 'Sun 02:00', tz = 'EST' }", "time.calendar { 'Sun 02:00', late_by = '5' }",
      "time.calendar { '02:00' }, time.calendar { '03:00' }", "on.count { 'snapshot.committed', n = 5 }",
      "time.every { '30s', anchor = 'epoch' }", "}, x = {", "while true do end",
    } do
      assert.equal("schedule.invalid", code(text, 0, 1), text)
    end
  end)

  it("refuses bad guards", function()
    for _, guard in ipairs {
      "quiet = 5", "quiets = {}", "quiet = { { from = '25:00', to = '01:00' } }", "quiet = { { from = '02:00', to = '02:00' } }",
      "quiet = { { from = '00:00', to = '00:00' } }", "min_interval = '5'", "}, decide = 5, x = {", "quiet\0",
    } do
      assert.equal("schedule.invalid", code("time.calendar { 'Sun 02:00' }", 0, 1, guard), guard)
    end
  end)

  it("tells why a fire is not at its nominal time", function()
    local gap = ebb.schedule.next('time.calendar { "Sun 02:00", tz = "Europe/Berlin" }', instant "2026-03-28T00:00:00Z", 1)[1]
    assert.same({ fires = instant "2026-03-29T01:00:00Z", why = "gap" }, gap)
    local twice = ebb.schedule.next('time.calendar { "Sun 02:00", tz = "Europe/Berlin" }', instant "2026-10-24T00:00:00Z", 1)[1]
    assert.equal("overlap", twice.why)
    local guard = 'min_interval = "24h", quiet = { { from = "01:00", to = "03:00" } }'
    local held = ebb.schedule.next('time.calendar { "02:00" }', 0, 2, guard)
    assert.same({ nominal = 7200000, fires = 10800000, why = "quiet" }, held[1])
    assert.same({ nominal = 7200000 + 86400000, fires = 10800000 + 86400000, why = "quiet, min_interval" }, held[2])
  end)

  it("raises on wrong arguments", function()
    assert.error(function() ebb.schedule.next("time.calendar { 'Sun 02:00' }") end)
    assert.error(function() ebb.schedule.next("time.calendar { 'Sun 02:00' }", "0", 1) end)
    assert.error(function() ebb.schedule.next("time.calendar { 'Sun 02:00' }", 0, -1) end)
    assert.error(function() ebb.schedule.next("time.calendar { 'Sun 02:00' }", 0, 1 << 40) end)
    assert.error(function() ebb.schedule.next({}, 0, 1) end)
  end)
end)
