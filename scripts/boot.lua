-- SPDX-License-Identifier: Apache-2.0
-- The engine state begins here: which strategies and adapters there are, and the three calls that the host makes.
-- Everything is a pure function from plain data to plain data.
local ebb, import = ...
local fault = import "std.fault"

local strategies = {}
for _, name in ipairs { "iceberg_orphan_file_removal" } do
  local strategy = import("strategies." .. name)
  strategies[strategy.type] = strategy
  import("adapters." .. strategy.adapter) -- what is missing shows now, not when a job is due
end

-- The strategy that turns an action of a policy into a job.
local by_action = {}
for _, strategy in pairs(strategies) do
  by_action[strategy.action] = strategy
end

local engines = {}
for _, name in ipairs { "native", "spark", "livy", "trino", "gravitino" } do
  engines[name] = import("adapters." .. name)
end

local function find(type_name)
  local strategy = strategies[type_name]
  if not strategy then
    fault("unsupported", "strategy %s: not known", type_name)
  end
  return strategy
end

local function spec_of(strategy, context)
  local adapter = import("adapters." .. strategy.adapter)
  return adapter.spec(context, ebb)
end

local boot = {}

-- { action =, facts = } -> the job's template, configuration and options
function boot.chain(input)
  local action, facts = input.action, input.facts
  local strategy = by_action[action.type]
  if not strategy then
    fault("unsupported", "action %s: there is no strategy for it", tostring(action.type))
  end
  return spec_of(strategy, strategy.context_of_action(action, facts, ebb))
end

-- { engine =, context = } -> what that engine is told
function boot.spec(input)
  local adapter = engines[input.engine]
  if not adapter then
    fault("unsupported", "engine %s: there is no adapter for it", tostring(input.engine))
  end
  return adapter.spec(input.context, ebb)
end

-- { strategy =, content = } -> the content with its defaults
function boot.validate(input)
  return find(input.strategy).validate(input.content)
end

-- { strategy =, input = { content =, facts =, trigger =, now = } } -> due, why, score, context
function boot.evaluate(input)
  return find(input.strategy).evaluate(input.input, ebb)
end

return boot
