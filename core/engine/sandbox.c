/* SPDX-License-Identifier: Apache-2.0 */
#include <lauxlib.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "engine/policy.h"
#include "engine/sandbox_priv.h"

#define HOOK_COUNT 100
#define TICKS_PER_CLOCK 8 /* hooks between two looks at the clock */

static const char ABORT_VALUE = 0; /* its address is the error value of an abort */
static const char ENV_KEY = 0;     /* its address is the registry key of the environment */

struct ebb__sandbox *ebb__sandbox_of(lua_State *L)
{
    return *(struct ebb__sandbox **)lua_getextraspace(L);
}

int64_t ebb__cpu_now_ns(void)
{
    struct timespec ts;

    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts))
        return 0;
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

bool ebb__sandbox_is_late(const struct ebb__sandbox *sb)
{
    return ebb__cpu_now_ns() > sb->cpu_end_ns;
}

static void on_count(lua_State *L, lua_Debug *ar);

EBB_LJMP static int rethrow(lua_State *L)
{
    lua_pushlightuserdata(L, (void *)(uintptr_t)&ABORT_VALUE);
    return lua_error(L);
}

EBB_LJMP int ebb__abort(lua_State *L, enum ebb_error why)
{
    struct ebb__sandbox *sb = ebb__sandbox_of(L);

    if (!sb->aborted)
        sb->aborted = why;
    lua_sethook(L, on_count, LUA_MASKCOUNT, 1);
    return EBB_MAY_LJMP(rethrow(L));
}

/* Collect everything when half of the room is filled. Where this happens depends on the script alone; the work is paid
 * for. */
EBB_LJMP static void collect(lua_State *L, struct ebb__sandbox *sb)
{
    sb->gas_left -= (int64_t)(sb->mem_used / EBB__COLLECT_BYTES);
    lua_gc(L, LUA_GCCOLLECT);
    sb->collect_at = sb->mem_used + (sb->mem_max - sb->mem_used) / 2;
    if (ebb__sandbox_is_late(sb))
        EBB_MAY_LJMP(ebb__abort(L, EBB_EPOLICY_DEADLINE));
}

static void mark_line(struct ebb__sandbox *sb, lua_Debug *ar)
{
    if (!lua_getinfo(sb->L, "S", ar) || strcmp(ar->source, "=policy"))
        return;
    if (ar->currentline > 0 && (size_t)ar->currentline < sb->line_count)
        sb->lines[ar->currentline / 8] |= (uint8_t)(1u << (ar->currentline % 8));
}

/* Called by Lua after every HOOK_COUNT instructions, and after each one once the state is aborted. */
EBB_LJMP static void on_count(lua_State *L, lua_Debug *ar)
{
    struct ebb__sandbox *sb = ebb__sandbox_of(L);

    if (sb->aborted)
        EBB_MAY_LJMP(rethrow(L));
    if (ar->event == LUA_HOOKLINE) {
        mark_line(sb, ar);
        return;
    }
    sb->gas_left -= HOOK_COUNT;
    if (sb->mem_used > sb->collect_at)
        EBB_MAY_LJMP(collect(L, sb));
    if (sb->gas_left < 0)
        EBB_MAY_LJMP(ebb__abort(L, EBB_EPOLICY_GAS));
    if (++sb->ticks < TICKS_PER_CLOCK)
        return;
    sb->ticks = 0;
    if (ebb__sandbox_is_late(sb))
        EBB_MAY_LJMP(ebb__abort(L, EBB_EPOLICY_DEADLINE));
}

EBB_LJMP void ebb__charge(lua_State *L, size_t units)
{
    struct ebb__sandbox *sb = ebb__sandbox_of(L);

    sb->gas_left -= units > (size_t)EBB__GAS_UNLIMITED ? EBB__GAS_UNLIMITED : (int64_t)units;
    if (sb->mem_used > sb->collect_at && !sb->aborted)
        EBB_MAY_LJMP(collect(L, sb));
    if (sb->aborted || sb->gas_left < 0)
        EBB_MAY_LJMP(ebb__abort(L, EBB_EPOLICY_GAS));
    if (units >= HOOK_COUNT * TICKS_PER_CLOCK && ebb__sandbox_is_late(sb))
        EBB_MAY_LJMP(ebb__abort(L, EBB_EPOLICY_DEADLINE));
}

EBB_LJMP void ebb__charge_walk(lua_State *L)
{
    size_t used = ebb__sandbox_of(L)->mem_used;

    if (used > EBB__WALK_FREE)
        EBB_MAY_LJMP(ebb__charge(L, used / EBB__WALK_BYTES));
}

EBB_LJMP int ebb__pcall(lua_State *L, int args)
{
    int status = lua_pcall(L, args, LUA_MULTRET, 0);

    if (ebb__sandbox_of(L)->aborted)
        EBB_MAY_LJMP(rethrow(L));
    if (status == LUA_ERRMEM)
        EBB_MAY_LJMP(ebb__abort(L, EBB_EPOLICY_MEMORY));
    return status;
}

/* Message handler: only texts reach the host; nothing is converted by script code. */
static int on_error(lua_State *L)
{
    if (lua_type(L, 1) == LUA_TSTRING || lua_type(L, 1) == LUA_TLIGHTUSERDATA)
        return 1;
    lua_pushfstring(L, "error value is a %s, not a text", luaL_typename(L, 1));
    return 1;
}

void ebb__sandbox_refuel(struct ebb__sandbox *sb, int64_t gas)
{
    sb->gas_limit = gas;
    sb->gas_left = gas;
    sb->ticks = 0;
    if (sb->L)
        lua_sethook(sb->L, on_count, LUA_MASKCOUNT | (sb->lines ? LUA_MASKLINE : 0), HOOK_COUNT);
    sb->cpu_end_ns = ebb__cpu_now_ns() + (int64_t)EBB__DEADLINE_MS * 1000000;
}

int64_t ebb__sandbox_gas_used(const struct ebb__sandbox *sb)
{
    return sb->gas_limit - sb->gas_left;
}

/* Split "policy:12: text" (the name given to the main chunk) into the line and the text; other chunks keep their name.
 */
static const char *split_place(const char *message, int *line)
{
    const char *p = message;
    char *end;
    long n;

    *line = 0;
    if (strncmp(p, "policy:", 7))
        return message;
    n = strtol(p + 7, &end, 10);
    if (end == p + 7 || *end != ':' || n < 1 || n > 1000000)
        return message;
    *line = (int)n;
    return end[1] == ' ' ? end + 2 : end + 1;
}

static int report_abort(const struct ebb__sandbox *sb, const char *file, struct ebb_err *err)
{
    if (sb->aborted == EBB_EPOLICY_GAS)
        return ebb_err_set(err, EBB_EPOLICY_GAS, "%s: used up its gas (%lld units)", file, (long long)sb->gas_limit);
    if (sb->aborted == EBB_EPOLICY_MEMORY)
        return ebb_err_set(err, EBB_EPOLICY_MEMORY, "%s: used up its memory (%zu bytes)", file, sb->mem_max);
    return ebb_err_set(err, EBB_EPOLICY_DEADLINE, "%s: took longer than %d ms of CPU time", file, EBB__DEADLINE_MS);
}

static int report_error(lua_State *L, const char *file, int *line, struct ebb_err *err)
{
    const char *text = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "error value is not a text";
    const char *hint = strstr(text, "\n  hint: ");
    int n = (int)strnlen(text, EBB__ERROR_MAX);
    int at = 0;

    if (hint && hint - text < n)
        n = (int)(hint - text);
    else
        hint = NULL;
    n -= (int)(split_place(text, &at) - text);
    text = split_place(text, &at);
    if (line)
        *line = at;
    if (at)
        ebb_err_set(err, EBB_EPOLICY_ERROR, "%s:%d: %.*s", file, at, n, text);
    else
        ebb_err_set(err, EBB_EPOLICY_ERROR, "%s: %.*s", file, n, text);
    if (hint)
        ebb_err_hint(err, "%s", hint + strlen("\n  hint: "));
    return -(int)EBB_EPOLICY_ERROR;
}

int ebb__sandbox_run(struct ebb__sandbox *sb, lua_CFunction body, void *data, const char *file, int *line,
                     struct ebb_err *err)
{
    lua_State *L = sb->L;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0), before;
    int status, rc = 0;

    if (line)
        *line = 0;
    if (plain == (locale_t)0)
        return ebb_err_nomem(err);
    before = uselocale(plain);
    lua_settop(L, 0);
    lua_pushcfunction(L, on_error);
    lua_pushcfunction(L, body);
    lua_pushlightuserdata(L, data);
    status = lua_pcall(L, 1, 0, 1);
    if (status == LUA_ERRMEM && !sb->aborted)
        sb->aborted = EBB_EPOLICY_MEMORY;
    if (sb->aborted)
        rc = report_abort(sb, file, err);
    else if (status != LUA_OK)
        rc = report_error(L, file, line, err);
    lua_settop(L, 0);
    uselocale(before);
    freelocale(plain);
    return rc;
}

EBB_LJMP void ebb__load_chunk(lua_State *L, const char *source, size_t n, const char *name)
{
    int status;

    if (n > EBB_POLICY_SOURCE_MAX_BYTES)
        luaL_error(L, "%s: longer than %d bytes", name + 1, (int)EBB_POLICY_SOURCE_MAX_BYTES);
    ebb__charge(L, n / 8);
    status = luaL_loadbufferx(L, source, n, name, "t");
    if (status == LUA_ERRMEM)
        EBB_MAY_LJMP(ebb__abort(L, EBB_EPOLICY_MEMORY));
    if (status != LUA_OK)
        lua_error(L);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &ENV_KEY);
    if (!lua_setupvalue(L, -2, 1))
        lua_pop(L, 1);
}

struct opening {
    lua_CFunction opener;
};

static int open_state(lua_State *L)
{
    struct opening *o = lua_touserdata(L, 1);

    lua_pushcfunction(L, o->opener);
    lua_call(L, 0, 1);
    EBB_MAY_LJMP(ebb__freeze(L, ""));
    lua_rawsetp(L, LUA_REGISTRYINDEX, &ENV_KEY);
    return 0;
}

int ebb__sandbox_open_in(struct ebb__sandbox *sb, struct ebb__pool *pool, enum ebb__phase phase, void *host,
                         lua_CFunction opener, struct ebb_err *err)
{
    struct opening o = {opener};
    int rc;

    memset(sb, 0, sizeof *sb);
    sb->pool = pool;
    sb->mem_max = EBB__MEMORY_BYTES;
    sb->collect_at = pool && !pool->reuses ? SIZE_MAX : EBB__MEMORY_BYTES / 2;
    sb->phase = phase;
    sb->host = host;
    ebb__sandbox_refuel(sb, EBB__GAS_UNLIMITED);
    sb->L = lua_newstate(ebb__sandbox_alloc, sb);
    if (!sb->L)
        return ebb_err_nomem(err);
    lua_gc(sb->L, LUA_GCSTOP);
    *(struct ebb__sandbox **)lua_getextraspace(sb->L) = sb;
    rc = ebb__sandbox_run(sb, open_state, &o, "sandbox", NULL, err);
    if (rc) {
        ebb__sandbox_close(sb);
        return rc;
    }
    ebb__sandbox_refuel(sb, EBB__GAS_HEADER);
    return 0;
}

int ebb__sandbox_open(struct ebb__sandbox *sb, enum ebb__phase phase, void *host, lua_CFunction opener,
                      struct ebb_err *err)
{
    return ebb__sandbox_open_in(sb, NULL, phase, host, opener, err);
}

void ebb__sandbox_watch_lines(struct ebb__sandbox *sb, uint8_t *lines, size_t count)
{
    sb->lines = lines;
    sb->line_count = count;
    ebb__sandbox_refuel(sb, sb->gas_limit);
}

void ebb__sandbox_drop(struct ebb__sandbox *sb)
{
    for (size_t i = 0; i < sb->zone_count; i++)
        ebb_tz_free(sb->zones[i]);
    sb->zone_count = 0;
    for (size_t i = sb->kept_count; i < sb->action_count; i++)
        ebb_value_free(sb->actions[i]);
    sb->action_count = sb->kept_count;
}

void ebb__sandbox_close(struct ebb__sandbox *sb)
{
    if (sb->L && !sb->pool)
        lua_close(sb->L);
    sb->L = NULL;
    ebb__sandbox_drop(sb);
}

EBB_LJMP const struct ebb_tz *ebb__zone(lua_State *L, const char *name)
{
    struct ebb__sandbox *sb = ebb__sandbox_of(L);
    struct ebb_err err;

    for (size_t i = 0; i < sb->zone_count; i++)
        if (!strcmp(ebb_tz_name(sb->zones[i]), name))
            return sb->zones[i];
    EBB_MAY_LJMP(ebb__charge(L, 1000));
    if (sb->zone_count == EBB__ZONES_MAX)
        luaL_error(L, "time zones: more than %d in one evaluation", EBB__ZONES_MAX);
    if (ebb_tz_load(name, &sb->zones[sb->zone_count], &err))
        luaL_error(L, "%s", err.message);
    return sb->zones[sb->zone_count++];
}
