-- SPDX-License-Identifier: Apache-2.0
-- Removal of orphan files: from the content of a policy object, or from the action of a policy, to the context of a job.
local _, import = ...
local conditions = import "std.conditions"
local fault = import "std.fault"
local schema = import "std.schema"
local table_facts = import "std.table_facts"

local DAY = 24 * 60 * 60 * 1000

local CONTENT = {
  olderThanDays = { type = "integer", default = 3, min = 0, max = 36500 },
  location      = { type = "string" },
  dryRun        = { type = "boolean", default = false },
}

local strategy = {
  type    = "iceberg-orphan-file-removal",
  policy  = "system_iceberg_orphan_file_removal",
  needs   = { "TABLE_METADATA" },
  level   = "table",
  action  = "remove_orphan_files",
  adapter = "remove_orphan_files",
}

function strategy.validate(content)
  return schema.apply("content", CONTENT, content)
end

-- The context that both ways end in. Nothing in the future is ever older than anything.
local function context(facts, now, older_than, location, dry_run, ebb)
  local id = table_facts.identity(facts)
  if math.type(older_than) ~= "integer" then
    fault("config.invalid", "older_than: an instant is due")
  elseif older_than > now then
    fault("cutoff.future", "older_than %s: after now", ebb.time.format(older_than, "iso"))
  end
  return {
    catalog = id.catalog, namespace = id.namespace, name = id.name, table_location = id.location,
    older_than = older_than,
    location = table_facts.location_inside(id.location, location, ebb),
    dry_run = dry_run,
  }
end

-- From the action of a decision.
function strategy.context_of_action(action, facts, ebb)
  local out = context(facts, table_facts.now(facts), action.older_than, action.location, action.dry_run == true, ebb)
  out.options = {
    prefix_mismatch = action.prefix_mismatch,
    keep = action.keep,
    equal_schemes = action.equal_schemes,
    equal_authorities = action.equal_authorities,
  }
  return out
end

-- From a policy object: is it due, how much is it worth, and with what context.
function strategy.evaluate(input, ebb)
  local content = strategy.validate(input.content or {})
  if math.type(input.now) ~= "integer" then
    fault("config.invalid", "now: missing")
  end
  local reasons = conditions.reasons(input)
  local score, why = 0, {}
  for i, reason in ipairs(reasons) do
    score = score + reason.weight
    why[i] = reason.text
  end
  local out = { due = #reasons > 0, score = score, why = table.concat(why, ", ") }
  if out.due then
    local older_than = input.now - content.olderThanDays * DAY
    out.context = context(input.facts, input.now, older_than, content.location, content.dryRun, ebb)
  end
  return out
end

return strategy
