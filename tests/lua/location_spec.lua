-- SPDX-License-Identifier: Apache-2.0
local ebb = require "ebb"
local cases = require "cases"

describe("ebb.location", function()
  for _, row in cases.rows "normalise.tsv" do
    it("normalises " .. row.input, function()
      local got, err = ebb.location.normalise(cases.json(row.input))
      if row.result == "error" then
        assert.is_nil(got)
        assert.equal("location.invalid", err.code)
      else
        assert.equal(cases.json(row.result), got)
      end
    end)
  end

  for _, row in cases.rows "locations.tsv" do
    it("relates " .. row.valid .. " and " .. row.actual .. " " .. row.options, function()
      local got, err = ebb.location.relation(cases.json(row.valid), cases.json(row.actual), cases.json(row.options))
      if row.relation == "error" then
        assert.is_nil(got)
        assert.equal("location.invalid", err.code)
      else
        assert.equal(row.relation, got)
      end
    end)
  end

  for _, row in cases.rows "hidden.tsv" do
    it("judges " .. row.path .. " with " .. row.partition_fields, function()
      local hidden = ebb.location.is_hidden(cases.json(row.path), cases.json(row.partition_fields))
      assert.equal(row.verdict == "hidden", hidden)
    end)
  end

  it("refuses NUL", function()
    local got, err = ebb.location.normalise("s3://b/a\0b")
    assert.is_nil(got)
    assert.equal("location.invalid", err.code)
    assert.is_nil((ebb.location.relation("s3://b\0", "s3://b")))
    assert.is_nil((ebb.location.relation("s3://b", "s3://b\0")))
    assert.is_nil((ebb.location.relation("s3://b", "s3://b", { equal_schemes = { ["a\0"] = "b" } })))
  end)

  it("keeps bytes that are not UTF-8", function()
    assert.equal("s3://lake/\xFF/x", ebb.location.normalise("s3://lake//\xFF/x/"))
  end)

  it("has options that may be missing", function()
    assert.equal("inside", ebb.location.relation("s3://lake", "s3n://lake/x"))
    assert.equal("inside", ebb.location.relation("s3://lake", "s3n://lake/x", nil))
    assert.is_true(ebb.location.is_hidden("_x"))
  end)

  it("raises on wrong arguments", function()
    assert.error(function() ebb.location.normalise() end)
    assert.error(function() ebb.location.normalise(7) end)
    assert.error(function() ebb.location.relation("/a") end)
    assert.error(function() ebb.location.relation({}, "/a") end)
    assert.error(function() ebb.location.relation("/a", "/a", { equal_shemes = {} }) end)
    assert.error(function() ebb.location.relation("/a", "/a", { "equal_schemes" }) end)
    assert.error(function() ebb.location.relation("/a", "/a", { equal_schemes = "gs" }) end)
    assert.error(function() ebb.location.relation("/a", "/a", { equal_schemes = { gs = 1 } }) end)
    assert.error(function() ebb.location.relation("/a", "/a", { equal_schemes = { "gs" } }) end)
    assert.error(function() ebb.location.is_hidden("a", "b") end)
    assert.error(function() ebb.location.is_hidden("a", { 1 }) end)
  end)
end)
