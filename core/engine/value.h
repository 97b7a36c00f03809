/* SPDX-License-Identifier: Apache-2.0
 *
 * Plain data: what passes between facts, policies, strategies, adapters and records. A tree of JSON-like values; maps
 * are kept sorted by key. A tree is built from its root downwards and owns all its memory; nodes are never moved
 * between trees, only copied. Building never fails by itself: when memory or a limit is exhausted the tree goes *bad*,
 * further building is a no-op on NULL, and ebb_value_check tells. Not thread safe while built; read only afterwards.
 */
#ifndef EBB_ENGINE_VALUE_H
#define EBB_ENGINE_VALUE_H

#include "base/buf.h"
#include "base/text.h"

enum ebb_value_kind {
    EBB_VALUE_NIL,
    EBB_VALUE_BOOL,
    EBB_VALUE_INT,
    EBB_VALUE_FLOAT,
    EBB_VALUE_STRING,
    EBB_VALUE_LIST,
    EBB_VALUE_MAP
};

struct ebb_value;

/* Bounds of a tree. Depth counts the root as 1 (at most EBB_VALUE_DEPTH_MAX), nodes all values, text_bytes one string
 * or key. */
struct ebb_value_limits {
    int depth;
    size_t nodes;
    size_t text_bytes;
};
#define EBB_VALUE_DEPTH_MAX 32
/* For data of our own making and of catalogs: depth 32, 1,000,000 nodes, 1 MiB a string. */
struct ebb_value_limits ebb_value_limits_wide(void);
/* For what a script hands over (sandbox list, script 55): depth 8, 5,000 nodes, 8 KiB a string. */
struct ebb_value_limits ebb_value_limits_script(void);

/* A fresh root, an empty map or list; limits NULL = wide. NULL when memory is exhausted. */
struct ebb_value *ebb_value_new_map(const struct ebb_value_limits *limits);
struct ebb_value *ebb_value_new_list(const struct ebb_value_limits *limits);
/* Free a root and with it the whole tree. NULL is fine; a node that is not a root must not be given. */
void ebb_value_free(struct ebb_value *root);
/* 0, or EBB_ELIMIT / EBB_ENOMEM when the tree of this node went bad, or node is NULL. `what` names it in the message.
 */
int ebb_value_check(const struct ebb_value *node, const char *what, struct ebb_err *err);

/* Add to a map under a key; an older value of the key is replaced. NULL text, and a NULL copy, store nothing. */
void ebb_value_put_bool(struct ebb_value *map, const char *key, bool value);
void ebb_value_put_int(struct ebb_value *map, const char *key, int64_t value);
void ebb_value_put_float(struct ebb_value *map, const char *key, double value);
void ebb_value_put_str(struct ebb_value *map, const char *key, const char *text);
void ebb_value_put_strn(struct ebb_value *map, const char *key, const char *bytes, size_t n);
void ebb_value_put_copy(struct ebb_value *map, const char *key, const struct ebb_value *value);
/* A borrowed value, also of another tree, that must outlive this one: nothing is copied. */
void ebb_value_put_ref(struct ebb_value *map, const char *key, const struct ebb_value *value);
/* Add an empty container and give it, to be filled; NULL when the tree is bad. */
struct ebb_value *ebb_value_put_map(struct ebb_value *map, const char *key);
struct ebb_value *ebb_value_put_list(struct ebb_value *map, const char *key);

/* The same at the end of a list. */
void ebb_value_add_bool(struct ebb_value *list, bool value);
void ebb_value_add_int(struct ebb_value *list, int64_t value);
void ebb_value_add_float(struct ebb_value *list, double value);
void ebb_value_add_str(struct ebb_value *list, const char *text);
void ebb_value_add_strn(struct ebb_value *list, const char *bytes, size_t n);
void ebb_value_add_copy(struct ebb_value *list, const struct ebb_value *value);
struct ebb_value *ebb_value_add_map(struct ebb_value *list);
struct ebb_value *ebb_value_add_list(struct ebb_value *list);

/* Asking. NULL counts as nil everywhere. */
enum ebb_value_kind ebb_value_get_kind(const struct ebb_value *value);
/* "nil", "boolean", "integer", "number", "string", "list", "map": for messages. */
const char *ebb_value_kind_name(enum ebb_value_kind kind);
bool ebb_value_get_bool(const struct ebb_value *value, bool otherwise);
int64_t ebb_value_get_int(const struct ebb_value *value, int64_t otherwise);
double ebb_value_get_float(const struct ebb_value *value, double otherwise); /* of an int too */
/* NUL terminated text, or NULL when it is not a string. Bytes may hold NUL: ebb_value_get_bytes tells the length. */
const char *ebb_value_get_str(const struct ebb_value *value);
struct ebb_str ebb_value_get_bytes(const struct ebb_value *value);
/* Members of a list or map. */
size_t ebb_value_get_count(const struct ebb_value *value);
/* The value under a key, or NULL. */
const struct ebb_value *ebb_value_get(const struct ebb_value *map, const char *key);
const struct ebb_value *ebb_value_getn(const struct ebb_value *map, const char *key, size_t n);
/* Member by index from 0 (maps: in byte order of the keys), or NULL. */
const struct ebb_value *ebb_value_get_at(const struct ebb_value *container, size_t index);
/* Key of a map by index. */
struct ebb_str ebb_value_get_key(const struct ebb_value *map, size_t index);
/* Shorthands for the value under a key of a map. */
const char *ebb_value_text_of(const struct ebb_value *map, const char *key);
int64_t ebb_value_int_of(const struct ebb_value *map, const char *key, int64_t otherwise);
bool ebb_value_bool_of(const struct ebb_value *map, const char *key, bool otherwise);
bool ebb_value_is_equal(const struct ebb_value *a, const struct ebb_value *b);

/* A new tree with a copy of a map or list; limits NULL = wide. EBB_EUSAGE when it is neither. */
int ebb_value_dup(const struct ebb_value *value, const struct ebb_value_limits *limits, struct ebb_value **out,
                  struct ebb_err *err);
/* Write as JSON. A float that JSON cannot hold is written as null. */
void ebb_value_write(const struct ebb_value *value, struct ebb_jsonw *w);
/* Append as JSON text. EBB_ELIMIT, EBB_ENOMEM. */
int ebb_value_to_json(const struct ebb_value *value, struct ebb_buf *out, struct ebb_err *err);
/* Read one JSON object or array. null members of objects are left out, null in lists is kept. Integers are exact. name
 * is used in messages. EBB_ECORRUPT, EBB_ELIMIT, EBB_ENOMEM. */
int ebb_value_of_json(const char *name, const void *bytes, size_t n, const struct ebb_value_limits *limits,
                      struct ebb_value **out, struct ebb_err *err);

#endif
