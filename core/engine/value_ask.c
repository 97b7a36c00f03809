/* SPDX-License-Identifier: Apache-2.0
 *
 * Asking a tree of values.
 */
#include "engine/value_tree_priv.h"

bool ebb__value_find(const struct ebb_value *map, struct ebb_str key, size_t *at)
{
    size_t low = 0, high = map->as.members.count;

    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const struct ebb__entry *e = &map->as.members.entries[mid];
        int c = ebb_str_compare((struct ebb_str){e->key, e->key_bytes}, key);

        if (c == 0) {
            *at = mid;
            return true;
        }
        if (c < 0)
            low = mid + 1;
        else
            high = mid;
    }
    *at = low;
    return false;
}

enum ebb_value_kind ebb_value_get_kind(const struct ebb_value *value)
{
    return value ? value->kind : EBB_VALUE_NIL;
}

const char *ebb_value_kind_name(enum ebb_value_kind kind)
{
    static const char *const NAMES[] = {"nil", "boolean", "integer", "number", "string", "list", "map"};

    return (size_t)kind < sizeof NAMES / sizeof *NAMES ? NAMES[kind] : "nil";
}

bool ebb_value_get_bool(const struct ebb_value *value, bool otherwise)
{
    return value && value->kind == EBB_VALUE_BOOL ? value->as.truth : otherwise;
}

int64_t ebb_value_get_int(const struct ebb_value *value, int64_t otherwise)
{
    return value && value->kind == EBB_VALUE_INT ? value->as.number : otherwise;
}

double ebb_value_get_float(const struct ebb_value *value, double otherwise)
{
    if (value && value->kind == EBB_VALUE_INT)
        return (double)value->as.number;
    return value && value->kind == EBB_VALUE_FLOAT ? value->as.real : otherwise;
}

const char *ebb_value_get_str(const struct ebb_value *value)
{
    return value && value->kind == EBB_VALUE_STRING ? value->as.text.bytes : NULL;
}

struct ebb_str ebb_value_get_bytes(const struct ebb_value *value)
{
    if (!value || value->kind != EBB_VALUE_STRING)
        return (struct ebb_str){NULL, 0};
    return (struct ebb_str){value->as.text.bytes, value->as.text.n};
}

size_t ebb_value_get_count(const struct ebb_value *value)
{
    return value && value->kind >= EBB_VALUE_LIST ? value->as.members.count : 0;
}

const struct ebb_value *ebb_value_getn(const struct ebb_value *map, const char *key, size_t n)
{
    size_t at;

    if (!map || map->kind != EBB_VALUE_MAP || !ebb__value_find(map, (struct ebb_str){key, n}, &at))
        return NULL;
    return map->as.members.entries[at].value;
}

const struct ebb_value *ebb_value_get(const struct ebb_value *map, const char *key)
{
    return ebb_value_getn(map, key, strlen(key));
}

const struct ebb_value *ebb_value_get_at(const struct ebb_value *container, size_t index)
{
    return index < ebb_value_get_count(container) ? container->as.members.entries[index].value : NULL;
}

struct ebb_str ebb_value_get_key(const struct ebb_value *map, size_t index)
{
    const struct ebb__entry *e;

    if (!map || map->kind != EBB_VALUE_MAP || index >= map->as.members.count)
        return (struct ebb_str){NULL, 0};
    e = &map->as.members.entries[index];
    return (struct ebb_str){e->key, e->key_bytes};
}

const char *ebb_value_text_of(const struct ebb_value *map, const char *key)
{
    return ebb_value_get_str(ebb_value_get(map, key));
}

int64_t ebb_value_int_of(const struct ebb_value *map, const char *key, int64_t otherwise)
{
    return ebb_value_get_int(ebb_value_get(map, key), otherwise);
}

bool ebb_value_bool_of(const struct ebb_value *map, const char *key, bool otherwise)
{
    return ebb_value_get_bool(ebb_value_get(map, key), otherwise);
}

static bool is_equal_scalar(const struct ebb_value *a, const struct ebb_value *b)
{
    switch (a->kind) {
    case EBB_VALUE_BOOL:
        return a->as.truth == b->as.truth;
    case EBB_VALUE_INT:
        return a->as.number == b->as.number;
    case EBB_VALUE_FLOAT:
        return a->as.real == b->as.real;
    case EBB_VALUE_STRING:
        return ebb_str_is_equal(ebb_value_get_bytes(a), ebb_value_get_bytes(b));
    default:
        return true;
    }
}

bool ebb_value_is_equal(const struct ebb_value *a, const struct ebb_value *b)
{
    enum ebb_value_kind kind = ebb_value_get_kind(a);

    if (kind != ebb_value_get_kind(b))
        return false;
    if (kind == EBB_VALUE_NIL)
        return true;
    if (kind < EBB_VALUE_LIST)
        return is_equal_scalar(a, b);
    if (a->as.members.count != b->as.members.count)
        return false;
    for (size_t i = 0; i < a->as.members.count; i++) {
        if (kind == EBB_VALUE_MAP && !ebb_str_is_equal(ebb_value_get_key(a, i), ebb_value_get_key(b, i)))
            return false;
        if (!ebb_value_is_equal(a->as.members.entries[i].value, b->as.members.entries[i].value))
            return false;
    }
    return true;
}
