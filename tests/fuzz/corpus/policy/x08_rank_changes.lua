-- expect: ok=skip or error or gas or memory
-- row 8: a list that changes while it is ranked
return policy {
  api = 1, name = "x08-rank-changes", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local l = {}
    for i = 1, 50 do l[i] = { key = "k" .. i, n = i } end
    local r = rank { over = l, keep = function(p) l[#l] = nil return true end, score = function(p) l[1] = nil return p and p.n or 0 end }
    return skip(all { check("never", 1, "==", 2) })
  end,
}
