/* SPDX-License-Identifier: Apache-2.0
 *
 * time.civil, time.start_of: calendar arithmetic on given instants. (The constructors of time triggers are in
 * bind_header.c.)
 */
#include <lauxlib.h>

#include "base/time.h"
#include "engine/header_priv.h"

#define INSTANT_MAX_MS ((int64_t)400000 * 366 * 86400000)

static int64_t check_instant_s(lua_State *L, int index, const char *what, int *ms)
{
    int64_t at = ebb__check_int(L, index, what);

    if (at > INSTANT_MAX_MS || at < -INSTANT_MAX_MS)
        luaL_error(L, "%s: an instant out of range", what);
    *ms = (int)((at % 1000 + 1000) % 1000);
    return (at - *ms) / 1000;
}

/* The zone named at index; UTC when it is missing. */
static const struct ebb_tz *check_zone(lua_State *L, int index, const char *what)
{
    size_t n;
    const char *name = luaL_optlstring(L, index, "UTC", &n);

    if (strlen(name) != n)
        luaL_error(L, "%s: the name of a zone holds a NUL byte", what);
    return EBB_MAY_LJMP(ebb__zone(L, name));
}

static void set_part(lua_State *L, const char *name, int64_t value)
{
    lua_pushinteger(L, value);
    lua_setfield(L, -2, name);
}

/* time.civil(instant, zone): year month day hour minute second ms weekday (1 = Monday … 7 = Sunday), offset (seconds
 * east of UTC). */
int ebb__l_civil(lua_State *L)
{
    int ms;
    int64_t at = check_instant_s(L, 1, "time.civil", &ms);
    const struct ebb_tz *tz = check_zone(L, 2, "time.civil");
    struct ebb_civil c;

    EBB_MAY_LJMP(ebb__charge(L, 10));
    ebb_tz_civil(tz, at, &c);
    lua_createtable(L, 0, 9);
    set_part(L, "year", c.year);
    set_part(L, "month", c.month);
    set_part(L, "day", c.day);
    set_part(L, "hour", c.hour);
    set_part(L, "minute", c.minute);
    set_part(L, "second", c.second);
    set_part(L, "ms", ms);
    set_part(L, "weekday", c.weekday ? c.weekday : 7);
    set_part(L, "offset", ebb_tz_offset(tz, at));
    return 1;
}

enum unit { UNIT_HOUR, UNIT_DAY, UNIT_WEEK, UNIT_MONTH, UNIT_YEAR };

static int64_t first_day(enum unit unit, const struct ebb_civil *c)
{
    int64_t days = ebb_civil_days(c->year, c->month, c->day);

    if (unit == UNIT_WEEK)
        return days - (c->weekday + 6) % 7;
    if (unit == UNIT_MONTH)
        return ebb_civil_days(c->year, c->month, 1);
    return unit == UNIT_YEAR ? ebb_civil_days(c->year, 1, 1) : days;
}

/* time.start_of("hour"|"day"|"week"|"month"|"year", instant, zone): the first instant of that local unit; weeks begin
 * on Monday. */
int ebb__l_start_of(lua_State *L)
{
    static const char *const UNITS[] = {"hour", "day", "week", "month", "year", NULL};
    enum unit unit = (enum unit)luaL_checkoption(L, 1, NULL, UNITS);
    int ms;
    int64_t now = check_instant_s(L, 2, "time.start_of", &ms), at[2];
    const struct ebb_tz *tz = check_zone(L, 3, "time.start_of");
    struct ebb_civil c;

    EBB_MAY_LJMP(ebb__charge(L, 10));
    ebb_tz_civil(tz, now, &c);
    if (unit == UNIT_HOUR) {
        at[0] = now - c.minute * 60 - c.second;
    } else
        ebb_tz_instants(tz, first_day(unit, &c) * 86400, at);
    lua_pushinteger(L, at[0] * 1000);
    return 1;
}
