-- SPDX-License-Identifier: Apache-2.0
std = "lua54"
max_line_length = 130
files["policies"] = {
  std = "none",
  read_globals = { "policy", "time", "on", "param", "action", "check", "check_each", "all", "any", "none", "run", "skip", "defer", "use",
    "ratio", "clamp", "sum", "min_by", "max_by", "percentile", "sort_by", "group_by", "top", "rank", "glob", "str", "fmt",
    "bytes_h", "iso", "hash", "note", "math", "table", "type", "tostring", "tonumber", "ipairs", "pairs", "select",
    "assert", "error", "pcall" },
}
files["tests/lua/policies"] = files["policies"]
files["**/*_spec.lua"] = { std = "lua54+busted" }
files["policies/**/*_spec.lua"] = { std = "lua54+busted" }
files["policies/templates/**/spec.lua"] = { std = "lua54+busted" }
