-- SPDX-License-Identifier: Apache-2.0
-- A real table, unpacked anew for each test; what is right stands in the file beside its archive.
local ebb = require "ebb"
local json = require "dkjson" -- busted has it

local TABLES = "tests/fixtures/tables/"
local SHELL = "unset LD_PRELOAD; " -- what the interpreter needs is not for others
local OLDER = "2026-06-01T00:00:00Z"

local function read(command)
  local f = assert(io.popen(SHELL .. command, "r"))
  local text = f:read "a"
  f:close()
  return text
end

local function run(command)
  assert(os.execute(SHELL .. command), command)
end

local function length(map)
  local n = 0
  for _ in pairs(map) do n = n + 1 end
  return n
end

local function exists(file)
  local f = io.open(file, "rb")
  if f then f:close() end
  return f ~= nil
end

describe("a table", function()
  local truth, dir, folder, options

  setup(function()
    truth = json.decode(read("zcat " .. TABLES .. "c01-v1-basic.truth.json.gz"))
  end)

  before_each(function()
    dir = read("mktemp -d"):gsub("%s+$", "")
    run("tar -xzf " .. TABLES .. "c01-v1-basic.tar.gz -C " .. dir)
    folder = dir .. "/wh/c01-v1-basic/db/t"
    options = { config = false, state = dir .. "/state", map = { ["file:/ebb"] = dir } }
  end)

  after_each(function()
    run("rm -rf " .. dir)
  end)

  -- The options and more.
  local function with(more)
    local all = {}
    for key, value in pairs(options) do all[key] = value end
    for key, value in pairs(more) do all[key] = value end
    return all
  end

  local function local_path(uri)
    return dir .. uri:match "/ebb(/.*)$"
  end

  local function files()
    local set = {}
    for name in read("cd " .. folder .. " && find . -type f"):gmatch "[^\n]+" do set[name] = true end
    return set
  end

  it("tells what it is", function()
    local t <close> = assert(ebb.table.open(folder, options))
    local m = t:metadata()
    assert.equal(truth.tables[1].uuid, m.uuid)
    assert.equal(truth.tables[1].location, m.location)
    assert.equal(truth.tables[1].format_version, m.format_version)
    assert.equal(truth.tables[1].snapshots, #m.snapshots)
    assert.equal("integer", math.type(m.current_snapshot.id))
    assert.is_nil(m.stats)
  end)

  it("names everything that it holds", function()
    local t = assert(ebb.table.open(folder, options))
    local seen, kinds = {}, {}
    for path, kind in assert(t:reachable()) do
      seen[path] = true
      kinds[kind] = (kinds[kind] or 0) + 1
    end
    local reachable = truth.tables[1].reachable
    for _, kind in ipairs { "metadata_log", "manifest_lists", "manifests", "data_files", "version_hint" } do
      for _, path in ipairs(reachable[kind]) do assert.is_true(seen[path], path) end
    end
    assert.is_true(length(seen) >= truth.tables[1].reachable_count)
    assert.is_true(kinds.data > 0 and kinds.manifest > 0 and kinds.manifest_list > 0 and kinds.metadata > 0)
  end)

  it("counts its files", function()
    local t = assert(ebb.table.open(folder, options))
    local stats, partitions = assert(t:stats()), assert(t:partitions())
    assert.equal(truth.tables[1].snapshots, stats.snapshots)
    local sum = 0
    for _, p in ipairs(partitions) do sum = sum + p.files end
    assert.equal(stats.data_files, sum)
    assert.is_true(sum > 0)
  end)

  it("needs no state folder to be read", function()
    local t = assert(ebb.table.open(folder, { config = false, map = options.map }))
    assert.is_true(assert(t:stats()).data_files > 0)
  end)

  it("is planned, swept and restored", function()
    local t = assert(ebb.table.open(folder, options))
    local before = files()
    local plan = assert(ebb.plan(t, { older_than = OLDER, max_files = 1 }))
    local orphans = truth.tables[1].safe.orphans
    assert.equal(#orphans, plan.candidates)
    assert.equal("held", plan.status)
    assert.same({ "max_files" }, plan.held_by)
    assert.same(before, files())

    local none, err = ebb.apply(plan, options)
    assert.is_nil(none)
    assert.equal("plan.held", err.code)
    assert.same(before, files())

    local result = assert(ebb.apply(plan, with { override = { "max_files" } }))
    assert.equal("done", result.status)
    assert.equal(#orphans, result.moved)
    for _, path in ipairs(orphans) do assert.is_false(exists(local_path(path)), path) end
    for path, kind in assert(t:reachable()) do
      assert.is_true(kind == "metadata" or exists(local_path(path)), path) -- some that may be made later are held, too
    end

    local back = assert(ebb.restore(result.run, options))
    assert.equal(#orphans, back.restored)
    for path in pairs(before) do assert.is_true(files()[path], path) end

    none, err = ebb.apply(plan, with { override = { "max_files" } })
    assert.is_nil(none)
    assert.equal("plan.already_applied", err.code)
  end)

  it("takes the options of the command", function()
    local plan = assert(ebb.plan(folder, with { older_than = OLDER, max_share = 1.0, max_files = 1, output = dir .. "/p.plan" }))
    assert.equal("held", plan.status)
    assert.same({ "max_files" }, plan.held_by)
    assert.is_true(exists(dir .. "/p.plan"))
    plan = assert(ebb.plan(folder, with { older_than = OLDER, max_share = 1.0, max_bytes = "1TiB", age = "mtime",
                                          location = truth.tables[1].location .. "/data",
                                          exclude = { truth.tables[1].location .. "/data/2b" },
                                          equal_schemes = { ["s3a,s3n"] = "s3" }, keep_deleted_entries = true,
                                          prefix_mismatch = "ignore" }))
    assert.equal("ready", plan.status)
    local result = assert(ebb.apply(plan.plan, with { verify = "sample", max_age = "1h", delete = true }))
    assert.equal(plan.candidates, result.deleted)
    assert.equal(0, result.moved)
  end)

  it("is found by a configured catalog, which may let it go below the floor", function()
    local function configure(allow)
      local f = assert(io.open(dir .. "/ebb.lua", "w"))
      f:write(('return { catalogs = { files = { type = "directory", path = %q } }, locations = { ["file:/ebb"] = %q },\n'):format(
        dir .. "/wh/c01-v1-basic", dir))
      f:write(('  tables = { ["files.db.*"] = { allow_below_floor = %s } } }\n'):format(allow))
      f:close()
    end
    local o = { config = dir .. "/ebb.lua", state = dir .. "/state" }
    configure(false)
    local t = assert(ebb.table.open("files.db.t", o))
    assert.equal(truth.tables[1].uuid, t:metadata().uuid)
    assert.equal("files", t:metadata().catalog)
    local plan, err = ebb.plan(t, { older_than = "0d" })
    assert.is_nil(plan)
    assert.equal("cutoff.below_floor", err.code)
    configure(true)
    plan = assert(ebb.plan(t, { older_than = "0d" }))
    assert.equal("done", assert(ebb.apply(plan, { config = o.config, state = o.state, override = plan.held_by })).status)
  end)

  it("can be restored in part", function()
    local plan = assert(ebb.plan(folder, with { older_than = OLDER, max_share = 1.0 }))
    local result = assert(ebb.apply(plan, options))
    local one = truth.tables[1].safe.orphans[1]
    local back = assert(ebb.restore(result, with { paths = { one:match "/db/t/(.*)$" } }))
    assert.equal(1, back.restored)
    assert.is_true(exists(local_path(one)))
  end)

  it("says what goes wrong", function()
    local function code(got, err)
      assert.is_nil(got)
      return err.code
    end
    assert.truthy(code(ebb.table.open(dir .. "/nothing", options)))
    assert.equal("usage", code(ebb.table.open("a\0b", options)))
    assert.equal("cutoff.future", code(ebb.plan(folder, with { older_than = "2999-01-01T00:00:00Z" })))
    assert.truthy(code(ebb.plan(dir, with {})))
    assert.equal("record.not_found", code(ebb.apply("p-none", options)))
    assert.equal("record.not_found", code(ebb.restore("r-none", options)))
    assert.equal("time.invalid", code(ebb.plan(folder, with { older_than = "soon" })))
    assert.truthy(code(ebb.table.open(folder, { config = dir .. "/none.lua" })))
  end)

  it("raises on wrong arguments", function()
    local t = assert(ebb.table.open(folder, options))
    for _, bad in ipairs { { maps = {} }, { map = "x" }, { state = 5 }, { older_than = 3 }, { max_files = 0 }, { max_share = 2 },
                           { max_bytes = -1 }, { age = "oldest" }, { prefix_mismatch = "no" }, { with = { 1 } },
                           { location = "" },
                           { keep_deleted_entries = "yes" }, { output = "a\0b" } } do
      assert.error(function() ebb.plan(t, bad) end)
    end
    for _, bad in ipairs { { delete = 1 }, { delete = true, quarantine = "/x" }, { max_age = "0d" }, { verify = "x" },
                           7 } do
      assert.error(function() ebb.apply("p-none", bad) end)
    end
    assert.error(function() ebb.plan({}) end)
    assert.error(function() ebb.apply(7, options) end)
    assert.error(function() ebb.restore({}, options) end)
    assert.error(function() ebb.table.open(folder, "x") end)
    assert.error(function() t.stats({}) end)
  end)

  it("is closed by its end", function()
    local kept
    do
      local t <close> = assert(ebb.table.open(folder, options))
      kept = t
    end
    assert.error(function() kept:stats() end)
    assert.error(function() ebb.plan(kept) end)
  end)
end)
