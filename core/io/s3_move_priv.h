/* SPDX-License-Identifier: Apache-2.0
 *
 * One object on its way, for s3_move.c and s3_parts.c (copies in parts).
 */
#ifndef EBB_IO_S3_MOVE_PRIV_H
#define EBB_IO_S3_MOVE_PRIV_H

#include "io/s3_priv.h"

struct ebb__s3_move {
    struct ebb_s3 *s3;
    struct ebb_s3_move_item *item;
    const char *from_bucket, *to_bucket;
    bool deletes_if_match, is_large;
    bool is_ended;             /* the source is gone, and the copy is there */
    bool is_unsure;            /* whether a deletion of the source was carried out whose answer was lost */
    unsigned deletions;        /* that were sent */
    struct ebb_strs kept;      /* header lines that the copy is to have */
    struct ebb_err copy_error; /* of the request that copied; the look at the copy decides */
};

/* Whether what lies under the new name is the copy of this move. */
bool ebb__s3_move_is_ours(const struct ebb__s3_move *move, const struct ebb_s3_object *object);
/* Look at the copy and go on from there; put in line, not waited for. */
void ebb__s3_move_check_copy(struct ebb__s3_move *move);
/* Append the headers of the copy's metadata; of where it comes from, on condition. */
int ebb__s3_move_metadata(const struct ebb__s3_move *move, struct ebb_strs *out, struct ebb_err *err);
int ebb__s3_move_source(const struct ebb__s3_move *move, struct ebb_strs *out, struct ebb_err *err);
/* Copy in parts; waits. What concerns this object alone stands in item->err; non-zero is for all. Nothing is left when
 * it fails. */
int ebb__s3_move_large(struct ebb__s3_move *move, struct ebb_err *err);

#endif
