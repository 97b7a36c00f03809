/* SPDX-License-Identifier: Apache-2.0
 *
 * Single objects: what they are, their bytes, and whether a bucket can be used at all.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/time.h"
#include "io/s3_priv.h"

void ebb__s3_name(struct ebb_buf *out, const char *bucket, struct ebb_str key)
{
    ebb_buf_printf(out, "s3://%.80s%s%.*s%s", bucket, key.n ? "/" : "", (int)(key.n > 600 ? 600 : key.n), key.p,
                   key.n > 600 ? "…" : "");
}

/* ---- times ---- */

static int two_digits(const char *p)
{
    return p[0] >= '0' && p[0] <= '9' && p[1] >= '0' && p[1] <= '9' ? (p[0] - '0') * 10 + p[1] - '0' : -1;
}

static int month_of(const char *p)
{
    static const char NAMES[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

    for (int m = 0; m < 12; m++)
        if (!memcmp(p, NAMES + 3 * m, 3))
            return m + 1;
    return -1;
}

/* The one form that servers may send: "Fri, 24 May 2013 00:00:00 GMT". */
int ebb__s3_http_time(const char *text, int64_t *out_ms)
{
    char iso[64];
    int day, month, high, low;

    if (strlen(text) != 29 || strcmp(text + 25, " GMT") != 0 || text[3] != ',')
        return -EBB_ETIME;
    day = two_digits(text + 5);
    month = month_of(text + 8);
    high = two_digits(text + 12);
    low = two_digits(text + 14);
    if (day < 1 || month < 1 || high < 0 || low < 0)
        return -EBB_ETIME;
    snprintf(iso, sizeof iso, "%02d%02d-%02d-%02dT%.8sZ", high, low, month, day, text + 17);
    return ebb_time_parse(iso, NULL, out_ms, NULL);
}

int ebb__s3_iso_time(struct ebb_str text, int64_t *out_ms)
{
    char iso[40];
    int rc;

    if (text.n >= sizeof iso || memchr(text.p, '\0', text.n))
        return -EBB_ETIME;
    memcpy(iso, text.p, text.n);
    iso[text.n] = '\0';
    rc = ebb_time_parse(iso, NULL, out_ms, NULL);
    if (!rc)
        *out_ms -= ((*out_ms % 1000) + 1000) % 1000;
    return rc;
}

/* ---- what headers say ---- */

static int read_size(const struct ebb__s3_answer *a, const char *what, uint64_t *out, struct ebb_err *err)
{
    const char *range = ebb__s3_header(a, "Content-Range");
    const char *text = range ? strrchr(range, '/') : ebb__s3_header(a, "Content-Length");
    char *end = NULL;

    if (range && text)
        text++;
    errno = 0;
    *out = text && text[0] >= '0' && text[0] <= '9' ? strtoull(text, &end, 10) : 0;
    if (!end || *end || errno)
        return ebb_err_set(err, EBB_ECORRUPT, "%s: the server tells no length", what);
    return 0;
}

static void read_moved(const struct ebb__s3_answer *a, struct ebb_s3_object *out)
{
    const char *id = ebb__s3_header(a, "x-amz-meta-ebb-id"), *mtime = ebb__s3_header(a, "x-amz-meta-ebb-mtime");
    struct ebb_buf text;

    if (!id || !mtime)
        return;
    ebb_buf_init(&text, sizeof out->ebb_id - 1);
    if (ebb__s3_decode(ebb_str_of(id), &text) && !text.bad) {
        snprintf(out->ebb_id, sizeof out->ebb_id, "%s", ebb_buf_cstr(&text));
        out->ebb_mtime_ms = strtoll(mtime, NULL, 10);
    }
    ebb_buf_fini(&text);
}

int ebb__s3_object_of(const struct ebb__s3_answer *a, const char *what, struct ebb_s3_object *out, struct ebb_err *err)
{
    const char *etag = ebb__s3_header(a, "ETag"), *modified = ebb__s3_header(a, "Last-Modified");
    const char *storage_class = ebb__s3_header(a, "x-amz-storage-class");
    int rc;

    memset(out, 0, sizeof *out);
    rc = read_size(a, what, &out->size_bytes, err);
    if (rc)
        return rc;
    if (!modified || ebb__s3_http_time(modified, &out->mtime_ms))
        return ebb_err_set(err, EBB_ECORRUPT, "%s: the server tells no time of it", what);
    if (etag && strlen(etag) >= sizeof out->etag)
        return ebb_err_set(err, EBB_ECORRUPT, "%s: an ETag of %zu bytes", what, strlen(etag));
    snprintf(out->etag, sizeof out->etag, "%s", etag ? etag : "");
    out->is_archived = storage_class && (!strcmp(storage_class, "GLACIER") || !strcmp(storage_class, "DEEP_ARCHIVE"));
    read_moved(a, out);
    return 0;
}

static int object_of(const struct ebb__s3_got *got, const char *bucket, struct ebb_str key, struct ebb_s3_object *out,
                     struct ebb_err *err)
{
    struct ebb__s3_answer answer = {.headers = &got->headers};
    struct ebb_buf what;
    int rc;

    ebb_buf_init(&what, 1024);
    ebb__s3_name(&what, bucket, key);
    rc = ebb__s3_object_of(&answer, ebb_buf_cstr(&what), out, err);
    ebb_buf_fini(&what);
    return rc;
}

/* ---- single requests ---- */

int ebb_s3_head(struct ebb_s3 *s3, const char *bucket, struct ebb_str key, struct ebb_s3_object *out,
                struct ebb_err *err)
{
    const struct ebb__s3_call call = {.method = "HEAD", .bucket = bucket, .key = key};
    struct ebb__s3_got got;
    int rc = ebb__s3_do(s3, &call, &got, err);

    if (!rc)
        rc = object_of(&got, bucket, key, out, err);
    ebb__s3_got_fini(&got);
    return rc;
}

static int take_bytes(struct ebb__s3_got *got, const struct ebb_s3_object *object, size_t max, struct ebb_buf *bytes,
                      bool *is_cut, const char *bucket, struct ebb_str key, struct ebb_err *err)
{
    size_t wanted = object->size_bytes < max ? (size_t)object->size_bytes : max;
    struct ebb_buf what;
    int rc = 0;

    *is_cut = object->size_bytes > max;
    if (got->body.len < wanted || (got->status == 206 && got->body.len > wanted)) {
        ebb_buf_init(&what, 1024);
        ebb__s3_name(&what, bucket, key);
        rc = ebb_err_set(err, EBB_ECORRUPT, "%s: %zu bytes came of %zu", ebb_buf_cstr(&what), got->body.len, wanted);
        ebb_buf_fini(&what);
        return rc;
    }
    if (got->body.len == wanted && wanted <= bytes->max) {
        size_t most = bytes->max;

        ebb_buf_fini(bytes);
        *bytes = got->body; /* which may be long: not copied */
        bytes->max = most;
        ebb_buf_init(&got->body, 0);
        return 0;
    }
    ebb_buf_append(bytes, got->body.data, wanted);
    return ebb_buf_check(bytes, "object", err);
}

int ebb_s3_get(struct ebb_s3 *s3, const char *bucket, struct ebb_str key, size_t max, struct ebb_buf *bytes,
               bool *is_cut, struct ebb_s3_object *out, struct ebb_err *err)
{
    struct ebb__s3_call call = {.method = "GET", .bucket = bucket, .key = key};
    struct ebb_s3_object unwanted;
    struct ebb__s3_got got;
    char range[64];
    char *items[] = {range};
    const struct ebb_strs headers = {items, 1, 1};
    int rc;

    ebb_buf_reset(bytes);
    out = out ? out : &unwanted;
    if (max == 0) {
        rc = ebb_s3_head(s3, bucket, key, out, err);
        *is_cut = !rc && out->size_bytes > 0;
        return rc;
    }
    snprintf(range, sizeof range, "Range: bytes=0-%zu", max - 1);
    call.headers = &headers;
    call.answer_bytes = max < SIZE_MAX - 65536 ? max + 65536 : SIZE_MAX;
    rc = ebb__s3_do(s3, &call, &got, err);
    if (rc && got.status == 416) { /* an empty object has no first byte */
        ebb__s3_got_fini(&got);
        *is_cut = false;
        rc = ebb_s3_head(s3, bucket, key, out, err);
        return !rc && out->size_bytes ? ebb_err_set(err, EBB_ECORRUPT, "s3://%s: a range was refused", bucket) : rc;
    }
    if (!rc)
        rc = object_of(&got, bucket, key, out, err);
    if (!rc)
        rc = take_bytes(&got, out, max, bytes, is_cut, bucket, key, err);
    ebb__s3_got_fini(&got);
    return rc;
}

/* A repetition of ours finds what the first try stored: then it is ours. */
static bool is_stored(struct ebb_s3 *s3, const char *bucket, struct ebb_str key, const void *bytes, size_t n)
{
    struct ebb_buf there;
    bool is_cut = false, same;

    ebb_buf_init(&there, n + 1);
    same = !ebb_s3_get(s3, bucket, key, n + 1, &there, &is_cut, NULL, NULL) && !is_cut && there.len == n &&
           (n == 0 || !memcmp(there.data, bytes, n));
    ebb_buf_fini(&there);
    return same;
}

/* Whatever else answers 200 (a proxy's page) has stored nothing. */
static int check_stored(const struct ebb__s3_got *got, const char *bucket, struct ebb_str key, struct ebb_err *err)
{
    const struct ebb__s3_answer answer = {.headers = &got->headers};
    struct ebb_buf what;

    if (ebb__s3_header(&answer, "ETag"))
        return 0;
    ebb_buf_init(&what, 1024);
    ebb__s3_name(&what, bucket, key);
    ebb_err_set(err, EBB_ECORRUPT, "%s: the answer to storing it has no ETag; is it an S3 server's?",
                ebb_buf_cstr(&what));
    ebb_buf_fini(&what);
    return -EBB_ECORRUPT;
}

int ebb_s3_put(struct ebb_s3 *s3, const char *bucket, struct ebb_str key, const void *bytes, size_t n, bool is_new,
               struct ebb_err *err)
{
    struct ebb__s3_call call = {.method = "PUT", .bucket = bucket, .key = key, .body = {bytes, n}};
    char type[] = "Content-Type: application/octet-stream", none[] = "If-None-Match: *";
    char *items[] = {type, none};
    const struct ebb_strs headers = {items, is_new ? 2 : 1, 2};
    struct ebb__s3_got got;
    int rc;

    call.headers = &headers;
    call.is_fresh = is_new; /* a hidden repetition would find its own object, and not know it */
    rc = ebb__s3_do(s3, &call, &got, err);
    if (!rc)
        rc = check_stored(&got, bucket, key, err);
    if (rc && is_new && (got.status == 412 || got.status == 409)) {
        rc = got.is_unsure && is_stored(s3, bucket, key, bytes, n) ? 0 : ebb_err_as(err, EBB_EEXIST, NULL);
        if (rc && err)
            err->hint[0] = '\0';
    }
    ebb__s3_got_fini(&got);
    return rc;
}

static int delete_object(struct ebb_s3 *s3, const char *bucket, struct ebb_str key, const char *etag, bool is_once,
                         struct ebb_err *err)
{
    struct ebb__s3_call call = {.method = "DELETE", .bucket = bucket, .key = key, .is_once = is_once};
    char match[EBB_S3_ETAG_MAX + 16];
    char *items[] = {match};
    const struct ebb_strs headers = {items, 1, 1};
    struct ebb__s3_got got;
    int rc;

    if (etag && etag[0]) {
        snprintf(match, sizeof match, "If-Match: %s", etag);
        call.headers = &headers;
    }
    rc = ebb__s3_do(s3, &call, &got, err);
    ebb__s3_got_fini(&got);
    return rc == -EBB_ENOENT ? 0 : rc;
}

int ebb_s3_delete(struct ebb_s3 *s3, const char *bucket, struct ebb_str key, const char *etag, struct ebb_err *err)
{
    return delete_object(s3, bucket, key, etag, false, err);
}

int ebb_s3_delete_seen(struct ebb_s3 *s3, const char *bucket, struct ebb_str key, struct ebb_err *err)
{
    struct ebb_s3_object seen, now;
    struct ebb_err why = {0};
    const char *etag = seen.etag;
    int rc = ebb_s3_head(s3, bucket, key, &seen, err);

    if (rc)
        return rc;
    for (unsigned tries = 1;; tries++) {
        memset(&why, 0, sizeof why);
        rc = delete_object(s3, bucket, key, etag, true, &why);
        if (rc == -EBB_EUNSUPPORTED && etag) {
            etag = NULL; /* the server knows no conditions here */
            continue;
        }
        if (!rc || !why.retryable || tries == EBB__S3_TRIES)
            break;
        rc = ebb__s3_pause(s3, tries, false, &why);
        if (!rc)
            rc = ebb_s3_head(s3, bucket, key, &now, &why);
        if (rc == -EBB_ENOENT || (!rc && strcmp(now.etag, seen.etag) != 0))
            return 0; /* the lost try did it */
        if (rc)
            break;
    }
    if (rc && err)
        *err = why;
    return rc;
}

int ebb_s3_check_bucket(struct ebb_s3 *s3, const char *bucket, struct ebb_err *err)
{
    const struct ebb__s3_call call = {.method = "HEAD", .bucket = bucket};
    struct ebb__s3_got got;
    int rc;

    if (s3->bucket && !strcmp(s3->bucket, bucket))
        return 0;
    rc = ebb__s3_do(s3, &call, &got, err);
    ebb__s3_got_fini(&got);
    if (!rc) {
        free(s3->bucket);
        s3->bucket = strdup(bucket);
    }
    if (rc == -EBB_ENOENT) {
        rc = ebb_err_set(err, EBB_ECONFIG, "s3://%.80s: there is no such bucket at %.200s", bucket, s3->host);
        ebb_err_hint(err, "check the name, and storage.s3.endpoint");
    }
    return rc;
}

/* ---- versions ---- */

static int on_version(void *data, size_t depth, const char *name, struct ebb_str text, struct ebb_err *err)
{
    bool *has_status = data;

    (void)err;
    if (depth == 1 && !strcmp(name, "Status") && text.n)
        *has_status = true; /* Enabled; Suspended keeps what it has */
    return 0;
}

int ebb_s3_is_versioned(struct ebb_s3 *s3, const char *bucket, int *out, struct ebb_err *err)
{
    static const struct ebb__xml_ops OPS = {NULL, on_version};
    const struct ebb__s3_call call = {.method = "GET", .bucket = bucket, .query = "versioning="};
    struct ebb__s3_got got;
    bool has_status = false;
    int rc = ebb__s3_do(s3, &call, &got, err);

    if (!rc)
        rc = ebb__xml_parse("versioning", ebb_buf_str(&got.body), &OPS, &has_status, err);
    *out = rc ? -1 : has_status;
    if (got.status >= 400 && got.status < 500)
        rc = 0; /* may not be asked, or is not known there */
    ebb__s3_got_fini(&got);
    return rc == -EBB_EUNSUPPORTED || rc == -EBB_ECORRUPT ? 0 : rc;
}
