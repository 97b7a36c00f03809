/* SPDX-License-Identifier: Apache-2.0 */
#include <lauxlib.h>

#include "engine/eval_priv.h"

#define FIELDS_MAX 96
#define READS_PER_GAS 16 /* reads that are looked through for one unit of gas */

static struct ebb__reads *reads_of(lua_State *L)
{
    return ebb__sandbox_of(L)->reads;
}

struct ebb__view *ebb__view_test(lua_State *L, int index)
{
    return ebb__object_test(L, index, EBB__VIEW);
}

struct ebb__slice *ebb__slice_test(lua_State *L, int index)
{
    return ebb__object_test(L, index, EBB__SLICE);
}

static void push_scalar(lua_State *L, const struct ebb_value *value, int node)
{
    ebb__reads_mark(reads_of(L), node);
    ebb__value_push(L, value);
}

EBB_LJMP void ebb__view_push(lua_State *L, const struct ebb_value *value, const struct ebb__shape *shape, int node)
{
    if (ebb_value_get_kind(value) < EBB_VALUE_LIST)
        push_scalar(L, value, node);
    else {
        ebb__reads_touch(reads_of(L), node);
        EBB_MAY_LJMP(ebb__view_push_map(L, value, shape, node));
    }
}

/* Push item `value` of a list whose items have the shape. */
static void push_item(lua_State *L, const struct ebb_value *value, const struct ebb__shape *shape, int node)
{
    EBB_MAY_LJMP(ebb__charge(L, 2));
    ebb__view_push(L, value, shape, ebb__reads_at(reads_of(L), node, EBB_STR("[]")));
}

static const struct ebb__field *find_field(const struct ebb__shape *shape, const char *key)
{
    for (size_t i = 0; shape && i < shape->count; i++)
        if (!strcmp(shape->fields[i].name, key))
            return &shape->fields[i];
    return NULL;
}

static int unknown_field(lua_State *L, const struct ebb__shape *shape, const char *key)
{
    const char *names[FIELDS_MAX];
    size_t count = shape->count < FIELDS_MAX ? shape->count : FIELDS_MAX;

    for (size_t i = 0; i < count; i++)
        names[i] = shape->fields[i].name;
    return EBB_MAY_LJMP(ebb__unknown_name(L, shape->name, key, names, count));
}

/* The age of a listing: it grows with the clock when the instant is known. */
static void push_age(lua_State *L, const struct ebb__view *v, const struct ebb_value *fixed)
{
    struct ebb__eval *e = ebb__eval_of(L);
    const struct ebb_value *at = ebb_value_get(v->value, "at");
    int64_t now = e->input->now_ms, then = ebb_value_get_int(at, 0), age;

    if (!at) {
        e->changes.age_stands = true;
        EBB_MAY_LJMP(ebb__changes_read(L, EBB__MOVING_AGE, false));
        ebb__value_push(L, fixed);
        return;
    }
    EBB_MAY_LJMP(ebb__changes_read(L, EBB__MOVING_AGE, true));
    if (__builtin_sub_overflow(now, then, &age) || age < 0) {
        e->changes.is_unclear = true;
        age = 0;
    }
    lua_pushinteger(L, age);
}

/* A field whose value moves with the clock. */
static int push_special(lua_State *L, const struct ebb__view *v, const struct ebb__field *field,
                        const struct ebb_value *value, int node)
{
    ebb__reads_mark(reads_of(L), node);
    if (field->special == EBB__SPECIAL_AGE) {
        EBB_MAY_LJMP(push_age(L, v, value));
        return 1;
    }
    EBB_MAY_LJMP(ebb__changes_read(L, EBB__MOVING_NOW, true));
    ebb__value_push(L, value);
    return 1;
}

static int push_method(lua_State *L, const struct ebb__field *field)
{
    if (field->special == EBB__SPECIAL_SINCE)
        EBB_MAY_LJMP(ebb__changes_read(L, EBB__MOVING_SINCE, true));
    lua_pushvalue(L, 1);
    lua_pushcclosure(L, field->method, 1);
    return 1;
}

static int index_name(lua_State *L, struct ebb__view *v, struct ebb_str key)
{
    const struct ebb__field *field = find_field(v->shape, key.p);
    const struct ebb_value *value = ebb_value_getn(v->value, key.p, key.n);
    int node;

    if (!field && v->shape && !v->shape->open)
        return unknown_field(L, v->shape, key.p);
    if (field && field->method)
        return EBB_MAY_LJMP(push_method(L, field));
    node = ebb__reads_at(reads_of(L), v->node, key);
    if (field && field->special)
        return EBB_MAY_LJMP(push_special(L, v, field, value, node));
    if (field && field->lacks && !value)
        ebb__eval_of(L)->changes.lacks |= field->lacks;
    if (field && field->always && ebb_value_get_kind(value) != EBB_VALUE_LIST) {
        if (!field->shape || field->shape->open || !field->shape->count ||
            !field->shape->fields[0].method) /* calls say what they read */
            ebb__reads_touch(reads_of(L), node);
        EBB_MAY_LJMP(
            ebb__view_push_map(L, ebb_value_get_kind(value) == EBB_VALUE_MAP ? value : NULL, field->shape, node));
    } else
        EBB_MAY_LJMP(ebb__view_push(L, value, field ? field->shape : NULL, node));
    return 1;
}

static int view_index(lua_State *L)
{
    struct ebb__view *v = lua_touserdata(L, 1);
    const struct ebb__reads *reads = reads_of(L);
    struct ebb_str key;

    EBB_MAY_LJMP(ebb__charge(L, 2 + (reads ? (size_t)reads->count / READS_PER_GAS : 0)));
    if (lua_isinteger(L, 2) && ebb_value_get_kind(v->value) == EBB_VALUE_LIST) {
        ebb__view_push_item(L, 1, lua_tointeger(L, 2));
        return 1;
    }
    if (lua_type(L, 2) != LUA_TSTRING || ebb_value_get_kind(v->value) == EBB_VALUE_LIST) {
        lua_pushnil(L);
        return 1;
    }
    key.p = lua_tolstring(L, 2, &key.n);
    return index_name(L, v, key);
}

static int slice_index(lua_State *L)
{
    if (lua_isinteger(L, 2))
        ebb__view_push_item(L, 1, lua_tointeger(L, 2));
    else
        lua_pushnil(L);
    return 1;
}

lua_Integer ebb__view_length(lua_State *L, int index)
{
    struct ebb__view *v = ebb__view_test(L, index);
    struct ebb__slice *s = v ? NULL : ebb__slice_test(L, index);

    if (s)
        return (lua_Integer)s->count;
    if (!v || ebb_value_get_kind(v->value) != EBB_VALUE_LIST)
        return -1;
    ebb__reads_mark(reads_of(L), v->node);
    return (lua_Integer)ebb_value_get_count(v->value);
}

EBB_LJMP bool ebb__view_push_item(lua_State *L, int index, lua_Integer i)
{
    struct ebb__view *v = ebb__view_test(L, index);
    struct ebb__slice *s = v ? NULL : ebb__slice_test(L, index);

    if (s) {
        EBB_MAY_LJMP(push_item(L, i >= 1 && (size_t)i <= s->count ? s->items[i - 1] : NULL, s->shape, s->node));
        return true;
    }
    if (!v || ebb_value_get_kind(v->value) != EBB_VALUE_LIST)
        return false;
    EBB_MAY_LJMP(push_item(L, i >= 1 ? ebb_value_get_at(v->value, (size_t)i - 1) : NULL, v->shape, v->node));
    return true;
}

static int view_length(lua_State *L)
{
    lua_Integer n = ebb__view_length(L, 1);

    if (n < 0)
        return luaL_error(L, "#: not a list");
    lua_pushinteger(L, n);
    return 1;
}

static int view_newindex(lua_State *L)
{
    struct ebb__view *v = ebb__view_test(L, 1);
    const char *key = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : ebb__type_name(L, 2);

    return luaL_error(L, "%s.%s: facts are read only", v && v->shape ? v->shape->name : "value", key);
}

static int view_equal(lua_State *L)
{
    struct ebb__view *a = ebb__view_test(L, 1), *b = ebb__view_test(L, 2);

    lua_pushboolean(L, a && b && a->value && a->value == b->value);
    return 1;
}

static const luaL_Reg VIEW_METHODS[] = {
    {"__index", view_index}, {"__newindex", view_newindex}, {"__len", view_length}, {"__eq", view_equal}, {NULL, NULL},
};
static const luaL_Reg SLICE_METHODS[] = {
    {"__index", slice_index},
    {"__newindex", view_newindex},
    {"__len", view_length},
    {NULL, NULL},
};

EBB_LJMP void ebb__bind_views(lua_State *L)
{
    EBB_MAY_LJMP(ebb__class_make(L, EBB__VIEW, VIEW_METHODS));
    EBB_MAY_LJMP(ebb__class_make(L, EBB__SLICE, SLICE_METHODS));
}

EBB_LJMP void ebb__view_push_map(lua_State *L, const struct ebb_value *value, const struct ebb__shape *shape, int node)
{
    struct ebb__view *v;

    luaL_checkstack(L, 6, "facts");
    v = lua_newuserdatauv(L, sizeof *v, 0);
    *v = (struct ebb__view){value, shape, node};
    ebb__object_init(L, EBB__VIEW, VIEW_METHODS);
}

EBB_LJMP struct ebb__slice *ebb__slice_push(lua_State *L, size_t cap, const struct ebb__shape *shape, int node)
{
    struct ebb__slice *s;

    luaL_checkstack(L, 6, "facts");
    s = lua_newuserdatauv(L, sizeof *s + cap * sizeof *s->items, 0);
    *s = (struct ebb__slice){shape, node, 0};
    ebb__object_init(L, EBB__SLICE, SLICE_METHODS);
    return s;
}

/* The name under which a script knows a member; empty: not at all. */
static struct ebb_str known_as(const struct ebb__view *v, struct ebb_str key)
{
    const struct ebb__field *field = find_field(v->shape, key.p);

    if (!v->shape || v->shape->open || (field && !field->method))
        return key;
    field = find_field(v->shape, "age");
    if (field && field->special == EBB__SPECIAL_AGE && !strcmp(key.p, "at") && !ebb_value_get(v->value, "age"))
        return EBB_STR("age");
    return EBB_STR("");
}

EBB_LJMP void ebb__view_push_keys(lua_State *L, int index)
{
    struct ebb__view *v = ebb__view_test(L, index);
    lua_Integer n = ebb__view_length(L, index), used = 0;
    size_t count = v && n < 0 ? ebb_value_get_count(v->value) : 0;

    if (!v && n < 0)
        luaL_error(L, "pairs: a table is due, not %s", lua_isnoneornil(L, index) ? "nil" : ebb__type_name(L, index));
    EBB_MAY_LJMP(ebb__charge(L, count + (n > 0 ? (size_t)n : 0) + 1));
    if (v)
        ebb__reads_mark(reads_of(L), v->node);
    lua_newtable(L);
    for (lua_Integer i = 1; i <= n; i++) {
        lua_pushinteger(L, i);
        lua_rawseti(L, -2, i);
    }
    for (size_t i = 0; i < count; i++) {
        struct ebb_str key = known_as(v, ebb_value_get_key(v->value, i));

        if (!key.n)
            continue;
        lua_pushlstring(L, key.p, key.n);
        lua_rawseti(L, -2, ++used);
    }
}

/* All of a container was taken; what moves in it can't be followed. */
static void note_copy(lua_State *L, const struct ebb__view *v)
{
    ebb__reads_mark(reads_of(L), v->node);
    for (size_t i = 0; v->shape && i < v->shape->count; i++)
        if (v->shape->fields[i].special || v->shape->fields[i].shape)
            ebb__eval_of(L)->changes.is_unclear = true;
}

static void copy_value(struct ebb_value *box, struct ebb_str key, const struct ebb_value *value)
{
    if (key.p)
        ebb_value_put_copy(box, key.p, value);
    else
        ebb_value_add_copy(box, value);
}

int ebb__view_copy(void *data, lua_State *L, int index, struct ebb_value *box, struct ebb_str key, struct ebb_err *err)
{
    struct ebb__view *v = ebb__view_test(L, index);
    struct ebb__slice *s = v ? NULL : ebb__slice_test(L, index);
    struct ebb_value *list;

    (void)data;
    if (v)
        note_copy(L, v);
    if (v && v->value)
        copy_value(box, key, v->value);
    else if (v)
        ebb__value_make(box, key, EBB_VALUE_MAP);
    else if (s) {
        list = ebb__value_make(box, key, EBB_VALUE_LIST);
        for (size_t i = 0; i < s->count; i++)
            ebb_value_add_copy(list, s->items[i]);
    } else
        return 1;
    return ebb_value_check(box, "value", err);
}
