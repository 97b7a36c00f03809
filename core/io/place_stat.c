/* SPDX-License-Identifier: Apache-2.0 */
#include "io/place.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void ebb_stat_id(const struct ebb_stat *st, char out[EBB_STAT_ID_MAX])
{
    if (st->etag[0])
        snprintf(out, EBB_STAT_ID_MAX, "%s:%" PRId64, st->etag, st->mtime_ns / 1000000000);
    else
        snprintf(out, EBB_STAT_ID_MAX, "%" PRIu64 ":%" PRIu64 ":%" PRId64, st->dev, st->ino, st->ctime_ns);
}

bool ebb_stat_is_one(const struct ebb_stat *a, const struct ebb_stat *b)
{
    return !a->etag[0] && !b->etag[0] && a->ino && a->dev == b->dev && a->ino == b->ino;
}

bool ebb_stat_is_same(const struct ebb_stat *a, const struct ebb_stat *b)
{
    if (!a->ino && !a->etag[0])
        return false;
    return a->dev == b->dev && a->ino == b->ino && a->size_bytes == b->size_bytes && a->mtime_ns == b->mtime_ns &&
           a->ctime_ns == b->ctime_ns && !strcmp(a->etag, b->etag);
}

static bool is_moved_object(const struct ebb_stat *st, const char *id)
{
    char now[EBB_STAT_ID_MAX];

    ebb_stat_id(st, now);
    return !strcmp(now, id) || (st->moved_id[0] && !strcmp(st->moved_id, id));
}

bool ebb_stat_is_moved(const struct ebb_stat *st, const char *id, uint64_t size_bytes, int64_t mtime_ns)
{
    char start[EBB_STAT_ID_MAX];
    int n;

    if (st->etag[0])
        return st->is_file && st->size_bytes == size_bytes && is_moved_object(st, id);
    n = snprintf(start, sizeof start, "%" PRIu64 ":%" PRIu64 ":", st->dev, st->ino);
    return st->is_file && !strncmp(id, start, (size_t)n) && st->size_bytes == size_bytes && st->mtime_ns == mtime_ns;
}
