/* SPDX-License-Identifier: Apache-2.0
 *
 * Places in a bucket: everything below a prefix that ends in '/'. A name below the place is the rest of a key.
 */
#ifndef EBB_IO_S3_PLACE_PRIV_H
#define EBB_IO_S3_PLACE_PRIV_H

#include "io/place_priv.h"

struct ebb_s3_place {
    struct ebb_place base;
    struct ebb_s3 *s3; /* borrowed of the storage */
    char *bucket;
    char *prefix; /* "wh/t/", "" the bucket */
    bool is_probed;
    struct ebb_s3_abilities abilities;
    char *log;           /* that was appended to last */
    unsigned log_pieces; /* that it has */
};

/* Open the prefix `key` (slashes at its end do not matter) of a bucket; uri is what it is called. EBB_ENOENT: to be
 * read, and nothing lies there. */
int ebb__s3_place_open(struct ebb_s3 *s3, const char *bucket, const char *key, const char *uri,
                       enum ebb_place_mode mode, struct ebb_place **out, struct ebb_err *err);

static inline struct ebb_s3_place *ebb__s3_place_of(struct ebb_place *place)
{
    return (struct ebb_s3_place *)place;
}

/* Append the key of a name below the place. EBB_ELIMIT above the 1024 bytes that keys may have. */
int ebb__s3_place_key(const struct ebb_s3_place *place, const char *name, struct ebb_buf *out, struct ebb_err *err);
void ebb__s3_place_stat(const struct ebb_s3_object *object, struct ebb_stat *st);

/* s3_place_walk.c */
int ebb__s3_place_walk(struct ebb_place *place, const char *below, const struct ebb_walk_ops *ops, void *data,
                       struct ebb_err *err);
int ebb__s3_place_walk_stat(const struct ebb_walk_entry *entry, struct ebb_stat *st, struct ebb_err *err);
/* s3_place_many.c */
int ebb__s3_place_stat_many(struct ebb_place *place, struct ebb_place_stat_item *items, size_t n, struct ebb_err *err);
int ebb__s3_place_move_many(struct ebb_place *from, struct ebb_place *to, struct ebb_place_move_item *items, size_t n,
                            struct ebb_err *err);
int ebb__s3_place_unlink_many(struct ebb_place *place, struct ebb_place_unlink_item *items, size_t n,
                              struct ebb_err *err);
/* s3_place_log.c */
int ebb__s3_place_append(struct ebb_place *place, const char *name, const void *bytes, size_t n, bool sync,
                         struct ebb_err *err);
int ebb__s3_place_read_log(struct ebb_place *place, const char *name, size_t max, struct ebb_buf *out, bool *is_cut,
                           struct ebb_err *err);
int ebb__s3_place_unlink_log(struct ebb_place *place, const char *name, struct ebb_err *err);

#endif
