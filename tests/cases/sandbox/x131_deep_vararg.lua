-- expect: ok=skip
-- very many arguments to everything
return policy {
  api = 1, name = "x131-deep-vararg", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local l = {} for i = 1, 190 do l[i] = i end
    for _, f in ipairs { check, check_each, all, note, fmt, math.max, math.min, select, rank, run, skip, defer, pcall, glob, time.civil, table.insert, table.concat } do
      pcall(f, table.unpack(l)) pcall(pcall, pcall, pcall, pcall, f, table.unpack(l))
    end
    local function many(n, ...) if n == 0 then return select('#', ...) end return many(n - 1, 1, ...) end
    pcall(many, 200) pcall(function() return math.max(table.unpack(l), table.unpack(l)) end)
    return skip(all { check("never", 1, "==", 2) })
  end,
}
