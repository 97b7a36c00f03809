-- SPDX-License-Identifier: Apache-2.0
-- Reads the case tables of tests/cases: tab separated, first line = names, data cells are JSON, verdicts bare words.

local cases = {}

local ESCAPES = { b = "\b", f = "\f", n = "\n", r = "\r", t = "\t" }

local function read_string(text, at)
  local out = {}
  while true do
    local from, to, plain = text:find('^([^"\\]+)', at)
    if from then
      out[#out + 1] = plain
      at = to + 1
    end
    local c = text:sub(at, at)
    if c == '"' then return table.concat(out), at + 1 end
    assert(c == "\\", "a string does not end")
    local e = text:sub(at + 1, at + 1)
    if e == "u" then
      out[#out + 1] = utf8.char(tonumber(text:sub(at + 2, at + 5), 16))
      at = at + 6
    else
      out[#out + 1] = ESCAPES[e] or e
      at = at + 2
    end
  end
end

local read_value

local function read_many(text, at, close, read_item)
  at = text:match("^[%s,]*()", at)
  while text:sub(at, at) ~= close do
    at = text:match("^[%s,]*()", read_item(at))
  end
  return at + 1
end

local function read_list(text, at)
  local out = {}
  return out, read_many(text, at, "]", function(from)
    local value, to = read_value(text, from)
    out[#out + 1] = value
    return to
  end)
end

local function read_object(text, at)
  local out = {}
  return out, read_many(text, at, "}", function(from)
    local key, to = read_value(text, from)
    local value
    value, to = read_value(text, text:match("^%s*:%s*()", to))
    out[key] = value
    return to
  end)
end

function read_value(text, at)
  local c = text:sub(at, at)
  if c == '"' then return read_string(text, at + 1) end
  if c == "[" then return read_list(text, at + 1) end
  assert(c == "{", "JSON is expected")
  return read_object(text, at + 1)
end

-- The value of a JSON cell of strings, lists and objects.
function cases.json(text)
  return (read_value(text, 1))
end

-- Iterate over the rows: name -> cell (text), and "line".
function cases.rows(name)
  local rows, names = {}, nil
  for line in io.lines("tests/cases/" .. name) do
    local cells = {}
    for cell in (line .. "\t"):gmatch("([^\t]*)\t") do cells[#cells + 1] = cell end
    if names then
      local row = { line = #rows + 2 }
      for i, key in ipairs(names) do row[key] = cells[i] end
      rows[#rows + 1] = row
    else
      names = cells
    end
  end
  assert(#rows > 0, name .. " has no rows")
  return ipairs(rows)
end

return cases
