-- SPDX-License-Identifier: Apache-2.0
-- Random histories: facts, events, runs and a clock that does what clocks do. The same seed gives the same histories,
-- on every machine.
local ebb = require "ebb"

-- xorshift64*: numbers of our own, since those of the library belong to the spec.
local function random(seed)
  local x = (seed * 0x2545F4914F6CDD1D + 0x1B873593CC9E2D51) | 1
  local function draw(low, high)
    x = x ~ (x >> 12)
    x = x ~ (x << 25)
    x = x ~ (x >> 27)
    return low + ((x * 0x2545F4914F6CDD1D) >> 33) % (high - low + 1)
  end
  return draw
end

local function pick(draw, list)
  return list[draw(1, #list)]
end

local ZONES = { "UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Apia" }
local OUTCOMES = { "success", "success", "failed", "partial" }
local FIRST, LAST = ebb.time.parse "2024-01-01T00:00:00Z", ebb.time.parse "2029-12-31T00:00:00Z"
local HOUR = 3600000

-- What may be known of a table; a third of the time it is not known.
local FACTS = {
  ["stats.longest_write"] = function(draw) return draw(0, 10 * 24) * HOUR end,
  ["stats.orphans"] = function(draw, now)
    return { files = draw(0, 9999), bytes = draw(0, 40) << 28, at = now - draw(0, 30 * 24) * HOUR }
  end,
  ["stats.small_files"] = function(draw) return draw(0, 5000) end,
  ["stats.data_files"] = function(draw) return draw(0, 50000) end,
  location_overlaps = function(draw) return draw(0, 1) end,
  properties = function(draw)
    return { ["owner.timezone"] = pick(draw, ZONES), ["gc.enabled"] = pick(draw, { "true", "false", "TRUE" }) }
  end,
}
local PATHS = {}
for path in pairs(FACTS) do PATHS[#PATHS + 1] = path end
table.sort(PATHS)

local ACTS = {
  function(s, draw) s:event { "commit.failed", files_written = draw(0, 300), retried_ok = draw(0, 3) == 0 } end,
  function(s, draw) s:event { pick(draw, { "snapshot.committed", "table.changed" }), n = draw(0, 9) } end,
  function(s, draw) s:commits(draw(1, draw(0, 3) == 0 and 600 or 20)) end,
  function(s, draw) s:step(draw(1, 90) * 60000) end,
  function(s, draw) s:step(draw(1, 96) * HOUR) end,
  function(s, draw) s:step(draw(1, 8) * 24 * HOUR) end,
  function(s, draw) s:asleep(draw(1, 200) * HOUR) end,
  function(s, draw) s:clock_step(draw(-180, 180) * 60000) end,
  function(s, draw)
    s:pause()
    s:step(draw(1, 50) * HOUR)
    s:resume()
  end,
  function(s) s:manual() end,
  function(s, draw)
    local path = pick(draw, PATHS)
    s:set(path, draw(0, 2) > 0 and FACTS[path](draw, s:now()) or nil)
  end,
  function(s, draw) s:set("flags.freeze", draw(0, 1) == 1) end,
  -- Nothing may run: then there is nothing to be ended.
  function(s, draw) pcall(s.finish, s, pick(draw, OUTCOMES)) end,
  function(s) s.decisions[#s.decisions + 1] = s:decide() end,
}

local function one_history(open, seed)
  local draw = random(seed)
  local s = open(pick(draw, { "observe", "approve", "enforce" }))
  s:at(draw(FIRST // 60000, LAST // 60000) * 60000)
  for _ = 1, draw(4, 14) do pick(draw, ACTS)(s, draw) end
  return s.decisions
end

local KNOWN = { runs = true, seed = true, policy = true, fixture = true, params = true, bind = true }

--- ebb.histories { runs =, seed =, policy =, fixture =, params =, bind = }: iterate over the decisions of all of them.
--- Policy and fixture are those of the last session of the spec when they are not given.
return function(opener)
  return function(options)
    for key in pairs(options) do
      if not KNOWN[key] then error("unknown option '" .. tostring(key) .. "'", 2) end
    end
    local runs, seed, open = options.runs or 100, options.seed or 1, opener(options)
    local run, made, at = 0, {}, 0
    return function()
      while at >= #made and run < runs do
        run, at = run + 1, 0
        made = one_history(open, seed * 1000003 + run)
      end
      at = at + 1
      return made[at], run
    end
  end
end
