/* SPDX-License-Identifier: Apache-2.0
 *
 * ebb.table: tables as objects. Nothing is written but, with the option state, what was read off manifests.
 */
#include "front/lua/table_priv.h"

#include "service/facts.h"
#include "table/reach.h"

#define NAMES_MAX_BYTES ((size_t)4 << 30)

static int l_table_gc(lua_State *L)
{
    struct ebb__lua_table *t = luaL_checkudata(L, 1, EBB__LUA_TABLE);

    ebb_table_free(t->table);
    ebb_workspace_close(t->ws);
    ebb_value_free(t->options);
    ebb_strs_fini(&t->maps);
    memset(t, 0, sizeof *t);
    return 0;
}

EBB_LJMP struct ebb__lua_table *ebb__lua_test_table(lua_State *L, int index)
{
    struct ebb__lua_table *t = luaL_testudata(L, index, EBB__LUA_TABLE);

    luaL_argcheck(L, !t || t->table, index, "the table is closed");
    return t;
}

static struct ebb__lua_table *check_table(lua_State *L)
{
    luaL_checkudata(L, 1, EBB__LUA_TABLE);
    return EBB_MAY_LJMP(ebb__lua_test_table(L, 1));
}

/* Push the facts of the table; what: which members of them are wanted (NULL: all but those off manifests). */
static int push_facts(lua_State *L, unsigned manifests, const char *what)
{
    struct ebb_facts_options options = {.overlaps = -1, .manifests = manifests};
    struct ebb__lua_table *t = check_table(L);
    const struct ebb_site *site = ebb_workspace_site(t->ws);
    struct ebb_value **facts = ebb__lua_tree(L);
    struct ebb_err err;

    if (ebb_facts_new(site, t->table, &options, ebb_clock_now(&site->clock), facts, &err))
        return ebb__lua_fail(L, &err);
    ebb__lua_push_value(L, what ? ebb_value_get(ebb_value_get(*facts, "table"), what) : ebb_value_get(*facts, "table"));
    return 1;
}

/* table:metadata() -> identity, properties, schema, spec, snapshots, refs */
static int l_metadata(lua_State *L)
{
    int n = push_facts(L, 0, NULL);

    if (n != 1)
        return n;
    lua_pushnil(L);
    lua_setfield(L, -2, "stats");
    return 1;
}

/* table:stats() -> as t.stats of policies */
static int l_stats(lua_State *L)
{
    return push_facts(L, EBB_FACTS_MANIFESTS, "stats");
}

/* table:partitions() -> list as t.partitions of policies; nil when unknown */
static int l_partitions(lua_State *L)
{
    return push_facts(L, EBB_FACTS_MANIFESTS, "partitions");
}

/* Names one after the other: kind, length, bytes. */
static int keep_name(void *data, enum ebb_reach_kind kind, struct ebb_str path, struct ebb_err *err)
{
    struct ebb_buf *names = data;

    ebb_buf_putc(names, (char)kind);
    ebb_buf_append(names, &path.n, sizeof path.n);
    ebb_buf_add_str(names, path);
    return names->bad ? ebb_buf_check(names, "reachable names", err) : 0;
}

static int l_next_name(lua_State *L)
{
    static const char *const KINDS[] = {"metadata", "manifest_list", "manifest",  "data",
                                        "deletes",  "statistics",    "referenced"};
    struct ebb_buf *names = luaL_checkudata(L, lua_upvalueindex(1), EBB__LUA_BUF);
    size_t at = (size_t)lua_tointeger(L, lua_upvalueindex(2)), n;
    int kind;

    if (at >= names->len)
        return 0;
    kind = names->data[at];
    memcpy(&n, names->data + at + 1, sizeof n);
    at += 1 + sizeof n;
    lua_pushinteger(L, (lua_Integer)(at + n));
    lua_replace(L, lua_upvalueindex(2));
    lua_pushlstring(L, names->data + at, n);
    lua_pushstring(L, KINDS[kind]);
    return 2;
}

/* for path, kind in table:reachable() do: every name that the metadata holds; a name may come several times */
static int l_reachable(lua_State *L)
{
    struct ebb__lua_table *t = check_table(L);
    struct ebb_buf *names = ebb__lua_buf(L);
    struct ebb_err err;

    ebb_buf_init(names, NAMES_MAX_BYTES);
    if (ebb_reach_walk(ebb_workspace_site(t->ws), t->table, NULL, keep_name, names, NULL, &err))
        return ebb__lua_fail(L, &err);
    lua_pushinteger(L, 0);
    lua_pushcclosure(L, l_next_name, 2);
    return 1;
}

static const luaL_Reg METHODS[] = {
    {"metadata", l_metadata},   {"stats", l_stats}, {"partitions", l_partitions},
    {"reachable", l_reachable}, {NULL, NULL},
};

/* ebb.table.open(path [, { map = {…}, state =, config = }]) -> table, or nil, err */
static int l_table_open(lua_State *L)
{
    static const char *const KEYS[] = {"map", "state", "config"};
    struct ebb__lua_options o = {2, NULL, NULL};
    const struct ebb_value *given;
    struct ebb__lua_table *t;
    struct ebb_err err;
    const char *path;
    int rc;

    lua_settop(L, 2);
    given = ebb__lua_check_value(L, 2);
    luaL_argcheck(L, lua_isnil(L, 2) || lua_istable(L, 2), 2, "a table of options is wanted");
    ebb__lua_check_keys(L, 2, ebb_value_get(given, EBB__LUA_KEY), KEYS, sizeof KEYS / sizeof *KEYS);
    rc = ebb__lua_check_text(L, 1, EBB_EUSAGE, &path, &err);
    t = ebb__lua_box(L, EBB__LUA_TABLE, sizeof *t, l_table_gc);
    ebb_strs_init(&t->maps);
    ebb__lua_methods(L, METHODS);
    if (!rc)
        rc = ebb_value_dup(given, NULL, &t->options, &err);
    o.own = ebb_value_get(t->options, EBB__LUA_KEY);
    if (!rc)
        rc = ebb__lua_open_workspace(L, &o, !ebb__lua_option(&o, "state"), &t->ws, &err);
    if (!rc)
        rc = ebb__lua_connect(L, &o, t->ws, NULL, &t->maps, &err);
    if (!rc)
        rc = ebb_table_open(ebb_workspace_site(t->ws), path, &t->table, &err);
    return rc ? ebb__lua_fail(L, &err) : 1;
}

static const luaL_Reg FUNCTIONS[] = {
    {"open", l_table_open},
    {NULL, NULL},
};

EBB_LJMP int ebb__lua_open_table(lua_State *L)
{
    luaL_newlib(L, FUNCTIONS);
    return 1;
}
