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
    if row.guard == "-" then
      it(row.id .. " " .. row.trigger, function()
        local got = {}
        local fires = assert(ebb.schedule.next(row.trigger, instant(row.from), math.tointeger(row.n), row.guard))
        for i, fire in ipairs(fires) do got[i] = ebb.time.format(fire.fires) end
        assert.same(cases.json(row.fires), got)
      end)
    end
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
    assert.equal("time.invalid", code("time.calendar { 'Sun 02:00', tz = 'EST' }", 0, 1))
    assert.equal("time.invalid", code("time.calendar { 'Sun 02:00', late_by = '5' }", 0, 1))
    assert.equal("unsupported", code("time.calendar { 'Sun 02:00', spread = '3h' }", 0, 1))
    assert.equal("unsupported", code("time.every { '2h', anchor = 'last_end' }", 0, 1))
    assert.equal("unsupported", code("time.calendar { 'Sun 02:00' }", 0, 1, "quiet = {}"))
  end)

  it("raises on wrong arguments", function()
    assert.error(function() ebb.schedule.next("time.calendar { 'Sun 02:00' }") end)
    assert.error(function() ebb.schedule.next("time.calendar { 'Sun 02:00' }", "0", 1) end)
    assert.error(function() ebb.schedule.next("time.calendar { 'Sun 02:00' }", 0, -1) end)
    assert.error(function() ebb.schedule.next("time.calendar { 'Sun 02:00' }", 0, 1 << 40) end)
    assert.error(function() ebb.schedule.next({}, 0, 1) end)
  end)
end)
