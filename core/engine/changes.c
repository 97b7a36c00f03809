/* SPDX-License-Identifier: Apache-2.0 */
#include <lauxlib.h>

#include "engine/eval_priv.h"

#define VALUE_MAX ((int64_t)1 << 60) /* beyond it sums could wrap */

const struct ebb__mover *ebb__movers_find(const struct ebb__movers *movers, const char *name)
{
    for (size_t i = 0; i < movers->count; i++)
        if (ebb_str_is_equal(movers->items[i].name, ebb_str_of(name)))
            return &movers->items[i];
    return NULL;
}

/* Ms until x, which changes by slope each ms, is below zero; INT64_MAX never. It is not now. */
static int64_t until_below(int64_t x, int slope)
{
    return slope < 0 ? x + 1 : INT64_MAX;
}

int64_t ebb__changes_turn(int64_t a, const char *op, int64_t b, int slope)
{
    int64_t x = a - b;

    if (slope == 0)
        return INT64_MAX;
    if (op[0] == '=' || op[0] == '~') {
        if (x == 0)
            return 1;
        return (x < 0) == (slope > 0) ? (x < 0 ? -x : x) : INT64_MAX;
    }
    if (op[0] == '>') {
        x = -x;
        slope = -slope;
    }
    if (op[1] == '=') /* x <= 0 is x - 1 < 0 */
        x -= 1;
    return x < 0 ? until_below(-x - 1, -slope) : until_below(x, slope);
}

void ebb__changes_at(struct ebb__eval *e, int64_t at_ms)
{
    if (at_ms <= e->input->now_ms)
        e->changes.is_unclear = true;
    else if (at_ms < e->changes.holds_until_ms)
        e->changes.holds_until_ms = at_ms;
}

void ebb__changes_in(struct ebb__eval *e, int64_t from_ms, int64_t after_ms)
{
    int64_t at;

    ebb__changes_at(e, __builtin_add_overflow(from_ms, after_ms, &at) ? INT64_MAX : at);
}

/* Whether the line that is being run reads what moves as operands of checks only. */
static bool is_line_clear(lua_State *L, const struct ebb__movers *movers)
{
    lua_Debug ar;

    if (!movers->is_clear || !lua_getstack(L, 1, &ar) || !lua_getinfo(L, "Sl", &ar) || strcmp(ar.source, "=policy"))
        return false;
    return ar.currentline > 0 && (size_t)ar.currentline < movers->line_count &&
           movers->lines[ar.currentline] == EBB__LINE_CLEAR;
}

EBB_LJMP void ebb__changes_read(lua_State *L, enum ebb__moving what, bool moves)
{
    struct ebb__eval *e = ebb__eval_of(L);

    if (e->changes.is_unclear)
        return;
    if (is_line_clear(L, &e->policy->movers))
        e->changes.pending[what]++;
    else if (moves)
        e->changes.is_unclear = true;
}

static int slope_of(const struct ebb__changes *c, const struct ebb__mover *mover, int operand)
{
    int slope = mover->slope[operand][EBB__MOVING_NOW] + mover->slope[operand][EBB__MOVING_SINCE];

    return c->age_stands ? slope : slope + mover->slope[operand][EBB__MOVING_AGE];
}

static bool is_compared(const char *op)
{
    return strcmp(op, "in") != 0 && strcmp(op, "matches") != 0;
}

static bool is_small(lua_State *L, int index)
{
    return lua_isinteger(L, index) && lua_tointeger(L, index) < VALUE_MAX && lua_tointeger(L, index) > -VALUE_MAX;
}

/* The operands are at a and a + 2. */
static void take_mover(lua_State *L, struct ebb__eval *e, const struct ebb__mover *mover, int a, const char *op)
{
    int slope = slope_of(&e->changes, mover, 0) - slope_of(&e->changes, mover, 1);

    if (!is_compared(op)) {
        e->changes.is_unclear = true;
        return;
    }
    if (!strcmp(op, "exists") || !strcmp(op, "unknown") || lua_isnoneornil(L, a) || lua_isnoneornil(L, a + 2))
        return;
    if (!is_small(L, a) || !is_small(L, a + 2) || slope > 1 || slope < -1)
        e->changes.is_unclear = true;
    else
        ebb__changes_in(e, e->input->now_ms,
                        ebb__changes_turn(lua_tointeger(L, a), op, lua_tointeger(L, a + 2), slope));
}

void ebb__changes_check(lua_State *L, const char *name, int a, const char *op)
{
    static const int NONE[EBB__MOVING_COUNT];
    struct ebb__eval *e = ebb__eval_of(L);
    const struct ebb__mover *mover;

    if (e->changes.is_unclear || !e->policy->movers.count)
        return;
    mover = ebb__movers_find(&e->policy->movers, name);
    if (memcmp(e->changes.pending, mover ? mover->reads : NONE, sizeof NONE) || (mover && !mover->is_clear)) {
        e->changes.is_unclear = true;
        return;
    }
    memset(e->changes.pending, 0, sizeof e->changes.pending);
    if (mover)
        take_mover(L, e, mover, a, op);
}

int64_t ebb__changes_end(const struct ebb__eval *e)
{
    const struct ebb__changes *c = &e->changes;

    for (int i = 0; i < EBB__MOVING_COUNT; i++)
        if (c->pending[i])
            return 0;
    return c->is_unclear ? 0 : c->holds_until_ms;
}
