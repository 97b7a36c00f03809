/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies in parts (above 5 GiB): all or nothing. The tags of the source are not copied by this part of the interface.
 */
#include <inttypes.h>
#include <stdio.h>

#include "io/s3_move_priv.h"

#define PART_BYTES ((uint64_t)1 << 30)
#define PARTS_MAX 10000
#define BODY_MAX ((size_t)4 << 20)

struct upload {
    struct ebb__s3_move *m;
    struct ebb_buf id;   /* as the server gave it */
    struct ebb_buf body; /* of the request that ends it */
    struct ebb_buf etag; /* of the part at hand */
};

static int on_id(void *data, size_t depth, const char *name, struct ebb_str text, struct ebb_err *err)
{
    struct upload *u = data;

    (void)err;
    if (depth == 1 && !strcmp(name, "UploadId"))
        ebb_buf_add_str(&u->id, text);
    return 0;
}

static int on_etag(void *data, size_t depth, const char *name, struct ebb_str text, struct ebb_err *err)
{
    struct upload *u = data;

    (void)err;
    if (depth == 1 && !strcmp(name, "ETag"))
        ebb_buf_add_str(&u->etag, text);
    return 0;
}

static bool is_for_all(int rc)
{
    return rc == -EBB_ENOMEM || rc == -EBB_ECANCELLED || rc == -EBB_EINTERNAL;
}

static int begin(struct upload *u, struct ebb_err *err)
{
    static const struct ebb__xml_ops OPS = {NULL, on_id};
    struct ebb__s3_call call = {
        .method = "POST", .bucket = u->m->to_bucket, .key = u->m->item->to, .query = "uploads="};
    struct ebb__s3_got got;
    struct ebb_strs headers;
    int rc;

    memset(&got, 0, sizeof got);
    ebb_strs_init(&headers);
    rc = ebb__s3_move_metadata(u->m, &headers, err);
    call.headers = &headers;
    if (!rc)
        rc = ebb__s3_do(u->m->s3, &call, &got, err);
    if (!rc)
        rc = ebb__xml_parse("answer to an upload", ebb_buf_str(&got.body), &OPS, u, err);
    if (!rc && !u->id.len)
        rc = ebb_err_set(err, EBB_ECORRUPT, "s3://%.80s: an upload without an id", u->m->to_bucket);
    ebb_strs_fini(&headers);
    ebb__s3_got_fini(&got);
    return rc;
}

static void write_query(const struct upload *u, unsigned part, struct ebb_buf *out)
{
    ebb_buf_init(out, 16384);
    if (part)
        ebb_buf_printf(out, "partNumber=%u&", part);
    ebb_buf_puts(out, "uploadId=");
    ebb_http_encode(out, ebb_buf_str(&u->id), false);
}

static int copy_part(struct upload *u, unsigned part, uint64_t from, uint64_t to, struct ebb_err *err)
{
    static const struct ebb__xml_ops OPS = {NULL, on_etag};
    struct ebb__s3_call call = {
        .method = "PUT", .bucket = u->m->to_bucket, .key = u->m->item->to, .may_fail_in_success = true};
    struct ebb__s3_got got;
    struct ebb_strs headers;
    struct ebb_buf query;
    char range[96];
    int rc;

    memset(&got, 0, sizeof got);
    ebb_strs_init(&headers);
    write_query(u, part, &query);
    snprintf(range, sizeof range, "x-amz-copy-source-range: bytes=%" PRIu64 "-%" PRIu64, from, to);
    rc = ebb__s3_move_source(u->m, &headers, err);
    if (!rc)
        rc = ebb_strs_add(&headers, range, err);
    call.headers = &headers;
    call.query = ebb_buf_cstr(&query);
    if (!rc)
        rc = ebb__s3_do(u->m->s3, &call, &got, err);
    ebb_buf_reset(&u->etag);
    if (!rc)
        rc = ebb__xml_parse("answer to a copy", ebb_buf_str(&got.body), &OPS, u, err);
    ebb_buf_printf(&u->body, "<Part><PartNumber>%u</PartNumber><ETag>", part);
    if (!rc && !ebb__xml_write(&u->body, ebb_buf_str(&u->etag)))
        rc = ebb_err_set(err, EBB_ECORRUPT, "s3://%.80s: a part without a usable ETag", u->m->to_bucket);
    ebb_buf_puts(&u->body, "</ETag></Part>");
    ebb_buf_fini(&query);
    ebb_strs_fini(&headers);
    ebb__s3_got_fini(&got);
    return rc;
}

static int copy_parts(struct upload *u, struct ebb_err *err)
{
    uint64_t size = u->m->item->size_bytes, part_bytes = u->m->s3->copy_part_bytes;
    unsigned part = 0;
    int rc = 0;

    part_bytes = part_bytes < PART_BYTES ? part_bytes : PART_BYTES;
    if (size / part_bytes >= PARTS_MAX)
        part_bytes = size / (PARTS_MAX - 1) + 1;
    for (uint64_t from = 0; !rc && from < size; from += part_bytes) {
        uint64_t left = size - from;

        rc = copy_part(u, ++part, from, from + (left < part_bytes ? left : part_bytes) - 1, err);
    }
    return rc;
}

/* What the answer says matters little: the look at the copy decides. */
static int complete(struct upload *u, struct ebb_err *err)
{
    char type[] = "Content-Type: application/xml", none[] = "If-None-Match: *";
    char *items[] = {type, none};
    const struct ebb_strs headers = {items, 2, 2};
    struct ebb__s3_call call = {.method = "POST",
                                .bucket = u->m->to_bucket,
                                .key = u->m->item->to,
                                .headers = &headers,
                                .may_fail_in_success = true};
    struct ebb__s3_got got;
    struct ebb_buf query;
    int rc;

    write_query(u, 0, &query);
    ebb_buf_puts(&u->body, "</CompleteMultipartUpload>");
    call.query = ebb_buf_cstr(&query);
    call.body = ebb_buf_str(&u->body);
    rc = ebb_buf_check(&u->body, "parts", err);
    memset(&got, 0, sizeof got);
    if (!rc)
        rc = ebb__s3_do(u->m->s3, &call, &got, err);
    ebb__s3_got_fini(&got);
    ebb_buf_fini(&query);
    return rc;
}

static void give_up(struct upload *u)
{
    struct ebb__s3_call call = {.method = "DELETE", .bucket = u->m->to_bucket, .key = u->m->item->to};
    struct ebb__s3_got got;
    struct ebb_buf query;

    write_query(u, 0, &query);
    call.query = ebb_buf_cstr(&query);
    ebb__s3_do(u->m->s3, &call, &got, NULL);
    ebb__s3_got_fini(&got);
    ebb_buf_fini(&query);
}

int ebb__s3_move_large(struct ebb__s3_move *m, struct ebb_err *err)
{
    struct upload u = {.m = m};
    struct ebb_err why = {0};
    int rc;

    ebb_buf_init(&u.id, 8192);
    ebb_buf_init(&u.etag, 4096);
    ebb_buf_init(&u.body, BODY_MAX);
    ebb_buf_puts(&u.body, "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">");
    rc = begin(&u, &why);
    if (!rc)
        rc = copy_parts(&u, &why);
    if (!rc) {
        rc = complete(&u, &m->copy_error);
        if (rc && !is_for_all(rc))
            give_up(&u); /* one that is complete does not mind */
        why = m->copy_error;
        rc = is_for_all(rc) ? rc : 0;
    } else if (u.id.len) {
        give_up(&u);
    }
    ebb_buf_fini(&u.body);
    ebb_buf_fini(&u.etag);
    ebb_buf_fini(&u.id);
    if (rc)
        m->item->err = why;
    if (is_for_all(rc) && err)
        *err = why;
    return is_for_all(rc) ? rc : 0;
}
