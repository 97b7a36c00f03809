/* SPDX-License-Identifier: Apache-2.0 */
#include "io/s3_place_priv.h"

#include <stdlib.h>

#define KEY_MAX 1024 /* bytes of a key: the interface's limit */

static void place_close(struct ebb_place *place)
{
    struct ebb_s3_place *p = ebb__s3_place_of(place);

    free(p->bucket);
    free(p->prefix);
    free(p->log);
    free(place->uri);
    free(place->address);
    free(p);
}

int ebb__s3_place_key(const struct ebb_s3_place *p, const char *name, struct ebb_buf *out, struct ebb_err *err)
{
    ebb_buf_init(out, KEY_MAX + 2);
    ebb_buf_printf(out, "%s%s", p->prefix, name);
    if (out->full || out->len > KEY_MAX)
        return ebb_err_set(err, EBB_EUNSUPPORTED, "%s/%.200s…: a name longer than %d bytes can't be kept there",
                           p->base.uri, name, KEY_MAX);
    return ebb_buf_check(out, "object name", err);
}

void ebb__s3_place_stat(const struct ebb_s3_object *o, struct ebb_stat *st)
{
    memset(st, 0, sizeof *st);
    st->size_bytes = o->size_bytes;
    st->mtime_ns = o->mtime_ms > 0 && o->mtime_ms < INT64_MAX / 1000000 ? o->mtime_ms * 1000000 : 0;
    st->is_file = true;
    st->link_count = 1;
    memcpy(st->etag, o->etag, sizeof st->etag);
    if (o->ebb_id[0] && strlen(o->ebb_id) < sizeof st->moved_id) {
        memcpy(st->moved_id, o->ebb_id, strlen(o->ebb_id) + 1);
        st->moved_mtime_ns = o->ebb_mtime_ms < INT64_MAX / 1000000 ? o->ebb_mtime_ms * 1000000 : 0;
    }
}

static int place_stat_root(struct ebb_place *place, struct ebb_stat *st, struct ebb_err *err)
{
    (void)place, (void)err;
    memset(st, 0, sizeof *st);
    return 0;
}

static int place_is_case_insensitive(struct ebb_place *place, bool *out, struct ebb_err *err)
{
    (void)place, (void)err;
    *out = false;
    return 0;
}

static int place_is_versioned(struct ebb_place *place, int *out, struct ebb_err *err)
{
    struct ebb_s3_place *p = ebb__s3_place_of(place);

    return ebb_s3_is_versioned(p->s3, p->bucket, out, err);
}

static int place_stat(struct ebb_place *place, const char *name, struct ebb_stat *st, struct ebb_err *err)
{
    struct ebb_s3_place *p = ebb__s3_place_of(place);
    struct ebb_s3_object object;
    struct ebb_buf key;
    int rc = ebb__s3_place_key(p, name, &key, err);

    if (!rc)
        rc = ebb_s3_head(p->s3, p->bucket, ebb_buf_str(&key), &object, err);
    if (!rc)
        ebb__s3_place_stat(&object, st);
    ebb_buf_fini(&key);
    return rc;
}

static int place_read(struct ebb_place *place, const char *name, size_t max, struct ebb_buf *out, bool *is_cut,
                      struct ebb_err *err)
{
    struct ebb_s3_place *p = ebb__s3_place_of(place);
    struct ebb_buf key;
    int rc = ebb__s3_place_key(p, name, &key, err);

    *is_cut = false;
    if (!rc)
        rc = ebb_s3_get(p->s3, p->bucket, ebb_buf_str(&key), max, out, is_cut, NULL, err);
    ebb_buf_fini(&key);
    return rc;
}

static int no_links(struct ebb_place *place, const char *name, struct ebb_buf *out, struct ebb_err *err)
{
    (void)out;
    return ebb_err_set(err, EBB_ENOENT, "%s/%s: an object store has no links", place->uri, name);
}

static int place_make_dirs(struct ebb_place *place, const char *name, bool is_private, struct ebb_err *err)
{
    (void)place, (void)name, (void)is_private, (void)err;
    return 0; /* there are none */
}

static int put(struct ebb_place *place, const char *name, const void *bytes, size_t n, bool is_new, struct ebb_err *err)
{
    struct ebb_s3_place *p = ebb__s3_place_of(place);
    struct ebb_buf key;
    int rc = ebb__s3_place_key(p, name, &key, err);

    if (!rc)
        rc = ebb_s3_put(p->s3, p->bucket, ebb_buf_str(&key), bytes, n, is_new, err);
    ebb_buf_fini(&key);
    return rc;
}

static int place_create(struct ebb_place *place, const char *name, const void *bytes, size_t n, struct ebb_err *err)
{
    return put(place, name, bytes, n, true, err);
}

static int place_replace(struct ebb_place *place, const char *name, const void *bytes, size_t n, struct ebb_err *err)
{
    return put(place, name, bytes, n, false, err);
}

static int place_move(struct ebb_place *from, const char *from_name, struct ebb_place *to, const char *to_name,
                      struct ebb_err *err)
{
    char id[EBB_STAT_ID_MAX];
    struct ebb_stat st;
    struct ebb_place_move_item item = {.from_name = from_name, .to_name = to_name, .planned = &st, .id = id};
    int rc = place_stat(from, from_name, &st, err);

    if (rc)
        return rc;
    if (st.moved_id[0])
        memcpy(id, st.moved_id, sizeof id);
    else
        ebb_stat_id(&st, id);
    rc = ebb__s3_place_move_many(from, to, &item, 1, err);
    if (rc || !item.err.error)
        return rc;
    if (err)
        *err = item.err;
    return -(int)item.err.error;
}

static int place_sync_dir(struct ebb_place *place, const char *dir, struct ebb_err *err)
{
    (void)place, (void)dir, (void)err;
    return 0; /* what was answered is kept */
}

static int place_unlink(struct ebb_place *place, const char *name, struct ebb_err *err)
{
    struct ebb_s3_place *p = ebb__s3_place_of(place);
    struct ebb_buf key;
    int rc = ebb__s3_place_key(p, name, &key, err);

    if (!rc)
        rc = ebb_s3_delete_seen(p->s3, p->bucket, ebb_buf_str(&key), err);
    ebb_buf_fini(&key);
    return rc;
}

/* ---- whether anything lies below ---- */

static int stop_at_first(void *data, const struct ebb_s3_listed *object, struct ebb_err *err)
{
    (void)data, (void)object, (void)err;
    return -EBB_EEXIST;
}

static int has_any(struct ebb_s3_place *p, const char *name, bool *out, struct ebb_err *err)
{
    struct ebb_err local = {0};
    struct ebb_buf key;
    int rc = ebb__s3_place_key(p, name, &key, err);

    if (!rc && name[0])
        ebb_buf_putc(&key, '/');
    if (!rc)
        rc = ebb_s3_list(p->s3, p->bucket, ebb_buf_str(&key), 1, NULL, stop_at_first, NULL, &local);
    ebb_buf_fini(&key);
    *out = rc == -EBB_EEXIST && !local.error;
    if (*out || !rc)
        return 0;
    if (err && local.error)
        *err = local;
    return rc;
}

static int place_remove_dir(struct ebb_place *place, const char *name, struct ebb_err *err)
{
    bool any = false;
    int rc = has_any(ebb__s3_place_of(place), name, &any, err);

    if (!rc && any)
        rc = ebb_err_set(err, EBB_EEXIST, "%s/%s: is not empty", place->uri, name);
    return rc;
}

/* The server's time of an answer: the Date of what wrote the probe. */
static int place_clock_ms(struct ebb_place *place, const char *probe_name, int64_t *out_ms, struct ebb_err *err)
{
    struct ebb_s3_place *p = ebb__s3_place_of(place);
    int64_t ahead, now;
    struct ebb_buf key;
    int rc = ebb__s3_place_key(p, probe_name, &key, err);

    if (!rc)
        rc = ebb_s3_put(p->s3, p->bucket, ebb_buf_str(&key), "", 0, true, err);
    if (!rc) {
        ahead = ebb_s3_ahead_ms(p->s3);
        now = ebb_s3_now_ms(p->s3);
        rc = ebb_s3_delete(p->s3, p->bucket, ebb_buf_str(&key), NULL, err);
        *out_ms = now + (ahead == INT64_MIN ? 0 : ahead);
    }
    ebb_buf_fini(&key);
    return rc;
}

static const struct ebb_place_ops S3_OPS = {
    .close = place_close,
    .stat_root = place_stat_root,
    .is_case_insensitive = place_is_case_insensitive,
    .walk = ebb__s3_place_walk,
    .walk_stat = ebb__s3_place_walk_stat,
    .stat = place_stat,
    .read = place_read,
    .stat_many = ebb__s3_place_stat_many,
    .read_log = ebb__s3_place_read_log,
    .is_versioned = place_is_versioned,
    .resolve_link = no_links,
    .read_link = no_links,
    .make_dirs = place_make_dirs,
    .create = place_create,
    .append = ebb__s3_place_append,
    .replace = place_replace,
    .move = place_move,
    .move_many = ebb__s3_place_move_many,
    .unlink_many = ebb__s3_place_unlink_many,
    .unlink_log = ebb__s3_place_unlink_log,
    .sync_dir = place_sync_dir,
    .unlink = place_unlink,
    .remove_dir = place_remove_dir,
    .clock_ms = place_clock_ms,
};

static int fill(struct ebb_s3_place *p, const char *bucket, const char *key, const char *uri, struct ebb_err *err)
{
    size_t n = strlen(key);
    struct ebb_buf prefix, address;

    while (n > 0 && key[n - 1] == '/')
        n--;
    ebb_buf_init(&prefix, KEY_MAX + 2);
    ebb_buf_init(&address, 65536);
    ebb_buf_append(&prefix, key, n);
    if (n > 0)
        ebb_buf_putc(&prefix, '/');
    p->prefix = prefix.full ? NULL : ebb_buf_take(&prefix);
    p->bucket = strdup(bucket);
    p->base.uri = strdup(uri);
    ebb_buf_printf(&address, "s3://%s%s%.*s", bucket, n ? "/" : "", (int)n, key);
    p->base.address = ebb_buf_take(&address);
    ebb_buf_fini(&address);
    ebb_buf_fini(&prefix);
    if (n > KEY_MAX)
        return ebb_err_set(err, EBB_ELOCATION, "%.200s…: longer than %d bytes", uri, KEY_MAX);
    return p->prefix && p->bucket && p->base.uri && p->base.address ? 0 : ebb_err_nomem(err);
}

static int check(struct ebb_s3_place *p, struct ebb_err *err)
{
    bool any = false;
    int rc = ebb_s3_check_bucket(p->s3, p->bucket, err);

    if (rc == -EBB_EPERMISSION)
        rc = 0; /* whoever may list below a prefix only can't ask for the whole bucket */
    if (rc || p->base.mode == EBB_PLACE_WRITE)
        return rc;
    rc = has_any(p, "", &any, err);
    return !rc && !any ? ebb_err_set(err, EBB_ENOENT, "%s: nothing lies there", p->base.uri) : rc;
}

int ebb__s3_place_open(struct ebb_s3 *s3, const char *bucket, const char *key, const char *uri,
                       enum ebb_place_mode mode, struct ebb_place **out, struct ebb_err *err)
{
    struct ebb_s3_place *p = calloc(1, sizeof *p);
    int rc;

    *out = NULL;
    if (!p)
        return ebb_err_nomem(err);
    p->base.ops = &S3_OPS;
    p->base.mode = mode;
    p->s3 = s3;
    rc = fill(p, bucket, key, uri, err);
    if (!rc)
        rc = check(p, err);
    if (rc)
        place_close(&p->base);
    else
        *out = &p->base;
    return rc;
}
