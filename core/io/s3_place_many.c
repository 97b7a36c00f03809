/* SPDX-License-Identifier: Apache-2.0
 *
 * Many names of places in a bucket at once.
 */
#include <stdlib.h>

#include "io/s3_place_priv.h"

/* The keys of many names, one after another in one buffer. */
struct keys {
    struct ebb_buf *items;
    size_t count;
};

static int keys_init(struct keys *keys, size_t n, struct ebb_err *err)
{
    keys->count = n;
    keys->items = calloc(n + 1, sizeof *keys->items);
    return keys->items ? 0 : ebb_err_nomem(err);
}

static void keys_fini(struct keys *keys)
{
    for (size_t i = 0; keys->items && i < keys->count; i++)
        ebb_buf_fini(&keys->items[i]);
    free(keys->items);
}

int ebb__s3_place_stat_many(struct ebb_place *place, struct ebb_place_stat_item *items, size_t n, struct ebb_err *err)
{
    struct ebb_s3_place *p = ebb__s3_place_of(place);
    struct ebb_s3_head_item *heads = calloc(n + 1, sizeof *heads);
    struct keys keys;
    int rc = keys_init(&keys, n, err);

    if (!rc && !heads)
        rc = ebb_err_nomem(err);
    for (size_t i = 0; !rc && i < n; i++) {
        rc = ebb__s3_place_key(p, items[i].name, &keys.items[i], err);
        heads[i].key = ebb_buf_str(&keys.items[i]);
    }
    if (!rc)
        rc = ebb_s3_head_many(p->s3, p->bucket, heads, n, err);
    for (size_t i = 0; !rc && i < n; i++) {
        items[i].err = heads[i].err;
        ebb__s3_place_stat(&heads[i].object, &items[i].st);
    }
    keys_fini(&keys);
    free(heads);
    return rc;
}

/* Once a place: whether the server lets us delete on condition. */
static int probe(struct ebb_s3_place *p, struct ebb_err *err)
{
    struct ebb_buf prefix;
    int rc;

    if (p->is_probed)
        return 0;
    rc = ebb__s3_place_key(p, ".ebb-quarantine/clock-", &prefix, err);
    if (!rc)
        rc = ebb_s3_probe(p->s3, p->bucket, ebb_buf_str(&prefix), &p->abilities, err);
    if (!rc && !p->abilities.puts_if_none_match)
        rc = ebb_err_set(err, EBB_EUNSUPPORTED,
                         "%s: the server does not honour If-None-Match, so locks there hold nobody off and a move "
                         "could overwrite an object",
                         p->base.uri);
    p->is_probed = !rc;
    ebb_buf_fini(&prefix);
    return rc;
}

static int make_moves(struct ebb_s3_place *from, struct ebb_s3_place *to, const struct ebb_place_move_item *items,
                      size_t n, struct ebb_s3_move_item *moves, struct keys *keys, struct ebb_err *err)
{
    int rc = probe(from, err);

    for (size_t i = 0; !rc && i < n; i++) {
        const struct ebb_stat *st = items[i].planned;

        rc = ebb__s3_place_key(from, items[i].from_name, &keys->items[2 * i], err);
        if (!rc)
            rc = ebb__s3_place_key(to, items[i].to_name, &keys->items[2 * i + 1], err);
        moves[i] =
            (struct ebb_s3_move_item){.from = ebb_buf_str(&keys->items[2 * i]),
                                      .to = ebb_buf_str(&keys->items[2 * i + 1]),
                                      .etag = st->etag,
                                      .size_bytes = st->size_bytes,
                                      .ebb_id = items[i].id,
                                      .ebb_mtime_ms = (st->moved_id[0] ? st->moved_mtime_ns : st->mtime_ns) / 1000000};
    }
    return rc;
}

/* Each item tells, also after an error: what was not begun was not moved. */
int ebb__s3_place_move_many(struct ebb_place *from, struct ebb_place *to, struct ebb_place_move_item *items, size_t n,
                            struct ebb_err *err)
{
    struct ebb_s3_place *source = ebb__s3_place_of(from), *goal = ebb__s3_place_of(to);
    struct ebb_s3_move_item *moves = calloc(n + 1, sizeof *moves);
    struct ebb_err why = {0};
    struct keys keys;
    bool is_begun;
    int rc = keys_init(&keys, 2 * n, &why);

    if (!rc && !moves)
        rc = ebb_err_nomem(&why);
    if (!rc)
        rc = make_moves(source, goal, items, n, moves, &keys, &why);
    is_begun = !rc;
    if (!rc)
        rc = ebb_s3_move_many(source->s3, source->bucket, goal->bucket, source->abilities.deletes_if_match, moves, n,
                              &why);
    for (size_t i = 0; i < n; i++) {
        items[i].err = is_begun ? moves[i].err : why;
        if (is_begun)
            ebb__s3_place_stat(&moves[i].after, &items[i].after);
    }
    if (rc && err)
        *err = why;
    keys_fini(&keys);
    free(moves);
    return rc;
}

int ebb__s3_place_unlink_many(struct ebb_place *place, struct ebb_place_unlink_item *items, size_t n,
                              struct ebb_err *err)
{
    struct ebb_s3_place *p = ebb__s3_place_of(place);
    struct ebb_s3_delete_item *deletes = calloc(n + 1, sizeof *deletes);
    struct keys keys;
    int rc = keys_init(&keys, n, err);

    if (!rc && !deletes)
        rc = ebb_err_nomem(err);
    for (size_t i = 0; !rc && i < n; i++) {
        rc = ebb__s3_place_key(p, items[i].name, &keys.items[i], err);
        deletes[i].key = ebb_buf_str(&keys.items[i]);
    }
    if (!rc)
        rc = ebb_s3_delete_many(p->s3, p->bucket, deletes, n, err);
    for (size_t i = 0; !rc && i < n; i++)
        items[i].err = deletes[i].err;
    keys_fini(&keys);
    free(deletes);
    return rc;
}
