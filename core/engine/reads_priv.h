/* SPDX-License-Identifier: Apache-2.0
 *
 * The read set: a tree of the names that a script read, bounded; what no longer fits is counted.
 */
#ifndef EBB_ENGINE_READS_PRIV_H
#define EBB_ENGINE_READS_PRIV_H

#include "base/text.h"
#include "engine/value.h"

#define EBB__READS_MAX 400
#define EBB__READS_POOL ((size_t)16 * 1024) /* bytes of all keys */
#define EBB__READS_ROOT (-1)
#define EBB__READS_NONE (-2) /* nothing below it is recorded */

struct ebb__read {
    int parent, child, sibling; /* indices, -1 none */
    unsigned key, key_bytes;    /* in the pool */
    bool is_whole;              /* its value, with all that is below */
    bool is_touched;            /* whether there is one */
};
struct ebb__reads {
    struct ebb__read *nodes; /* own_nodes, own_pool, but for kept ones */
    char *pool;
    int count;
    size_t pool_used;
    int64_t dropped;
    struct ebb__read own_nodes[EBB__READS_MAX];
    char own_pool[EBB__READS_POOL];
};
void ebb__reads_init(struct ebb__reads *reads);
/* A compact copy on the heap, or NULL; free() it. It can be asked, not extended. */
struct ebb__reads *ebb__reads_keep(const struct ebb__reads *reads);
/* The node of a name below parent, made when new; EBB__READS_NONE when it does not fit or can't be written (counted in
 * dropped). reads may be NULL. */
int ebb__reads_at(struct ebb__reads *reads, int parent, struct ebb_str key);
/* The value of the node was read, with all that is below. */
void ebb__reads_mark(struct ebb__reads *reads, int node);
/* A container was handed out: what is read of it is marked below. */
void ebb__reads_touch(struct ebb__reads *reads, int node);
/* The node of a name below parent, or EBB__READS_NONE. */
int ebb__reads_find(const struct ebb__reads *reads, int parent, struct ebb_str key);
/* Whether the whole value of the node counts as read: marked, a list of which items were read, or nothing below. */
bool ebb__reads_is_whole(const struct ebb__reads *reads, int node);
/* The paths as sorted texts ("t.stats.bytes", "t.properties[\"owner.timezone\"]", "ctx.events(commit.failed)"); "*"
 * when something was dropped: everything counts as read. EBB_ENOMEM. */
int ebb__reads_list(const struct ebb__reads *reads, struct ebb_strs *out, struct ebb_err *err);
void ebb__reads_write(const struct ebb__reads *reads, struct ebb_jsonw *w);

#endif
