/* SPDX-License-Identifier: Apache-2.0
 *
 * The times of one trigger, as text of a policy. The text goes into a policy that has nothing else, which is loaded
 * like every policy: in the sandbox, by the closed schema.
 */
#include "front/lua/module_priv.h"

#include <stdlib.h>

#include "service/preview.h"

#define NEXT_MAX 10000
#define TEXT_MAX ((size_t)32768)

struct told {
    int64_t nominal_ms, fires_ms;
    bool has_nominal;
    size_t why_end; /* of its reasons in the text of all */
};

/* What a call holds; freed by Lua. */
struct clockwork {
    struct ebb_policy *policy;
    struct ebb_settings *settings;
    struct ebb_buf source, why;
    struct told *told;
    size_t count;
};

static int l_clockwork_gc(lua_State *L)
{
    struct clockwork *c = luaL_checkudata(L, 1, EBB__LUA_CLOCKWORK);

    ebb_settings_free(c->settings);
    ebb_policy_free(c->policy);
    ebb_buf_fini(&c->source);
    ebb_buf_fini(&c->why);
    free(c->told);
    memset(c, 0, sizeof *c);
    return 0;
}

static int refuse(const char *trigger, const char *why, struct ebb_err *err)
{
    return ebb_err_set(err, EBB_ESCHEDULE, "trigger '%.200s': %s", trigger, why);
}

static int build(const char *trigger, const char *guard, struct clockwork *c, struct ebb_err *err)
{
    struct ebb_err why;
    int rc;

    ebb_buf_init(&c->source, 2 * TEXT_MAX);
    ebb_buf_init(&c->why, EBB__LUA_TEXT_MAX);
    ebb_buf_printf(&c->source, "return policy { api = 1, name = \"next\", triggers = {\n%s\n}, guard = {\n%s\n}, ",
                   trigger, guard);
    ebb_buf_puts(&c->source, "decide = function() return skip(all {}) end }");
    rc = ebb_buf_check(&c->source, "trigger", err);
    if (rc)
        return rc;
    memset(&why, 0, sizeof why);
    rc = ebb_policy_load_text("next", c->source.data, c->source.len, &c->policy, NULL, &why);
    if (!rc)
        rc = ebb_settings_new(c->policy, NULL, NULL, &c->settings, &why);
    if (rc == -(int)EBB_ENOMEM)
        return ebb_err_nomem(err);
    if (rc)
        return refuse(trigger, why.message, err);
    if (ebb_settings_get_trigger_count(c->settings) != 1)
        return refuse(trigger, "one trigger is wanted", err);
    if (ebb_settings_get_trigger(c->settings, 0)->kind > EBB_TRIGGER_EVERY)
        return refuse(trigger, "time.calendar, time.cron or time.every is wanted", err);
    return 0;
}

static int on_fire(void *data, const struct ebb_fire *fire, struct ebb_err *err)
{
    struct clockwork *c = data;

    for (size_t i = 0; i < fire->why.count; i++)
        ebb_buf_printf(&c->why, "%s%s", i ? ", " : "", fire->why.items[i]);
    c->told[c->count++] = (struct told){fire->nominal_ms, fire->fires_ms, fire->has_nominal, c->why.len};
    return ebb_buf_check(&c->why, "reasons", err);
}

static int preview(struct clockwork *c, int64_t from_ms, int64_t n, struct ebb_err *err)
{
    struct ebb_schedule_input in = {.policy = c->policy, .settings = c->settings, .now_ms = from_ms};

    c->told = calloc((size_t)n + 1, sizeof *c->told);
    return c->told ? ebb_preview(&in, from_ms, (size_t)n, on_fire, c, err) : ebb_err_nomem(err);
}

EBB_LJMP static void push_fires(lua_State *L, struct clockwork *c)
{
    size_t why = 0;

    lua_createtable(L, (int)c->count, 0);
    for (size_t i = 0; i < c->count; why = c->told[i++].why_end) {
        const struct told *t = &c->told[i];

        lua_createtable(L, 0, 3);
        if (t->has_nominal) {
            lua_pushinteger(L, t->nominal_ms);
            lua_setfield(L, -2, "nominal");
        }
        lua_pushinteger(L, t->fires_ms);
        lua_setfield(L, -2, "fires");
        lua_pushlstring(L, ebb_buf_cstr(&c->why) + why, t->why_end - why);
        lua_setfield(L, -2, "why");
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

/* The texts of trigger and guard ("-" or nothing: none). */
EBB_LJMP static int check_texts(lua_State *L, const char **trigger, const char **guard, struct ebb_err *err)
{
    int rc = EBB_MAY_LJMP(ebb__lua_check_text(L, 1, EBB_ESCHEDULE, trigger, err));

    *guard = "";
    if (!rc && !lua_isnoneornil(L, 4))
        rc = EBB_MAY_LJMP(ebb__lua_check_text(L, 4, EBB_ESCHEDULE, guard, err));
    if (!rc && strlen(*trigger) + strlen(*guard) > TEXT_MAX)
        rc = ebb_err_set(err, EBB_ESCHEDULE, "trigger: the text is too long");
    if (!rc && !strcmp(*guard, "-"))
        *guard = "";
    return rc;
}

/* ebb.schedule.next(trigger_text, from_ms, n [, guard_text]) -> list of { nominal, fires, why } */
static int l_schedule_next(lua_State *L)
{
    int64_t from_ms = ebb__lua_check_int(L, 2);
    int64_t n = ebb__lua_check_int(L, 3);
    const char *trigger, *guard;
    struct clockwork *c;
    struct ebb_err err;
    int rc;

    luaL_argcheck(L, n >= 0 && n <= NEXT_MAX, 3, "count is out of range");
    rc = check_texts(L, &trigger, &guard, &err);
    if (rc)
        return ebb__lua_fail(L, &err);
    c = ebb__lua_box(L, EBB__LUA_CLOCKWORK, sizeof *c, l_clockwork_gc);
    rc = build(trigger, guard, c, &err);
    if (!rc)
        rc = preview(c, from_ms, n, &err);
    if (rc)
        return ebb__lua_fail(L, &err);
    push_fires(L, c);
    return 1;
}

static const luaL_Reg FUNCTIONS[] = {
    {"next", l_schedule_next},
    {NULL, NULL},
};

EBB_LJMP int ebb__lua_open_schedule(lua_State *L)
{
    luaL_newlib(L, FUNCTIONS);
    return 1;
}
