/* SPDX-License-Identifier: Apache-2.0
 *
 * ctx.runs: what happened before.
 */
#include <lauxlib.h>

#include "engine/sections_priv.h"

static int l_count(lua_State *L);
static int l_conflicts(lua_State *L);
static int l_since_partition(lua_State *L);

#define FIELD(name, shape, method, special)                                                                            \
    {                                                                                                                  \
        name, shape, false, method, special, 0                                                                         \
    }
#define PLAIN(name) FIELD(name, NULL, NULL, EBB__SPECIAL_NONE)

static const struct ebb__field RUN[] = {PLAIN("id"), PLAIN("started"), PLAIN("ended"), PLAIN("outcome"),
                                        PLAIN("trigger")};
const struct ebb__shape ebb__shape_run = {"run", RUN, sizeof RUN / sizeof *RUN, true};

static const struct ebb__field RUNS[] = {
    FIELD("last", &ebb__shape_run, NULL, EBB__SPECIAL_NONE),
    FIELD("last_success", &ebb__shape_run, NULL, EBB__SPECIAL_NONE),
    PLAIN("failed_in_a_row"),
    FIELD("count", NULL, l_count, EBB__SPECIAL_NONE),
    FIELD("conflicts", NULL, l_conflicts, EBB__SPECIAL_NONE),
    FIELD("since_partition", NULL, l_since_partition, EBB__SPECIAL_SINCE),
};
const struct ebb__shape ebb__shape_runs = {"ctx.runs", RUNS, sizeof RUNS / sizeof *RUNS, false};

static void mark(lua_State *L, const char *name)
{
    struct ebb__reads *reads = ebb__sandbox_of(L)->reads;
    int node = ebb__reads_at(reads, ebb__reads_at(reads, EBB__READS_ROOT, EBB_STR("ctx")), EBB_STR("runs"));

    ebb__reads_mark(reads, ebb__reads_at(reads, node, ebb_str_of(name)));
}

static const struct ebb_value *history(lua_State *L)
{
    const struct ebb_value *runs = ebb_value_get(ebb__eval_of(L)->input->facts, "runs");

    EBB_MAY_LJMP(ebb__charge(L, 2 * ebb_value_get_count(runs) + 10));
    return runs;
}

/* Options { since =, within =, outcome = }; outcome is left at 2. */
static struct ebb__window read_options(lua_State *L, const char *what, const char *const *keys, size_t count)
{
    struct ebb__window since, within;

    EBB_MAY_LJMP(ebb__check_options(L, what, keys, count));
    since = EBB_MAY_LJMP(ebb__option_since(L, what, "since"));
    within = EBB_MAY_LJMP(ebb__option_since(L, what, "within"));
    lua_pushliteral(L, "outcome");
    lua_rawget(L, 1);
    return within.since == INT64_MIN ? since : within;
}

/* The answer, or nil: without a history nothing can be said. */
static int push_known(lua_State *L, lua_Integer answer)
{
    if (!ebb__runs_is_known(ebb__eval_of(L)->input))
        return 0;
    lua_pushinteger(L, answer);
    return 1;
}

/* ctx.runs.count { outcome =, within =, since = } */
static int l_count(lua_State *L)
{
    static const char *const KEYS[] = {"since", "within", "outcome"};
    const struct ebb_value *runs = history(L);
    struct ebb__window since = read_options(L, "ctx.runs.count", KEYS, 3);
    lua_Integer count = 0;

    mark(L, "count");
    for (size_t i = 0; i < ebb_value_get_count(runs); i++) {
        const struct ebb_value *run = ebb_value_get_at(runs, i);
        const char *outcome = ebb_value_text_of(run, "outcome");
        bool fits = lua_type(L, 2) != LUA_TSTRING || (outcome && !strcmp(outcome, lua_tostring(L, 2)));

        count += fits && ebb__window_has(L, &since, ebb_value_int_of(run, "started", 0));
    }
    return push_known(L, count);
}

/* ctx.runs.conflicts { within =, since = }: commit conflicts that runs met. */
static int l_conflicts(lua_State *L)
{
    static const char *const KEYS[] = {"since", "within"};
    const struct ebb_value *runs = history(L);
    struct ebb__window since = read_options(L, "ctx.runs.conflicts", KEYS, 2);
    lua_Integer count = 0;

    mark(L, "conflicts");
    for (size_t i = 0; i < ebb_value_get_count(runs); i++) {
        const struct ebb_value *run = ebb_value_get_at(runs, i);

        if (ebb__window_has(L, &since, ebb_value_int_of(run, "started", 0)))
            count += ebb_value_int_of(run, "conflicts", 0);
    }
    return push_known(L, count);
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
    struct ebb__eval *e = ebb__eval_of(L);
    int64_t ended = 0;
    struct ebb_str key;

    key.p = luaL_checklstring(L, 1, &key.n);
    mark(L, "since_partition");
    for (size_t i = ebb_value_get_count(runs); i-- > 0 && !ended;) {
        const struct ebb_value *run = ebb_value_get_at(runs, i);

        EBB_MAY_LJMP(ebb__charge(L, ebb_value_get_count(ebb_value_get(run, "partitions")) + 1));
        if (!has_partition(run, key))
            continue;
        ended = ebb_value_int_of(run, "ended", e->input->now_ms);
        if (!ebb_value_get(run, "ended")) /* it stays 0 while it runs */
            e->changes.is_unclear = true;
    }
    return push_known(L, e->input->now_ms - ended);
}
