/* SPDX-License-Identifier: Apache-2.0
 *
 * One request after the other of those that wait: signed anew at each try, as many at once as the server lets us.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "io/s3_priv.h"

#define FIRST_PAUSE_MS 100
#define MAX_PAUSE_MS 10000
#define TRY_MS 60000
#define RENEW_MS 60000                    /* between renewals of keys that no server called expired */
#define SKEW_MS ((int64_t)15 * 60 * 1000) /* that the interface bears */
#define URL_MAX ((size_t)16 * 1024)

enum state { WAITING, RUNNING, PAUSED, ANSWERED };

struct ebb__s3_request {
    struct ebb_s3 *s3;
    struct ebb__s3_request *next;
    enum state state;
    bool is_dropped;
    /* what is asked */
    char *method, *bucket, *query, *body;
    struct ebb_buf key;
    bool has_key, may_fail_in_success, is_once, is_fresh;
    size_t body_bytes, answer_bytes;
    struct ebb_strs headers;
    char sha256[EBB_SHA256_HEX];
    ebb__s3_cb *cb;
    void *data;
    /* tries */
    unsigned tries;
    bool has_new_keys, has_new_clock, has_token, is_unsure;
    unsigned falls, keys_made; /* of the client, when it was sent */
    int64_t paused_until;
    /* what came */
    int status;
    struct ebb_strs answer_headers;
    struct ebb_buf answer;
    char code[EBB__S3_CODE_MAX];
    struct ebb_err err;
};

static void free_request(struct ebb__s3_request *r)
{
    free(r->method);
    free(r->bucket);
    free(r->query);
    free(r->body);
    ebb_buf_fini(&r->key);
    ebb_buf_fini(&r->answer);
    ebb_strs_fini(&r->headers);
    ebb_strs_fini(&r->answer_headers);
    free(r);
}

static int copy_call(struct ebb__s3_request *r, const struct ebb__s3_call *call, struct ebb_err *err)
{
    int rc = 0;

    ebb_buf_init(&r->key, URL_MAX);
    ebb_buf_init(&r->answer, call->answer_bytes ? call->answer_bytes : EBB__S3_ANSWER_BYTES);
    ebb_strs_init(&r->headers);
    ebb_strs_init(&r->answer_headers);
    r->answer_bytes = r->answer.max;
    r->has_key = call->key.p != NULL;
    r->may_fail_in_success = call->may_fail_in_success;
    r->is_once = call->is_once;
    r->is_fresh = call->is_once || call->is_fresh;
    r->method = strdup(call->method);
    r->bucket = strdup(call->bucket);
    r->query = strdup(call->query ? call->query : "");
    r->body_bytes = call->body.n;
    r->body = malloc(call->body.n + 1);
    if (!r->method || !r->bucket || !r->query || !r->body)
        return ebb_err_nomem(err);
    if (call->body.n)
        memcpy(r->body, call->body.p, call->body.n);
    if (r->has_key)
        ebb_buf_add_str(&r->key, call->key);
    rc = ebb_buf_check(&r->key, "object name", err);
    for (size_t i = 0; !rc && call->headers && i < call->headers->count; i++)
        rc = ebb_strs_add(&r->headers, call->headers->items[i], err);
    return rc ? rc : ebb_sha256_hex(r->body, r->body_bytes, r->sha256, err);
}

int ebb__s3_start(struct ebb_s3 *s3, const struct ebb__s3_call *call, ebb__s3_cb *cb, void *data, struct ebb_err *err)
{
    struct ebb__s3_request *r = calloc(1, sizeof *r);
    int rc;

    if (!r)
        return ebb_err_nomem(err);
    r->s3 = s3;
    r->cb = cb;
    r->data = data;
    rc = copy_call(r, call, err);
    if (rc) {
        free_request(r);
        return rc;
    }
    *s3->end = r;
    s3->end = &r->next;
    return 0;
}

size_t ebb__s3_pending(const struct ebb_s3 *s3)
{
    size_t n = 0;

    for (const struct ebb__s3_request *r = s3->first; r; r = r->next)
        n++;
    return n;
}

/* What runs still belongs to the HTTP client until it answers. */
void ebb__s3_drop(struct ebb_s3 *s3)
{
    struct ebb__s3_request *r = s3->first, *next;

    for (; r; r = next) {
        next = r->next;
        if (r->state == RUNNING)
            r->is_dropped = true;
        else
            free_request(r);
    }
    s3->first = NULL;
    s3->end = &s3->first;
}

/* ---- sending ---- */

/* Buckets whose name is part of the host: not with dots (certificates), not where an endpoint was given. */
static bool is_in_path(const struct ebb_s3 *s3, const char *bucket)
{
    if (s3->path_style >= 0)
        return s3->path_style != 0;
    return s3->endpoint[0] || strchr(bucket, '.');
}

/* What a bucket may be called; anything else would change the URL. */
static bool is_bucket(const char *bucket)
{
    size_t n =
        strspn(bucket, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_"); /* old ones had capitals */

    return n > 0 && n < 256 && !bucket[n] && strcmp(bucket, ".") != 0 && strcmp(bucket, "..") != 0;
}

static void write_place(const struct ebb__s3_request *r, struct ebb_buf *host, struct ebb_buf *path)
{
    const struct ebb_s3 *s3 = r->s3;
    bool in_path = is_in_path(s3, r->bucket);

    if (in_path)
        ebb_buf_printf(host, "%s", s3->host);
    else
        ebb_buf_printf(host, "%s.%s", r->bucket, s3->host);
    ebb_buf_puts(path, s3->base);
    if (in_path)
        ebb_buf_printf(path, "/%s", r->bucket);
    if (r->has_key || !in_path)
        ebb_buf_putc(path, '/');
    if (r->has_key)
        ebb_http_encode(path, ebb_buf_str(&r->key), true);
}

static int get_keys(struct ebb_s3 *s3, struct ebb_aws_keys *keys, struct ebb_err *err)
{
    int rc;

    if (!s3->has_lender)
        return ebb_aws_credentials_get(s3->credentials, keys, err);
    rc = s3->lender.keys(s3->lender.data, s3->are_lent_expired, keys, err);
    if (!rc)
        s3->are_lent_expired = false;
    return rc;
}

static int sign(struct ebb__s3_request *r, const char *host, const char *path, struct ebb_strs *out,
                struct ebb_err *err)
{
    struct ebb_sigv4_request q = {.method = r->method,
                                  .host = host,
                                  .path = path,
                                  .query = r->query,
                                  .headers = &r->headers,
                                  .payload_sha256 = r->sha256,
                                  .region = r->s3->region,
                                  .service = "s3",
                                  .now_ms = ebb_clock_now(&r->s3->clock) + r->s3->skew_ms};
    int rc = get_keys(r->s3, &q.keys, err);

    r->keys_made = r->s3->keys_made;
    r->has_token = !rc && q.keys.session_token && q.keys.session_token[0];
    for (size_t i = 0; !rc && i < r->headers.count; i++)
        rc = ebb_strs_add(out, r->headers.items[i], err);
    return rc ? rc : ebb_sigv4_sign(&q, out, err);
}

static void on_answer(void *data, const struct ebb_http_result *result, const struct ebb_err *err);

static int send_to(struct ebb__s3_request *r, const char *host, const char *path, struct ebb_err *err)
{
    struct ebb_http_call call = {.method = r->method, .body = {r->body, r->body_bytes}};
    struct ebb_strs headers;
    struct ebb_buf url;
    int rc;

    ebb_strs_init(&headers);
    ebb_buf_init(&url, URL_MAX);
    ebb_buf_printf(&url, "%s://%s%s%s%s", r->s3->scheme, host, path, r->query[0] ? "?" : "", r->query);
    rc = ebb_buf_check(&url, "object name", err);
    if (!rc)
        rc = sign(r, host, path, &headers, err);
    call.url = ebb_buf_cstr(&url);
    call.headers = &headers;
    call.answer_bytes = r->answer_bytes;
    call.deadline_ms = call.try_ms = TRY_MS + (unsigned)(r->answer_bytes >> 20) * 100;
    call.tries = 1;
    call.can_repeat = true; /* of a connection that was kept and turns out to be dead */
    call.is_once = r->is_fresh;
    if (!rc)
        rc = ebb_http_sync_start(r->s3->sync, &call, on_answer, r, err);
    ebb_buf_fini(&url);
    ebb_strs_fini(&headers);
    return rc;
}

static void try_once(struct ebb__s3_request *r)
{
    struct ebb_s3 *s3 = r->s3;
    struct ebb_buf host, path;
    int rc = 0;

    ebb_buf_reset(&r->answer);
    ebb_strs_fini(&r->answer_headers);
    ebb_strs_init(&r->answer_headers);
    memset(&r->err, 0, sizeof r->err);
    r->code[0] = '\0';
    r->status = 0;
    ebb_buf_init(&host, URL_MAX);
    ebb_buf_init(&path, URL_MAX);
    if (!is_bucket(r->bucket))
        rc = ebb_err_set(&r->err, EBB_ECONFIG, "s3://%.100s: can't be the name of a bucket", r->bucket);
    write_place(r, &host, &path);
    if (!rc)
        rc = ebb_buf_check(&path, "object name", &r->err);
    if (!rc)
        rc = send_to(r, ebb_buf_cstr(&host), ebb_buf_cstr(&path), &r->err);
    ebb_buf_fini(&path);
    ebb_buf_fini(&host);
    r->state = rc ? ANSWERED : RUNNING;
    if (rc)
        return;
    r->falls = s3->falls;
    s3->running++;
    r->tries++;
}

/* ---- what comes ---- */

static uint64_t next_random(struct ebb_s3 *s3)
{
    uint64_t z = s3->seed += 0x9E3779B97F4A7C15u;

    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* Full jitter: anything up to a bound that doubles; at least what the server asks for, as far as that is sane. */
static int64_t jitter(struct ebb_s3 *s3, unsigned tries)
{
    int64_t most = (int64_t)FIRST_PAUSE_MS << (tries < 12 ? tries : 12);

    most = most < MAX_PAUSE_MS ? most : MAX_PAUSE_MS;
    return (int64_t)(next_random(s3) % (uint64_t)(most + 1));
}

static void pause_request(struct ebb__s3_request *r)
{
    const struct ebb_http_result result = {.headers = &r->answer_headers};
    const char *after = ebb_http_result_header(&result, "Retry-After");
    int64_t seconds = 0;

    if (!after || !ebb_text_count(after, &seconds) || seconds > MAX_PAUSE_MS / 1000)
        seconds = 0;
    r->paused_until = ebb_clock_elapsed_ms() + seconds * 1000 + jitter(r->s3, r->tries);
    r->state = PAUSED;
}

/* falls: as it was when the request went out; answers to what was sent before the last fall are of the same burst. */
static void slow_down(struct ebb_s3 *s3, unsigned falls)
{
    if (falls != s3->falls)
        return;
    s3->limit = s3->limit > 1 ? s3->limit / 2 : 1;
    s3->since_change = 0;
    s3->falls++;
}

int ebb__s3_pause(struct ebb_s3 *s3, unsigned tries, bool is_slower, struct ebb_err *err)
{
    if (is_slower)
        slow_down(s3, s3->falls);
    return ebb_http_sync_turn(s3->sync, jitter(s3, tries), err);
}

static void speed_up(struct ebb_s3 *s3)
{
    s3->since_change++;
    if (s3->limit < s3->requests_max && s3->since_change >= s3->limit) {
        s3->limit++;
        s3->since_change = 0;
    }
}

static void note_clock(struct ebb_s3 *s3, const struct ebb_strs *headers)
{
    const struct ebb_http_result result = {.headers = headers};
    const char *date = ebb_http_result_header(&result, "Date");
    int64_t theirs;

    if (date && !ebb__s3_http_time(date, &theirs))
        s3->ahead_ms = theirs - ebb_clock_now(&s3->clock);
}

static void name_of(const struct ebb__s3_request *r, struct ebb_buf *out)
{
    ebb_buf_init(out, 1024);
    ebb__s3_name(out, r->bucket, r->has_key ? ebb_buf_str(&r->key) : (struct ebb_str){"", 0});
}

static void tell_failure(struct ebb__s3_request *r, const struct ebb__s3_failure *failure)
{
    const struct ebb_http_result result = {.headers = &r->answer_headers};
    struct ebb_buf what;

    name_of(r, &what);
    ebb__s3_fail(r->s3, ebb_buf_cstr(&what), r->bucket, r->status, failure,
                 ebb_http_result_header(&result, "x-amz-bucket-region"), &r->err);
    ebb_buf_fini(&what);
}

/* Whether there are keys that were not tried yet: once for all requests that were sent with the same ones. is_said: the
 * server named the reason. */
static bool renew_keys(struct ebb__s3_request *r, bool is_said)
{
    struct ebb_s3 *s3 = r->s3;
    int64_t now = ebb_clock_elapsed_ms();

    if (r->has_new_keys)
        return false;
    r->has_new_keys = true;
    if (r->keys_made != s3->keys_made)
        return true;
    if (!is_said && s3->keys_made && now - s3->renewed_ms < RENEW_MS)
        return false;
    s3->renewed_ms = now;
    s3->keys_made++;
    if (s3->has_lender)
        s3->are_lent_expired = true;
    else
        ebb_aws_credentials_forget(s3->credentials);
    return true;
}

/* Once a request; the client's clock follows the server's from then on. */
static bool correct_clock(struct ebb__s3_request *r)
{
    struct ebb_s3 *s3 = r->s3;

    if (r->has_new_clock || s3->ahead_ms == INT64_MIN)
        return false;
    r->has_new_clock = true;
    if (s3->skew_ms == 0)
        ebb_log_say(&s3->log, EBB_LOG_WARN, "%s: its clock is %lld s %s ours; requests are signed by its time",
                    s3->host, (long long)(s3->ahead_ms < 0 ? -s3->ahead_ms : s3->ahead_ms) / 1000,
                    s3->ahead_ms < 0 ? "behind" : "ahead of");
    s3->skew_ms = s3->ahead_ms;
    return true;
}

/* An answer to HEAD has no body that names the reason: keys that end, and clocks apart, are told from what else is
 * known. */
static enum ebb__s3_next guess(const struct ebb__s3_request *r)
{
    const struct ebb_http_result result = {.headers = &r->answer_headers};
    const char *region = ebb_http_result_header(&result, "x-amz-bucket-region");
    int64_t apart = r->s3->ahead_ms == INT64_MIN ? 0 : r->s3->ahead_ms - r->s3->skew_ms;

    if (strcmp(r->method, "HEAD") != 0 || (r->status != 400 && r->status != 403))
        return EBB__S3_DONE;
    if (r->status == 403 && (apart > SKEW_MS || apart < -SKEW_MS))
        return EBB__S3_NEW_CLOCK;
    if (!r->has_token || (region && strcmp(region, r->s3->region) != 0))
        return EBB__S3_DONE;
    return EBB__S3_NEW_KEYS;
}

static bool is_root_error(struct ebb_str body)
{
    struct ebb__s3_failure failure;

    ebb__s3_failure_read(body, &failure);
    return failure.code[0];
}

/* An answer of the server. */
static void judge(struct ebb__s3_request *r)
{
    struct ebb__s3_failure failure;
    bool is_good = r->status >= 200 && r->status < 300;
    enum ebb__s3_next next;
    bool is_said;

    memset(&failure, 0, sizeof failure);
    if (!is_good || (r->may_fail_in_success && is_root_error(ebb_buf_str(&r->answer))))
        ebb__s3_failure_read(ebb_buf_str(&r->answer), &failure);
    next = failure.code[0] ? EBB__S3_DONE : guess(r);
    is_said = next == EBB__S3_DONE;
    if (is_said)
        next = ebb__s3_judge(r->status, failure.code);
    snprintf(r->code, sizeof r->code, "%s", failure.code);
    if (next == EBB__S3_SLOWER)
        slow_down(r->s3, r->falls);
    else
        speed_up(r->s3);
    r->state = ANSWERED;
    /* 503 without a code may be of a proxy that lost the server's answer */
    r->is_unsure = r->is_unsure || next == EBB__S3_AGAIN || (next == EBB__S3_SLOWER && !failure.code[0]);
    if ((next == EBB__S3_AGAIN || next == EBB__S3_SLOWER) && !r->is_once && r->tries < EBB__S3_TRIES) {
        pause_request(r);
        return;
    }
    if ((next == EBB__S3_NEW_KEYS && renew_keys(r, is_said)) || (next == EBB__S3_NEW_CLOCK && correct_clock(r))) {
        r->state = WAITING;
        return;
    }
    if (!is_good || failure.code[0])
        tell_failure(r, &failure);
}

/* No answer: what was asked may have been done. */
static void judge_silence(struct ebb__s3_request *r, const struct ebb_err *err)
{
    struct ebb_buf what;

    r->is_unsure = true;
    r->state = ANSWERED;
    if (err->error == EBB_EIO && err->retryable && !r->is_once && r->tries < EBB__S3_TRIES) {
        pause_request(r);
        return;
    }
    name_of(r, &what);
    r->err = *err;
    if (err->error == EBB_EIO) {
        ebb_err_set(&r->err, EBB_EIO, "%s: the server can't be reached: %s", ebb_buf_cstr(&what), err->message);
        ebb_err_hint(&r->err, err->hint[0] ? "%s" : "is storage.s3.endpoint right, and does a server listen there?%s",
                     err->hint);
        r->err.retryable = err->retryable;
    }
    ebb_buf_fini(&what);
}

static void on_answer(void *data, const struct ebb_http_result *result, const struct ebb_err *err)
{
    struct ebb__s3_request *r = data;
    int rc = 0;

    if (r->is_dropped) {
        r->s3->running--;
        free_request(r);
        return;
    }
    r->s3->running--;
    if (err->error) {
        judge_silence(r, err);
        return;
    }
    r->status = result->status;
    for (size_t i = 0; !rc && i < result->headers->count; i++)
        rc = ebb_strs_add(&r->answer_headers, result->headers->items[i], &r->err);
    ebb_buf_add_str(&r->answer, result->body);
    if (!rc)
        rc = ebb_buf_check(&r->answer, "answer", &r->err);
    r->state = ANSWERED;
    if (rc)
        return;
    note_clock(r->s3, &r->answer_headers);
    judge(r);
}

/* ---- turning ---- */

static void start_waiting(struct ebb_s3 *s3, int64_t *wake_ms)
{
    int64_t now = ebb_clock_elapsed_ms();

    *wake_ms = -1;
    for (struct ebb__s3_request *r = s3->first; r; r = r->next) {
        if (r->state == PAUSED && r->paused_until <= now)
            r->state = WAITING;
        if (r->state == WAITING && s3->running < s3->limit)
            try_once(r);
        if (r->state == PAUSED && (*wake_ms < 0 || r->paused_until - now < *wake_ms))
            *wake_ms = r->paused_until - now;
    }
}

static void tell(struct ebb__s3_request *r)
{
    const struct ebb__s3_answer answer = {
        r->status, &r->answer_headers, ebb_buf_str(&r->answer), r->code, &r->err, r->tries, r->is_unsure, &r->answer};

    r->cb(r->data, &answer);
    free_request(r);
}

/* Take the first that was answered out of the line. */
static struct ebb__s3_request *take_answered(struct ebb_s3 *s3)
{
    for (struct ebb__s3_request **at = &s3->first; *at; at = &(*at)->next) {
        struct ebb__s3_request *r = *at;

        if (r->state != ANSWERED)
            continue;
        *at = r->next;
        if (!r->next)
            s3->end = at;
        return r;
    }
    return NULL;
}

int ebb__s3_turn(struct ebb_s3 *s3, struct ebb_err *err)
{
    struct ebb__s3_request *r;
    bool has_told = false;
    int rc = 0;

    while (!rc && !has_told && s3->first) {
        int64_t wake_ms;

        start_waiting(s3, &wake_ms);
        while ((r = take_answered(s3)) != NULL) {
            has_told = true;
            tell(r);
        }
        if (!has_told)
            rc = ebb_http_sync_turn(s3->sync, wake_ms, err);
    }
    return rc;
}

void ebb__s3_poll(struct ebb_s3 *s3)
{
    int64_t unwanted;

    start_waiting(s3, &unwanted);
    ebb_http_sync_poll(s3->sync);
}

const char *ebb__s3_header(const struct ebb__s3_answer *answer, const char *name)
{
    const struct ebb_http_result result = {.headers = answer->headers};

    return ebb_http_result_header(&result, name);
}
