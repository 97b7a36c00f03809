/* SPDX-License-Identifier: Apache-2.0 */
#include <lauxlib.h>
#include <stdlib.h>

#include "engine/bind_priv.h"
#include "engine/console_priv.h"

#define PREFIX "local t, ctx = ...; "
#define MESSAGE_MAX 900

static const char NO_POLICY[] = "return policy { api = 1, name = \"console\", decide = function() end }";

void ebb_console_result_init(struct ebb_console_result *result)
{
    memset(result, 0, sizeof *result);
    ebb_buf_init(&result->out, EBB__CONSOLE_OUT_BYTES);
}

void ebb_console_result_fini(struct ebb_console_result *result)
{
    ebb_buf_fini(&result->out);
}

static struct ebb__console *console_of(lua_State *L)
{
    return (struct ebb__console *)ebb__eval_of(L);
}

/* print(…) and note(…): the values with two blanks between, on a line of their own. */
static int l_print(lua_State *L)
{
    struct ebb_buf *out = &console_of(L)->result->out;
    int count = lua_gettop(L);

    for (int i = 1; i <= count; i++) {
        size_t n;
        const char *text = ebb__push_text(L, i, &n);

        EBB_MAY_LJMP(ebb__charge(L, n / 4 + 20));
        ebb_buf_puts(out, i > 1 ? "  " : "");
        ebb_text_escape(out, text, n);
        lua_pop(L, 1);
    }
    ebb_buf_putc(out, '\n');
    return 0;
}

/* use "name": in a policy only its data part may call it. */
static int l_use(lua_State *L)
{
    struct ebb__sandbox *sb = ebb__sandbox_of(L);
    int status;

    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    sb->phase = EBB__PHASE_HEADER;
    status = EBB_MAY_LJMP(ebb__pcall(L, lua_gettop(L) - 1));
    sb->phase = EBB__PHASE_DECIDE;
    return status == LUA_OK ? lua_gettop(L) : lua_error(L);
}

/* The globals of policies, and what only a person at a terminal can use. */
static int open_console(lua_State *L)
{
    static const luaL_Reg OWN[] = {{"print", l_print}, {"note", l_print}, {NULL, NULL}};

    lua_pushcfunction(L, ebb__open_policy);
    lua_call(L, 0, 1);
    EBB_MAY_LJMP(ebb__set_functions(L, OWN));
    lua_getfield(L, -1, "use");
    lua_pushcclosure(L, l_use, 1);
    lua_setfield(L, -2, "use");
    return 1;
}

/* ---- the chunk ---- */

static int load_buffer(lua_State *L)
{
    const struct ebb_buf *text = lua_touserdata(L, 1);

    ebb__load_chunk(L, text->data, text->len, "=policy");
    return 1;
}

/* Push the function, or a message; whether it was the function. */
static bool load(lua_State *L, const struct ebb_buf *text)
{
    lua_pushcfunction(L, load_buffer);
    lua_pushlightuserdata(L, (void *)(uintptr_t)text);
    return EBB_MAY_LJMP(ebb__pcall(L, 1)) == LUA_OK;
}

static void note_place(lua_State *L, struct ebb__console *c, const char *message)
{
    const char *line = !strncmp(message, "policy:", 7) ? message + 7 : "0";

    c->result->is_incomplete = ebb__console_is_cut(message);
    c->result->line = (int)strtol(line, NULL, 10);
    if (!c->result->is_incomplete)
        c->result->column = ebb__console_column(L, c->source, c->result->line, message);
}

/* Push the chunk as a function: an expression when it is one, else statements. */
static void push_chunk(lua_State *L, struct ebb__console *c)
{
    const char *message;

    c->is_expression = true;
    if (load(L, &c->expression))
        return;
    message = lua_tostring(L, -1);
    c->result->is_incomplete = message && ebb__console_is_cut(message);
    c->is_expression = false;
    if (!c->result->is_incomplete && load(L, &c->block))
        return;
    message = lua_tostring(L, -1);
    if (!c->result->is_incomplete && message)
        note_place(L, c, message);
    lua_error(L);
}

static int run_chunk(lua_State *L)
{
    struct ebb__console *c = lua_touserdata(L, 1);
    struct ebb__sandbox *sb = ebb__sandbox_of(L);
    int64_t gas = c->eval.input->gas;
    int first;

    sb->phase = EBB__PHASE_DECIDE;
    sb->reads = &c->eval.reads;
    ebb__sandbox_refuel(sb, gas > 0 ? gas : EBB_DECIDE_GAS);
    push_chunk(L, c);
    c->is_loaded = true;
    first = lua_gettop(L);
    ebb__facts_push(L);
    lua_call(L, 2, LUA_MULTRET);
    c->gas = ebb__sandbox_gas_used(sb);
    c->result->is_expression = c->is_expression;
    ebb__sandbox_refuel(sb, EBB__GAS_UNLIMITED);
    if (c->is_expression && lua_gettop(L) < first && ebb__console_path(c->source))
        lua_pushnil(L); /* a function of the facts that has nothing to give */
    if (c->taken) {
        lua_settop(L, first);
        return ebb__console_take(L, first, c->taken);
    }
    for (int i = first; i <= lua_gettop(L); i++)
        ebb__console_show(L, i, c);
    return 0;
}

static int evaluate(struct ebb__console *c, struct ebb_err *err)
{
    struct ebb__sandbox sb;
    int line, rc = ebb__sandbox_open(&sb, EBB__PHASE_HEADER, c, open_console, err);

    if (rc)
        return rc;
    sb.bundle = (struct ebb__bundle *)(uintptr_t)&c->eval.policy->bundle;
    rc = ebb__sandbox_run(&sb, run_chunk, c, "input", &line, err);
    c->result->gas = c->gas ? c->gas : ebb__sandbox_gas_used(&sb);
    if (rc == -(int)EBB_EPOLICY_ERROR && c->is_loaded)
        ebb__console_explain(c->source, err);
    ebb__sandbox_close(&sb);
    return rc;
}

/* ---- around it ---- */

static int prepare(struct ebb__console *c, const struct ebb_policy *policy, const struct ebb_settings *settings,
                   const struct ebb_decide_input *input, struct ebb_err *err)
{
    int rc;

    ebb_buf_puts(&c->expression, PREFIX "return ");
    ebb_buf_add_str(&c->expression, c->source);
    ebb_buf_puts(&c->block, PREFIX);
    ebb_buf_add_str(&c->block, c->source);
    rc = ebb_buf_check(&c->expression, "input", err);
    if (!rc)
        rc = ebb_buf_check(&c->block, "input", err);
    return rc ? rc : ebb__eval_init(&c->eval, policy, settings, input, err);
}

static int run(const struct ebb_policy *policy, const struct ebb_decide_input *input, struct ebb_str source,
               struct ebb_console_result *result, struct ebb_value *taken, struct ebb_err *err)
{
    const struct ebb_value *properties = ebb_value_get(ebb_value_get(input->facts, "table"), "properties");
    struct ebb__console *c = calloc(1, sizeof *c);
    struct ebb_settings *own = NULL;
    int rc = 0;

    if (!c)
        return ebb_err_nomem(err);
    c->source = source;
    c->result = result;
    c->taken = taken;
    ebb_buf_init(&c->expression, EBB_POLICY_SOURCE_MAX_BYTES);
    ebb_buf_init(&c->block, EBB_POLICY_SOURCE_MAX_BYTES);
    if (!input->settings)
        rc = ebb_settings_new(policy, input->overrides, properties, &own, err);
    if (!rc)
        rc = prepare(c, policy, own ? own : input->settings, input, err);
    if (!rc)
        rc = evaluate(c, err);
    ebb__eval_fini(&c->eval);
    ebb_settings_free(own);
    ebb_buf_fini(&c->block);
    ebb_buf_fini(&c->expression);
    free(c);
    return rc;
}

/* What is over the limit is not shown; what went before is. */
static int cut_output(struct ebb_buf *out, struct ebb_err *err)
{
    if (!out->bad)
        return 0;
    if (!out->full)
        return ebb_err_nomem(err);
    out->bad = out->full = false;
    out->max += 64;
    ebb_buf_puts(out, "\n… the rest is not shown\n");
    return 0;
}

static int run_any(const struct ebb_policy *policy, const struct ebb_decide_input *input, struct ebb_str source,
                   struct ebb_console_result *result, struct ebb_value *taken, struct ebb_err *err)
{
    struct ebb_policy *own = NULL;
    int rc = 0;

    if (!policy)
        rc = ebb_policy_load_text("console", NO_POLICY, sizeof NO_POLICY - 1, &own, NULL, err);
    if (!rc)
        rc = run(policy ? policy : own, input, source, result, taken, err);
    ebb_policy_free(own);
    return rc;
}

int ebb_console_run(const struct ebb_policy *policy, const struct ebb_decide_input *input, struct ebb_str source,
                    struct ebb_console_result *result, struct ebb_err *err)
{
    int64_t started_ns = ebb__cpu_now_ns();
    int rc = run_any(policy, input, source, result, NULL, err), cut;

    result->cpu_ms = (ebb__cpu_now_ns() - started_ns) / 1000000;
    cut = cut_output(&result->out, rc ? NULL : err);
    return rc ? rc : cut;
}

int ebb_console_value(const struct ebb_policy *policy, const struct ebb_decide_input *input, struct ebb_str source,
                      struct ebb_value **out, struct ebb_err *err)
{
    struct ebb_value *box = ebb_value_new_map(NULL);
    struct ebb_console_result result;
    int rc;

    *out = NULL;
    ebb_console_result_init(&result);
    rc = run_any(policy, input, source, &result, box, err);
    if (!rc)
        rc = ebb_value_check(box, "value", err);
    ebb_console_result_fini(&result);
    if (rc)
        ebb_value_free(box);
    else
        *out = box;
    return rc;
}

void ebb_console_write(struct ebb_buf *out, const char *key, const struct ebb_value *value)
{
    ebb__console_write(out, key, value);
}
