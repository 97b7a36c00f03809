/* SPDX-License-Identifier: Apache-2.0 */
#include <lauxlib.h>
#include <stddef.h>

#include "engine/eval_priv.h"
#include "engine/header_priv.h"

#define TRACE_NODES 60000

static void put_runs(struct ebb__eval *e)
{
    struct ebb_value *runs = ebb_value_put_map(e->ctx, "runs");

    if (!ebb__runs_is_known(e->input))
        return;
    ebb_value_put_copy(runs, "last", ebb__runs_last(e->input, false));
    ebb_value_put_copy(runs, "last_success", ebb__runs_last(e->input, true));
    ebb_value_put_int(runs, "failed_in_a_row", ebb__runs_failed_in_a_row(e->input));
}

static int make_ctx(struct ebb__eval *e, struct ebb_err *err)
{
    struct ebb_value *trigger;

    e->ctx = ebb_value_new_map(NULL);
    ebb_value_put_int(e->ctx, "now", e->input->now_ms);
    if (e->input->trigger) {
        ebb_value_put_copy(e->ctx, "trigger", e->input->trigger);
    } else {
        trigger = ebb_value_put_map(e->ctx, "trigger");
        ebb_value_put_str(trigger, "kind", "manual");
    }
    ebb_value_put_copy(e->ctx, "params", ebb_settings_get_params(e->settings));
    ebb_value_put_copy(e->ctx, "fleet", ebb_value_get(e->input->facts, "fleet"));
    put_runs(e);
    return ebb_value_check(e->ctx, "context", err);
}

static int make_trace(struct ebb__eval *e, struct ebb_err *err)
{
    struct ebb_value_limits limits = {EBB_VALUE_DEPTH_MAX, TRACE_NODES, EBB__NOTES_BYTES};

    e->trace = ebb_value_new_map(&limits);
    e->checks = ebb_value_put_list(e->trace, "checks");
    e->notes = ebb_value_put_list(e->trace, "notes");
    e->ranked = ebb_value_put_list(e->trace, "ranked");
    return ebb_value_check(e->trace, "explanation", err);
}

int ebb__eval_init(struct ebb__eval *e, const struct ebb_policy *policy, const struct ebb_settings *settings,
                   const struct ebb_decide_input *input, struct ebb_err *err)
{
    int rc;

    memset(e, 0, offsetof(struct ebb__eval, reads));
    e->node = -1;
    e->policy = policy;
    e->settings = settings;
    e->input = input;
    e->table = ebb_value_get(input->facts, "table");
    ebb__reads_init(&e->reads);
    rc = make_ctx(e, err);
    return rc ? rc : make_trace(e, err);
}

int ebb__eval_events(struct ebb__eval *e, const struct ebb_value **out, struct ebb_err *err)
{
    int rc = 0;

    if (!e->has_events)
        rc = ebb__events_make(e->input, !ebb_settings_get_guard(e->settings)->ignore_own, &e->events, err);
    e->has_events = !rc;
    *out = e->events;
    return rc;
}

void ebb__eval_fini(struct ebb__eval *e)
{
    ebb_value_free(e->ctx);
    ebb_value_free(e->events);
    ebb_value_free(e->trace);
    ebb_value_free(e->action);
    e->ctx = e->events = e->trace = e->action = NULL;
}

static const char DECIDE_KEY = 0; /* its address is the registry key of the function */

/* The header part of a run: what the script starts from. */
static int load(lua_State *L)
{
    const struct ebb_policy *policy = lua_touserdata(L, 1);

    ebb__header_push(L, (struct ebb_str){policy->source, policy->source_bytes});
    lua_pushliteral(L, "decide");
    lua_rawget(L, -2);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &DECIDE_KEY);
    return 0;
}

int ebb__eval_load(struct ebb__sandbox *sb, const struct ebb_policy *policy, struct ebb_err *err)
{
    int rc;

    sb->bundle = (struct ebb__bundle *)(uintptr_t)&policy->bundle;
    rc = ebb__sandbox_run(sb, load, (void *)(uintptr_t)policy, policy->file, NULL, err);
    sb->kept_count = sb->action_count;
    ebb__sandbox_drop(sb);
    return rc;
}

static int decide(lua_State *L)
{
    struct ebb__eval *e = lua_touserdata(L, 1);
    int before = lua_gettop(L);

    lua_rawgetp(L, LUA_REGISTRYINDEX, &DECIDE_KEY);
    ebb__facts_push(L);
    lua_call(L, 2, LUA_MULTRET);
    if (lua_gettop(L) > before + 1)
        return luaL_error(L, "decide returned %d values, not one", lua_gettop(L) - before);
    lua_settop(L, before + 1);
    ebb__result_take(L, before + 1, e);
    return 0;
}

/* What a run of the sandbox came to, as the outcome of the evaluation. */
static int settle(struct ebb__eval *e, const struct ebb__sandbox *sb, int rc, struct ebb_err *err)
{
    e->gas = ebb__sandbox_gas_used(sb);
    e->mem_peak = (int64_t)sb->mem_peak;
    if (!rc && e->rc) {
        rc = e->rc;
        if (err)
            *err = e->err;
    }
    if (!rc)
        rc = ebb_value_check(e->trace, "explanation", err);
    return rc == -(int)EBB_ELIMIT ? ebb_err_as(err, EBB_EPOLICY_RESULT, e->policy->file) : rc;
}

int ebb__eval_call(struct ebb__eval *e, struct ebb__sandbox *sb, struct ebb_err *err)
{
    int rc;

    sb->host = e;
    sb->phase = EBB__PHASE_DECIDE;
    sb->reads = &e->reads;
    ebb__sandbox_refuel(sb, e->input->gas > 0 ? e->input->gas : EBB_DECIDE_GAS);
    rc = ebb__sandbox_run(sb, decide, e, e->policy->file, NULL, err);
    return settle(e, sb, rc, err);
}

int ebb__eval_run(struct ebb__eval *e, struct ebb__sandbox *sb, struct ebb__pool *pool, uint8_t *lines,
                  size_t line_count, struct ebb_err *err)
{
    int rc = ebb__sandbox_open_in(sb, pool, EBB__PHASE_HEADER, e, ebb__open_policy, err);

    if (rc)
        return rc;
    e->state = "collected";
    if (lines)
        ebb__sandbox_watch_lines(sb, lines, line_count);
    rc = ebb__eval_load(sb, e->policy, err);
    rc = rc ? settle(e, sb, rc, err) : ebb__eval_call(e, sb, err);
    ebb__sandbox_close(sb);
    return rc;
}
