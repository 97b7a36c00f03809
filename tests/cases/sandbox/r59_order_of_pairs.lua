-- expect: ok=skip
-- row 59: pairs goes by whole numbers, then by bytes
return policy {
  api = 1, name = "r59-order-of-pairs", target = { tables = { "**" } },
  params = { retain = { type = "duration", default = "5d", min = "3d" } },
  triggers = { time.calendar { "Sun 02:00" } },
  decide = function(t, ctx)
    local x, said = {}, {}
    for i = 300, 1, -7 do x["k" .. i] = i x[i] = i end
    for k in pairs(x) do said[#said + 1] = k end
    for i = 2, #said do
      local a, b = said[i - 1], said[i]
      if type(a) == type(b) and not (a < b) or type(a) == "string" and type(b) == "number" then
        return run(all {}, action.rewrite_manifests {})
      end
    end
    return skip(all { check("never", 1, "==", 2) })
  end,
}
