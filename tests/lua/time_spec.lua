-- SPDX-License-Identifier: Apache-2.0
local ebb = require "ebb"
local cases = require "cases"

describe("ebb.time", function()
  for _, row in cases.rows "timestamps.tsv" do
    it("parses " .. row.text .. " in " .. row.zone, function()
      local got, err = ebb.time.parse(cases.json(row.text), cases.json(row.zone))
      if row.epoch_ms == "error" then
        assert.is_nil(got)
        assert.equal("time.invalid", err.code)
      else
        assert.equal(math.tointeger(row.epoch_ms), got)
        assert.equal("integer", math.type(got))
      end
    end)
  end

  it("needs no zone when the text has one", function()
    assert.equal(0, ebb.time.parse("1970-01-01T00:00:00Z"))
    assert.is_nil((ebb.time.parse("1970-01-01T00:00:00")))
    assert.is_nil((ebb.time.parse("1970-01-01T00:00:00Z\0")))
    assert.is_nil((ebb.time.parse("1970-01-01T00:00:00", "UTC\0")))
  end)

  it("formats", function()
    assert.equal("2026-01-10T00:00:00Z", ebb.time.format(1768003200000))
    assert.equal("2026-01-10T00:00:00Z", ebb.time.format(1768003200000, "iso"))
    assert.equal("2026-01-10T00:00:00.500Z", ebb.time.format(1768003200500, "iso"))
    assert.equal("2026-01-10 00:00:00", ebb.time.format(1768003200999, "sql"))
    assert.equal("1969-12-31 23:59:59", ebb.time.format(-1, "sql"))
  end)

  it("formats what it parses", function()
    for _, ms in ipairs { 0, -1, 1768048496789, 951782400000, 253402300799000 } do
      assert.equal(ms, ebb.time.parse(ebb.time.format(ms)))
    end
  end)

  it("raises on wrong arguments", function()
    assert.error(function() ebb.time.parse(0) end)
    assert.error(function() ebb.time.parse("1970-01-01T00:00:00Z", 1) end)
    assert.error(function() ebb.time.format("0") end)
    assert.error(function() ebb.time.format(0.5) end)
    assert.error(function() ebb.time.format(0, "rfc") end)
  end)
end)

describe("ebb.duration and ebb.size", function()
  it("read text", function()
    assert.equal(5 * 86400000, ebb.duration "5d")
    assert.equal(5400000, ebb.duration "1h30m")
    assert.equal(0, ebb.duration "0d")
    assert.equal(1 << 30, ebb.size "1GiB")
    assert.equal(500000000, ebb.size "500MB")
    assert.equal(0, ebb.size "0B")
  end)

  it("refuse other text", function()
    for _, text in ipairs { "", "0", "5", "-1d", "1x", " 1d", "1d ", "1d\0", "999999999999999999d" } do
      local got, err = ebb.duration(text)
      assert.is_nil(got)
      assert.equal("time.invalid", err.code)
    end
    for _, text in ipairs { "", "GiB", "-1B", "1XB", "1B\0", "99999999999PB" } do
      assert.is_nil((ebb.size(text)))
    end
  end)

  it("raise on wrong arguments", function()
    assert.error(function() ebb.duration(5) end)
    assert.error(function() ebb.size(5) end)
  end)
end)
