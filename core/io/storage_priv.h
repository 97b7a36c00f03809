/* SPDX-License-Identifier: Apache-2.0
 *
 * The remote half of a storage: clients of object stores, our own and those with keys that a catalog lends. Shared by
 * storages that differ in their map only; one thread.
 */
#ifndef EBB_IO_STORAGE_PRIV_H
#define EBB_IO_STORAGE_PRIV_H

#include "io/place.h"

#define EBB__STORAGE_PATH_MAX ((size_t)64 * 1024)

struct ebb__storage_remote;
struct ebb__storage_ahead;
struct ebb_storage {
    const struct ebb_uri_map *map;
    struct ebb__storage_remote *remote; /* NULL: local only */
};

int ebb__storage_remote_new(const struct ebb_storage_options *options, struct ebb__storage_remote **out,
                            struct ebb_err *err);
/* One more who holds it. */
struct ebb__storage_remote *ebb__storage_remote_share(struct ebb__storage_remote *remote);
void ebb__storage_remote_set_deaf(struct ebb__storage_remote *remote, bool is_deaf);
/* The last one frees it. NULL is fine. */
void ebb__storage_remote_free(struct ebb__storage_remote *remote);
/* The client for "s3://bucket/key", connected to at its first use. Borrowed. */
int ebb__storage_client(struct ebb__storage_remote *remote, const char *target, struct ebb_s3 **out,
                        struct ebb_err *err);
/* What is read ahead there. Borrowed. */
struct ebb__storage_ahead *ebb__storage_ahead_of(struct ebb__storage_remote *remote);

/* ---- storage_ahead.c ---- */
int ebb__storage_ahead_new(struct ebb__storage_ahead **out, struct ebb_err *err);
/* Once the clients are gone. NULL is fine. */
void ebb__storage_ahead_free(struct ebb__storage_ahead *ahead);
/* These will be read soon, in this order. EBB_ENOMEM. */
int ebb__storage_ahead_want(struct ebb__storage_remote *remote, struct ebb__storage_ahead *ahead,
                            const struct ebb_strs *targets, struct ebb_err *err);
/* Take what was read ahead, waiting for it; *is_taken false: read it now. EBB_ECANCELLED, EBB_ENOMEM. */
int ebb__storage_ahead_take(struct ebb__storage_remote *remote, struct ebb__storage_ahead *ahead, const char *target,
                            struct ebb_buf *out, struct ebb_stat *st, bool *is_taken, struct ebb_err *err);

/* Take "s3://bucket/key" apart; key borrows, and is NUL terminated. EBB_ELOCATION. */
int ebb__storage_split(const char *target, char *bucket, size_t size, struct ebb_str *key, struct ebb_err *err);

#endif
