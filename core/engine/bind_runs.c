/* SPDX-License-Identifier: Apache-2.0
 *
 * ctx.runs: what happened before.
 */
#include <lauxlib.h>

#include "engine/eval_priv.h"

static int l_count(lua_State *L);
static int l_conflicts(lua_State *L);
static int l_since_partition(lua_State *L);

static const struct ebb__field RUN[] = {{"id", NULL, false, NULL},
                                        {"started", NULL, false, NULL},
                                        {"ended", NULL, false, NULL},
                                        {"outcome", NULL, false, NULL},
                                        {"trigger", NULL, false, NULL}};
const struct ebb__shape ebb__shape_run = {"run", RUN, sizeof RUN / sizeof *RUN, true};

static const struct ebb__field RUNS[] = {
    {"last", &ebb__shape_run, false, NULL},  {"last_success", &ebb__shape_run, false, NULL},
    {"failed_in_a_row", NULL, false, NULL},  {"count", NULL, false, l_count},
    {"conflicts", NULL, false, l_conflicts}, {"since_partition", NULL, false, l_since_partition},
};
const struct ebb__shape ebb__shape_runs = {"ctx.runs", RUNS, sizeof RUNS / sizeof *RUNS, false};

static void mark(lua_State *L, const char *name)
{
    struct ebb__reads *reads = ebb__sandbox_of(L)->reads;
    int node = ebb__reads_at(reads, -1, EBB_STR("ctx"));

    node = node < 0 ? node : ebb__reads_at(reads, node, EBB_STR("runs"));
    ebb__reads_mark(reads, node < 0 ? node : ebb__reads_at(reads, node, ebb_str_of(name)));
}

static const struct ebb_value *history(lua_State *L)
{
    const struct ebb_value *runs = ebb_value_get(ebb__eval_of(L)->input->facts, "runs");

    EBB_MAY_LJMP(ebb__charge(L, 2 * ebb_value_get_count(runs) + 10));
    return runs;
}

/* Options { outcome =, within =, since = }; outcome is left at 2. Gives the first instant that counts. */
static int64_t read_options(lua_State *L, const char *what, const char *const *keys, size_t count)
{
    int64_t since = INT64_MIN;

    if (lua_isnoneornil(L, 1)) {
        lua_settop(L, 0);
        lua_newtable(L);
    }
    if (lua_type(L, 1) != LUA_TTABLE)
        luaL_error(L, "%s: write %s { within = … }", what, what);
    lua_settop(L, 1);
    EBB_MAY_LJMP(ebb__check_keys(L, 1, what, keys, count));
    for (size_t i = 0; i < 2; i++) {
        lua_pushstring(L, keys[i]);
        if (lua_rawget(L, 1) != LUA_TNIL)
            since = ebb__check_since(L, -1, what);
        lua_pop(L, 1);
    }
    lua_pushliteral(L, "outcome");
    lua_rawget(L, 1);
    return since;
}

/* ctx.runs.count { outcome =, within =, since = } */
static int l_count(lua_State *L)
{
    static const char *const KEYS[] = {"since", "within", "outcome"};
    const struct ebb_value *runs = history(L);
    int64_t since = read_options(L, "ctx.runs.count", KEYS, 3);
    lua_Integer count = 0;

    mark(L, "count");
    for (size_t i = 0; i < ebb_value_get_count(runs); i++) {
        const struct ebb_value *run = ebb_value_get_at(runs, i);
        const char *outcome = ebb_value_text_of(run, "outcome");
        bool fits = lua_type(L, 2) != LUA_TSTRING || (outcome && !strcmp(outcome, lua_tostring(L, 2)));

        count += fits && ebb_value_int_of(run, "started", 0) > since;
    }
    lua_pushinteger(L, count);
    return 1;
}

/* ctx.runs.conflicts { within =, since = }: commit conflicts that runs met. */
static int l_conflicts(lua_State *L)
{
    static const char *const KEYS[] = {"since", "within"};
    const struct ebb_value *runs = history(L);
    int64_t since = read_options(L, "ctx.runs.conflicts", KEYS, 2);
    lua_Integer count = 0;

    mark(L, "conflicts");
    for (size_t i = 0; i < ebb_value_get_count(runs); i++) {
        const struct ebb_value *run = ebb_value_get_at(runs, i);

        if (ebb_value_int_of(run, "started", 0) > since)
            count += ebb_value_int_of(run, "conflicts", 0);
    }
    lua_pushinteger(L, count);
    return 1;
}

static bool has_partition(const struct ebb_value *run, struct ebb_str key)
{
    const struct ebb_value *keys = ebb_value_get(run, "partitions");

    for (size_t i = 0; i < ebb_value_get_count(keys); i++)
        if (ebb_str_is_equal(ebb_value_get_bytes(ebb_value_get_at(keys, i)), key))
            return true;
    return false;
}

/* ctx.runs.since_partition(key): ms since the last run that took the partition ended; since 1970 when there was none.
 */
static int l_since_partition(lua_State *L)
{
    const struct ebb_value *runs = history(L);
    int64_t ended = 0;
    struct ebb_str key;

    key.p = luaL_checklstring(L, 1, &key.n);
    mark(L, "since_partition");
    for (size_t i = ebb_value_get_count(runs); i-- > 0 && !ended;) {
        const struct ebb_value *run = ebb_value_get_at(runs, i);

        EBB_MAY_LJMP(ebb__charge(L, ebb_value_get_count(ebb_value_get(run, "partitions")) + 1));
        if (has_partition(run, key))
            ended = ebb_value_int_of(run, "ended", ebb__eval_of(L)->input->now_ms);
    }
    lua_pushinteger(L, ebb__eval_of(L)->input->now_ms - ended);
    return 1;
}
