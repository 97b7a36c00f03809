-- SPDX-License-Identifier: Apache-2.0
-- Statements' pieces by ebb's own encoder. Requests on standard input, one a line: `literal DIALECT HEX`,
-- `identifier DIALECT HEX HEX…`; answers: `ok HEX` or `error CODE`. "-" is the empty text.
local ebb = require "ebb"

local function bytes(hex)
  return hex == "-" and "" or (hex:gsub("%x%x", function(pair) return string.char(tonumber(pair, 16)) end))
end

local function hex(text) return text == "" and "-" or (text:gsub(".", function(c) return string.format("%02x", c:byte()) end)) end

local encode = {}

function encode.literal(dialect, value) return ebb.sql.literal(dialect, bytes(value)) end

function encode.identifier(dialect, ...)
  local parts = {}
  for i, part in ipairs { ... } do parts[i] = bytes(part) end
  return ebb.sql.identifier(dialect, parts)
end

for line in io.lines() do
  local words = {}
  for word in line:gmatch("%S+") do words[#words + 1] = word end
  local text, err = encode[words[1]](table.unpack(words, 2))
  print(text and "ok " .. hex(text) or "error " .. tostring(err and err.code))
end
