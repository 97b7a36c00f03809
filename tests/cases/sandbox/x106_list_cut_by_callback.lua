-- expect: ok=skip
-- lists that shrink to nothing under every helper
return policy {
  api = 1, name = "x106-list-cut-by-callback", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    for _, f in ipairs { sum, min_by, max_by, sort_by, group_by, function(l, g) return percentile(l, 50, g) end, function(l, g) return top(l, 9, g) end, table.sort,
      function(l, g) return rank { over = l, score = g } end, function(l, g) return rank { over = l, score = function() return 1 end, per = g } end,
      function(l, g) return rank { over = l, score = function() return 1 end, keep = function(x) g(x) return true end } end } do
      local l = {}
      for i = 1, 100 do l[i] = { key = i } end
      pcall(f, l, function(x) for i = #l, 1, -1 do l[i] = nil end return 1 end)
      for i = 1, 100 do l[i] = i end
      pcall(f, l, function(x) for i = 1, 50 do l[#l + 1] = i end if #l > 3000 then error("enough") end return 1 end)
    end
    return skip(all { check("never", 1, "==", 2) })
  end,
}
