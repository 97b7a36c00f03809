/* SPDX-License-Identifier: Apache-2.0
 *
 * Named objects in the store, which people make over the API: policy objects, job templates, tokens; what they are tied
 * to; and statistics of tables. Each has a number that stays when it is renamed, and tells who made and changed it
 * when.
 */
#ifndef EBB_IO_STORE_OBJECTS_H
#define EBB_IO_STORE_OBJECTS_H

#include "io/store.h"

/* A remote policy is the image of one that another server keeps. */
enum ebb_object_kind { EBB_OBJECT_POLICY, EBB_OBJECT_TEMPLATE, EBB_OBJECT_TOKEN, EBB_OBJECT_REMOTE_POLICY };
struct ebb_object {
    enum ebb_object_kind kind;
    int64_t number;   /* given by the store */
    const char *name; /* unique in its kind; any text without NUL */
    const char *json;
    const char *creator, *modifier; /* modifier "" never changed */
    int64_t created_ms, modified_ms;
};
/* How many there may be of a kind, and how many bytes of JSON they may have together: all of them are read when
 * policies are loaded, all tokens at each request. */
#define EBB_OBJECTS_MAX 10000
#define EBB_TOKENS_MAX 1000
#define EBB_OBJECTS_MAX_BYTES ((size_t)8 << 20)
/* Insert. EBB_EEXIST; EBB_ELIMIT: there are too many. */
int ebb_store_add_object(struct ebb_store *store, const struct ebb_object *object, struct ebb_err *err);
/* Replace name (rename), json, modifier, modified_ms of the object called `name`. EBB_ENOT_FOUND, EBB_EEXIST;
 * EBB_ELIMIT: its JSON became longer, and they are too long together. */
int ebb_store_change_object(struct ebb_store *store, const char *name, const struct ebb_object *object,
                            struct ebb_err *err);
/* Remove it and what it is tied to. *found tells. */
int ebb_store_drop_object(struct ebb_store *store, enum ebb_object_kind kind, const char *name, bool *found,
                          struct ebb_err *err);
typedef int ebb_object_cb(void *data, const struct ebb_object *object, struct ebb_err *err);
/* EBB_ENOT_FOUND. */
int ebb_store_get_object(struct ebb_store *store, enum ebb_object_kind kind, const char *name, ebb_object_cb *cb,
                         void *data, struct ebb_err *err);
int ebb_store_list_objects(struct ebb_store *store, enum ebb_object_kind kind, ebb_object_cb *cb, void *data,
                           struct ebb_err *err); /* by number */

/* Ties between an object and metadata: type "catalog", "schema", "table"; full_name without the metalake. Add and
 * remove in one transaction. EBB_EEXIST when any of add is tied already (nothing is done); unknown names are left out.
 */
int ebb_store_tie_objects(struct ebb_store *store, enum ebb_object_kind kind, const char *type, const char *full_name,
                          const struct ebb_strs *add, const struct ebb_strs *remove, struct ebb_err *err);
/* Names of the objects tied directly to a place; and the places ("type full_name") of an object. Added to out. */
int ebb_store_tied_objects(struct ebb_store *store, enum ebb_object_kind kind, const char *type, const char *full_name,
                           struct ebb_strs *out, struct ebb_err *err);
int ebb_store_object_ties(struct ebb_store *store, enum ebb_object_kind kind, const char *name, struct ebb_strs *out,
                          struct ebb_err *err);

/* An object as it should be, with the places ("type full_name", sorted) that it should be tied to. Borrowed. */
struct ebb_object_image {
    const char *name, *json;
    const struct ebb_strs *ties;
};
/* Make the objects of a kind whose names begin with a prefix exactly these, sorted by name, and nothing else tied: all
 * in one transaction, which also counts it when anything was otherwise (*changed). is_dry: only *changed is told, it
 * stays so. Errors of ebb_store_add_object; then nothing is changed. */
int ebb_store_mirror_objects(struct ebb_store *store, enum ebb_object_kind kind, const char *prefix,
                             const struct ebb_object_image *images, size_t count, int64_t now_ms, bool is_dry,
                             bool *changed, struct ebb_err *err);
/* How often that has changed anything, by whatever process: who has loaded the objects can tell whether they are old.
 */
int ebb_store_count_mirrored(struct ebb_store *store, const char *prefix, int64_t *out, struct ebb_err *err);

struct ebb_statistic {
    const char *table, *partition; /* full name; partition "" of the table */
    const char *name;
    const char *json; /* the value */
    const char *creator, *modifier;
    int64_t created_ms, modified_ms;
};
/* How many one table may have, with those of its partitions, and how many bytes their names and values may have. */
#define EBB_STATISTICS_MAX 100000
#define EBB_STATISTICS_MAX_BYTES ((size_t)16 << 20)
/* Insert or replace (creator and created_ms stay), one transaction. EBB_ELIMIT: a table would have too many; nothing is
 * changed. */
int ebb_store_put_statistics(struct ebb_store *store, const struct ebb_statistic *items, size_t count,
                             struct ebb_err *err);
/* *dropped: whether any of the names was there. */
int ebb_store_drop_statistics(struct ebb_store *store, const struct ebb_statistic *items, size_t count, bool *dropped,
                              struct ebb_err *err);
struct ebb_statistic_filter {
    const char *table;
    bool of_partitions;              /* false: those of the table */
    const char *from, *to;           /* bounds of partition, byte order; NULL none */
    bool is_from_open, is_to_closed; /* from is included, to is not, unless these say otherwise */
};
typedef int ebb_statistic_cb(void *data, const struct ebb_statistic *item, struct ebb_err *err);
/* By partition and name. */
int ebb_store_list_statistics(struct ebb_store *store, const struct ebb_statistic_filter *filter, ebb_statistic_cb *cb,
                              void *data, struct ebb_err *err);

#endif
