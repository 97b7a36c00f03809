/* SPDX-License-Identifier: Apache-2.0
 *
 * HEAD and DELETE of many objects.
 */
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>

#include "io/s3_priv.h"

#define DELETE_MAX 1000 /* keys of one request: the interface's limit */
#define BODY_MAX ((size_t)8 << 20)

/* Go on until all is told. */
static int run(struct ebb_s3 *s3, int rc, struct ebb_err *err)
{
    while (!rc && ebb__s3_pending(s3))
        rc = ebb__s3_turn(s3, err);
    if (rc)
        ebb__s3_drop(s3);
    return rc;
}

/* ---- HEAD ---- */

struct head {
    struct ebb_s3_head_item *item;
    const char *bucket;
};

static void on_head(void *data, const struct ebb__s3_answer *answer)
{
    struct head *h = data;
    struct ebb_buf what;

    h->item->err = *answer->err;
    if (answer->err->error)
        return;
    ebb_buf_init(&what, 1024);
    ebb__s3_name(&what, h->bucket, h->item->key);
    ebb__s3_object_of(answer, ebb_buf_cstr(&what), &h->item->object, &h->item->err);
    ebb_buf_fini(&what);
}

int ebb_s3_head_many(struct ebb_s3 *s3, const char *bucket, struct ebb_s3_head_item *items, size_t n,
                     struct ebb_err *err)
{
    struct head *heads = calloc(n + 1, sizeof *heads);
    int rc = 0;

    if (!heads)
        return ebb_err_nomem(err);
    for (size_t i = 0; !rc && i < n; i++) {
        const struct ebb__s3_call call = {.method = "HEAD", .bucket = bucket, .key = items[i].key};

        heads[i] = (struct head){&items[i], bucket};
        memset(&items[i].err, 0, sizeof items[i].err);
        rc = ebb__s3_start(s3, &call, on_head, &heads[i], err);
    }
    rc = run(s3, rc, err);
    free(heads);
    return rc;
}

/* ---- DELETE ---- */

struct removal {
    struct ebb_s3 *s3;
    const char *bucket;
    struct ebb_s3_delete_item *items;
    size_t count;
    bool *is_told;            /* of each item */
    bool *is_sent;            /* in the request at hand */
    bool is_again, is_slower; /* some of them are to be asked for again; since the server is too busy */
    bool lacks_batches;
};

static void on_single(void *data, const struct ebb__s3_answer *answer)
{
    struct ebb_s3_delete_item *item = data;

    if (answer->err->error == EBB_ENOENT)
        memset(&item->err, 0, sizeof item->err);
    else
        item->err = *answer->err;
}

static int delete_single(struct removal *r, size_t i, struct ebb_err *err)
{
    const struct ebb__s3_call call = {.method = "DELETE", .bucket = r->bucket, .key = r->items[i].key};

    r->is_told[i] = true;
    return ebb__s3_start(r->s3, &call, on_single, &r->items[i], err);
}

/* The body for as many of the items that are not told as fit; those that XML can't express go alone. */
static int write_batch(struct removal *r, struct ebb_buf *body, size_t *count, struct ebb_err *err)
{
    int rc = 0;

    *count = 0;
    memset(r->is_sent, 0, r->count * sizeof *r->is_sent);
    ebb_buf_puts(body, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                       "<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Quiet>false</Quiet>");
    for (size_t i = 0; !rc && i < r->count && *count < DELETE_MAX; i++) {
        size_t before = body->len;

        if (r->is_told[i])
            continue;
        ebb_buf_puts(body, "<Object><Key>");
        if (!ebb__xml_write(body, r->items[i].key)) {
            body->len = before;
            rc = delete_single(r, i, err);
            continue;
        }
        ebb_buf_puts(body, "</Key></Object>");
        r->is_sent[i] = true;
        ++*count;
    }
    ebb_buf_puts(body, "</Delete>");
    return rc ? rc : ebb_buf_check(body, "list of objects", err);
}

/* What the answer says of one key. */
struct verdict {
    struct removal *r;
    struct ebb_buf key;
    struct ebb__s3_failure failure;
};

static struct ebb_s3_delete_item *item_of(struct removal *r, struct ebb_str key, size_t *index)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->is_sent[i] && ebb_str_is_equal(r->items[i].key, key)) {
            *index = i;
            return &r->items[i];
        }
    return NULL;
}

static void settle(struct verdict *v, bool is_deleted)
{
    struct ebb_s3_delete_item *item;
    enum ebb__s3_next next;
    struct ebb_buf what;
    size_t i = 0;

    item = item_of(v->r, ebb_buf_str(&v->key), &i);
    if (!item || v->r->is_told[i])
        return;
    if (is_deleted || !strcmp(v->failure.code, "NoSuchKey")) {
        v->r->is_told[i] = true;
        memset(&item->err, 0, sizeof item->err);
        return;
    }
    ebb_buf_init(&what, 1024);
    ebb__s3_name(&what, v->r->bucket, item->key);
    ebb__s3_fail(v->r->s3, ebb_buf_cstr(&what), v->r->bucket, 200, &v->failure, NULL, &item->err);
    ebb_buf_fini(&what);
    next = ebb__s3_judge(200, v->failure.code);
    v->r->is_told[i] = next != EBB__S3_AGAIN && next != EBB__S3_SLOWER;
    v->r->is_again = v->r->is_again || !v->r->is_told[i];
    v->r->is_slower = v->r->is_slower || next == EBB__S3_SLOWER;
}

static int on_verdict_begin(void *data, size_t depth, const char *name, struct ebb_err *err)
{
    struct verdict *v = data;

    if (depth == 0 && strcmp(name, "DeleteResult") != 0 && strcmp(name, "DeleteObjectsOutput") != 0)
        return ebb_err_set(err, EBB_ECORRUPT, "answer to a deletion: <%.40s> is none", name);
    if (depth == 1) {
        ebb_buf_reset(&v->key);
        memset(&v->failure, 0, sizeof v->failure);
    }
    return 0;
}

static int on_verdict_end(void *data, size_t depth, const char *name, struct ebb_str text, struct ebb_err *err)
{
    struct verdict *v = data;

    (void)err;
    if (depth == 2 && !strcmp(name, "Key"))
        ebb_buf_add_str(&v->key, text);
    else if (depth == 2 && !strcmp(name, "Code"))
        snprintf(v->failure.code, sizeof v->failure.code, "%.*s", (int)text.n, text.p);
    else if (depth == 2 && !strcmp(name, "Message"))
        snprintf(v->failure.message, sizeof v->failure.message, "%.*s", (int)text.n, text.p);
    else if (depth == 1 && (!strcmp(name, "Deleted") || !strcmp(name, "Error")))
        settle(v, name[0] == 'D');
    return 0;
}

static int read_verdicts(struct removal *r, struct ebb_str body, struct ebb_err *err)
{
    static const struct ebb__xml_ops OPS = {on_verdict_begin, on_verdict_end};
    struct verdict v = {.r = r};
    int rc;

    ebb_buf_init(&v.key, EBB__XML_TEXT_MAX);
    rc = ebb__xml_parse("answer to a deletion", body, &OPS, &v, err);
    ebb_buf_fini(&v.key);
    return rc;
}

/* The header that the interface demands of a body with keys. */
static int md5_header(struct ebb_str body, char out[96], struct ebb_err *err)
{
    unsigned char digest[EVP_MAX_MD_SIZE], text[64];
    unsigned n = 0;

    if (!EVP_Digest(body.p, body.n, digest, &n, EVP_md5(), NULL) || n != 16)
        return ebb_err_set(err, EBB_EINTERNAL, "MD5: the library failed");
    EVP_EncodeBlock(text, digest, (int)n);
    snprintf(out, 96, "Content-MD5: %s", (const char *)text);
    return 0;
}

static int send_batch(struct removal *r, struct ebb_str body, struct ebb__s3_got *got, struct ebb_err *err)
{
    char type[] = "Content-Type: application/xml", md5[96];
    char *items[] = {type, md5};
    const struct ebb_strs headers = {items, 2, 2};
    const struct ebb__s3_call call = {
        .method = "POST", .bucket = r->bucket, .query = "delete=", .headers = &headers, .body = body};
    int rc = md5_header(body, md5, err);

    memset(got, 0, sizeof *got);
    return rc ? rc : ebb__s3_do(r->s3, &call, got, err);
}

static bool is_lacking(const struct ebb__s3_got *got)
{
    return got->status == 404 || got->status == 405 || got->status == 501 ||
           (got->status == 400 && (!strcmp(got->code, "NotImplemented") || !strcmp(got->code, "MalformedXML") ||
                                   !strcmp(got->code, "InvalidArgument")));
}

/* What concerns all keys is an error of each. */
static void fail_sent(struct removal *r, const struct ebb_err *why)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->is_sent[i] && !r->is_told[i]) {
            r->items[i].err = *why;
            r->is_told[i] = true;
        }
}

/* Keys of which the answer says nothing are not known to be gone. */
static void fail_silent(struct removal *r)
{
    struct ebb_err why;

    ebb_err_set(&why, EBB_ECORRUPT, "s3://%.80s: the answer to a deletion leaves objects out", r->bucket);
    for (size_t i = 0; i < r->count; i++)
        if (r->is_sent[i] && !r->is_told[i] && !r->items[i].err.error) {
            r->items[i].err = why;
            r->is_told[i] = true;
        }
}

static int delete_batch(struct removal *r, bool *is_done, struct ebb_err *err)
{
    struct ebb__s3_got got;
    struct ebb_err why = {0};
    struct ebb_buf body;
    size_t count = 0;
    int rc;

    ebb_buf_init(&body, BODY_MAX);
    rc = write_batch(r, &body, &count, err);
    *is_done = count == 0;
    if (!rc)
        rc = run(r->s3, 0, err);
    if (rc || !count)
        goto out;
    rc = send_batch(r, ebb_buf_str(&body), &got, &why);
    if (!rc)
        rc = read_verdicts(r, ebb_buf_str(&got.body), &why);
    r->lacks_batches = is_lacking(&got);
    ebb__s3_got_fini(&got);
    if (rc == -EBB_ENOMEM || rc == -EBB_ECANCELLED) {
        if (err)
            *err = why;
        goto out;
    }
    if (rc && !r->lacks_batches)
        fail_sent(r, &why);
    else if (!rc)
        fail_silent(r);
    rc = 0;
out:
    ebb_buf_fini(&body);
    return rc;
}

/* Those that never had their turn, since others took all rounds, are not gone. */
static void fail_unasked(struct removal *r)
{
    for (size_t i = 0; i < r->count; i++)
        if (!r->is_told[i] && !r->items[i].err.error)
            ebb_err_set(&r->items[i].err, EBB_EIO, "s3://%.80s: the server is too busy to delete it", r->bucket);
}

static int delete_all(struct removal *r, struct ebb_err *err)
{
    unsigned pauses = 0;
    bool is_done = false;
    int rc = 0;

    for (unsigned round = 0; !rc && !is_done && !r->lacks_batches && round < r->count / DELETE_MAX + EBB__S3_TRIES;
         round++) {
        r->is_again = r->is_slower = false;
        rc = delete_batch(r, &is_done, err);
        pauses += r->is_again;
        if (!rc && r->is_again)
            rc = ebb__s3_pause(r->s3, pauses, r->is_slower, err);
    }
    for (size_t i = 0; !rc && r->lacks_batches && i < r->count; i++)
        if (!r->is_told[i])
            rc = delete_single(r, i, err);
    rc = run(r->s3, rc, err);
    fail_unasked(r);
    return rc;
}

int ebb_s3_delete_many(struct ebb_s3 *s3, const char *bucket, struct ebb_s3_delete_item *items, size_t n,
                       struct ebb_err *err)
{
    struct removal r = {.s3 = s3, .bucket = bucket, .items = items, .count = n};
    int rc;

    for (size_t i = 0; i < n; i++)
        memset(&items[i].err, 0, sizeof items[i].err);
    r.is_told = calloc(n + 1, sizeof *r.is_told);
    r.is_sent = calloc(n + 1, sizeof *r.is_sent);
    rc = r.is_told && r.is_sent ? delete_all(&r, err) : ebb_err_nomem(err);
    free(r.is_told);
    free(r.is_sent);
    return rc;
}
