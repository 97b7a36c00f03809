-- SPDX-License-Identifier: Apache-2.0
-- ebb.testing: sessions for the specs of policies. A session is a world in memory with a clock that the spec moves; it
-- decides with the evaluator, the guards and the schedule that a real pass uses, and nothing real is read or done.
local ebb = require "ebb"
local world = require "ebb.session"
local explain = require "ebb.explain"
local coverage = require "ebb.coverage"

local M = { explain = explain.text, coverage = coverage }

-- ---- times ----

local function check(value, err)
  if value == nil then error(tostring(err), 3) end
  return value
end

--- An instant, "2026-03-29T00:00:00Z", as milliseconds.
function M.at(text)
  return check(ebb.time.parse(text))
end

local function lengths(ms)
  return function(n)
    local whole = math.tointeger(n * ms)
    if not whole then error("not a whole number of milliseconds: " .. tostring(n), 2) end
    return whole
  end
end
M.minutes, M.hours, M.days = lengths(60000), lengths(3600000), lengths(86400000)

local function instant_of(value)
  return type(value) == "string" and check(ebb.time.parse(value)) or value
end

local function length_of(value)
  if type(value) ~= "string" then return value end
  local sign, text = value:match "^(%-?)(.*)$"
  local ms = check(ebb.duration(text))
  return sign == "-" and -ms or ms
end

-- ---- files beside the spec ----

-- The file that calls: the nearest spec on the stack, else the nearest file that is none of ours.
local function calling_file()
  local nearest
  for level = 3, 60 do
    local info = debug.getinfo(level, "S")
    if not info then break end
    local file = info.source:match "^@(.+)$"
    if file and file:find "_spec%.lua$" then return file end
    if file and not nearest and not file:find "ebb/%a+%.lua$" then nearest = file end
  end
  return nearest or "./?"
end

local function folder_of(file)
  return file:match "^(.*)/[^/]*$" or "."
end

local function exists(file)
  local f = io.open(file, "rb")
  if f then f:close() end
  return f ~= nil
end

local function find(name, folder, below)
  if name:sub(1, 1) == "/" then return name end
  for _, dir in ipairs { folder, folder .. "/" .. below, folder .. "/.." } do
    if exists(dir .. "/" .. name) then return dir .. "/" .. name end
  end
  return exists(name) and name or nil
end

local loaded = {} -- by file: the policy as it was loaded last

local function load(file, level)
  local policy, err = ebb.policy.load(file)
  if not policy then error(tostring(err), level + 1) end
  local old = loaded[file]
  if old and old:bundle() == policy:bundle() then return old end
  loaded[file] = policy
  coverage.add_policy(policy)
  return policy
end

local function by_name(name, folder)
  for _, dir in ipairs { folder, folder .. "/.." } do
    local usual = dir .. "/" .. name:gsub("-", "_") .. ".lua"
    for _, file in ipairs(exists(usual) and { usual } or world.files(dir) or {}) do
      local policy = ebb.policy.load(file)
      if policy and policy:name() == name then return file end
    end
  end
end

-- A policy by its name, or by file. A file that is there but wrong says why.
local function find_policy(what, folder, level)
  if what:find "%.lua$" then return find(what, folder, ".") or error(what .. ": no such policy file", level + 1) end
  local usual = find(what:gsub("-", "_") .. ".lua", folder, ".")
  return by_name(what, folder) or usual
    or error(("policy %s: not found beside the spec, in %s"):format(what, folder), level + 1)
end

-- ---- decisions ----

local Decision = {}
Decision.__index = Decision
Decision.__name = "decision"
Decision.__tostring = explain.text

--- Names of the checks that are false or unknown, sorted, each once.
function Decision:failing()
  local names, seen = {}, {}
  for _, c in ipairs(self.checks) do
    if c.r ~= "true" and not seen[c.n] then
      seen[c.n] = true
      names[#names + 1] = c.n
    end
  end
  table.sort(names)
  return names
end

local function decision_of(entry)
  local record = entry.record or {}
  local d = setmetatable({
    policy = entry.policy, now = entry.now, verdict = entry.verdict or "error", by = entry.by, until_ = entry.until_,
    action = entry.action, error = entry.error, record = record, why = record.why, trigger = record.trigger,
    checks = record.checks or {}, guards = record.guards or {}, notes = record.notes or {}, ranked = record.ranked,
    params = record.params, mode = record.mode, table = record.table,
  }, Decision)
  coverage.add_decision(d)
  return d
end

-- ---- sessions ----

local Session = {}
Session.__index = Session

local function collect(self)
  local last
  for _, entry in ipairs(check(self.world:take())) do
    if entry.dropped then
      self.dropped[#self.dropped + 1] = { policy = entry.policy, now = entry.now, why = entry.dropped }
    else
      last = decision_of(entry)
      self.decisions[#self.decisions + 1] = last
    end
  end
  return last
end

local function method(name, convert)
  Session[name] = function(self, value)
    check(self.world[name](self.world, convert and convert(value)))
    return collect(self)
  end
end

method("at", instant_of)
method("step", length_of)
method("asleep", length_of)
method("clock_step", length_of)
method "resume"

function Session:pause()
  self.world:pause()
end

function Session:now()
  return self.world:now()
end

--- s:event { "commit.failed", files_written = 212 }; gives the id.
function Session:event(event)
  local copy = {}
  for key, value in pairs(event) do copy[key == 1 and "type" or key] = value end
  copy.at = instant_of(copy.at)
  local id = check(self.world:event(1, copy))
  collect(self)
  return id
end

--- n snapshots by writers, until now.
function Session:commits(n)
  check(self.world:commits(1, n))
  collect(self)
end

--- Set what the policy may know: a path below t ("stats.bytes"), or "flags.NAME"; nil: unknown.
function Session:set(path, value)
  check(self.world:set(1, path, value))
  collect(self)
end

--- What it would decide now; nothing starts and nothing is remembered.
function Session:decide()
  return decision_of(check(self.world:decide(1, self.policy)))
end

--- A run by hand.
function Session:manual()
  check(self.world:manual(1, self.policy))
  return collect(self)
end

--- The running job ends: "success", "failed", "partial".
function Session:finish(outcome)
  check(self.world:finish(1, self.policy, outcome or "success"))
  return collect(self)
end

--- The policy is edited: another file takes its place, schedule and runs stay.
function Session:reload(file)
  local policy = load(find_policy(file, self.folder, 2), 2)
  check(self.world:bind(policy, self.binding))
  return collect(self)
end

local OPTIONS = { policy = true, fixture = true, mode = true, params = true, bind = true, now = true }
local latest = {} -- by spec file: the options that a session was opened with

local function check_options(options, known, level)
  for key in pairs(options) do
    if not known[key] then error("unknown option '" .. tostring(key) .. "'", level + 1) end
  end
end

local function binding_of(options)
  local binding = { mode = options.mode, params = options.params }
  for key, value in pairs(options.bind or {}) do binding[key] = value end
  return binding
end

-- The clock starts at the newest thing that a captured table tells.
local function start_of(facts)
  local at = 0
  local function look(value)
    if math.type(value) == "integer" and value > at then at = value end
  end
  local t = facts.table or {}
  look((t.stats or {}).as_of)
  look((t.current_snapshot or {}).at)
  for _, e in ipairs(facts.events or {}) do look(e.at) end
  return at
end

local function open(options, file, level)
  local folder = folder_of(file)
  local policy = load(find_policy(options.policy, folder, level + 1), level + 1)
  local fixture = options.fixture
  if type(fixture) == "string" then
    fixture = find(fixture, folder, "fixtures") or error(fixture .. ": no such fixture beside the spec", level + 1)
  end
  local self = setmetatable({
    world = check(world.new(instant_of(options.now) or 0)), policy = policy:name(), folder = folder,
    binding = binding_of(options), decisions = {}, dropped = {},
  }, Session)
  local number = check(self.world:add(fixture or { table = {} }))
  if not options.now then check(self.world:at(start_of(check(self.world:facts(number))))) end
  check(self.world:bind(policy, self.binding))
  coverage.note_use(policy:name())
  return self
end

--- ebb.session { policy =, fixture =, mode = "observe", params = {…}, bind = {…}, now = }
--- policy: a name or file beside the spec; fixture: a captured table beside it or in fixtures/, or facts as a table.
function M.session(options)
  check_options(options, OPTIONS, 2)
  if type(options.policy) ~= "string" then error("policy: a name or a file is due", 2) end
  local file = calling_file()
  latest[file] = options
  return open(options, file, 2)
end

M.histories = require "ebb.histories" (function(options)
  local file = calling_file()
  local base = latest[file] or { policy = file:match "([^/]*)_spec%.lua$" and file:match "([^/]*)_spec%.lua$" .. ".lua" }
  local opened = {}
  for key, value in pairs(base) do opened[key] = value end
  for _, key in ipairs { "policy", "fixture", "params", "bind" } do
    if options[key] ~= nil then opened[key] = options[key] end
  end
  return function(mode)
    opened.mode = mode
    return open(opened, file, 4)
  end
end)

-- ---- golden explanations ----

local function slurp(file)
  local f = io.open(file, "rb")
  local text = f and f:read "a"
  if f then f:close() end
  return text
end

local function spill(file, text)
  local f = assert(io.open(file, "wb"))
  assert(f:write(text))
  assert(f:close())
end

local function make_folder(dir)
  local lfs = require "lfs"
  if lfs.attributes(dir, "mode") == "directory" then return end
  local ok, err = lfs.mkdir(dir)
  if not ok then error(dir .. ": " .. tostring(err), 0) end
end

--- Compare the explanation of a decision with golden/<spec>/<name>.txt beside the spec; `ebb test --update-golden`
--- writes it.
function M.golden(d, name)
  if not name:find "^[%w_.-]+$" then error("golden: a name of letters, digits, _ . - is due", 2) end
  if not d then error("golden " .. name .. ": no decision was made", 2) end
  local spec = calling_file()
  local dir = folder_of(spec) .. "/golden"
  local folder = dir .. "/" .. (spec:match "([^/]+)%.lua$" or "spec")
  local file, text = folder .. "/" .. name .. ".txt", explain.text(d)
  local old = slurp(file)
  if old == text then return end
  if os.getenv "EBB_TEST_UPDATE_GOLDEN" then
    make_folder(dir)
    make_folder(folder)
    spill(file, text)
    coverage.note_golden(file)
  elseif not old then
    error(file .. ": no such file; `ebb test --update-golden` writes it", 2)
  else
    error(("%s: the explanation has changed; `ebb test --update-golden` takes it over\n%s"):format(
      file, explain.diff(old, text)), 2)
  end
end

-- ---- assert.verdict ----

local FIELDS = { "by", "until_", "why", "now" }
local KNOWN = { "by", "until_", "why", "now", "failing" }
for _, key in ipairs(KNOWN) do KNOWN[key] = true end
KNOWN[1] = true

local function is_same_list(a, b)
  return table.concat(a, "\0") == table.concat(b, "\0")
end

local function differs(d, want)
  if d.verdict ~= want[1] then return true end
  for _, key in ipairs(FIELDS) do
    if want[key] ~= nil and d[key] ~= want[key] then return true end
  end
  return want.failing ~= nil and not is_same_list(d:failing(), want.failing)
end

local function wanted_text(want)
  local parts = { tostring(want[1]) }
  for _, key in ipairs(FIELDS) do
    local value = want[key]
    if value ~= nil then
      parts[#parts + 1] = key:gsub("_$", "") .. " " .. (math.type(value) == "integer" and explain.instant(value)
        or tostring(value))
    end
  end
  if want.failing then parts[#parts + 1] = "failing " .. table.concat(want.failing, ", ") end
  return table.concat(parts, " ")
end

local function verdict(state, args)
  local d, want = args[1], args[2]
  if type(want) ~= "table" then error("assert.verdict: write assert.verdict(decision, { \"run\", … })", 2) end
  for key in pairs(want) do
    if not KNOWN[key] then error("assert.verdict: unknown field '" .. tostring(key) .. "'", 2) end
  end
  args.nofmt = { true, true }
  if d == nil then
    state.failure_message = ("want %s, got no decision"):format(wanted_text(want))
    return false
  end
  local is_same = not differs(d, want)
  state.failure_message = ("want %s, got %s\n%s"):format(wanted_text(want), explain.line(d), explain.text(d))
  return is_same
end

local has_luassert, luassert = pcall(require, "luassert")
if has_luassert then
  require "say":set("assertion.verdict", "")
  luassert:register("assertion", "verdict", verdict, "assertion.verdict", "assertion.verdict")
end

return M
