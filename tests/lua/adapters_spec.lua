-- SPDX-License-Identifier: Apache-2.0
local ebb = require "ebb"

local function contains(outer, inner)
  if inner:find("..", 1, true) then
    return nil, "climbs"
  end
  return inner == outer or inner:sub(1, #outer + 1) == outer .. "/"
end

-- What scripts are given: the check of a location itself has its own tests.
local HELPERS = {
  time = ebb.time,
  location = { check = function() return true end, contains = contains },
}

-- Scripts as the program loads them: each gets the helpers and a way to take others.
local loaded = {}
local function import(name)
  if loaded[name] == nil then
    loaded[name] = assert(loadfile("scripts/" .. name:gsub("%.", "/") .. ".lua"))(HELPERS, import)
  end
  return loaded[name]
end

local NOW = ebb.time.parse "2026-06-10T12:00:00Z"
local OLD = ebb.time.parse "2026-06-01T00:00:00Z"

local function context(more)
  local out = {
    catalog = "lake", namespace = "shop.eu", name = "orders", table_location = "s3://lake/shop/orders",
    older_than = OLD, now = NOW, dry_run = true,
  }
  for k, v in pairs(more or {}) do out[k] = v end
  return out
end

local function spec(engine, more)
  return import("adapters." .. engine).spec(context(more), HELPERS)
end

local function code(engine, more)
  local good, err = pcall(spec, engine, more)
  assert.is_false(good)
  return err.code
end

describe("adapters", function()
  it("native is the job that ebb itself does", function()
    local got = spec "native"
    assert.equal("builtin-iceberg-remove-orphan-files", got.template)
    assert.equal("2026-06-01 00:00:00", got.config.older_than)
    assert.equal("shop.eu.orders", got.config.table_identifier)
    assert.equal("true", got.config.dry_run)
  end)

  it("spark gives a statement as data", function()
    assert.same({
      template = "spark-sql", version = 1, dialect = "spark", column = "orphan_file_location",
      statement = { procedure = "remove_orphan_files", catalog = "lake", table = { "lake", "shop", "eu", "orders" },
                    older_than = OLD, dry_run = true },
    }, spec "spark")
    assert.equal("s3://lake/shop/orders/data", spec("spark", { location = "s3://lake/shop/orders/data" }).statement.location)
    assert.is_false(spec("spark", { dry_run = false }).statement.dry_run)
  end)

  it("livy gives the same to a batch", function()
    local a, b = spec "spark", spec "livy"
    assert.same(a.statement, b.statement)
    assert.equal("livy-batch", b.template)
  end)

  it("trino takes an age", function()
    local got = spec("trino", { dry_run = false })
    assert.equal("trino", got.dialect)
    assert.same({ procedure = "remove_orphan_files", table = { "lake", "shop", "eu", "orders" },
                  retention_threshold = NOW - OLD }, got.statement)
  end)

  it("gravitino gets ebb's own job, with a value for each placeholder", function()
    local got = spec("gravitino", { template = "ebb-remove-orphan-files", dry_run = false })
    assert.same({
      template = "ebb-remove-orphan-files", version = 1,
      config = { catalog_name = "lake", table_identifier = "shop.eu.orders", older_than = "2026-06-01 00:00:00",
                 location = "", dry_run = "false" },
    }, got)
    assert.equal("s3://lake/shop/orders/data",
      spec("gravitino", { template = "x", location = "s3://lake/shop/orders/data" }).config.location)
    assert.equal("true", spec("gravitino", { template = "x" }).config.dry_run)
  end)

  it("refuses what can't be told to a Gravitino server", function()
    assert.equal("unsupported", code("gravitino", { options = { keep = { "a" } } }))
    assert.equal("unsupported", code("gravitino", { options = { prefix_mismatch = "delete" } }))
    assert.equal("location.outside_table", code("gravitino", { location = "s3://lake/other" }))
    assert.equal("cutoff.below_floor", code("gravitino", { older_than = NOW - 1000 }))
    assert.equal("cutoff.future", code("gravitino", { older_than = NOW + 1 }))
  end)

  it("refuses what Trino can't do", function()
    assert.equal("unsupported", code("trino", { dry_run = true }))
    assert.equal("unsupported", code("trino", { dry_run = false, location = "s3://lake/shop/orders/data" }))
    assert.equal("sql.invalid", code("trino", { dry_run = false, name = "orders$files" }))
    assert.equal("sql.invalid", code("trino", { dry_run = false, name = "Orders" }))
  end)

  for _, engine in ipairs { "spark", "livy", "trino" } do
    it("keeps the floor for " .. engine, function()
      local dry = engine ~= "trino"
      local day = 24 * 3600 * 1000
      assert.equal("cutoff.below_floor", code(engine, { dry_run = dry, older_than = NOW - day + 1 }))
      assert.is_table(spec(engine, { dry_run = dry, older_than = NOW - day }))
      assert.equal("cutoff.future", code(engine, { dry_run = dry, older_than = NOW + 1 }))
      assert.equal("config.invalid", code(engine, { dry_run = dry, older_than = "2026-06-01" }))
    end)

    it("refuses options that only ebb honours, for " .. engine, function()
      local dry = engine ~= "trino"
      for _, options in ipairs { { keep = { "*.keep" } }, { equal_schemes = { gs = "s3" } }, { equal_authorities = { a = "b" } },
                                 { prefix_mismatch = "delete" } } do
        assert.equal("unsupported", code(engine, { dry_run = dry, options = options }))
      end
      assert.is_table(spec(engine, { dry_run = dry, options = { keep = {}, prefix_mismatch = "error" } }))
    end)

    it("refuses an empty level of a namespace for " .. engine, function()
      assert.equal("sql.invalid", code(engine, { dry_run = engine ~= "trino", namespace = "shop..eu" }))
    end)
  end

  it("proves the location again", function()
    for _, engine in ipairs { "native", "spark", "livy" } do
      assert.equal("location.outside_table", code(engine, { location = "s3://lake/shop/orders2" }))
      assert.equal("location.outside_table", code(engine, { location = "s3://lake/shop/orders/../orders2" }))
    end
  end)
end)
