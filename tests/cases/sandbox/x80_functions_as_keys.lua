-- expect: ok=skip
-- functions as keys come and go: gas must not depend on where they lie
return policy {
  api = 1, name = "x80-functions-as-keys", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local fs = { type, tostring, tonumber, ipairs, pairs, select, error, pcall, assert, check, check_each, all, any, none, note, rank, glob, fmt, iso, hash,
      str.len, str.sub, str.rep, str.find, str.split, math.min, math.max, math.floor, table.insert, table.remove, table.concat, table.sort }
    local h = {}
    for round = 1, 300 do
      for i = 1, #fs do
        h[fs[i]] = round
        h[fs[(i + round * 7) % #fs + 1]] = nil
      end
    end
    return skip(all { check("never", 1, "==", 2) })
  end,
}
