-- SPDX-License-Identifier: Apache-2.0
-- The module in C of this name. Found here first: in a folder with a configuration, ./ebb.lua would be taken for it.
local file = assert(package.searchpath("ebb", package.cpath))
return assert(package.loadlib(file, "luaopen_ebb"))("ebb", file)
