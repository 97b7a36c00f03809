/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/reads.h"

#include <stddef.h>
#include <stdlib.h>

#include "engine/reads_priv.h"

#define PATH_MAX_BYTES ((size_t)8192)
#define DEPTH_MAX 32

void ebb__reads_init(struct ebb__reads *reads)
{
    reads->nodes = reads->own_nodes;
    reads->pool = reads->own_pool;
    reads->count = 0;
    reads->pool_used = 0;
    reads->dropped = 0;
}

struct ebb__reads *ebb__reads_keep(const struct ebb__reads *reads)
{
    size_t head = offsetof(struct ebb__reads, own_nodes), nodes = (size_t)reads->count * sizeof *reads->nodes;
    struct ebb__reads *kept = malloc(head + nodes + reads->pool_used);

    if (!kept)
        return NULL;
    kept->nodes = (struct ebb__read *)(void *)((char *)kept + head);
    kept->pool = (char *)kept + head + nodes;
    kept->count = reads->count;
    kept->pool_used = reads->pool_used;
    kept->dropped = reads->dropped;
    if (nodes)
        memcpy(kept->nodes, reads->nodes, nodes);
    if (reads->pool_used)
        memcpy(kept->pool, reads->pool, reads->pool_used);
    return kept;
}

static struct ebb_str key_of(const struct ebb__reads *reads, int node)
{
    return (struct ebb_str){reads->pool + reads->nodes[node].key, reads->nodes[node].key_bytes};
}

int ebb__reads_find(const struct ebb__reads *reads, int parent, struct ebb_str key)
{
    int at = parent >= 0 ? reads->nodes[parent].child : parent == EBB__READS_ROOT && reads->count ? 0 : -1;

    while (at >= 0) {
        if (ebb_str_is_equal(key_of(reads, at), key))
            return at;
        at = reads->nodes[at].sibling;
    }
    return EBB__READS_NONE;
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
    int at;

    if (!reads || parent == EBB__READS_NONE)
        return EBB__READS_NONE;
    at = ebb__reads_find(reads, parent, key);
    if (at >= 0)
        return at;
    at = reads->count;
    if (at >= EBB__READS_MAX || key.n > EBB__READS_POOL - reads->pool_used || (key.n && memchr(key.p, '\0', key.n))) {
        reads->dropped++;
        return EBB__READS_NONE;
    }
    reads->nodes[at] = (struct ebb__read){parent, -1, -1, (unsigned)reads->pool_used, (unsigned)key.n, false, false};
    if (key.n)
        memcpy(reads->pool + reads->pool_used, key.p, key.n);
    reads->pool_used += key.n;
    link_node(reads, parent, at);
    reads->count++;
    return at;
}

void ebb__reads_mark(struct ebb__reads *reads, int node)
{
    if (reads && node >= 0)
        reads->nodes[node].is_whole = true;
}

void ebb__reads_touch(struct ebb__reads *reads, int node)
{
    if (reads && node >= 0)
        reads->nodes[node].is_touched = true;
}

bool ebb__reads_is_whole(const struct ebb__reads *reads, int node)
{
    const struct ebb__read *n = &reads->nodes[node];

    return n->is_whole || n->child < 0 || ebb__reads_find(reads, node, EBB_STR("[]")) >= 0;
}

static bool is_plain(struct ebb_str key, bool is_call)
{
    for (size_t i = 0; i < key.n; i++) {
        char c = key.p[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';

        if (is_call && c == '(' && i)
            return key.p[key.n - 1] == ')';
        if (!is_letter && !(i && c >= '0' && c <= '9'))
            return false;
    }
    return key.n > 0;
}

static void add_quoted(struct ebb_buf *out, struct ebb_str key)
{
    ebb_buf_puts(out, "[\"");
    for (size_t i = 0; i < key.n; i++) {
        if (key.p[i] == '"' || key.p[i] == '\\')
            ebb_buf_putc(out, '\\');
        ebb_buf_putc(out, key.p[i]);
    }
    ebb_buf_puts(out, "\"]");
}

/* Calls ("events(commit.failed)") are members of ctx only: no fact can have such a key there. */
static void add_path(const struct ebb__reads *reads, int at, struct ebb_buf *out)
{
    int chain[DEPTH_MAX];
    int depth = 0;

    for (; at >= 0 && depth < DEPTH_MAX; at = reads->nodes[at].parent)
        chain[depth++] = at;
    for (int i = depth; i-- > 0;) {
        struct ebb_str key = key_of(reads, chain[i]);
        bool is_call = i == depth - 2 && ebb_str_is_equal(key_of(reads, chain[depth - 1]), EBB_STR("ctx"));

        if (!is_plain(key, is_call))
            add_quoted(out, key);
        else {
            if (out->len)
                ebb_buf_putc(out, '.');
            ebb_buf_add_str(out, key);
        }
    }
}

bool ebb_reads_next_name(const char **at, struct ebb_buf *out)
{
    const char *p = *at;

    ebb_buf_reset(out);
    if (p[0] == '[' && p[1] == '"') {
        for (p += 2; *p && *p != '"'; p++) {
            if (*p == '\\' && p[1])
                p++;
            ebb_buf_putc(out, *p);
        }
        p += *p == '"';
        *at = p + (*p == ']');
        return true;
    }
    p += *p == '.';
    while (*p && *p != '.' && *p != '[' && *p != '(')
        ebb_buf_putc(out, *p++);
    *at = p;
    return out->len > 0;
}

/* A path that is part of the read set: whole or touched, and nothing above it is whole. */
static bool is_shown(const struct ebb__reads *reads, int at)
{
    const struct ebb__read *node = &reads->nodes[at];

    if (!ebb__reads_is_whole(reads, at) || (!node->is_whole && !node->is_touched && node->child < 0))
        return false;
    for (int up = node->parent; up >= 0; up = reads->nodes[up].parent)
        if (ebb__reads_is_whole(reads, up))
            return false;
    return true;
}

int ebb__reads_list(const struct ebb__reads *reads, struct ebb_strs *out, struct ebb_err *err)
{
    struct ebb_buf path;
    int rc = reads->dropped ? ebb_strs_add(out, "*", err) : 0;

    ebb_buf_init(&path, EBB__READS_POOL * 2 + PATH_MAX_BYTES);
    for (int i = 0; i < reads->count && !rc; i++) {
        if (!is_shown(reads, i))
            continue;
        ebb_buf_reset(&path);
        add_path(reads, i, &path);
        rc = ebb_buf_check(&path, "path", err);
        if (!rc)
            rc = ebb_strs_addn(out, ebb_buf_cstr(&path), path.len, err);
    }
    if (out->count)
        ebb_strs_sort(out);
    ebb_buf_fini(&path);
    return rc;
}

void ebb__reads_write(const struct ebb__reads *reads, struct ebb_jsonw *w)
{
    struct ebb_strs paths;

    ebb_strs_init(&paths);
    if (ebb__reads_list(reads, &paths, NULL))
        w->out->bad = true;
    ebb_jsonw_begin(w, '[');
    for (size_t i = 0; i < paths.count; i++)
        ebb_jsonw_str(w, paths.items[i]);
    ebb_jsonw_end(w, ']');
    ebb_strs_fini(&paths);
}
