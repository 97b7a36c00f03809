/* SPDX-License-Identifier: Apache-2.0 */
#include "io/http_client_priv.h"

#include <stdlib.h>
#include <strings.h>

#define PER_HOST 8
#define ANSWER_BYTES ((size_t)8 << 20)
#define DEADLINE_MS 60000
#define TRY_MS 20000
#define TRIES 4
#define FIRST_WAIT_MS 250
#define MAX_WAIT_MS 10000

void ebb__http_client_free(struct ebb_http_client *client)
{
    curl_multi_cleanup(client->multi);
    free(client->ca_file);
    free(client->proxy);
    free(client->user_agent);
    free(client);
    curl_global_cleanup();
}

static bool copy(char **out, const char *text)
{
    *out = text ? strdup(text) : NULL;
    return !text || *out;
}

/* curl counts those who began it, behind a lock of its own. */
static int begin_curl(struct ebb_err *err)
{
    if (!(curl_version_info(CURLVERSION_NOW)->features & CURL_VERSION_THREADSAFE))
        return ebb_err_set(err, EBB_EUNSUPPORTED, "HTTP client: this libcurl cannot be begun by several threads");
    return curl_global_init(CURL_GLOBAL_DEFAULT) ? ebb_err_nomem(err) : 0;
}

int ebb_http_client_new(uv_loop_t *loop, const struct ebb_http_client_options *options, struct ebb_http_client **out,
                        struct ebb_err *err)
{
    struct ebb_http_client *client;
    int rc = begin_curl(err);

    *out = NULL;
    if (rc)
        return rc;
    client = calloc(1, sizeof *client);
    if (!client) {
        curl_global_cleanup();
        return ebb_err_nomem(err);
    }
    client->loop = loop;
    client->per_host = options->per_host ? options->per_host : PER_HOST;
    client->log = options->log;
    if (!copy(&client->ca_file, options->ca_file) || !copy(&client->proxy, options->proxy) ||
        !copy(&client->user_agent, options->user_agent ? options->user_agent : "ebb/" EBB_VERSION))
        rc = ebb_err_nomem(err);
    if (!rc)
        rc = ebb__http_loop_open(client, err);
    if (rc)
        ebb__http_client_free(client);
    else
        *out = client;
    return rc;
}

void ebb_http_client_close(struct ebb_http_client *client, void (*closed)(void *data), void *data)
{
    client->is_closing = true;
    client->closed = closed;
    client->data = data;
    for (struct ebb_http_request *r = client->requests; r; r = r->next)
        ebb_http_cancel(r);
    if (!client->requests)
        ebb__http_loop_finish(client);
}

static unsigned or_default(unsigned value, unsigned other)
{
    return value ? value : other;
}

static int take_call(struct ebb_http_request *r, const struct ebb_http_call *call, struct ebb_err *err)
{
    r->answer_bytes = call->answer_bytes ? call->answer_bytes : ANSWER_BYTES;
    r->deadline_ms = or_default(call->deadline_ms, DEADLINE_MS);
    r->try_ms = or_default(call->try_ms, TRY_MS);
    r->tries_max = or_default(call->tries, TRIES);
    r->first_wait_ms = or_default(call->first_wait_ms, FIRST_WAIT_MS);
    r->max_wait_ms = or_default(call->max_wait_ms, MAX_WAIT_MS);
    r->may_repeat = !call->is_once && (call->can_repeat || ebb__http_is_idempotent(call->method));
    r->seed = call->seed;
    r->ends_at = ebb_clock_elapsed_ms() + r->deadline_ms;
    r->body_bytes = call->body.n;
    r->body = malloc(call->body.n + 1);
    ebb_strs_init(&r->answer_headers);
    ebb_buf_init(&r->answer, r->answer_bytes);
    if (!r->body || !copy(&r->method, call->method) || !copy(&r->url, call->url))
        return ebb_err_nomem(err);
    if (call->body.n)
        memcpy(r->body, call->body.p, call->body.n);
    return 0;
}

static void add_request(struct ebb_http_client *client, struct ebb_http_request *r)
{
    r->at = &client->requests;
    r->next = client->requests;
    if (r->next)
        r->next->at = &r->next;
    client->requests = r;
    uv_timer_init(client->loop, &r->timer);
    r->timer.data = r;
}

int ebb_http_start(struct ebb_http_client *client, const struct ebb_http_call *call, ebb_http_call_cb *cb, void *data,
                   struct ebb_http_request **out, struct ebb_err *err)
{
    char key[EBB__HTTP_HOST_MAX], where[EBB__HTTP_HOST_MAX];
    struct ebb_http_request *r = NULL;
    int rc = ebb__http_check(call, key, where, err);

    if (!rc && client->is_closing)
        rc = ebb_err_set(err, EBB_ECANCELLED, "%s: the HTTP client is closing", where);
    if (!rc && !(r = calloc(1, sizeof *r)))
        rc = ebb_err_nomem(err);
    if (rc)
        return rc;
    r->client = client;
    r->cb = cb;
    r->data = data;
    memcpy(r->where, where, sizeof where);
    rc = take_call(r, call, err);
    if (!rc)
        rc = ebb__http_easy_new(r, call->headers, err);
    if (!rc && !(r->host = ebb__http_host_of(client, key)))
        rc = ebb_err_nomem(err);
    if (rc) {
        ebb__http_request_free(r);
        return rc;
    }
    add_request(client, r);
    ebb__http_enqueue(r);
    if (out)
        *out = r;
    return 0;
}

void ebb_http_cancel(struct ebb_http_request *r)
{
    if (r->state == EBB__HTTP_TOLD)
        return;
    ebb__http_leave(r);
    ebb_err_set(&r->err, EBB_ECANCELLED, "%s: cancelled", r->where);
    ebb__http_done(r);
}

const char *ebb_http_result_header(const struct ebb_http_result *result, const char *name)
{
    size_t n = strlen(name);

    for (size_t i = 0; i < result->headers->count; i++) {
        const char *header = result->headers->items[i];

        if (!strncasecmp(header, name, n) && header[n] == ':')
            return header + n + 1 + strspn(header + n + 1, " \t");
    }
    return NULL;
}
