/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "engine/view_priv.h"

#define KEYS_MAX_BYTES ((size_t)256 * 1024)
#define PATH_MAX_BYTES ((size_t)2048)

void ebb__reads_init(struct ebb__reads *reads)
{
    reads->count = 0;
    reads->dropped = 0;
    ebb_arena_init(&reads->keys, KEYS_MAX_BYTES);
}

void ebb__reads_fini(struct ebb__reads *reads)
{
    ebb_arena_fini(&reads->keys);
}

static int find_child(const struct ebb__reads *reads, int parent, struct ebb_str key)
{
    int at = parent >= 0 ? reads->nodes[parent].child : reads->count ? 0 : -1;

    while (at >= 0) {
        const struct ebb__read *node = &reads->nodes[at];

        if (ebb_str_is_equal((struct ebb_str){node->key, node->key_bytes}, key))
            return at;
        at = node->sibling;
    }
    return -1;
}

/* Roots are chained as siblings of node 0. */
static void link_node(struct ebb__reads *reads, int parent, int at)
{
    struct ebb__read *node = &reads->nodes[at];

    if (parent >= 0) {
        node->sibling = reads->nodes[parent].child;
        reads->nodes[parent].child = at;
    } else if (at > 0) {
        node->sibling = reads->nodes[0].sibling;
        reads->nodes[0].sibling = at;
    }
}

int ebb__reads_at(struct ebb__reads *reads, int parent, struct ebb_str key)
{
    struct ebb__read *node;
    int at;

    if (!reads)
        return -1;
    at = find_child(reads, parent, key);
    if (at >= 0)
        return at;
    at = reads->count;
    node = &reads->nodes[at < EBB__READS_MAX ? at : 0];
    if (at == EBB__READS_MAX || key.n > 256 || !(node->key = ebb_arena_dup(&reads->keys, key.p, key.n))) {
        reads->dropped++;
        return -1;
    }
    *node = (struct ebb__read){parent, -1, -1, false, node->key, key.n};
    link_node(reads, parent, at);
    reads->count++;
    return at;
}

void ebb__reads_mark(struct ebb__reads *reads, int node)
{
    if (reads && node >= 0)
        reads->nodes[node].is_leaf = true;
}

static void add_path(const struct ebb__reads *reads, int at, struct ebb_buf *out)
{
    int chain[16];
    int depth = 0;

    for (; at >= 0 && depth < 16; at = reads->nodes[at].parent)
        chain[depth++] = at;
    while (depth--) {
        const struct ebb__read *node = &reads->nodes[chain[depth]];

        if (out->len && node->key[0] != '[')
            ebb_buf_putc(out, '.');
        ebb_buf_append(out, node->key, node->key_bytes);
    }
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void ebb__reads_write(const struct ebb__reads *reads, struct ebb_jsonw *w)
{
    struct ebb_strs paths;
    struct ebb_buf path;

    ebb_strs_init(&paths);
    ebb_buf_init(&path, PATH_MAX_BYTES);
    for (int i = 0; i < reads->count; i++) {
        if (!reads->nodes[i].is_leaf)
            continue;
        ebb_buf_reset(&path);
        add_path(reads, i, &path);
        if (path.bad || ebb_strs_addn(&paths, ebb_buf_cstr(&path), path.len, NULL))
            w->out->bad = true;
    }
    if (paths.count)
        qsort(paths.items, paths.count, sizeof *paths.items, compare_texts);
    ebb_jsonw_begin(w, '[');
    for (size_t i = 0; i < paths.count; i++)
        ebb_jsonw_str(w, paths.items[i]);
    ebb_jsonw_end(w, ']');
    ebb_buf_fini(&path);
    ebb_strs_fini(&paths);
}
