-- SPDX-License-Identifier: Apache-2.0
-- What busted tells while it runs, written as JSON to the file that EBB_TEST_REPORT names: tests, and what they have
-- seen of their policies. `ebb test` loads it as busted's output.
local world = require "ebb.session"
local coverage = require "ebb.coverage"
require "ebb.testing" -- one for all spec files, so that it sees all of them

local tests, current_file = {}, nil
local named = {} -- by spec file: the policy that its first session uses

local function place_of(trace, fallback)
  for _, t in ipairs { trace or {}, fallback or {} } do
    local file = t.source and t.source:match "^@(.+)$"
    if file and file:find "_spec%.lua$" then return file, t.currentline end
  end
  return current_file, fallback and fallback.currentline
end

local function text_of(message)
  if type(message) == "string" then return message end
  if message == nil then return "failed without a message" end
  local ok, pretty = pcall(require, "pl.pretty")
  return type(message) == "table" and not getmetatable(message) and ok and pretty.write(message) or tostring(message)
end

-- An error that names its place in a spec, and what it says.
local function split(message)
  local file, line, rest = message:match "^([^\n:]*_spec%.lua):(%d+): (.*)$"
  if file then return file, tonumber(line), rest end
end

local function add(name, status, trace, fallback, message)
  local file, line = place_of(trace, fallback)
  message = status ~= "passed" and text_of(message) or nil
  local own_file, own_line, said = split(message or "")
  if own_file then file, line, message = own_file, own_line, said end
  local policy = coverage.take_uses()[1]
  if current_file and policy and not named[current_file] then named[current_file] = policy end
  tests[#tests + 1] = { name = name, status = status, file = file, line = line, spec = current_file, policy = policy,
                        message = message }
end

local function write_report()
  local path = os.getenv "EBB_TEST_REPORT"
  local report = coverage.report()
  for _, test in ipairs(tests) do test.policy = test.policy or named[test.spec] end
  report.tests = tests
  local f = assert(io.open(path, "wb"))
  assert(f:write(assert(world.json(report))))
  assert(f:close())
end

return function()
  local busted = require "busted"
  local handler = require "busted.outputHandlers.base"()
  local filter = os.getenv "EBB_TEST_FILTER"

  -- Where in the file we are, for the full names of tests that are only announced.
  local blocks = {}
  for _, kind in ipairs { "describe", "insulate", "expose" } do
    busted.subscribe({ kind, "start" }, function(element)
      blocks[#blocks + 1] = element.name or element.descriptor
      return nil, true
    end)
    busted.subscribe({ kind, "end" }, function()
      blocks[#blocks] = nil
      return nil, true
    end)
  end

  local function full_name(name)
    return #blocks > 0 and table.concat(blocks, " ") .. " " .. name or name
  end

  busted.subscribe({ "register", "it" }, function(name)
    return nil, not filter or world.matches(filter, full_name(name))
  end, { priority = 1 })

  busted.subscribe({ "file", "start" }, function(file)
    current_file, blocks = file.name, {}
    return nil, true
  end)

  busted.subscribe({ "test", "end" }, function(element, _, status)
    local name = handler.getFullName(element)
    if status == "success" then
      add(name, "passed", nil, element.trace)
    elseif status == "pending" then
      add(name, "skipped", nil, element.trace, "pending")
    else
      local said = status == "failure" and handler.failures[#handler.failures] or handler.errors[#handler.errors]
      add(name, "failed", said and said.trace, element.trace, said and said.message)
    end
    return nil, true
  end)

  -- What goes wrong outside of a test: a file that can't be loaded, a describe, a before_each.
  local function outside(element, _, message, trace)
    if element.descriptor ~= "it" then
      add(handler.getFullName(element), "failed", trace, element.trace, message)
    end
    return nil, true
  end
  busted.subscribe({ "error" }, outside)
  busted.subscribe({ "failure" }, outside)

  busted.subscribe({ "suite", "end" }, function()
    write_report()
    return nil, true
  end)
  return handler
end
