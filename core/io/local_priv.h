/* SPDX-License-Identifier: Apache-2.0
 *
 * Local places: a folder handle, and everything below it opened so that no link and no mount point is passed. openat2
 * does that in the kernel; where the call is missing or forbidden each component is opened by itself and its mount
 * compared with the root's.
 */
#ifndef EBB_IO_LOCAL_PRIV_H
#define EBB_IO_LOCAL_PRIV_H

#include <sys/types.h>

#include "io/place_priv.h"

struct ebb_local {
    struct ebb_place base;
    int fd; /* the root, opened for reading */
    bool has_openat2;
    bool has_mount_id;
    uint64_t mount; /* mount id of the root, or its device where the kernel tells no mount id */
};

/* Open the folder at a local path; uri is what it is called. */
int ebb__local_place_open(const char *path, const char *uri, enum ebb_place_mode mode, struct ebb_place **out,
                          struct ebb_err *err);

/* Handles below the root. All return a descriptor (close with ebb__fd_close) or -errno: ELOOP a link stands in the way,
 * EXDEV a mount point, ENOTDIR something that is no folder. Paths may be longer than PATH_MAX. */
int ebb__local_open_dir(const struct ebb_local *local, struct ebb_str dir, int flags);
int ebb__local_open_file(const struct ebb_local *local, const char *name, int flags, mode_t mode);
/* The folder that holds `name`, *last being the last component within name. ENOTDIR becomes ENOENT: the name can't
 * exist. */
int ebb__local_open_parent(const struct ebb_local *local, const char *name, int flags, const char **last);
/* A single component in an open folder below the root. */
int ebb__local_open_at(const struct ebb_local *local, int dir, const char *component, int flags, mode_t mode);
/* Learn the mount and whether openat2 works, once local->fd is open. 0 or errno. */
int ebb__local_learn(struct ebb_local *local);

/* Set *err to "<uri>/<name>: cannot <verb>: <why>" for an errno value. */
int ebb__local_fail(const struct ebb_local *local, int errno_value, const char *name, const char *verb,
                    struct ebb_err *err);

static inline struct ebb_local *ebb__local_of(struct ebb_place *place)
{
    return (struct ebb_local *)place;
}

/* The functions of struct ebb_place_ops, by file. local_case.c */
int ebb__local_is_case_insensitive(struct ebb_place *place, bool *out, struct ebb_err *err);
/* local_walk.c */
int ebb__local_walk(struct ebb_place *place, const char *below, const struct ebb_walk_ops *ops, void *data,
                    struct ebb_err *err);
int ebb__local_walk_stat(const struct ebb_walk_entry *entry, struct ebb_stat *st, struct ebb_err *err);
/* local_read.c */
int ebb__local_stat(struct ebb_place *place, const char *name, struct ebb_stat *st, struct ebb_err *err);
int ebb__local_read(struct ebb_place *place, const char *name, size_t max, struct ebb_buf *out, bool *is_cut,
                    struct ebb_err *err);
int ebb__local_resolve_link(struct ebb_place *place, const char *name, struct ebb_buf *out, struct ebb_err *err);
int ebb__local_read_link(struct ebb_place *place, const char *name, struct ebb_buf *out, struct ebb_err *err);
/* local_write.c */
int ebb__local_make_dirs(struct ebb_place *place, const char *name, bool is_private, struct ebb_err *err);
int ebb__local_create(struct ebb_place *place, const char *name, const void *bytes, size_t n, struct ebb_err *err);
int ebb__local_append(struct ebb_place *place, const char *name, const void *bytes, size_t n, bool sync,
                      struct ebb_err *err);
int ebb__local_replace(struct ebb_place *place, const char *name, const void *bytes, size_t n, struct ebb_err *err);
int ebb__local_clock_ms(struct ebb_place *place, const char *probe_name, int64_t *out_ms, struct ebb_err *err);
/* local_move.c */
int ebb__local_move(struct ebb_place *from, const char *from_name, struct ebb_place *to, const char *to_name,
                    struct ebb_err *err);
int ebb__local_sync_dir(struct ebb_place *place, const char *dir, struct ebb_err *err);
int ebb__local_unlink(struct ebb_place *place, const char *name, struct ebb_err *err);
int ebb__local_remove_dir(struct ebb_place *place, const char *name, struct ebb_err *err);

#endif
