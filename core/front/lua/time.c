/* SPDX-License-Identifier: Apache-2.0 */
#include "base/time.h"

#include "front/lua/module_priv.h"

/* ebb.time.parse(text [, zone]) -> ms */
static int l_time_parse(lua_State *L)
{
    const char *text, *zone = NULL;
    struct ebb_err err;
    int64_t ms = 0;
    int rc = ebb__lua_check_text(L, 1, EBB_ETIME, &text, &err);

    if (!lua_isnoneornil(L, 2)) {
        int rc2 = ebb__lua_check_text(L, 2, EBB_ETIME, &zone, &err);

        rc = rc ? rc : rc2;
    }
    if (!rc)
        rc = ebb_time_parse(text, zone, &ms, &err);
    return ebb__lua_return_int(L, ms, rc, &err);
}

/* ebb.time.format(ms [, "iso" | "sql"]) -> text */
static int l_time_format(lua_State *L)
{
    static const char *const FORMS[] = {"iso", "sql", NULL};
    int64_t ms = ebb__lua_check_int(L, 1);
    int form = luaL_checkoption(L, 2, "iso", FORMS);
    struct ebb_buf *out = ebb__lua_buf(L);
    struct ebb_err err;

    if (form == 0)
        ebb_time_iso(out, ms);
    else
        ebb_time_sql(out, ms);
    return ebb__lua_return_buf(L, out, 0, &err);
}

int ebb__lua_duration(lua_State *L)
{
    const char *text;
    struct ebb_err err;
    int64_t ms = 0;
    int rc = ebb__lua_check_text(L, 1, EBB_ETIME, &text, &err);

    if (!rc)
        rc = ebb_duration_parse(text, &ms, &err);
    return ebb__lua_return_int(L, ms, rc, &err);
}

int ebb__lua_size(lua_State *L)
{
    const char *text;
    struct ebb_err err;
    uint64_t bytes = 0;
    int rc = ebb__lua_check_text(L, 1, EBB_EUSAGE, &text, &err);

    if (!rc)
        rc = ebb_size_parse(text, &bytes, &err);
    if (!rc && bytes > INT64_MAX)
        rc = ebb_err_set(&err, EBB_ELIMIT, "size '%s': does not fit a Lua integer", text);
    return ebb__lua_return_int(L, (int64_t)bytes, rc, &err);
}

static const luaL_Reg FUNCTIONS[] = {
    {"parse", l_time_parse},
    {"format", l_time_format},
    {NULL, NULL},
};

EBB_LJMP int ebb__lua_open_time(lua_State *L)
{
    luaL_newlib(L, FUNCTIONS);
    return 1;
}
