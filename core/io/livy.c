/* SPDX-License-Identifier: Apache-2.0 */
#include "io/livy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/json.h"
#include "io/http_basic_priv.h"
#include "io/http_sync.h"

#define ANSWER_MAX_BYTES ((size_t)128 << 20)
#define ANSWER_MS 60000
#define START_MS 120000
#define PAGE 100

struct ebb_livy {
    struct ebb_http_sync *http;
    char *uri;
    struct ebb_strs headers;
};

int ebb_livy_new(const struct ebb_livy_options *o, struct ebb_livy **out, struct ebb_err *err)
{
    struct ebb_http_client_options http = {.log = o->log};
    struct ebb_livy *l = calloc(1, sizeof *l);
    int rc;

    *out = NULL;
    if (!l)
        return ebb_err_nomem(err);
    l->uri = strdup(o->uri);
    rc = l->uri ? 0 : ebb_err_nomem(err);
    if (!rc)
        rc = ebb__http_header_add(&l->headers, "Content-Type", "application/json", err);
    if (!rc)
        rc = ebb__http_header_add(&l->headers, "X-Requested-By", o->user ? o->user : "ebb", err);
    if (!rc)
        rc = ebb__http_authorize(&l->headers, o->user, o->password, o->token, err);
    if (!rc)
        rc = ebb_http_sync_new(&http, NULL, &l->http, err);
    if (rc)
        ebb_livy_free(l);
    else
        *out = l;
    return rc;
}

void ebb_livy_free(struct ebb_livy *l)
{
    if (!l)
        return;
    ebb_http_sync_free(l->http);
    ebb_strs_fini(&l->headers);
    free(l->uri);
    free(l);
}

/* ---- requests ---- */

static int ask(struct ebb_livy *l, const char *method, const char *path, const char *body, struct ebb_http_fetched *out,
               struct ebb_err *err)
{
    struct ebb_http_call call = {.method = method,
                                 .headers = &l->headers,
                                 .answer_bytes = ANSWER_MAX_BYTES,
                                 .deadline_ms = body ? START_MS : ANSWER_MS,
                                 .try_ms = body ? START_MS : ANSWER_MS / 2};
    struct ebb_buf url;
    int rc;

    if (body)
        call.body = ebb_str_of(body);
    ebb_buf_init(&url, 8192);
    ebb_buf_printf(&url, "%s%s", l->uri, path);
    rc = ebb_buf_check(&url, "address of Livy", err);
    call.url = ebb_buf_cstr(&url);
    if (!rc)
        rc = ebb_http_sync_call(l->http, &call, out, err);
    if (rc && rc != -(int)EBB_ENOMEM) {
        rc = ebb_err_as(err, EBB_EENGINE, "livy");
        if (err)
            err->retryable = true;
    }
    ebb_buf_fini(&url);
    return rc;
}

static int refuse_status(const struct ebb_http_fetched *got, struct ebb_err *err)
{
    char text[300];
    size_t n = got->body.len < sizeof text ? got->body.len : sizeof text - 1;

    for (size_t i = 0; i < n; i++)
        text[i] = (unsigned char)got->body.data[i] < 0x20 ? ' ' : got->body.data[i];
    text[n] = '\0';
    ebb_err_set(err, EBB_EENGINE, "livy: answered with status %d%s%s", got->status, n ? ": " : "", text);
    if (got->status == 401 || got->status == 403)
        ebb_err_hint(err, "engines.livy: user, password or token");
    else if (got->status == 400)
        ebb_err_hint(err, "engines.livy.file must lie where livy.file.local-dir-whitelist, or the cluster, allows it");
    if (err)
        err->retryable = got->status >= 500;
    return -(int)EBB_EENGINE;
}

/* ---- answers ---- */

struct batch {
    int64_t id; /* -1: none */
    char name[128], state[32];
};

static int copy_text(struct ebb_json *j, char *out, size_t size, struct ebb_err *err)
{
    int rc = ebb_json_next(j, err);

    if (rc || j->kind != EBB_JSON_STRING)
        return rc ? rc : ebb_json_skip(j, err);
    out[0] = '\0';
    if (j->text.n < size) {
        memcpy(out, j->text.p, j->text.n);
        out[j->text.n] = '\0';
    }
    return 0;
}

/* After its opening brace. */
static int read_batch(struct ebb_json *j, struct batch *out, struct ebb_err *err)
{
    int rc;

    *out = (struct batch){.id = -1};
    while (!(rc = ebb_json_next(j, err)) && j->kind == EBB_JSON_KEY) {
        if (ebb_json_is_text(j, "id"))
            rc = ebb_json_read_int(j, "id", &out->id, err);
        else if (ebb_json_is_text(j, "name"))
            rc = copy_text(j, out->name, sizeof out->name, err);
        else if (ebb_json_is_text(j, "state"))
            rc = copy_text(j, out->state, sizeof out->state, err);
        else
            rc = ebb_json_skip(j, err);
        if (rc)
            break;
    }
    return rc;
}

static int read_one(const struct ebb_buf *body, struct batch *out, struct ebb_err *err)
{
    struct ebb_json j;
    int rc;

    ebb_json_init(&j, "answer of Livy", body->data, body->len);
    rc = ebb_json_expect(&j, EBB_JSON_OBJECT, "answer", err);
    if (!rc)
        rc = read_batch(&j, out, err);
    ebb_json_fini(&j);
    return rc ? ebb_err_as(err, EBB_EENGINE, "livy") : 0;
}

/* ---- batches ---- */

static int find_in(struct ebb_json *j, const char *name, int64_t *id, int64_t *seen, struct ebb_err *err)
{
    struct batch one;
    int rc = ebb_json_expect(j, EBB_JSON_ARRAY, "sessions", err);

    while (!rc && !(rc = ebb_json_next(j, err)) && j->kind == EBB_JSON_OBJECT) {
        rc = read_batch(j, &one, err);
        ++*seen;
        if (!rc && one.id >= 0 && !strcmp(one.name, name))
            *id = one.id;
    }
    return rc;
}

static int read_page(const struct ebb_buf *body, const char *name, int64_t *id, int64_t *seen, struct ebb_err *err)
{
    struct ebb_json j;
    int rc;

    ebb_json_init(&j, "answer of Livy", body->data, body->len);
    rc = ebb_json_expect(&j, EBB_JSON_OBJECT, "answer", err);
    while (!rc && !(rc = ebb_json_next(&j, err)) && j.kind == EBB_JSON_KEY)
        rc = ebb_json_is_text(&j, "sessions") ? find_in(&j, name, id, seen, err) : ebb_json_skip(&j, err);
    ebb_json_fini(&j);
    return rc ? ebb_err_as(err, EBB_EENGINE, "livy") : 0;
}

int ebb_livy_find(struct ebb_livy *l, const char *name, int64_t *id, struct ebb_err *err)
{
    int64_t from = 0, seen = PAGE;
    int rc = 0;

    *id = -1;
    while (!rc && *id < 0 && seen >= PAGE && from < 100 * PAGE) {
        struct ebb_http_fetched got;
        char path[64];

        memset(&got, 0, sizeof got);
        snprintf(path, sizeof path, "/batches?from=%" PRId64 "&size=%d", from, PAGE);
        seen = 0;
        rc = ask(l, "GET", path, NULL, &got, err);
        if (!rc && got.status != 200)
            rc = refuse_status(&got, err);
        else if (!rc)
            rc = read_page(&got.body, name, id, &seen, err);
        from += seen;
        ebb_http_fetched_fini(&got);
    }
    return rc;
}

int ebb_livy_start(struct ebb_livy *l, const char *name, const char *request, int64_t *id, struct ebb_err *err)
{
    struct ebb_http_fetched got;
    struct batch one = {.id = -1};
    struct ebb_err why;
    int rc;

    *id = -1;
    memset(&got, 0, sizeof got);
    rc = ask(l, "POST", "/batches", request, &got, err);
    if (!rc && got.status == 201)
        rc = read_one(&got.body, &one, err);
    else if (!rc)
        rc = refuse_status(&got, err);
    *id = one.id;
    if (rc && err && err->retryable && !ebb_livy_find(l, name, id, &why) && *id >= 0)
        rc = 0; /* it had arrived */
    if (!rc && *id < 0)
        rc = ebb_err_set(err, EBB_EENGINE, "livy: the answer names no batch");
    ebb_http_fetched_fini(&got);
    return rc;
}

static enum ebb_livy_state state_of(const char *text)
{
    static const struct {
        const char *text;
        enum ebb_livy_state state;
    } ENDS[] = {
        {"success", EBB_LIVY_SUCCESS}, {"dead", EBB_LIVY_DEAD}, {"error", EBB_LIVY_DEAD}, {"killed", EBB_LIVY_KILLED}};

    for (size_t i = 0; i < sizeof ENDS / sizeof ENDS[0]; i++)
        if (!strcmp(ENDS[i].text, text))
            return ENDS[i].state;
    return EBB_LIVY_RUNNING;
}

int ebb_livy_state(struct ebb_livy *l, int64_t id, enum ebb_livy_state *state, struct ebb_err *err)
{
    struct ebb_http_fetched got;
    struct batch one;
    char path[64];
    int rc;

    memset(&got, 0, sizeof got);
    snprintf(path, sizeof path, "/batches/%" PRId64 "/state", id);
    rc = ask(l, "GET", path, NULL, &got, err);
    if (!rc && got.status == 404) {
        *state = EBB_LIVY_GONE;
    } else if (!rc && got.status != 200) {
        rc = refuse_status(&got, err);
    } else if (!rc) {
        rc = read_one(&got.body, &one, err);
        if (!rc)
            *state = state_of(one.state);
    }
    ebb_http_fetched_fini(&got);
    return rc;
}

static int read_lines(struct ebb_json *j, ebb_livy_line_cb *cb, void *data, struct ebb_err *err)
{
    int rc = ebb_json_expect(j, EBB_JSON_ARRAY, "log", err);

    while (!rc && !(rc = ebb_json_next(j, err)) && j->kind == EBB_JSON_STRING)
        rc = cb(data, j->text, err);
    return rc;
}

int ebb_livy_log(struct ebb_livy *l, int64_t id, ebb_livy_line_cb *cb, void *data, struct ebb_err *err)
{
    struct ebb_http_fetched got;
    struct ebb_json j;
    char path[64];
    int rc;

    memset(&got, 0, sizeof got);
    snprintf(path, sizeof path, "/batches/%" PRId64 "/log?from=0&size=-1", id);
    rc = ask(l, "GET", path, NULL, &got, err);
    if (!rc && got.status != 200)
        rc = refuse_status(&got, err);
    if (!rc) {
        ebb_json_init(&j, "log of Livy", got.body.data, got.body.len);
        rc = ebb_json_expect(&j, EBB_JSON_OBJECT, "answer", err);
        while (!rc && !(rc = ebb_json_next(&j, err)) && j.kind == EBB_JSON_KEY)
            rc = ebb_json_is_text(&j, "log") ? read_lines(&j, cb, data, err) : ebb_json_skip(&j, err);
        ebb_json_fini(&j);
        if (rc == -(int)EBB_ECORRUPT)
            rc = ebb_err_as(err, EBB_EENGINE, "livy");
    }
    ebb_http_fetched_fini(&got);
    return rc;
}

int ebb_livy_delete(struct ebb_livy *l, int64_t id, struct ebb_err *err)
{
    struct ebb_http_fetched got;
    char path[64];
    int rc;

    memset(&got, 0, sizeof got);
    snprintf(path, sizeof path, "/batches/%" PRId64, id);
    rc = ask(l, "DELETE", path, NULL, &got, err);
    if (!rc && got.status != 200 && got.status != 404)
        rc = refuse_status(&got, err);
    ebb_http_fetched_fini(&got);
    return rc;
}
