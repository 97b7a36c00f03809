/* SPDX-License-Identifier: Apache-2.0
 *
 * A log that grows, where nothing can be appended to: its first piece under its own name, each further one as an object
 * beside it, "<name>.0000000001" and so on, none missing.
 */
#include <stdio.h>
#include <stdlib.h>

#include "io/s3_place_priv.h"

#define DIGITS 10

struct count {
    size_t base;      /* bytes of the key before the number, with its dot */
    unsigned pieces;  /* objects that are pieces */
    unsigned highest; /* number */
};

static int on_piece(void *data, const struct ebb_s3_listed *object, struct ebb_err *err)
{
    struct count *c = data;
    unsigned number = 0;

    (void)err;
    if (object->key.n != c->base + DIGITS)
        return 0;
    for (size_t i = c->base; i < object->key.n; i++) {
        if (object->key.p[i] < '0' || object->key.p[i] > '9' || number > 99999999)
            return 0;
        number = 10 * number + (unsigned)(object->key.p[i] - '0');
    }
    c->pieces++;
    c->highest = number > c->highest ? number : c->highest;
    return 0;
}

static int count_pieces(struct ebb_s3_place *p, const char *name, unsigned *out, struct ebb_err *err)
{
    struct count c = {0};
    struct ebb_buf key;
    int rc = ebb__s3_place_key(p, name, &key, err);

    ebb_buf_putc(&key, '.');
    c.base = key.len;
    if (!rc)
        rc = ebb_s3_list(p->s3, p->bucket, ebb_buf_str(&key), 1, NULL, on_piece, &c, err);
    if (!rc && c.pieces != c.highest)
        rc = ebb_err_set(err, EBB_ECORRUPT, "%s/%s: %u of its %u pieces are missing", p->base.uri, name,
                         c.highest > c.pieces ? c.highest - c.pieces : c.pieces - c.highest, c.highest);
    *out = c.highest;
    ebb_buf_fini(&key);
    return rc;
}

static int piece_key(const struct ebb_s3_place *p, const char *name, unsigned number, struct ebb_buf *out,
                     struct ebb_err *err)
{
    int rc = ebb__s3_place_key(p, name, out, err);

    if (number)
        ebb_buf_printf(out, ".%010u", number);
    return rc ? rc : ebb_buf_check(out, "object name", err);
}

/* How many pieces the log at hand has, remembered while it is the same. */
static int know_log(struct ebb_s3_place *p, const char *name, struct ebb_err *err)
{
    int rc;

    if (p->log && !strcmp(p->log, name))
        return 0;
    free(p->log);
    p->log = NULL;
    rc = count_pieces(p, name, &p->log_pieces, err);
    if (rc)
        return rc;
    p->log = strdup(name);
    return p->log ? 0 : ebb_err_nomem(err);
}

int ebb__s3_place_append(struct ebb_place *place, const char *name, const void *bytes, size_t n, bool sync,
                         struct ebb_err *err)
{
    struct ebb_s3_place *p = ebb__s3_place_of(place);
    struct ebb_s3_object object;
    struct ebb_buf key;
    unsigned number = 0;
    int rc;

    (void)sync; /* always */
    rc = piece_key(p, name, 0, &key, err);
    if (!rc)
        rc = ebb_s3_head(p->s3, p->bucket, ebb_buf_str(&key), &object, err);
    ebb_buf_fini(&key);
    if (!rc) {
        rc = know_log(p, name, err);
        number = p->log_pieces + 1;
    } else if (rc == -EBB_ENOENT) {
        rc = 0;
    }
    if (rc)
        return rc;
    rc = piece_key(p, name, number, &key, err);
    if (!rc)
        rc = ebb_s3_put(p->s3, p->bucket, ebb_buf_str(&key), bytes, n, true, err);
    if (!rc && number)
        p->log_pieces = number;
    ebb_buf_fini(&key);
    return rc;
}

int ebb__s3_place_read_log(struct ebb_place *place, const char *name, size_t max, struct ebb_buf *out, bool *is_cut,
                           struct ebb_err *err)
{
    struct ebb_s3_place *p = ebb__s3_place_of(place);
    struct ebb_buf piece, key;
    unsigned pieces = 0;
    int rc = count_pieces(p, name, &pieces, err);

    *is_cut = false;
    ebb_buf_init(&piece, max);
    for (unsigned i = 0; !rc && !*is_cut && i <= pieces; i++) {
        rc = piece_key(p, name, i, &key, err);
        if (!rc)
            rc = ebb_s3_get(p->s3, p->bucket, ebb_buf_str(&key), max - out->len, &piece, is_cut, NULL, err);
        ebb_buf_add_str(out, ebb_buf_str(&piece));
        ebb_buf_fini(&key);
        if (out->len >= max && i < pieces)
            *is_cut = true;
    }
    ebb_buf_fini(&piece);
    return rc ? rc : ebb_buf_check(out, name, err);
}

/* The first piece goes last: as long as it is there, the log is. */
int ebb__s3_place_unlink_log(struct ebb_place *place, const char *name, struct ebb_err *err)
{
    struct ebb_s3_place *p = ebb__s3_place_of(place);
    struct ebb_buf key;
    unsigned pieces = 0;
    int rc = count_pieces(p, name, &pieces, err);

    if (rc == -EBB_ECORRUPT)
        rc = 0; /* some went already */
    for (unsigned i = pieces; !rc && i > 0; i--) {
        rc = piece_key(p, name, i, &key, err);
        if (!rc)
            rc = ebb_s3_delete(p->s3, p->bucket, ebb_buf_str(&key), NULL, err);
        ebb_buf_fini(&key);
    }
    free(p->log);
    p->log = NULL;
    return rc ? rc : ebb_place_unlink(place, name, err);
}
