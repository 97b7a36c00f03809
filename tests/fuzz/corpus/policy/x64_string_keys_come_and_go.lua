-- expect: gas or memory or deadline
-- row 64: keys that come and go in one table
return policy {
  api = 1, name = "x64-string-keys-come-and-go", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local x = {}
    for i = 1, 10000000 do x["k" .. i % 97] = i x["k" .. (i * 7 + 3) % 97] = nil end
  end,
}
