-- SPDX-License-Identifier: Apache-2.0
-- What specs have seen of their policies: each named check true, false and unknown, and the lines that were executed.
local world = require "ebb.session"

local M = {}
local policies = {} -- by name
local used, goldens = {}, {}

-- ---- lines that can be executed, from the compiled chunk ----

-- A reader of a dump of Lua 5.4.
local function reader(dump)
  local at, r = 1, {}
  function r.byte()
    at = at + 1
    return dump:byte(at - 1)
  end
  function r.skip(n)
    at = at + n
    if at > #dump + 1 then error "dump is cut" end
  end
  function r.size()
    local n = 0
    repeat
      local b = r.byte()
      n = (n << 7) | (b & 0x7f)
    until b & 0x80 ~= 0
    return n
  end
  function r.text()
    local n = r.size()
    if n > 0 then r.skip(n - 1) end
  end
  return r
end

local CONSTANT_BYTES = { [0x03] = 8, [0x13] = 8 } -- integer, float

local function skip_constants(r)
  for _ = 1, r.size() do
    local kind = r.byte()
    if kind == 0x04 or kind == 0x14 then r.text() else r.skip(CONSTANT_BYTES[kind] or 0) end
  end
end

local TAILCALL, RETURN = 69, 70

-- Instructions that are never executed: the return after a call that returns for it, and, at the end, the one that
-- stands for `end`.
local function read_dead(r)
  local n, dead, before = r.size(), {}, nil
  for i = 1, n do
    local op = r.byte() & 0x7f
    r.skip(3)
    dead[i] = i == n or (before == TAILCALL and op == RETURN)
    before = op
  end
  return dead
end

-- Lines of one function, from the differences between instructions.
local function read_lines(r, defined, lines, dead)
  local deltas, absolute = {}, {}
  for i = 1, r.size() do deltas[i] = string.unpack("b", string.char(r.byte())) end
  for _ = 1, r.size() do
    local pc = r.size()
    absolute[pc] = r.size()
  end
  local line = defined
  for i, delta in ipairs(deltas) do
    line = delta == -128 and absolute[i - 1] or line + delta
    if lines and not dead[i] then lines[line] = true end
  end
end

local read_function

local function read_rest(r, defined, lines, inner)
  r.skip(3)                                   -- parameters, vararg, stack
  local dead = read_dead(r)
  skip_constants(r)
  r.skip(3 * r.size())                        -- upvalues
  for _ = 1, r.size() do read_function(r, inner, inner) end
  read_lines(r, defined, lines, dead)
  for _ = 1, r.size() do                      -- local variables
    r.text()
    r.size()
    r.size()
  end
  for _ = 1, r.size() do r.text() end         -- names of upvalues
end

-- lines: where those of this function go, or nil; inner: where those of the functions in it go.
function read_function(r, lines, inner)
  r.text()
  local defined = r.size()
  r.size()
  read_rest(r, defined, lines, inner)
end

local HEADER = "\27Lua\x54\0\x19\x93\r\n\x1a\n\4\8\8"

--- Lines inside of the functions of a source; nil when this Lua has another form of dump.
function M.executable(source)
  local chunk = load(source, "=policy", "t")
  local dump = chunk and string.dump(chunk)
  if not dump or dump:sub(1, #HEADER) ~= HEADER then return nil end
  local lines = {}
  local r = reader(dump)
  r.skip(#HEADER + 16 + 1)
  return pcall(read_function, r, nil, lines) and lines or nil
end

-- ---- collecting ----

local function slurp(file)
  local f = io.open(file, "rb")
  local text = f and f:read "a"
  if f then f:close() end
  return text or ""
end

-- Names in the source, so that a check that was never reached is seen to be missing.
local function declared_in(source)
  local names = {}
  local text = source:gsub("%-%-[^\n]*", "")
  for call, _, name in text:gmatch "([%w_]+)%s*%(%s*([\"'])([^\"'\n]+)%2" do
    if call == "check" or call == "check_each" then names[#names + 1] = name end
  end
  return names
end

local function policy_of(name)
  local p = policies[name]
  if not p then
    p = { name = name, checks = {}, loads = {} }
    policies[name] = p
  end
  return p
end

local function check_of(p, name)
  local c = p.checks[name]
  if not c then
    c = { ["true"] = 0, ["false"] = 0, unknown = 0 }
    p.checks[name] = c
  end
  return c
end

--- A policy that sessions use. Of several with one name the first file counts.
function M.add_policy(policy)
  local p = policy_of(policy:name())
  p.file = p.file or policy:file()
  if p.file ~= policy:file() then return end
  p.loads[#p.loads + 1] = policy
  p.source = p.source or slurp(p.file)
  for _, name in ipairs(declared_in(p.source)) do check_of(p, name) end
end

function M.add_decision(d)
  local p = policy_of(d.policy)
  for _, row in ipairs(d.checks) do
    local c = check_of(p, row.n)
    c[row.r] = (c[row.r] or 0) + 1
    -- these two are true or false, whatever is known
    c.always_known = row.op == "exists" or row.op == "unknown" or nil
  end
end

--- Which policies the running test uses.
function M.note_use(name)
  used[#used + 1] = name
end

function M.take_uses()
  local taken = used
  used = {}
  return taken
end

function M.note_golden(file)
  goldens[#goldens + 1] = file
end

-- ---- telling ----

local function sorted(set)
  local list = {}
  for key in pairs(set) do list[#list + 1] = key end
  table.sort(list)
  return list
end

local function lines_of(p)
  local possible = M.executable(p.source or "")
  if not possible then return nil end
  local run, missed, count = {}, {}, 0
  for _, policy in ipairs(p.loads) do
    for _, line in ipairs(world.lines(policy)) do run[line] = true end
  end
  for _, line in ipairs(sorted(possible)) do
    if run[line] then count = count + 1 else missed[#missed + 1] = line end
  end
  return { executable = #sorted(possible), executed = count, missed = missed }
end

--- { policies = { { policy, file, checks, lines } … }, goldens = { file … } }, in the order of names.
function M.report()
  local list = {}
  for _, name in ipairs(sorted(policies)) do
    local p = policies[name]
    list[#list + 1] = { policy = name, file = p.file, checks = p.checks, lines = p.file and lines_of(p) or nil }
  end
  return { policies = list, goldens = goldens }
end

return M
