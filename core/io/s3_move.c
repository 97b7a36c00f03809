/* SPDX-License-Identifier: Apache-2.0
 *
 * Moving objects, each by itself and all at once: look at the source, look at the target, copy on condition, look at
 * the copy, delete the source on condition. Whatever is not known is looked at; the source goes only when the whole
 * copy was seen under its new name, as ours.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "io/s3_move_priv.h"

static int next(struct ebb__s3_move *m, const struct ebb__s3_call *call, ebb__s3_cb *cb)
{
    return ebb__s3_start(m->s3, call, cb, m, &m->item->err);
}

static void name_source(const struct ebb__s3_move *m, struct ebb_buf *out)
{
    ebb_buf_init(out, 1024);
    ebb__s3_name(out, m->from_bucket, m->item->from);
}

static void set_err(struct ebb__s3_move *m, enum ebb_error error, const char *why)
{
    struct ebb_buf what;

    name_source(m, &what);
    ebb_err_set(&m->item->err, error, "%s: %s", ebb_buf_cstr(&what), why);
    ebb_buf_fini(&what);
}

static bool is_source(const struct ebb__s3_move *m, const struct ebb_s3_object *o)
{
    return o->size_bytes == m->item->size_bytes && !strcmp(o->etag, m->item->etag);
}

bool ebb__s3_move_is_ours(const struct ebb__s3_move *m, const struct ebb_s3_object *o)
{
    return o->size_bytes == m->item->size_bytes && !strcmp(o->ebb_id, m->item->ebb_id);
}

/* ---- a copy that is of no use goes again ---- */

static void on_copy_removed(void *data, const struct ebb__s3_answer *answer)
{
    (void)data, (void)answer; /* it stays when it can't go: under a name of ours, and nothing is lost */
}

static void remove_on_condition(struct ebb__s3_move *m)
{
    char match[EBB_S3_ETAG_MAX + 16];
    char *items[] = {match};
    const struct ebb_strs headers = {items, 1, 1};
    const struct ebb__s3_call call = {
        .method = "DELETE", .bucket = m->to_bucket, .key = m->item->to, .headers = &headers};

    snprintf(match, sizeof match, "If-Match: %s", m->item->after.etag);
    ebb__s3_start(m->s3, &call, on_copy_removed, m, NULL);
}

static void on_copy_again(void *data, const struct ebb__s3_answer *a)
{
    struct ebb__s3_move *m = data;
    const struct ebb__s3_call call = {.method = "DELETE", .bucket = m->to_bucket, .key = m->item->to, .is_once = true};
    struct ebb_s3_object o;

    if (!a->err->error && !ebb__s3_object_of(a, "copy", &o, NULL) && ebb__s3_move_is_ours(m, &o) &&
        !strcmp(o.etag, m->item->after.etag))
        ebb__s3_start(m->s3, &call, on_copy_removed, m, NULL);
}

/* What a writer has put there since (where a restore goes to, say) stays. */
static void remove_copy(struct ebb__s3_move *m)
{
    const struct ebb__s3_call look = {.method = "HEAD", .bucket = m->to_bucket, .key = m->item->to};

    if (m->deletes_if_match)
        remove_on_condition(m);
    else
        ebb__s3_start(m->s3, &look, on_copy_again, m, NULL);
}

/* ---- the source goes ---- */

static void end(struct ebb__s3_move *m)
{
    memset(&m->item->err, 0, sizeof m->item->err);
    m->is_ended = true;
}

static void look_at_source(struct ebb__s3_move *m, ebb__s3_cb *cb)
{
    const struct ebb__s3_call look = {.method = "HEAD", .bucket = m->from_bucket, .key = m->item->from};

    next(m, &look, cb);
}

/* It may have gone in a try whose answer was lost: then the copy is all that is left. It may even go later on, by a try
 * that is still under way: then the copy stays beside it. */
static void on_refused_look(void *data, const struct ebb__s3_answer *a)
{
    struct ebb__s3_move *m = data;
    struct ebb_s3_object o;

    if (a->err->error == EBB_ENOENT)
        end(m);
    else if (!m->is_unsure && !a->err->error && !ebb__s3_object_of(a, "source", &o, NULL) && is_source(m, &o))
        remove_copy(m);
}

static void on_last_look(void *data, const struct ebb__s3_answer *a);

static void on_deleted(void *data, const struct ebb__s3_answer *a)
{
    struct ebb__s3_move *m = data;

    m->is_unsure = m->is_unsure || a->is_unsure;
    if (!a->err->error || a->err->error == EBB_ENOENT) {
        end(m);
        return;
    }
    if (!m->deletes_if_match && a->err->retryable && m->deletions < EBB__S3_TRIES) {
        look_at_source(m, on_last_look); /* never again what may be another object by now */
        return;
    }
    m->item->err = *a->err;
    if (a->err->error == EBB_ECHANGED) {
        set_err(m, EBB_ECHANGED, "was replaced while it was moved");
        if (!m->is_unsure)
            remove_copy(m);
    } else if (a->err->error == EBB_EPERMISSION || m->is_unsure) {
        look_at_source(m, on_refused_look);
    }
}

static void delete_source(struct ebb__s3_move *m)
{
    char match[EBB_S3_ETAG_MAX + 16];
    char *items[] = {match};
    const struct ebb_strs headers = {items, 1, 1};
    struct ebb__s3_call call = {.method = "DELETE", .bucket = m->from_bucket, .key = m->item->from};

    snprintf(match, sizeof match, "If-Match: %s", m->item->etag);
    m->deletions++;
    call.is_once = !m->deletes_if_match;
    if (m->deletes_if_match)
        call.headers = &headers;
    next(m, &call, on_deleted);
}

static void on_last_look(void *data, const struct ebb__s3_answer *a)
{
    struct ebb__s3_move *m = data;
    struct ebb_s3_object o;

    if (a->err->error == EBB_ENOENT) {
        end(m); /* somebody else removed it: the copy is what is left */
        return;
    }
    if (a->err->error) {
        m->item->err = *a->err;
        return;
    }
    if (ebb__s3_object_of(a, "source", &o, &m->item->err))
        return;
    if (is_source(m, &o)) {
        delete_source(m);
        return;
    }
    set_err(m, EBB_ECHANGED, "was replaced while it was moved");
    if (!m->is_unsure) /* else the copy may be all that is left of it */
        remove_copy(m);
}

static void on_copy_seen(void *data, const struct ebb__s3_answer *a)
{
    struct ebb__s3_move *m = data;

    if (a->err->error) {
        if (!m->copy_error.error) {
            m->item->err = *a->err;
            return;
        }
        m->item->err = m->copy_error; /* there is no copy: what the copying said counts */
        return;
    }
    if (ebb__s3_object_of(a, "copy", &m->item->after, &m->item->err))
        return;
    if (!ebb__s3_move_is_ours(m, &m->item->after)) {
        if (m->copy_error.error == EBB_ECHANGED)
            set_err(m, EBB_EEXIST, "its new name is taken");
        else if (m->copy_error.error)
            m->item->err = m->copy_error;
        else
            set_err(m, EBB_EIO, "the copy is not what was copied");
        return;
    }
    if (m->deletes_if_match)
        delete_source(m);
    else
        look_at_source(m, on_last_look);
}

void ebb__s3_move_check_copy(struct ebb__s3_move *m)
{
    const struct ebb__s3_call call = {.method = "HEAD", .bucket = m->to_bucket, .key = m->item->to};

    next(m, &call, on_copy_seen);
}

/* ---- the copy ---- */

static void on_copied(void *data, const struct ebb__s3_answer *a)
{
    struct ebb__s3_move *m = data;

    if (a->err->error == EBB_ENOENT) {
        m->item->err = *a->err;
        return;
    }
    m->copy_error =
        *a->err; /* of what was lost, and of conditions that an earlier try of ours broke, the look decides */
    ebb__s3_move_check_copy(m);
}

static int add_header(struct ebb_strs *out, const char *name, const char *value, struct ebb_err *err)
{
    struct ebb_buf line;
    int rc;

    ebb_buf_init(&line, 65536);
    ebb_buf_printf(&line, "%s: %s", name, value);
    rc = ebb_buf_check(&line, name, err);
    if (!rc)
        rc = ebb_strs_add(out, ebb_buf_cstr(&line), err);
    ebb_buf_fini(&line);
    return rc;
}

/* What the copy is to have of the source, besides its bytes. */
static int keep_header(struct ebb__s3_move *m, const char *line)
{
    static const char *const KEPT[] = {"content-type",  "content-encoding", "content-language",   "content-disposition",
                                       "cache-control", "expires",          "x-amz-storage-class"};
    size_t n = strcspn(line, ":");
    bool kept = n > 11 && !strncasecmp(line, "x-amz-meta-", 11) && strncasecmp(line, "x-amz-meta-ebb-", 15) != 0;

    for (size_t i = 0; !kept && i < sizeof KEPT / sizeof KEPT[0]; i++)
        kept = strlen(KEPT[i]) == n && !strncasecmp(line, KEPT[i], n);
    return kept && line[n] ? ebb_strs_add(&m->kept, line, &m->item->err) : 0;
}

int ebb__s3_move_metadata(const struct ebb__s3_move *m, struct ebb_strs *out, struct ebb_err *err)
{
    struct ebb_buf id;
    char mtime[32];
    int rc = 0;

    ebb_buf_init(&id, 4096);
    ebb_http_encode(&id, ebb_str_of(m->item->ebb_id), false);
    snprintf(mtime, sizeof mtime, "%" PRId64, m->item->ebb_mtime_ms);
    for (size_t i = 0; !rc && i < m->kept.count; i++)
        rc = ebb_strs_add(out, m->kept.items[i], err);
    if (!rc)
        rc = add_header(out, "x-amz-meta-ebb-id", ebb_buf_cstr(&id), err);
    if (!rc)
        rc = add_header(out, "x-amz-meta-ebb-mtime", mtime, err);
    ebb_buf_fini(&id);
    return rc;
}

int ebb__s3_move_source(const struct ebb__s3_move *m, struct ebb_strs *out, struct ebb_err *err)
{
    struct ebb_buf source;
    int rc;

    ebb_buf_init(&source, 16384);
    ebb_buf_printf(&source, "/%s/", m->from_bucket);
    ebb_http_encode(&source, m->item->from, true);
    rc = ebb_buf_check(&source, "object name", err);
    if (!rc)
        rc = add_header(out, "x-amz-copy-source", ebb_buf_cstr(&source), err);
    if (!rc)
        rc = add_header(out, "x-amz-copy-source-if-match", m->item->etag, err);
    ebb_buf_fini(&source);
    return rc;
}

static void copy_whole(struct ebb__s3_move *m)
{
    struct ebb__s3_call call = {
        .method = "PUT", .bucket = m->to_bucket, .key = m->item->to, .may_fail_in_success = true};
    struct ebb_strs headers;
    int rc;

    ebb_strs_init(&headers);
    rc = ebb__s3_move_source(m, &headers, &m->item->err);
    if (!rc)
        rc = ebb__s3_move_metadata(m, &headers, &m->item->err);
    if (!rc)
        rc = ebb_strs_add(&headers, "x-amz-metadata-directive: REPLACE", &m->item->err);
    if (!rc)
        rc = ebb_strs_add(&headers, "If-None-Match: *", &m->item->err);
    call.headers = &headers;
    if (!rc)
        next(m, &call, on_copied);
    ebb_strs_fini(&headers);
}

/* ---- before ---- */

static void on_target(void *data, const struct ebb__s3_answer *a)
{
    struct ebb__s3_move *m = data;

    if (!a->err->error) {
        set_err(m, EBB_EEXIST, "its new name is taken");
        return;
    }
    if (a->err->error != EBB_ENOENT) {
        m->item->err = *a->err;
        return;
    }
    if (m->item->size_bytes > m->s3->copy_part_bytes)
        m->is_large = true; /* goes in parts, when the others are done */
    else
        copy_whole(m);
}

static void on_source(void *data, const struct ebb__s3_answer *a)
{
    struct ebb__s3_move *m = data;
    const struct ebb__s3_call call = {.method = "HEAD", .bucket = m->to_bucket, .key = m->item->to};
    struct ebb_s3_object o;
    int rc = 0;

    if (a->err->error) {
        m->item->err = *a->err;
        return;
    }
    if (ebb__s3_object_of(a, "source", &o, &m->item->err))
        return;
    if (!is_source(m, &o)) {
        set_err(m, EBB_ECHANGED, "is another object than before");
        return;
    }
    if (o.is_archived) {
        set_err(m, EBB_EUNSUPPORTED, "is archived, and can't be copied");
        return;
    }
    for (size_t i = 0; !rc && i < a->headers->count; i++)
        rc = keep_header(m, a->headers->items[i]);
    if (!rc)
        next(m, &call, on_target);
}

static void begin(struct ebb__s3_move *m)
{
    const struct ebb__s3_call call = {.method = "HEAD", .bucket = m->from_bucket, .key = m->item->from};

    memset(&m->item->err, 0, sizeof m->item->err);
    memset(&m->item->after, 0, sizeof m->item->after);
    ebb_strs_init(&m->kept);
    if (m->item->etag[0])
        next(m, &call, on_source);
    else
        set_err(m, EBB_EUNSUPPORTED, "the server gives no ETag, so it can't be told from another object");
}

static int run(struct ebb_s3 *s3, struct ebb_err *err)
{
    int rc = 0;

    while (!rc && ebb__s3_pending(s3))
        rc = ebb__s3_turn(s3, err);
    if (rc)
        ebb__s3_drop(s3);
    return rc;
}

/* One that did not come to its end is not known to be moved. */
static void mark_unfinished(struct ebb__s3_move *moves, size_t n, const struct ebb_err *why)
{
    for (size_t i = 0; i < n; i++)
        if (!moves[i].is_ended && !moves[i].item->err.error)
            moves[i].item->err = *why;
}

int ebb_s3_move_many(struct ebb_s3 *s3, const char *from_bucket, const char *to_bucket, bool deletes_if_match,
                     struct ebb_s3_move_item *items, size_t n, struct ebb_err *err)
{
    struct ebb__s3_move *moves = calloc(n + 1, sizeof *moves);
    struct ebb_err why = {0};
    int rc;

    for (size_t i = 0; !moves && i < n; i++)
        ebb_err_nomem(&items[i].err);
    if (!moves)
        return ebb_err_nomem(err);
    for (size_t i = 0; i < n; i++) {
        moves[i] = (struct ebb__s3_move){.s3 = s3,
                                         .item = &items[i],
                                         .from_bucket = from_bucket,
                                         .to_bucket = to_bucket,
                                         .deletes_if_match = deletes_if_match};
        begin(&moves[i]);
    }
    rc = run(s3, &why);
    for (size_t i = 0; !rc && i < n; i++)
        if (moves[i].is_large && !items[i].err.error) {
            rc = ebb__s3_move_large(&moves[i], &why);
            if (!rc && !items[i].err.error)
                ebb__s3_move_check_copy(&moves[i]);
            rc = rc ? rc : run(s3, &why);
        }
    if (rc)
        mark_unfinished(moves, n, &why);
    for (size_t i = 0; i < n; i++)
        ebb_strs_fini(&moves[i].kept);
    free(moves);
    if (rc && err)
        *err = why;
    return rc;
}
