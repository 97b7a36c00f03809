-- SPDX-License-Identifier: Apache-2.0
-- What strategies need to know of a table, taken from the facts and checked.
local _, import = ...
local fault = import "std.fault"

local function text(t, key)
  local value = t[key]
  if type(value) ~= "string" or value == "" then
    fault("config.invalid", "facts.table.%s: missing", key)
  end
  return value
end

local table_facts = {}

-- The names and the location of the table.
function table_facts.identity(facts)
  local t = facts.table
  if type(t) ~= "table" then
    fault("config.invalid", "facts.table: missing")
  end
  return {
    catalog = text(t, "catalog"), namespace = text(t, "namespace"), name = text(t, "name"),
    location = text(t, "location"),
  }
end

-- The instant of the decision.
function table_facts.now(facts)
  if math.type(facts.now) ~= "integer" then
    fault("config.invalid", "facts.now: missing")
  end
  return facts.now
end

-- A location of a job: nil when none is asked for, else proved to be the table's own or to lie in it.
function table_facts.location_inside(own, asked, ebb)
  local good, why = ebb.location.check(own)
  if not good then
    fault("location.unsafe", "%s", why)
  end
  if asked == nil then
    return nil
  end
  local relation, problem = ebb.location.contains(own, asked)
  if relation == nil then
    fault("location.outside_table", "location %s: %s", asked, problem)
  elseif not relation then
    fault("location.outside_table", "location %s: not inside of %s", asked, own)
  end
  return asked
end

return table_facts
