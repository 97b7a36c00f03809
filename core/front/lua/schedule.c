/* SPDX-License-Identifier: Apache-2.0 */
#include "base/calendar.h"

#include "front/lua/module_priv.h"
#include "front/lua/trigger_priv.h"

#define NEXT_MAX 10000

/* A calendar and the zone that it borrows. */
struct clockwork {
    struct ebb_tz *tz;
    struct ebb_calendar *calendar;
};

static int l_clockwork_gc(lua_State *L)
{
    struct clockwork *c = luaL_checkudata(L, 1, EBB__LUA_CLOCKWORK);

    ebb_calendar_free(c->calendar);
    ebb_tz_free(c->tz);
    c->calendar = NULL;
    c->tz = NULL;
    return 0;
}

static int build_every(const struct ebb__trigger *t, struct clockwork *c, struct ebb_err *err)
{
    bool start_of_day = !strcmp(t->anchor, "start_of_day");
    int64_t step_ms;
    int rc = ebb_duration_parse(t->text, &step_ms, err);

    if (rc)
        return rc;
    if (!strcmp(t->anchor, "last_start") || !strcmp(t->anchor, "last_end"))
        return ebb_err_set(err, EBB_EUNSUPPORTED, "trigger: anchor '%s' needs the history of runs", t->anchor);
    if (!start_of_day && strcmp(t->anchor, "epoch"))
        return ebb_err_set(err, EBB_ESCHEDULE,
                           "trigger: anchor '%s' is none of start_of_day, epoch, last_start, last_end", t->anchor);
    if (!start_of_day && t->tz[0])
        return ebb_err_set(err, EBB_ESCHEDULE, "trigger: anchor 'epoch' has no time zone");
    return ebb_every_new(step_ms, start_of_day, c->tz, &c->calendar, err);
}

static int build(const char *text, struct clockwork *c, struct ebb_err *err)
{
    struct ebb__trigger t;
    int rc = ebb__trigger_parse(text, &t, err);

    if (!rc)
        rc = ebb_tz_load(t.tz[0] ? t.tz : "UTC", &c->tz, err);
    if (rc)
        return rc;
    if (t.kind == EBB__TRIGGER_EVERY)
        return build_every(&t, c, err);
    if (t.kind == EBB__TRIGGER_CRON)
        return ebb_cron_parse(t.text, c->tz, &c->calendar, err);
    return ebb_calendar_parse(t.text, c->tz, &c->calendar, err);
}

static void push_fires(lua_State *L, const struct clockwork *c, int64_t at_ms, int64_t n)
{
    lua_createtable(L, (int)n, 0);
    for (int64_t i = 1; i <= n && ebb_calendar_next(c->calendar, at_ms, &at_ms); i++) {
        lua_createtable(L, 0, 3);
        lua_pushinteger(L, at_ms);
        lua_setfield(L, -2, "nominal");
        lua_pushinteger(L, at_ms);
        lua_setfield(L, -2, "fires");
        lua_pushliteral(L, "");
        lua_setfield(L, -2, "why");
        lua_rawseti(L, -2, i);
    }
}

/* Guards hold fires back; without one ("-" or nothing) each fire is at its nominal time. */
static int check_guard(lua_State *L, struct ebb_err *err)
{
    const char *guard;
    int rc;

    if (lua_isnoneornil(L, 4))
        return 0;
    rc = ebb__lua_check_text(L, 4, EBB_ESCHEDULE, &guard, err);
    if (!rc && strcmp(guard, "-"))
        rc = ebb_err_set(err, EBB_EUNSUPPORTED, "guard '%s': guards are not part of this preview", guard);
    return rc;
}

/* ebb.schedule.next(trigger_text, from_ms, n [, guard_text]) -> list of { nominal, fires, why } */
static int l_schedule_next(lua_State *L)
{
    int64_t from_ms = ebb__lua_check_int(L, 2);
    int64_t n = ebb__lua_check_int(L, 3);
    struct clockwork *c;
    struct ebb_err err;
    const char *text;
    int rc;

    luaL_argcheck(L, n >= 0 && n <= NEXT_MAX, 3, "count is out of range");
    rc = ebb__lua_check_text(L, 1, EBB_ESCHEDULE, &text, &err);
    if (!rc)
        rc = check_guard(L, &err);
    if (rc)
        return ebb__lua_fail(L, &err);
    c = ebb__lua_box(L, EBB__LUA_CLOCKWORK, sizeof *c, l_clockwork_gc);
    rc = build(text, c, &err);
    if (rc)
        return ebb__lua_fail(L, &err);
    push_fires(L, c, from_ms, n);
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
