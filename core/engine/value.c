/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/value_tree_priv.h"

#include <stdlib.h>

#define TREE_MAX_BYTES ((size_t)256 * 1024 * 1024)

struct ebb_value_limits ebb_value_limits_wide(void)
{
    return (struct ebb_value_limits){EBB_VALUE_DEPTH_MAX, 1000000, (size_t)1024 * 1024};
}

struct ebb_value_limits ebb_value_limits_script(void)
{
    return (struct ebb_value_limits){8, 5000, 8192};
}

static struct ebb_value *spoil(struct ebb__tree *tree, enum ebb_error why)
{
    if (!tree->bad)
        tree->bad = why;
    return NULL;
}

static struct ebb_value *make(struct ebb__tree *tree, enum ebb_value_kind kind, int depth)
{
    struct ebb_value *v;

    if (tree->bad)
        return NULL;
    if (depth > tree->limits.depth || tree->nodes >= tree->limits.nodes)
        return spoil(tree, EBB_ELIMIT);
    v = ebb_arena_alloc(&tree->arena, sizeof *v);
    if (!v)
        return spoil(tree, EBB_ENOMEM);
    tree->nodes++;
    v->kind = kind;
    v->depth = depth;
    v->tree = tree;
    return v;
}

static struct ebb_value *new_root(enum ebb_value_kind kind, const struct ebb_value_limits *limits)
{
    struct ebb__tree *tree = calloc(1, sizeof *tree);
    struct ebb_value *root;

    if (!tree)
        return NULL;
    ebb_arena_init(&tree->arena, TREE_MAX_BYTES);
    tree->limits = limits ? *limits : ebb_value_limits_wide();
    if (tree->limits.depth > EBB_VALUE_DEPTH_MAX)
        tree->limits.depth = EBB_VALUE_DEPTH_MAX;
    root = make(tree, kind, 1);
    if (!root)
        free(tree);
    return root;
}

struct ebb_value *ebb_value_new_map(const struct ebb_value_limits *limits)
{
    return new_root(EBB_VALUE_MAP, limits);
}

struct ebb_value *ebb_value_new_list(const struct ebb_value_limits *limits)
{
    return new_root(EBB_VALUE_LIST, limits);
}

void ebb_value_free(struct ebb_value *root)
{
    struct ebb__tree *tree = root ? root->tree : NULL;

    if (!tree)
        return;
    ebb_arena_fini(&tree->arena);
    free(tree);
}

int ebb_value_check(const struct ebb_value *node, const char *what, struct ebb_err *err)
{
    if (!node || node->tree->bad == EBB_ENOMEM)
        return ebb_err_nomem(err);
    if (node->tree->bad)
        return ebb_err_set(err, EBB_ELIMIT,
                           "%s: too deep, too many values or too long a text (limits: depth %d, %zu values, %zu bytes)",
                           what, node->tree->limits.depth, node->tree->limits.nodes, node->tree->limits.text_bytes);
    return 0;
}

/* Open a gap at index `at`; false when the tree went bad. */
static bool widen(struct ebb_value *box, size_t at)
{
    size_t cap = box->as.members.cap ? box->as.members.cap * 2 : 4;
    struct ebb__entry *entries = box->as.members.entries;

    if (box->as.members.count == box->as.members.cap) {
        entries = ebb_arena_alloc(&box->tree->arena, cap * sizeof *entries);
        if (!entries) {
            spoil(box->tree, EBB_ENOMEM);
            return false;
        }
        if (box->as.members.count)
            memcpy(entries, box->as.members.entries, box->as.members.count * sizeof *entries);
        box->as.members.entries = entries;
        box->as.members.cap = cap;
    }
    memmove(entries + at + 1, entries + at, (box->as.members.count - at) * sizeof *entries);
    box->as.members.count++;
    return true;
}

static struct ebb_value *put(struct ebb_value *map, struct ebb_str key, enum ebb_value_kind kind)
{
    struct ebb_value *v;
    struct ebb__entry *e;
    size_t at;
    char *name;

    if (!map || map->kind != EBB_VALUE_MAP)
        return NULL;
    if (key.n > map->tree->limits.text_bytes)
        return spoil(map->tree, EBB_ELIMIT);
    v = make(map->tree, kind, map->depth + 1);
    if (!v)
        return NULL;
    if (ebb__value_find(map, key, &at)) {
        map->as.members.entries[at].value = v;
        return v;
    }
    name = ebb_arena_dup(&map->tree->arena, key.p, key.n);
    if (!name)
        return spoil(map->tree, EBB_ENOMEM);
    if (!widen(map, at))
        return NULL;
    e = &map->as.members.entries[at];
    *e = (struct ebb__entry){name, key.n, v};
    return v;
}

static struct ebb_value *add(struct ebb_value *list, enum ebb_value_kind kind)
{
    struct ebb_value *v;

    if (!list || list->kind != EBB_VALUE_LIST)
        return NULL;
    v = make(list->tree, kind, list->depth + 1);
    if (!v || !widen(list, list->as.members.count))
        return NULL;
    list->as.members.entries[list->as.members.count - 1] = (struct ebb__entry){NULL, 0, v};
    return v;
}

static void set_text(struct ebb_value *v, const char *bytes, size_t n)
{
    if (!v)
        return;
    if (n > v->tree->limits.text_bytes) {
        spoil(v->tree, EBB_ELIMIT);
        n = 0;
    }
    v->as.text.bytes = ebb_arena_dup(&v->tree->arena, bytes, n);
    v->as.text.n = n;
    if (!v->as.text.bytes) {
        v->kind = EBB_VALUE_NIL;
        spoil(v->tree, EBB_ENOMEM);
    }
}

void ebb_value_put_bool(struct ebb_value *map, const char *key, bool value)
{
    struct ebb_value *v = put(map, ebb_str_of(key), EBB_VALUE_BOOL);

    if (v)
        v->as.truth = value;
}

void ebb_value_put_int(struct ebb_value *map, const char *key, int64_t value)
{
    struct ebb_value *v = put(map, ebb_str_of(key), EBB_VALUE_INT);

    if (v)
        v->as.number = value;
}

void ebb_value_put_float(struct ebb_value *map, const char *key, double value)
{
    struct ebb_value *v = put(map, ebb_str_of(key), EBB_VALUE_FLOAT);

    if (v)
        v->as.real = value;
}

void ebb_value_put_str(struct ebb_value *map, const char *key, const char *text)
{
    if (text)
        ebb_value_put_strn(map, key, text, strlen(text));
}

void ebb_value_put_strn(struct ebb_value *map, const char *key, const char *bytes, size_t n)
{
    set_text(put(map, ebb_str_of(key), EBB_VALUE_STRING), bytes, n);
}

struct ebb_value *ebb_value_put_map(struct ebb_value *map, const char *key)
{
    return put(map, ebb_str_of(key), EBB_VALUE_MAP);
}

struct ebb_value *ebb_value_put_list(struct ebb_value *map, const char *key)
{
    return put(map, ebb_str_of(key), EBB_VALUE_LIST);
}

void ebb_value_add_bool(struct ebb_value *list, bool value)
{
    struct ebb_value *v = add(list, EBB_VALUE_BOOL);

    if (v)
        v->as.truth = value;
}

void ebb_value_add_int(struct ebb_value *list, int64_t value)
{
    struct ebb_value *v = add(list, EBB_VALUE_INT);

    if (v)
        v->as.number = value;
}

void ebb_value_add_float(struct ebb_value *list, double value)
{
    struct ebb_value *v = add(list, EBB_VALUE_FLOAT);

    if (v)
        v->as.real = value;
}

void ebb_value_add_str(struct ebb_value *list, const char *text)
{
    if (text)
        ebb_value_add_strn(list, text, strlen(text));
}

void ebb_value_add_strn(struct ebb_value *list, const char *bytes, size_t n)
{
    set_text(add(list, EBB_VALUE_STRING), bytes, n);
}

struct ebb_value *ebb_value_add_map(struct ebb_value *list)
{
    return add(list, EBB_VALUE_MAP);
}

struct ebb_value *ebb_value_add_list(struct ebb_value *list)
{
    return add(list, EBB_VALUE_LIST);
}

/* Recursion is bounded by the depth of the source, at most EBB_VALUE_DEPTH_MAX. */
static void fill(struct ebb_value *to, const struct ebb_value *from)
{
    if (!to)
        return;
    if (from->kind == EBB_VALUE_STRING) {
        set_text(to, from->as.text.bytes, from->as.text.n);
        return;
    }
    if (from->kind < EBB_VALUE_STRING) {
        to->as = from->as;
        return;
    }
    for (size_t i = 0; i < from->as.members.count; i++) {
        const struct ebb__entry *e = &from->as.members.entries[i];

        if (from->kind == EBB_VALUE_MAP)
            fill(put(to, (struct ebb_str){e->key, e->key_bytes}, e->value->kind), e->value);
        else
            fill(add(to, e->value->kind), e->value);
    }
}

void ebb_value_put_copy(struct ebb_value *map, const char *key, const struct ebb_value *value)
{
    if (value)
        fill(put(map, ebb_str_of(key), value->kind), value);
}

void ebb_value_put_ref(struct ebb_value *map, const char *key, const struct ebb_value *value)
{
    size_t at;

    if (value && put(map, ebb_str_of(key), EBB_VALUE_NIL) && ebb__value_find(map, ebb_str_of(key), &at))
        map->as.members.entries[at].value = (struct ebb_value *)value;
}

void ebb_value_add_copy(struct ebb_value *list, const struct ebb_value *value)
{
    if (value)
        fill(add(list, value->kind), value);
}

int ebb_value_dup(const struct ebb_value *value, const struct ebb_value_limits *limits, struct ebb_value **out,
                  struct ebb_err *err)
{
    struct ebb_value *root;
    int rc;

    *out = NULL;
    if (!value || value->kind < EBB_VALUE_LIST)
        return ebb_err_set(err, EBB_EUSAGE, "value: neither a list nor a map");
    root = new_root(value->kind, limits);
    fill(root, value);
    rc = ebb_value_check(root, "value", err);
    if (rc)
        ebb_value_free(root);
    else
        *out = root;
    return rc;
}

struct ebb_value *ebb__value_make(struct ebb_value *box, struct ebb_str key, enum ebb_value_kind kind)
{
    return box && box->kind == EBB_VALUE_MAP ? put(box, key, kind) : add(box, kind);
}

void ebb__value_set_scalar(struct ebb_value *value, bool truth, int64_t number, double real)
{
    if (!value)
        return;
    if (value->kind == EBB_VALUE_BOOL)
        value->as.truth = truth;
    else if (value->kind == EBB_VALUE_INT)
        value->as.number = number;
    else if (value->kind == EBB_VALUE_FLOAT)
        value->as.real = real;
}

void ebb__value_set_text(struct ebb_value *value, const char *bytes, size_t n)
{
    set_text(value, bytes, n);
}
