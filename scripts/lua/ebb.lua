-- SPDX-License-Identifier: Apache-2.0
-- The module in C of this name. Found here first: in a folder with a configuration, ./ebb.lua would be taken for it.
if _VERSION ~= "Lua 5.4" then
  error("ebb: this module is for Lua 5.4, not " .. _VERSION .. ", as in: busted --lua=lua5.4", 0)
end
local file = assert(package.searchpath("ebb", package.cpath))
return assert(package.loadlib(file, "luaopen_ebb"))("ebb", file)
