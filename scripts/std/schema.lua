-- SPDX-License-Identifier: Apache-2.0
-- Closed schemas for the content of policies: each key has a rule { type =, default =, min =, max = }; unknown keys are
-- errors; a missing key takes its default.
local _, import = ...
local fault = import "std.fault"

local is_type = {
  integer = function(v) return math.type(v) == "integer" end,
  number  = function(v) return type(v) == "number" end,
  string  = function(v) return type(v) == "string" end,
  boolean = function(v) return type(v) == "boolean" end,
}

local function check(what, key, rule, value)
  if not is_type[rule.type](value) then
    fault("config.invalid", "%s.%s: a %s is due, not a %s", what, key, rule.type, math.type(value) or type(value))
  end
  if rule.min and value < rule.min then
    fault("config.invalid", "%s.%s: below %s", what, key, rule.min)
  end
  if rule.max and value > rule.max then
    fault("config.invalid", "%s.%s: above %s", what, key, rule.max)
  end
  if rule.type == "string" and value == "" then
    fault("config.invalid", "%s.%s: empty", what, key)
  end
end

local schema = {}

-- Check a map against its rules and give a copy with the defaults.
function schema.apply(what, rules, given)
  if type(given) ~= "table" then
    fault("config.invalid", "%s: a map is due, not a %s", what, type(given))
  end
  for key in pairs(given) do
    if not rules[key] then
      fault("config.unknown_key", "%s.%s: unknown", what, tostring(key))
    end
  end
  local out = {}
  for key, rule in pairs(rules) do
    local value = given[key]
    if value ~= nil then
      check(what, key, rule, value)
      out[key] = value
    else
      out[key] = rule.default
    end
  end
  return out
end

return schema
