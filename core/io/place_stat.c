/* SPDX-License-Identifier: Apache-2.0 */
#include "io/place.h"

#include <inttypes.h>
#include <stdio.h>

void ebb_stat_id(const struct ebb_stat *st, char out[EBB_STAT_ID_MAX])
{
    snprintf(out, EBB_STAT_ID_MAX, "%" PRIu64 ":%" PRIu64 ":%" PRId64, st->dev, st->ino, st->ctime_ns);
}

bool ebb_stat_is_moved(const struct ebb_stat *st, const char *id, uint64_t size_bytes, int64_t mtime_ns)
{
    char start[EBB_STAT_ID_MAX];
    int n = snprintf(start, sizeof start, "%" PRIu64 ":%" PRIu64 ":", st->dev, st->ino);

    return st->is_file && !strncmp(id, start, (size_t)n) && st->size_bytes == size_bytes && st->mtime_ns == mtime_ns;
}
