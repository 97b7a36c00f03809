/* SPDX-License-Identifier: Apache-2.0 */
#include "front/lua/module_priv.h"

static int l_ebb_version(lua_State *L)
{
    lua_pushliteral(L, EBB_VERSION);
    return 1;
}

static const struct {
    const char *name;
    lua_CFunction open;
} TABLES[] = {
    {"location", ebb__lua_open_location}, {"policy", ebb__lua_open_policy}, {"schedule", ebb__lua_open_schedule},
    {"sql", ebb__lua_open_sql},           {"table", ebb__lua_open_table},   {"time", ebb__lua_open_time},
};

static const luaL_Reg FUNCTIONS[] = {
    {"version", l_ebb_version},
    {"duration", ebb__lua_duration},
    {"size", ebb__lua_size},
    {"plan", ebb__lua_plan},
    {"apply", ebb__lua_apply},
    {"restore", ebb__lua_restore},
    {NULL, NULL},
};

__attribute__((visibility("default"))) int luaopen_ebb(lua_State *L);

int luaopen_ebb(lua_State *L)
{
    luaL_checkversion(L);
    luaL_newlib(L, FUNCTIONS);
    for (size_t i = 0; i < sizeof TABLES / sizeof *TABLES; i++) {
        TABLES[i].open(L);
        lua_setfield(L, -2, TABLES[i].name);
    }
    return 1;
}
