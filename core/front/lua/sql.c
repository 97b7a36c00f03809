/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sql.h"

#include "base/time.h"
#include "front/lua/module_priv.h"

enum dialect { SPARK, TRINO, SPARK_ARG };

static const char *const DIALECTS[] = {"spark", "trino", "spark_arg", NULL};

static enum dialect check_dialect(lua_State *L, bool with_arg)
{
    enum dialect d;

    luaL_checktype(L, 1, LUA_TSTRING);
    d = (enum dialect)luaL_checkoption(L, 1, NULL, DIALECTS);
    luaL_argcheck(L, with_arg || d != SPARK_ARG, 1, "'spark_arg' is for identifiers only");
    return d;
}

static enum ebb_sql_dialect base_dialect(enum dialect d)
{
    return d == TRINO ? EBB_SQL_TRINO : EBB_SQL_SPARK;
}

static int l_sql_literal(lua_State *L)
{
    enum dialect d = check_dialect(L, false);
    struct ebb_str value = ebb__lua_check_bytes(L, 2);
    struct ebb_buf *out = ebb__lua_buf(L);
    struct ebb_err err;
    int rc = ebb_sql_literal(base_dialect(d), value, out, &err);

    return ebb__lua_return_buf(L, out, rc, &err);
}

static int l_sql_identifier(lua_State *L)
{
    enum dialect d = check_dialect(L, true);
    struct ebb_buf *out = ebb__lua_buf(L);
    size_t count;
    const struct ebb_str *parts = ebb__lua_check_list(L, 2, &count);
    struct ebb_err err;
    int rc;

    if (d == SPARK_ARG)
        rc = ebb_sql_spark_table_arg(parts, count, out, &err);
    else
        rc = ebb_sql_identifier(base_dialect(d), parts, count, out, &err);
    return ebb__lua_return_buf(L, out, rc, &err);
}

/* Arguments of the procedures, in the order in which they are written, the table first. */
static const struct {
    const char *name;
    enum ebb_sql_kind kind;
} ARGS[] = {
    {"table", EBB_SQL_TABLE},
    {"older_than", EBB_SQL_TIMESTAMP_MS},
    {"location", EBB_SQL_TEXT},
    {"dry_run", EBB_SQL_BOOL},
    {"retain_last", EBB_SQL_INT},
    {"max_concurrent_deletes", EBB_SQL_INT},
    {"file_list_view", EBB_SQL_TEXT},
    {"prefix_mismatch_mode", EBB_SQL_TEXT},
    {"prefix_listing", EBB_SQL_BOOL},
    {"stream_results", EBB_SQL_BOOL},
    {"clean_expired_metadata", EBB_SQL_BOOL},
    {"strategy", EBB_SQL_TEXT},
    {"sort_order", EBB_SQL_TEXT},
    {"where", EBB_SQL_TEXT},
    {"use_caching", EBB_SQL_BOOL},
    {"spec_id", EBB_SQL_INT},
    {"snapshot_id", EBB_SQL_LONG},
};

#define ARG_COUNT (sizeof ARGS / sizeof *ARGS)

static bool is_known(const char *name)
{
    for (size_t i = 0; i < ARG_COUNT; i++)
        if (!strcmp(ARGS[i].name, name))
            return true;
    return false;
}

/* Every key of the table at index must be one that `known` knows. */
static int check_names(lua_State *L, int index, bool (*known)(const char *name), struct ebb_err *err)
{
    lua_pushnil(L);
    while (lua_next(L, index)) {
        luaL_argcheck(L, lua_type(L, -2) == LUA_TSTRING, index, "names of arguments expected");
        if (!known(lua_tostring(L, -2)))
            return ebb_err_set(err, EBB_EUNSUPPORTED, "SQL argument '%s': can not be passed on", lua_tostring(L, -2));
        lua_pop(L, 1);
    }
    return 0;
}

/* An instant: ms, or text that is UTC unless it says otherwise. */
static int read_instant(lua_State *L, int64_t *out, struct ebb_err *err)
{
    const char *text;
    int rc;

    if (lua_type(L, -1) != LUA_TSTRING) {
        *out = ebb__lua_check_int(L, lua_gettop(L));
        return 0;
    }
    rc = ebb__lua_check_text(L, lua_gettop(L), EBB_ETIME, &text, err);
    return rc ? rc : ebb_time_parse(text, "UTC", out, err);
}

/* The table's whole name: its first part is the catalog, so that no engine guesses. */
static int read_table(lua_State *L, struct ebb_str catalog, struct ebb_sql_arg *arg, struct ebb_err *err)
{
    if (lua_isnil(L, -1))
        return ebb_err_set(err, EBB_ESQL, "SQL argument 'table': is missing");
    arg->parts = ebb__lua_check_list(L, lua_gettop(L), &arg->part_count);
    if (arg->part_count < 3 || !ebb_str_is_equal(arg->parts[0], catalog))
        return ebb_err_set(err, EBB_ESQL,
                           "SQL argument 'table': must be catalog, namespace and table, in this catalog");
    return 0;
}

/* Push the argument of this name; no metamethod runs. */
static int push_arg(lua_State *L, const char *name)
{
    lua_pushstring(L, name);
    return lua_rawget(L, 4);
}

/* Fill arg from the value at the top, which stays there. */
static int read_arg(lua_State *L, struct ebb_sql_arg *arg, struct ebb_err *err)
{
    int top = lua_gettop(L);

    switch (arg->kind) {
    case EBB_SQL_TEXT:
        arg->text = ebb__lua_check_bytes(L, top);
        return 0;
    case EBB_SQL_TIMESTAMP_MS:
        return read_instant(L, &arg->number, err);
    case EBB_SQL_BOOL:
        luaL_checktype(L, top, LUA_TBOOLEAN);
        arg->number = lua_toboolean(L, top);
        return 0;
    case EBB_SQL_TABLE:
    case EBB_SQL_INT:
    case EBB_SQL_LONG:
        break;
    }
    arg->number = ebb__lua_check_int(L, top);
    return 0;
}

/* The table goes first into the statement, but is read last: its parts are borrowed. */
static int spark_call(lua_State *L, const char *procedure, struct ebb_str catalog, struct ebb_buf *out,
                      struct ebb_err *err)
{
    struct ebb_sql_arg args[ARG_COUNT];
    size_t count = 1;
    int rc = check_names(L, 4, is_known, err);

    luaL_checkstack(L, (int)(2 * ARG_COUNT + LUA_MINSTACK), "arguments");
    memset(args, 0, sizeof args);
    for (size_t i = 1; i < ARG_COUNT && !rc; i++) {
        if (push_arg(L, ARGS[i].name) == LUA_TNIL)
            continue;
        args[count].name = ARGS[i].name;
        args[count].kind = ARGS[i].kind;
        rc = read_arg(L, &args[count], err);
        count++;
    }
    if (rc)
        return rc;
    args[0].name = ARGS[0].name;
    args[0].kind = ARGS[0].kind;
    push_arg(L, args[0].name);
    rc = read_table(L, catalog, &args[0], err);
    return rc ? rc : ebb_sql_call(EBB_SQL_SPARK, procedure, catalog, args, count, out, err);
}

static bool is_known_to_trino(const char *name)
{
    return !strcmp(name, "table") || !strcmp(name, "retention_threshold");
}

/* ms, or a duration as text. */
static int read_retention(lua_State *L, int64_t *out, struct ebb_err *err)
{
    const char *text;
    int rc;

    if (lua_type(L, -1) != LUA_TSTRING) {
        *out = ebb__lua_check_int(L, lua_gettop(L));
        return 0;
    }
    rc = ebb__lua_check_text(L, lua_gettop(L), EBB_ETIME, &text, err);
    return rc ? rc : ebb_duration_parse(text, out, err);
}

static int trino_call(lua_State *L, const char *procedure, struct ebb_str catalog, struct ebb_buf *out,
                      struct ebb_err *err)
{
    struct ebb_sql_arg table = {.name = "table", .kind = EBB_SQL_TABLE};
    int64_t retention_ms = 0;
    int rc = check_names(L, 4, is_known_to_trino, err);

    if (rc)
        return rc;
    push_arg(L, "retention_threshold");
    rc = read_retention(L, &retention_ms, err);
    if (rc)
        return rc;
    push_arg(L, "table");
    rc = read_table(L, catalog, &table, err);
    return rc ? rc : ebb_sql_trino_execute(procedure, table.parts, table.part_count, retention_ms, out, err);
}

/* ebb.sql.call(dialect, procedure, catalog, args) -> statement */
static int l_sql_call(lua_State *L)
{
    enum dialect d = check_dialect(L, false);
    struct ebb_str catalog = ebb__lua_check_bytes(L, 3);
    const char *procedure;
    struct ebb_buf *out;
    struct ebb_err err;
    int rc = ebb__lua_check_text(L, 2, EBB_ESQL, &procedure, &err);

    luaL_checktype(L, 4, LUA_TTABLE);
    lua_settop(L, 4);
    out = ebb__lua_buf(L);
    if (!rc)
        rc = d == TRINO ? trino_call(L, procedure, catalog, out, &err) : spark_call(L, procedure, catalog, out, &err);
    return ebb__lua_return_buf(L, out, rc, &err);
}

static const luaL_Reg FUNCTIONS[] = {
    {"literal", l_sql_literal},
    {"identifier", l_sql_identifier},
    {"call", l_sql_call},
    {NULL, NULL},
};

EBB_LJMP int ebb__lua_open_sql(lua_State *L)
{
    luaL_newlib(L, FUNCTIONS);
    return 1;
}
