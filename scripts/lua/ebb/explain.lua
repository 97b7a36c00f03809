-- SPDX-License-Identifier: Apache-2.0
-- Decisions as text: nothing in it but what the policy and its guards said, so that it can be compared.
local ebb = require "ebb"

local M = {}

--- An instant, without a fraction that is nought.
function M.instant(ms)
  return (tostring(ebb.time.format(ms)):gsub("%.000Z$", "Z"))
end

local INSTANTS = { older_than = true }
local value_text

local function sorted_keys(map)
  local keys = {}
  for key in pairs(map) do keys[#keys + 1] = key end
  table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
  return keys
end

local function table_text(value)
  local parts = {}
  if #value > 0 then
    for i, item in ipairs(value) do parts[i] = value_text(item) end
    return "{ " .. table.concat(parts, ", ") .. " }"
  end
  for i, key in ipairs(sorted_keys(value)) do parts[i] = key .. " = " .. value_text(value[key], key) end
  return #parts == 0 and "{}" or "{ " .. table.concat(parts, ", ") .. " }"
end

function value_text(value, key)
  if type(value) == "table" then return table_text(value) end
  if type(value) == "number" then value = math.tointeger(value) or value end
  if key and INSTANTS[key] and math.type(value) == "integer" then return M.instant(value) end
  if math.type(value) == "float" then return (("%.6g"):format(value)) end
  return value == nil and "unknown" or (tostring(value):gsub("%c", "?"))
end

local function comparison(c)
  local b = c.b ~= nil and " " .. value_text(c.b) or ""
  if c.op == "exists" or c.op == "unknown" then return (c.a == nil and "nothing" or value_text(c.a)) .. " " .. c.op end
  return value_text(c.a) .. " " .. tostring(c.op) .. (b ~= "" and b or " unknown")
end

local function check_rows(checks)
  local rows = {}
  for _, c in ipairs(checks) do
    rows[#rows + 1] = { c.n .. (c.key ~= nil and " of " .. value_text(c.key) or ""), c.r, comparison(c) }
  end
  return rows
end

local function guard_rows(guards)
  local rows = {}
  for _, g in ipairs(guards) do
    local said = (g.why or "") .. (g["until"] and (g.why and " " or "") .. "until " .. g["until"] or "")
    rows[#rows + 1] = { g.n, g.r, said }
  end
  return rows
end

local function width_of(rows)
  local width = 0
  for _, row in ipairs(rows) do width = math.max(width, #row[1]) end
  return width
end

local function add_rows(out, title, rows)
  if #rows == 0 then return end
  out[#out + 1] = title
  local width = width_of(rows)
  for _, row in ipairs(rows) do
    local line = ("  %-" .. math.min(width, 90) .. "s  %-7s  %s"):format(row[1], row[2], row[3])
    out[#out + 1] = (line:gsub("%s+$", ""))
  end
end

local function add_action(out, action)
  if not action then return end
  out[#out + 1] = "action " .. tostring(action.type)
  for _, key in ipairs(sorted_keys(action)) do
    if key ~= "type" then out[#out + 1] = "  " .. key .. " = " .. value_text(action[key], key) end
  end
end

-- "ds=2026-03-28  56.1511  taken  deletes 0, skew 0.24, small 0.98"
local function ranked_rows(ranked)
  local rows = {}
  for _, row in ipairs(ranked) do
    local parts = {}
    for i, name in ipairs(sorted_keys(row.parts or {})) do parts[i] = name .. " " .. value_text(row.parts[name]) end
    local said = (row.taken and "taken" or "left") .. (row.why and ", " .. row.why or "")
    rows[#rows + 1] = { value_text(row.key), value_text(row.score), said .. "  " .. table.concat(parts, ", ") }
  end
  return rows
end

--- "defer by policy until 2026-04-01T00:00:00Z because leftovers_are_ripe false"
function M.line(d)
  local parts = { d.verdict }
  if d.by then parts[#parts + 1] = "by " .. d.by end
  if d.until_ then parts[#parts + 1] = "until " .. M.instant(d.until_) end
  local failing = {}
  for _, c in ipairs(d.checks) do
    if c.r ~= "true" and #failing < 8 then failing[#failing + 1] = c.n .. " " .. c.r end
  end
  if d.error then
    parts[#parts + 1] = ("because %s: %s"):format(d.error.code, d.error.message)
  elseif #failing > 0 then
    parts[#parts + 1] = "because " .. table.concat(failing, ", ")
  end
  return table.concat(parts, " ")
end

--- The whole explanation. Ids, gas and memory are no part of it.
function M.text(d)
  local out = {}
  out[1] = ("%s on %s at %s, trigger %s"):format(d.policy, d.table or "?", M.instant(d.now),
    d.trigger and d.trigger.kind or "manual")
  out[2] = "verdict " .. d.verdict .. (d.by and " by " .. d.by or "")
    .. (d.until_ and " until " .. M.instant(d.until_) or "")
  if d.why then out[#out + 1] = "why " .. d.why end
  if d.error then out[#out + 1] = ("error %s: %s"):format(d.error.code, d.error.message) end
  for _, note in ipairs(d.notes) do out[#out + 1] = "note " .. value_text(note) end
  add_action(out, d.action)
  add_rows(out, "ranked", ranked_rows(d.ranked or {}))
  add_rows(out, "checks", check_rows(d.checks))
  add_rows(out, "guards", guard_rows(d.guards))
  return table.concat(out, "\n") .. "\n"
end

-- ---- differences ----

local LINES_MAX = 600

local function lines_of(text)
  local lines = {}
  for line in text:gmatch "([^\n]*)\n?" do lines[#lines + 1] = line end
  if lines[#lines] == "" then lines[#lines] = nil end
  return lines
end

-- Lengths of the longest common parts of the rests a[i..] and b[k..].
local function common(a, b)
  local n = {}
  for i = #a + 1, 1, -1 do
    n[i] = {}
    for k = #b + 1, 1, -1 do
      n[i][k] = (i > #a or k > #b) and 0 or a[i] == b[k] and n[i + 1][k + 1] + 1 or math.max(n[i + 1][k], n[i][k + 1])
    end
  end
  return n
end

--- Line by line: "-" is what was there, "+" what is there now.
function M.diff(old, new)
  local a, b = lines_of(old), lines_of(new)
  if #a > LINES_MAX or #b > LINES_MAX then return "(too long to be compared line by line)" end
  local n, out, i, k = common(a, b), {}, 1, 1
  while i <= #a or k <= #b do
    if i <= #a and k <= #b and a[i] == b[k] then
      out[#out + 1], i, k = "  " .. a[i], i + 1, k + 1
    elseif k > #b or (i <= #a and n[i + 1][k] >= n[i][k + 1]) then
      out[#out + 1], i = "- " .. a[i], i + 1
    else
      out[#out + 1], k = "+ " .. b[k], k + 1
    end
  end
  return table.concat(out, "\n")
end

return M
