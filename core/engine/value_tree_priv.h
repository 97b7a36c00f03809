/* SPDX-License-Identifier: Apache-2.0
 *
 * How a tree of values lies in memory: for the files value*.c only.
 */
#ifndef EBB_ENGINE_VALUE_TREE_PRIV_H
#define EBB_ENGINE_VALUE_TREE_PRIV_H

#include "engine/value_priv.h"

struct ebb__entry {
    char *key; /* maps only */
    size_t key_bytes;
    struct ebb_value *value;
};

struct ebb__tree {
    struct ebb_arena arena;
    struct ebb_value_limits limits;
    size_t nodes;
    enum ebb_error bad;
};

struct ebb_value {
    enum ebb_value_kind kind;
    int depth;
    struct ebb__tree *tree;
    union {
        bool truth;
        int64_t number;
        double real;
        struct {
            char *bytes;
            size_t n;
        } text;
        struct {
            struct ebb__entry *entries;
            size_t count, cap;
        } members;
    } as;
};

/* Where a key is in a map, or where it would go. */
bool ebb__value_find(const struct ebb_value *map, struct ebb_str key, size_t *at);

#endif
