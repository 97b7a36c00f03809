/* SPDX-License-Identifier: Apache-2.0
 *
 * What a kind of storage implements to be a place (io/place.h). Names reach it already checked: relative, no empty, "."
 * or ".." component. The write functions are called on places opened with EBB_PLACE_WRITE only. Each function keeps the
 * contract of its namesake in io/place.h. stat_many, read_log, move_many, unlink_many, unlink_log and is_versioned may
 * be NULL: then the single functions are called one after another, a log is a plain file, and nothing is versioned.
 */
#ifndef EBB_IO_PLACE_PRIV_H
#define EBB_IO_PLACE_PRIV_H

#include "io/place.h"

struct ebb_place_ops {
    void (*close)(struct ebb_place *place);
    int (*stat_root)(struct ebb_place *place, struct ebb_stat *st, struct ebb_err *err);
    int (*is_case_insensitive)(struct ebb_place *place, bool *out, struct ebb_err *err);
    int (*walk)(struct ebb_place *place, const char *below, const struct ebb_walk_ops *ops, void *data,
                struct ebb_err *err);
    int (*walk_stat)(const struct ebb_walk_entry *entry, struct ebb_stat *st, struct ebb_err *err);
    int (*stat)(struct ebb_place *place, const char *name, struct ebb_stat *st, struct ebb_err *err);
    int (*read)(struct ebb_place *place, const char *name, size_t max, struct ebb_buf *out, bool *is_cut,
                struct ebb_err *err);
    int (*stat_many)(struct ebb_place *place, struct ebb_place_stat_item *items, size_t n, struct ebb_err *err);
    int (*read_log)(struct ebb_place *place, const char *name, size_t max, struct ebb_buf *out, bool *is_cut,
                    struct ebb_err *err);
    int (*is_versioned)(struct ebb_place *place, int *out, struct ebb_err *err);
    int (*resolve_link)(struct ebb_place *place, const char *name, struct ebb_buf *out, struct ebb_err *err);
    int (*read_link)(struct ebb_place *place, const char *name, struct ebb_buf *out, struct ebb_err *err);
    int (*make_dirs)(struct ebb_place *place, const char *name, bool is_private, struct ebb_err *err);
    int (*create)(struct ebb_place *place, const char *name, const void *bytes, size_t n, struct ebb_err *err);
    int (*append)(struct ebb_place *place, const char *name, const void *bytes, size_t n, bool sync,
                  struct ebb_err *err);
    int (*replace)(struct ebb_place *place, const char *name, const void *bytes, size_t n, struct ebb_err *err);
    /* Both places have these ops. */
    int (*move)(struct ebb_place *from, const char *from_name, struct ebb_place *to, const char *to_name,
                struct ebb_err *err);
    int (*move_many)(struct ebb_place *from, struct ebb_place *to, struct ebb_place_move_item *items, size_t n,
                     struct ebb_err *err);
    int (*unlink_many)(struct ebb_place *place, struct ebb_place_unlink_item *items, size_t n, struct ebb_err *err);
    int (*unlink_log)(struct ebb_place *place, const char *name, struct ebb_err *err);
    int (*sync_dir)(struct ebb_place *place, const char *dir, struct ebb_err *err);
    int (*unlink)(struct ebb_place *place, const char *name, struct ebb_err *err);
    int (*remove_dir)(struct ebb_place *place, const char *name, struct ebb_err *err);
    int (*clock_ms)(struct ebb_place *place, const char *probe_name, int64_t *out_ms, struct ebb_err *err);
};

/* First member of every kind of place. uri and local are owned. */
struct ebb_place {
    const struct ebb_place_ops *ops;
    enum ebb_place_mode mode;
    char *uri;
    char *local;   /* NULL: an object store */
    char *address; /* of a place in an object store; NULL: local */
};

/* First member of what ebb_walk_entry.handle points to. */
struct ebb_walk_handle {
    struct ebb_place *place;
};

#endif
