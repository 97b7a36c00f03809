/* SPDX-License-Identifier: Apache-2.0
 *
 * Mounts: where a real path lies on its file system, whatever it is mounted as. A folder that is mounted twice has two
 * real paths and one place on the disk. Read from /proc/self/mountinfo; where that is missing nothing is known.
 */
#ifndef EBB_TABLE_MOUNTS_PRIV_H
#define EBB_TABLE_MOUNTS_PRIV_H

#include <limits.h>

#include "base/buf.h"

struct ebb_mount {
    char *point; /* where it is mounted */
    char *disk;  /* "major:minor" of its file system, then the folder of it that is mounted there */
};
struct ebb_mounts {
    struct ebb_mount *items; /* as listed: of equal points the last one counts */
    size_t count, cap;
};

/* EBB_ENOMEM only. */
int ebb__mounts_read(struct ebb_mounts *mounts, struct ebb_err *err);
/* The same from the text of a mountinfo file. */
int ebb__mounts_parse(struct ebb_mounts *mounts, struct ebb_str text, struct ebb_err *err);
void ebb__mounts_fini(struct ebb_mounts *mounts);
/* Place on the disk ("8:1/wh/t") of a real path; false when it is not known or too long. */
bool ebb__mounts_disk(const struct ebb_mounts *mounts, const char *real, char out[PATH_MAX]);

#endif
