/* SPDX-License-Identifier: Apache-2.0
 *
 * Operands of checks for the record: short, plain, instants as text when they were compared with the decision instant.
 */
#include "base/time.h"
#include "engine/eval_priv.h"
#include "engine/number_priv.h"

#define TEXT_MAX ((size_t)200)
#define LIST_MAX 16

static bool is_now(lua_State *L, int index, const struct ebb__eval *e)
{
    return lua_isinteger(L, index) && lua_tointeger(L, index) == e->input->now_ms;
}

static void put_instant(struct ebb_value *entry, const char *key, int64_t at)
{
    char text[64];
    struct ebb_buf b = {.data = text, .cap = sizeof text, .max = sizeof text - 1};

    ebb_time_iso(&b, at);
    ebb_value_put_strn(entry, key, text, b.len);
}

static void put_number(lua_State *L, int index, struct ebb_value *entry, const char *key)
{
    char text[EBB__NUMBER_MAX];

    if (lua_isinteger(L, index))
        ebb_value_put_int(entry, key, lua_tointeger(L, index));
    else if (ebb__number_format(lua_tonumber(L, index), text))
        ebb_value_put_float(entry, key, lua_tonumber(L, index));
    else
        ebb_value_put_str(entry, key, text);
}

/* Scalars of a plain list; anything else in it is named by its type. */
static void put_list(lua_State *L, int index, struct ebb_value *entry, const char *key)
{
    struct ebb_value *list = ebb_value_put_list(entry, key);
    lua_Integer n = (lua_Integer)lua_rawlen(L, index);

    if (!lua_checkstack(L, 2))
        return;
    for (lua_Integer i = 1; i <= n && i <= LIST_MAX; i++) {
        int type = lua_rawgeti(L, index, i);
        size_t bytes;
        const char *text;

        if (type == LUA_TSTRING) {
            text = lua_tolstring(L, -1, &bytes);
            ebb_value_add_strn(list, text, bytes < TEXT_MAX ? bytes : TEXT_MAX);
        } else if (lua_isinteger(L, -1))
            ebb_value_add_int(list, lua_tointeger(L, -1));
        else
            ebb_value_add_str(list, ebb__type_name(L, -1));
        lua_pop(L, 1);
    }
    if (n > LIST_MAX)
        ebb_value_add_str(list, "…");
}

/* What is not known: nil, or facts that are not there. */
static bool is_nothing(lua_State *L, int index)
{
    const struct ebb__view *v = ebb__view_test(L, index);

    return lua_isnil(L, index) || (v && !v->value);
}

/* Facts that are not there read as nil. */
static void put_object(lua_State *L, int index, struct ebb_value *entry, const char *key)
{
    if (is_nothing(L, index))
        ebb__value_make(entry, ebb_str_of(key), EBB_VALUE_NIL);
    else
        ebb_value_put_str(entry, key, ebb__type_name(L, index));
}

void ebb__operand_put(lua_State *L, int index, int other, const struct ebb__eval *e, struct ebb_value *entry,
                      const char *key)
{
    size_t n;
    const char *text;

    /* two that are the same instant: the second is now */
    if (is_now(L, index, e) && index != other &&
        (is_nothing(L, other) || (lua_isinteger(L, other) && (index > other || !is_now(L, other, e))))) {
        ebb_value_put_str(entry, key, "now");
        return;
    }
    if (lua_isinteger(L, index) && is_now(L, other, e) && index != other) {
        put_instant(entry, key, lua_tointeger(L, index));
        return;
    }
    switch (lua_type(L, index)) {
    case LUA_TNONE:
    case LUA_TNIL:
        ebb__value_make(entry, ebb_str_of(key), EBB_VALUE_NIL);
        break;
    case LUA_TBOOLEAN:
        ebb_value_put_bool(entry, key, lua_toboolean(L, index));
        break;
    case LUA_TNUMBER:
        put_number(L, index, entry, key);
        break;
    case LUA_TSTRING:
        text = lua_tolstring(L, index, &n);
        ebb_value_put_strn(entry, key, text, n < TEXT_MAX ? n : TEXT_MAX);
        break;
    case LUA_TTABLE:
        put_list(L, index, entry, key);
        break;
    default:
        put_object(L, index, entry, key);
    }
}
