-- expect: ok=skip
-- the iterators as keys
return policy {
  api = 1, name = "x81-iterator-as-key", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local fs = { (ipairs({})), type, tostring, tonumber, ipairs, pairs, select, error, pcall, assert, check }
    local h = {}
    for round = 1, 500 do
      for i = 1, #fs do
        h[fs[i]] = round
        h[fs[(i + round * 3) % #fs + 1]] = nil
      end
    end
    return skip(all { check("never", 1, "==", 2) })
  end,
}
