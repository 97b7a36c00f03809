-- SPDX-License-Identifier: Apache-2.0
local ebb = require "ebb"
local cases = require "cases"

local function check(cell, got, err)
  if cell == "error" then
    assert.is_nil(got)
    assert.equal("sql.invalid", err.code)
  else
    assert.equal(cases.json(cell), got)
  end
end

describe("ebb.sql", function()
  for _, row in cases.rows "sql_literals.tsv" do
    it("quotes " .. row.dialect .. " " .. row.value, function()
      check(row.literal, ebb.sql.literal(row.dialect, cases.json(row.value)))
    end)
  end

  for _, row in cases.rows "identifiers.tsv" do
    it("names " .. row.dialect .. " " .. row.parts, function()
      check(row.text, ebb.sql.identifier(row.dialect, cases.json(row.parts)))
    end)
  end

  it("calls Spark", function()
    assert.equal("CALL `spark_catalog`.system.remove_orphan_files(table => '`spark_catalog`.`db-1`.`t-2`', "
        .. "older_than => TIMESTAMP '2026-01-07 12:00:00Z', location => 's3://lake/d\\'eau', dry_run => true)",
      ebb.sql.call("spark", "remove_orphan_files", "spark_catalog", {
        table = { "spark_catalog", "db-1", "t-2" },
        older_than = 1767787200500,
        location = "s3://lake/d'eau",
        dry_run = true,
      }))
    assert.equal("CALL `lake`.system.expire_snapshots(table => '`lake`.`s`.`t`', "
        .. "older_than => TIMESTAMP '2026-01-07 12:00:00Z', retain_last => 5)",
      ebb.sql.call("spark", "expire_snapshots", "lake",
        { table = { "lake", "s", "t" }, older_than = "2026-01-07 12:00:00", retain_last = 5 }))
  end)

  it("executes in Trino, durations never shortened", function()
    local function retention(value)
      return ebb.sql.call("trino", "remove_orphan_files", "lake",
        { table = { "lake", "shop", 'or"ders' }, retention_threshold = value })
    end
    local head = 'ALTER TABLE "lake"."shop"."or""ders" EXECUTE remove_orphan_files(retention_threshold => '
    assert.equal(head .. "'47h')", retention "47h")
    assert.equal(head .. "'30m')", retention "30m")
    assert.equal(head .. "'90s')", retention "90s")
    assert.equal(head .. "'2d')", retention(48 * 3600 * 1000))
    assert.equal(head .. "'1s')", retention(1))
  end)

  it("refuses what an engine can not honour", function()
    local t = { "lake", "shop", "orders" }
    local function code(...)
      local got, err = ebb.sql.call(...)
      assert.is_nil(got)
      return err.code
    end
    for _, option in ipairs { "location", "dry_run", "prefix_mismatch_mode", "equal_schemes" } do
      assert.equal("unsupported",
        code("trino", "remove_orphan_files", "lake", { table = t, retention_threshold = "7d", [option] = "x" }))
    end
    assert.equal("unsupported", code("spark", "remove_orphan_files", "lake", { table = t, equal_schemes = {} }))
    assert.equal("sql.invalid", code("spark", "remove_orphan_files", "lake", {}))
    assert.equal("sql.invalid", code("spark", "remove_orphan_files", "other", { table = t }))
    assert.equal("sql.invalid", code("spark", "remove_orphan_files", "lake", { table = { "lake", "orders" } }))
    assert.equal("sql.invalid", code("spark", "remove(", "lake", { table = t }))
    assert.equal("sql.invalid", code("spark", "a\0", "lake", { table = t }))
    assert.equal("sql.invalid", code("spark", "x", "lake", { table = t, location = "a\0" }))
    assert.equal("sql.invalid", code("spark", "x", "lake", { table = t, location = "\xFF" }))
    assert.equal("sql.invalid", code("spark", "x", "lake", { table = t, retain_last = 1 << 40 }))
    assert.equal("time.invalid", code("spark", "x", "lake", { table = t, older_than = "now-3d" }))
    assert.equal("sql.invalid", code("trino", "x", "lake", { table = t, retention_threshold = -1 }))
    assert.equal("time.invalid", code("trino", "x", "lake", { table = t, retention_threshold = "7" }))
  end)

  it("raises on wrong arguments", function()
    local t = { "lake", "shop", "orders" }
    assert.error(function() ebb.sql.literal("mysql", "x") end)
    assert.error(function() ebb.sql.literal("spark_arg", "x") end)
    assert.error(function() ebb.sql.literal("spark", 1) end)
    assert.error(function() ebb.sql.literal(nil, "x") end)
    assert.error(function() ebb.sql.identifier("spark", "x") end)
    assert.error(function() ebb.sql.identifier("spark", { "a", 1 }) end)
    assert.error(function() ebb.sql.call("spark", "x", "lake") end)
    assert.error(function() ebb.sql.call("spark", "x", "lake", { t }) end)
    assert.error(function() ebb.sql.call("spark", "x", "lake", { table = "lake.shop.orders" }) end)
    assert.error(function() ebb.sql.call("spark", "x", "lake", { table = t, dry_run = "true" }) end)
    assert.error(function() ebb.sql.call("spark", "x", "lake", { table = t, older_than = 0.5 }) end)
    assert.error(function() ebb.sql.call("trino", "x", "lake", { table = t }) end)
  end)
end)
