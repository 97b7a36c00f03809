-- SPDX-License-Identifier: Apache-2.0
-- What adapters of engines that take statements share. A statement stays data here: it becomes text where values are
-- quoted, never before.
local _, import = ...
local fault = import "std.fault"
local table_facts = import "std.table_facts"

local DAY = 24 * 60 * 60 * 1000

local statement = {}

-- catalog, levels of the namespace, table
function statement.parts(context)
  local parts = { context.catalog }
  for level in (context.namespace .. "."):gmatch "([^.]*)%." do
    if level == "" then
      fault("sql.invalid", "namespace %s: has an empty level", context.namespace)
    end
    parts[#parts + 1] = level
  end
  parts[#parts + 1] = context.name
  return parts
end

-- Engines delete for good: for them the floor is not lowered by anything.
function statement.check_cutoff(context)
  if math.type(context.older_than) ~= "integer" or math.type(context.now) ~= "integer" then
    fault("config.invalid", "older_than and now: instants are due")
  elseif context.older_than > context.now then
    fault("cutoff.future", "older_than: lies in the future")
  elseif context.now - context.older_than < DAY then
    fault("cutoff.below_floor", "older_than: less than 24 hours ago")
  end
end

function statement.location(context, ebb)
  return table_facts.location_inside(context.table_location, context.location, ebb)
end

-- What only ebb itself can honour.
function statement.refuse_options(engine, options)
  for _, name in ipairs { "keep", "equal_schemes", "equal_authorities" } do
    if options and options[name] and next(options[name]) ~= nil then
      fault("unsupported", "engine %s: can't honour %s", engine, name)
    end
  end
  local mode = options and options.prefix_mismatch
  if mode and mode ~= "error" then
    fault("unsupported", "engine %s: can't honour prefix_mismatch %s", engine, mode)
  end
end

return statement
