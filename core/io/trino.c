/* SPDX-License-Identifier: Apache-2.0 */
#include "io/trino.h"

#include <stdlib.h>
#include <strings.h>

#include "format/json.h"
#include "io/http_basic_priv.h"
#include "io/http_sync.h"

#define PAGE_MAX_BYTES ((size_t)64 << 20)
#define ANSWER_MS 120000
#define TRY_MS 60000
#define ID_MAX 100
#define COLUMNS_MAX 1000

struct ebb_trino {
    struct ebb_http_sync *http;
    char *uri;
    struct ebb_strs headers;
    char id[ID_MAX];
    struct ebb_buf next;
};

/* ---- who asks ---- */

static int add_session(struct ebb_trino *t, const struct ebb_trino_options *o, struct ebb_err *err)
{
    struct ebb_buf text;
    int rc = 0;

    if (!o->session || !o->session->count)
        return 0;
    ebb_buf_init(&text, 32768);
    for (size_t i = 0; i < o->session->count; i++) {
        const char *pair = o->session->items[i], *equals = strchr(pair, '=');
        size_t n = equals ? (size_t)(equals - pair) : 0;

        if (!n || strspn(pair, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") < n)
            rc = ebb_err_set(err, EBB_EUSAGE, "session of Trino: %.*s: is no name of a property", (int)n, pair);
        ebb_buf_puts(&text, i ? "," : "");
        ebb_buf_append(&text, pair, n + 1);
        if (equals)
            ebb_http_encode(&text, ebb_str_of(equals + 1), false);
    }
    if (!rc)
        rc = ebb_buf_check(&text, "session of Trino", err);
    if (!rc)
        rc = ebb__http_header_add(&t->headers, "X-Trino-Session", ebb_buf_cstr(&text), err);
    ebb_buf_fini(&text);
    return rc;
}

static int add_headers(struct ebb_trino *t, const struct ebb_trino_options *o, struct ebb_err *err)
{
    int rc = ebb__http_header_add(&t->headers, "X-Trino-User", o->user, err);

    if (!rc)
        rc = ebb__http_header_add(&t->headers, "X-Trino-Source", "ebb", err);
    if (!rc)
        rc = ebb__http_header_add(&t->headers, "X-Trino-Time-Zone", "UTC", err);
    if (!rc && o->catalog)
        rc = ebb__http_header_add(&t->headers, "X-Trino-Catalog", o->catalog, err);
    if (!rc)
        rc = ebb__http_header_add(&t->headers, "Content-Type", "text/plain; charset=utf-8", err);
    if (!rc)
        rc = ebb__http_authorize(&t->headers, o->user, o->password, o->token, err);
    return rc ? rc : add_session(t, o, err);
}

int ebb_trino_new(const struct ebb_trino_options *o, struct ebb_trino **out, struct ebb_err *err)
{
    struct ebb_http_client_options http = {.log = o->log};
    struct ebb_trino *t = calloc(1, sizeof *t);
    int rc;

    *out = NULL;
    if (!t)
        return ebb_err_nomem(err);
    ebb_buf_init(&t->next, 8192);
    t->uri = strdup(o->uri);
    rc = t->uri ? add_headers(t, o, err) : ebb_err_nomem(err);
    if (!rc)
        rc = ebb_http_sync_new(&http, NULL, &t->http, err);
    if (rc)
        ebb_trino_free(t);
    else
        *out = t;
    return rc;
}

void ebb_trino_free(struct ebb_trino *t)
{
    if (!t)
        return;
    ebb_http_sync_free(t->http);
    ebb_strs_fini(&t->headers);
    ebb_buf_fini(&t->next);
    free(t->uri);
    free(t);
}

const char *ebb_trino_id(const struct ebb_trino *t)
{
    return t->id;
}

/* ---- one answer ---- */

struct page {
    char next[4096];
    char id[ID_MAX];
    char state[32];
    struct ebb_str columns, data; /* as they stand in the document; n == 0: none */
    bool has_error;
    char error_name[64], message[512];
};

static int take_text(struct ebb_json *j, char *out, size_t size, struct ebb_err *err)
{
    int rc = ebb_json_next(j, err);

    if (rc || j->kind != EBB_JSON_STRING)
        return rc ? rc : ebb_json_skip(j, err);
    if (j->text.n >= size || memchr(j->text.p, '\0', j->text.n))
        return ebb_json_fail(j, err, "too long");
    memcpy(out, j->text.p, j->text.n);
    out[j->text.n] = '\0';
    return 0;
}

/* A message may be of any length: its beginning, on one line, is enough. */
static int take_message(struct ebb_json *j, char *out, size_t size, struct ebb_err *err)
{
    int rc = ebb_json_next(j, err);
    size_t n;

    if (rc || j->kind != EBB_JSON_STRING)
        return rc ? rc : ebb_json_skip(j, err);
    n = j->text.n < size ? j->text.n : size - 1;
    for (size_t i = 0; i < n; i++)
        out[i] = (unsigned char)j->text.p[i] < 0x20 ? ' ' : j->text.p[i];
    out[n] = '\0';
    return 0;
}

static int take_error(struct ebb_json *j, struct page *p, struct ebb_err *err)
{
    int rc = ebb_json_next(j, err);

    if (rc || j->kind != EBB_JSON_OBJECT)
        return rc ? rc : ebb_json_skip(j, err);
    p->has_error = true;
    while (!(rc = ebb_json_next(j, err)) && j->kind == EBB_JSON_KEY) {
        if (ebb_json_is_text(j, "message"))
            rc = take_message(j, p->message, sizeof p->message, err);
        else if (ebb_json_is_text(j, "errorName"))
            rc = take_message(j, p->error_name, sizeof p->error_name, err);
        else
            rc = ebb_json_skip(j, err);
        if (rc)
            break;
    }
    return rc;
}

static int take_raw(struct ebb_json *j, struct ebb_str *out, struct ebb_err *err)
{
    int rc = ebb_json_next(j, err);

    return rc ? rc : ebb_json_raw(j, out, err);
}

static int take_member(struct ebb_json *j, struct page *p, struct ebb_err *err)
{
    if (ebb_json_is_text(j, "id") || ebb_json_is_text(j, "queryId"))
        return take_text(j, p->id, sizeof p->id, err);
    if (ebb_json_is_text(j, "nextUri"))
        return take_text(j, p->next, sizeof p->next, err);
    if (ebb_json_is_text(j, "state"))
        return take_text(j, p->state, sizeof p->state, err);
    if (ebb_json_is_text(j, "columns"))
        return take_raw(j, &p->columns, err);
    if (ebb_json_is_text(j, "data"))
        return take_raw(j, &p->data, err);
    if (ebb_json_is_text(j, "error"))
        return take_error(j, p, err);
    if (ebb_json_is_text(j, "errorCode")) /* of GET /v1/query */
        return take_error(j, p, err);
    return ebb_json_skip(j, err);
}

static int parse_page(const struct ebb_buf *body, struct page *p, struct ebb_err *err)
{
    struct ebb_json j;
    int rc;

    memset(p, 0, sizeof *p);
    ebb_json_init(&j, "answer of Trino", body->data, body->len);
    rc = ebb_json_expect(&j, EBB_JSON_OBJECT, "answer", err);
    while (!rc && !(rc = ebb_json_next(&j, err)) && j.kind == EBB_JSON_KEY)
        rc = take_member(&j, p, err);
    if (!rc)
        rc = ebb_json_expect(&j, EBB_JSON_END, "answer", err);
    ebb_json_fini(&j);
    return rc ? ebb_err_as(err, EBB_EENGINE, "trino") : 0;
}

/* ---- rows ---- */

static int find_column(struct ebb_str columns, const char *name, size_t *out, struct ebb_err *err)
{
    struct ebb_json j;
    char text[256];
    size_t i = 0;
    int rc;

    *out = SIZE_MAX;
    ebb_json_init(&j, "columns of Trino", columns.p, columns.n);
    rc = ebb_json_expect(&j, EBB_JSON_ARRAY, "columns", err);
    while (!rc && !(rc = ebb_json_next(&j, err)) && j.kind == EBB_JSON_OBJECT && i < COLUMNS_MAX) {
        while (!(rc = ebb_json_next(&j, err)) && j.kind == EBB_JSON_KEY) {
            bool is_name = ebb_json_is_text(&j, "name");

            text[0] = '\0';
            rc = is_name ? take_text(&j, text, sizeof text, err) : ebb_json_skip(&j, err);
            if (rc)
                break;
            if (is_name && !strcmp(text, name))
                *out = i;
        }
        i++;
    }
    ebb_json_fini(&j);
    return rc;
}

static int take_value(struct ebb_json *j, ebb_trino_row_cb *cb, void *data, struct ebb_err *err)
{
    struct ebb_str raw = {NULL, 0};
    int rc;

    if (j->kind == EBB_JSON_STRING || j->kind == EBB_JSON_INT || j->kind == EBB_JSON_FLOAT)
        return cb(data, j->text, err);
    rc = ebb_json_raw(j, &raw, err);
    return rc ? rc : cb(data, ebb_str_is_equal(raw, EBB_STR("null")) ? EBB_STR("") : raw, err);
}

static int take_rows(struct ebb_str rows, size_t column, ebb_trino_row_cb *cb, void *data, struct ebb_err *err)
{
    struct ebb_json j;
    int rc;

    ebb_json_init(&j, "rows of Trino", rows.p, rows.n);
    rc = ebb_json_expect(&j, EBB_JSON_ARRAY, "data", err);
    while (!rc && !(rc = ebb_json_next(&j, err)) && j.kind == EBB_JSON_ARRAY)
        for (size_t i = 0; !(rc = ebb_json_next(&j, err)) && j.kind != EBB_JSON_ARRAY_END; i++) {
            rc = i == column ? take_value(&j, cb, data, err) : ebb_json_skip(&j, err);
            if (rc)
                break;
        }
    ebb_json_fini(&j);
    return rc;
}

static int hand_on(const struct page *p, const char *column, ebb_trino_row_cb *cb, void *data, struct ebb_err *err)
{
    size_t at = SIZE_MAX;
    int rc;

    if (!cb || !p->data.n || !p->columns.n)
        return 0;
    rc = find_column(p->columns, column, &at, err);
    if (rc || at == SIZE_MAX)
        return rc ? ebb_err_as(err, EBB_EENGINE, "trino")
                  : ebb_err_set(err, EBB_EENGINE, "trino: its answer has no column %s", column);
    rc = take_rows(p->data, at, cb, data, err);
    return rc == -(int)EBB_ECORRUPT ? ebb_err_as(err, EBB_EENGINE, "trino") : rc;
}

/* ---- requests ---- */

static int ask(struct ebb_trino *t, const char *method, const char *url, const char *body, struct ebb_http_fetched *out,
               struct ebb_err *err)
{
    struct ebb_http_call call = {.method = method,
                                 .url = url,
                                 .headers = &t->headers,
                                 .answer_bytes = PAGE_MAX_BYTES,
                                 .deadline_ms = ANSWER_MS,
                                 .try_ms = TRY_MS,
                                 .tries = 8,
                                 .first_wait_ms = 100,
                                 .can_repeat = true};
    int rc;

    if (body)
        call.body = ebb_str_of(body);
    rc = ebb_http_sync_call(t->http, &call, out, err);
    if (rc && rc != -(int)EBB_ENOMEM) {
        rc = ebb_err_as(err, EBB_EENGINE, "trino");
        if (err)
            err->retryable = true;
    }
    return rc;
}

static int refuse_status(const struct ebb_http_fetched *got, struct ebb_err *err)
{
    char text[200];
    size_t n = got->body.len < sizeof text ? got->body.len : sizeof text - 1;
    int rc;

    for (size_t i = 0; i < n; i++)
        text[i] = (unsigned char)got->body.data[i] < 0x20 ? ' ' : got->body.data[i];
    text[n] = '\0';
    rc = ebb_err_set(err, EBB_EENGINE, "trino: answered with status %d%s%s", got->status, n ? ": " : "", text);
    if (got->status == 401 || got->status == 403)
        ebb_err_hint(err, "engines.trino: user, password or token");
    if (err)
        err->retryable = got->status == 429 || got->status == 502 || got->status == 503 || got->status == 504;
    return rc;
}

/* The way on stays at the server that was asked: whoever answers can't send our credentials elsewhere. */
static int take_next(struct ebb_trino *t, const struct page *p, struct ebb_err *err)
{
    const char *authority = strstr(t->uri, "://");
    size_t n = authority ? (size_t)(authority - t->uri) + 3 + strcspn(authority + 3, "/") : 0;

    ebb_buf_reset(&t->next);
    if (!p->next[0])
        return 0;
    if (strncasecmp(p->next, t->uri, n) != 0 || p->next[n] != '/')
        return ebb_err_set(err, EBB_EENGINE, "trino: its next address is that of another server");
    ebb_buf_puts(&t->next, p->next);
    return ebb_buf_check(&t->next, "address of a page", err);
}

static bool is_id(const char *id)
{
    return id[0] && strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(id);
}

static int take_first(struct ebb_trino *t, const struct page *p, struct ebb_err *err)
{
    if (p->has_error)
        return ebb_err_set(err, EBB_EENGINE, "trino: %s: %s", p->error_name, p->message);
    if (!is_id(p->id) || !p->next[0])
        return ebb_err_set(err, EBB_EENGINE, "trino: the answer names no query");
    memcpy(t->id, p->id, sizeof t->id);
    return take_next(t, p, err);
}

int ebb_trino_post(struct ebb_trino *t, const char *statement, struct ebb_err *err)
{
    struct ebb_http_fetched got;
    struct ebb_buf url;
    struct page p;
    int rc;

    memset(&got, 0, sizeof got);
    ebb_buf_init(&url, 8192);
    ebb_buf_printf(&url, "%s/v1/statement", t->uri);
    rc = ebb_buf_check(&url, "address of Trino", err);
    if (!rc)
        rc = ask(t, "POST", ebb_buf_cstr(&url), statement, &got, err);
    if (!rc && got.status != 200)
        rc = refuse_status(&got, err);
    if (!rc)
        rc = parse_page(&got.body, &p, err);
    if (!rc)
        rc = take_first(t, &p, err);
    ebb_http_fetched_fini(&got);
    ebb_buf_fini(&url);
    return rc;
}

static enum ebb_trino_state failed(const struct page *p, struct ebb_err *err)
{
    bool is_ended = !strcmp(p->error_name, "USER_CANCELED") || !strcmp(p->error_name, "ADMINISTRATIVELY_KILLED");

    ebb_err_set(err, EBB_EENGINE, "trino: %s: %s", p->error_name, p->message);
    return is_ended ? EBB_TRINO_CANCELLED : EBB_TRINO_FAILED;
}

static int judge_page(struct ebb_trino *t, const struct ebb_http_fetched *got, const char *column, ebb_trino_row_cb *cb,
                      void *data, enum ebb_trino_state *state, struct ebb_err *err)
{
    struct page p;
    int rc = parse_page(&got->body, &p, err);

    if (!rc && strcmp(p.id, t->id) != 0)
        rc = ebb_err_set(err, EBB_EENGINE, "trino: the answer is not one of the query");
    if (!rc)
        rc = hand_on(&p, column, cb, data, err);
    if (!rc)
        rc = take_next(t, &p, err);
    if (!rc && p.has_error)
        *state = failed(&p, err);
    else if (!rc)
        *state = t->next.len ? EBB_TRINO_RUNNING : EBB_TRINO_DONE;
    return rc;
}

int ebb_trino_page(struct ebb_trino *t, const char *column, ebb_trino_row_cb *cb, void *data,
                   enum ebb_trino_state *state, struct ebb_err *err)
{
    struct ebb_http_fetched got;
    int rc;

    memset(&got, 0, sizeof got);
    if (!t->next.len)
        return ebb_err_set(err, EBB_EINTERNAL, "trino: there is no page to take");
    rc = ask(t, "GET", ebb_buf_cstr(&t->next), NULL, &got, err);
    if (!rc && (got.status == 404 || got.status == 410))
        *state = EBB_TRINO_GONE;
    else if (!rc && got.status != 200)
        rc = refuse_status(&got, err);
    else if (!rc)
        rc = judge_page(t, &got, column, cb, data, state, err);
    ebb_http_fetched_fini(&got);
    return rc;
}

/* ---- by id ---- */

static int name_query(const struct ebb_trino *t, const char *id, struct ebb_buf *url, struct ebb_err *err)
{
    if (!is_id(id))
        return ebb_err_set(err, EBB_EENGINE, "trino: %.40s: is no id of a query", id);
    ebb_buf_printf(url, "%s/v1/query/%s", t->uri, id);
    return ebb_buf_check(url, "address of a query", err);
}

static enum ebb_trino_state state_of(const struct page *p, struct ebb_err *err)
{
    if (!strcmp(p->state, "FINISHED"))
        return EBB_TRINO_DONE;
    if (strcmp(p->state, "FAILED") != 0)
        return EBB_TRINO_RUNNING;
    ebb_err_set(err, EBB_EENGINE, "trino: the query failed%s%s", p->message[0] ? ": " : "", p->message);
    return EBB_TRINO_FAILED;
}

int ebb_trino_ask(struct ebb_trino *t, const char *id, enum ebb_trino_state *state, struct ebb_err *err)
{
    struct ebb_http_fetched got;
    struct ebb_buf url;
    struct page p;
    int rc;

    memset(&got, 0, sizeof got);
    ebb_buf_init(&url, 8192);
    rc = name_query(t, id, &url, err);
    if (!rc)
        rc = ask(t, "GET", ebb_buf_cstr(&url), NULL, &got, err);
    if (!rc && (got.status == 404 || got.status == 410)) {
        *state = EBB_TRINO_GONE;
    } else if (!rc && got.status != 200) {
        rc = refuse_status(&got, err);
    } else if (!rc) {
        rc = parse_page(&got.body, &p, err);
        if (!rc)
            *state = state_of(&p, err);
    }
    ebb_http_fetched_fini(&got);
    ebb_buf_fini(&url);
    return rc;
}

int ebb_trino_cancel(struct ebb_trino *t, const char *id, struct ebb_err *err)
{
    struct ebb_http_fetched got;
    struct ebb_buf url;
    int rc;

    memset(&got, 0, sizeof got);
    ebb_buf_init(&url, 8192);
    rc = name_query(t, id ? id : t->id, &url, err);
    if (!rc)
        rc = ask(t, "DELETE", ebb_buf_cstr(&url), NULL, &got, err);
    if (!rc && got.status != 204 && got.status != 200 && got.status != 404 && got.status != 410)
        rc = refuse_status(&got, err);
    ebb_http_fetched_fini(&got);
    ebb_buf_fini(&url);
    return rc;
}
