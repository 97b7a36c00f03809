-- SPDX-License-Identifier: Apache-2.0
-- When a policy object is due. Time and events take the same way: each gives reasons with a weight, and any reason is enough.
local _, import = ...
local schema = import "std.schema"

local DAY = 24 * 60 * 60 * 1000

local RULES = {
  every_days     = { type = "integer", default = 7, min = 1, max = 3650 },   -- time: since the last run
  new_snapshots  = { type = "integer", default = 100, min = 1 },             -- events: commits since the last run
  failed_commits = { type = "integer", default = 1, min = 1 },               -- events: failed commits since the last run
}

local function last_run(facts)
  local runs = facts.runs or {}
  for i = #runs, 1, -1 do
    if runs[i].outcome ~= "running" then
      return runs[i]
    end
  end
end

local function count_events(facts, type_name, since)
  local n = 0
  for _, event in ipairs(facts.events or {}) do
    if event.type == type_name and event.at > since then
      n = n + 1
    end
  end
  return n
end

local function count_snapshots(facts, since)
  local n = 0
  for _, snapshot in ipairs(facts.table.snapshots or {}) do
    local own = snapshot.summary and snapshot.summary["ebb.run-id"]
    if snapshot.at > since and not own then
      n = n + 1
    end
  end
  return n
end

local conditions = {}

-- The reasons at an instant: list of { name =, weight =, text = }, in a fixed order.
function conditions.reasons(input)
  local rules = schema.apply("conditions", RULES, input.conditions or {})
  local last = last_run(input.facts)
  local since = last and last.started or 0
  local reasons = {}
  local function add(name, weight, format, ...)
    reasons[#reasons + 1] = { name = name, weight = weight, text = string.format(format, ...) }
  end
  if input.trigger and input.trigger.kind == "manual" then
    add("manual", 1, "asked for by hand")
  end
  local idle = input.now - (last and (last.ended or last.started) or 0)
  if not last then
    add("time", rules.every_days, "never ran")
  elseif idle >= rules.every_days * DAY then
    add("time", idle // DAY, "%d days since the last run", idle // DAY)
  end
  local commits = count_snapshots(input.facts, since)
  if commits >= rules.new_snapshots then
    add("event", commits // rules.new_snapshots, "%d new snapshots", commits)
  end
  local failed = count_events(input.facts, "commit.failed", since)
  if failed >= rules.failed_commits then
    add("event", 10 * failed, "%d failed commits", failed)
  end
  return reasons
end

return conditions
