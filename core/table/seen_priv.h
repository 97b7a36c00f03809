/* SPDX-License-Identifier: Apache-2.0
 *
 * Which metadata pieces (manifest lists, manifests) were read already, by the exact bytes of their path, and what was
 * found in them. Used by the reachability reader; looking whether files exist uses it for names that were told already.
 */
#ifndef EBB_TABLE_SEEN_PRIV_H
#define EBB_TABLE_SEEN_PRIV_H

#include "base/buf.h"

struct ebb_seen_entry {
    struct ebb_str path;
    int64_t length_bytes; /* as recorded by the list that named it first; -1 unknown */
    int64_t live;         /* live entries found; of a list: data files in its manifests */
    int64_t live_deletes; /* of a list: delete files in its manifests */
    int64_t refs;         /* of a list: its manifests */
    int content;          /* 0 data, 1 deletes */
};
struct ebb_seen {
    struct ebb_seen_entry **slots;
    size_t cap, count;
    struct ebb_arena arena;
};

void ebb__seen_init(struct ebb_seen *seen);
void ebb__seen_fini(struct ebb_seen *seen);
/* NULL when it was not seen. */
struct ebb_seen_entry *ebb__seen_find(const struct ebb_seen *seen, struct ebb_str path);
/* Add a path that was not seen (copied); NULL when memory ran out. */
struct ebb_seen_entry *ebb__seen_add(struct ebb_seen *seen, struct ebb_str path);

#endif
