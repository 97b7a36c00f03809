/* SPDX-License-Identifier: Apache-2.0
 *
 * ebb status, ebb reload: asking the daemon of a state folder over HTTP.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "front/commands.h"
#include "front/print.h"
#include "io/http_client.h"
#include "service/daemon.h"

#define ANSWER_MAX_BYTES ((size_t)64 << 20)
#define POLL_MS 100

static const struct ebb_option RELOAD_OPTIONS[] = {
    {"wait", 0, NULL, NULL, false, "until all workers have it, or until it is refused"},
    {"force", 0, NULL, NULL, false, "also when five policies, or all, have vanished"},
    EBB_OPTIONS_END,
};

static const struct ebb_example STATUS_EXAMPLES[] = {
    {"ebb status", "what the daemon of the usual state folder does"},
    {"ebb status --json", "all of it, as one JSON object"},
    {NULL, NULL},
};

static const struct ebb_example RELOAD_EXAMPLES[] = {
    {"ebb reload --wait", "load configuration and policies anew; fails with what is wrong in them"},
    {"ebb reload --force", "although many policies were removed"},
    {NULL, NULL},
};

/* ---- one request ---- */

struct asking {
    uv_loop_t loop;
    struct ebb_http_client *client;
    struct ebb_buf body;
    int status;
    struct ebb_err err;
};

static void on_answer(void *data, const struct ebb_http_result *result, const struct ebb_err *err)
{
    struct asking *a = data;

    a->err = *err;
    a->status = result ? result->status : 0;
    if (result)
        ebb_buf_add_str(&a->body, result->body);
    uv_stop(&a->loop);
}

static void on_closed(void *data)
{
    (void)data;
}

/* "0.0.0.0:1" listens everywhere: it is asked here. */
static void make_url(const struct ebb_daemon_place *place, const char *path, struct ebb_buf *out)
{
    const char *address = place->address;

    ebb_buf_printf(out, "%s://", place->scheme);
    if (!strncmp(address, "0.0.0.0:", 8))
        ebb_buf_printf(out, "127.0.0.1:%s", address + 8);
    else if (!strncmp(address, "[::]:", 5))
        ebb_buf_printf(out, "[::1]:%s", address + 5);
    else
        ebb_buf_puts(out, address);
    ebb_buf_puts(out, path);
}

static int start(struct asking *a, const struct ebb_daemon_place *place, const char *method, const char *path,
                 const char *body, struct ebb_err *err)
{
    struct ebb_http_request *request;
    struct ebb_http_call call;
    struct ebb_strs headers;
    struct ebb_buf url, token;
    int rc;

    memset(&call, 0, sizeof call);
    ebb_strs_init(&headers);
    ebb_buf_init(&url, 65536);
    ebb_buf_init(&token, 1024);
    make_url(place, path, &url);
    ebb_buf_printf(&token, "Authorization: Bearer %s", place->token);
    rc = place->token[0] ? ebb_strs_add(&headers, ebb_buf_cstr(&token), err) : 0;
    if (!rc && body)
        rc = ebb_strs_add(&headers, "Content-Type: application/json", err);
    call.method = method;
    call.url = ebb_buf_cstr(&url);
    call.headers = &headers;
    call.body = ebb_str_of(body ? body : "");
    call.answer_bytes = ANSWER_MAX_BYTES;
    call.tries = 1;
    if (!rc)
        rc = ebb_http_start(a->client, &call, on_answer, a, &request, err);
    ebb_strs_fini(&headers);
    ebb_buf_fini(&url);
    ebb_buf_fini(&token);
    return rc;
}

static int open_client(struct asking *a, const struct ebb_daemon_place *place, struct ebb_err *err)
{
    struct ebb_http_client_options o;

    memset(&o, 0, sizeof o);
    o.ca_file = place->cert[0] ? place->cert : NULL;
    o.proxy = "";
    return ebb_http_client_new(&a->loop, &o, &a->client, err);
}

/* The answer's body, whatever its status. EBB_EIO when there is none. */
static int ask(const struct ebb_daemon_place *place, const char *method, const char *path, const char *body,
               struct ebb_buf *out, int *status, struct ebb_err *err)
{
    struct asking a;
    int rc;

    memset(&a, 0, sizeof a);
    ebb_buf_init(&a.body, ANSWER_MAX_BYTES);
    if (uv_loop_init(&a.loop))
        return ebb_err_nomem(err);
    rc = open_client(&a, place, err);
    if (!rc) {
        rc = start(&a, place, method, path, body, err);
        if (!rc)
            uv_run(&a.loop, UV_RUN_DEFAULT);
        ebb_http_client_close(a.client, on_closed, NULL);
        uv_run(&a.loop, UV_RUN_DEFAULT);
    }
    if (!rc && a.err.error) {
        *err = a.err;
        rc = -(int)a.err.error;
    }
    if (!rc) {
        ebb_buf_add_str(out, ebb_buf_str(&a.body));
        *status = a.status;
    }
    uv_loop_close(&a.loop);
    ebb_buf_fini(&a.body);
    return rc;
}

/* What a problem document says. */
static int refused(int status, struct ebb_buf *body, struct ebb_err *err)
{
    struct ebb_value *map = NULL;
    const char *detail;

    ebb_value_of_json("answer", ebb_buf_cstr(body), body->len, NULL, &map, NULL);
    detail = ebb_value_text_of(map, "detail");
    ebb_err_set(err, status == 401 || status == 403 ? EBB_EPERMISSION : EBB_EIO, "daemon: answered %d%s%s", status,
                detail ? ": " : "", detail ? detail : "");
    ebb_value_free(map);
    return -(int)err->error;
}

static int get_status(const struct ebb_daemon_place *place, struct ebb_buf *text, struct ebb_value **out,
                      struct ebb_err *err)
{
    int status = 0, rc;

    *out = NULL;
    ebb_buf_reset(text);
    rc = ask(place, "GET", "/api/status", NULL, text, &status, err);
    if (!rc && status != 200)
        rc = refused(status, text, err);
    return rc ? rc : ebb_value_of_json("status", ebb_buf_cstr(text), text->len, NULL, out, err);
}

/* ---- status ---- */

static void field(struct ebb_buf *out, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void field(struct ebb_buf *out, const char *name, const char *format, ...)
{
    char text[2048];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    ebb_print_field(out, name, text);
}

static const char *or_none(const char *text)
{
    return text ? text : "";
}

#define HASH_SHOWN 19 /* "sha256:" and twelve digits; --json has all */

/* Most messages begin with the file that they are about. */
static void print_fault(struct ebb_buf *out, const struct ebb_value *e)
{
    const char *file = or_none(ebb_value_text_of(e, "file")), *message = or_none(ebb_value_text_of(e, "message"));
    const char *hint = or_none(ebb_value_text_of(e, "hint")), *since = or_none(ebb_value_text_of(e, "since"));
    int64_t line = ebb_value_int_of(e, "line", 0);

    if (strstr(message, file))
        field(out, "not loaded", "%s (since %s)", message, since);
    else if (line)
        field(out, "not loaded", "%s:%" PRId64 ": %s (since %s)", file, line, message, since);
    else
        field(out, "not loaded", "%s: %s (since %s)", file, message, since);
    if (hint[0])
        field(out, "  hint", "%s", hint);
}

static void print_generation(struct ebb_buf *out, const struct ebb_value *status)
{
    const struct ebb_value *g = ebb_value_get(status, "generation"), *e = ebb_value_get(g, "error");

    field(out, "policies", "%" PRId64 ", bindings %" PRId64, ebb_value_int_of(status, "policies", 0),
          ebb_value_int_of(status, "bindings", 0));
    field(out, "generation", "%.*s…, loaded %s", HASH_SHOWN, or_none(ebb_value_text_of(g, "hash")),
          or_none(ebb_value_text_of(g, "loaded")));
    if (e)
        print_fault(out, e);
}

static void print_work(struct ebb_buf *out, const struct ebb_value *status)
{
    const struct ebb_value *jobs = ebb_value_get(status, "jobs"), *due = ebb_value_get(status, "due");
    const struct ebb_value *store = ebb_value_get(status, "store"), *paused = ebb_value_get(status, "paused");

    ebb_print_count_field(out, "tables", ebb_value_int_of(status, "tables", 0));
    field(out, "jobs", "%" PRId64 " queued, %" PRId64 " started, %" PRId64 " succeeded, %" PRId64 " failed",
          ebb_value_int_of(jobs, "queued", 0), ebb_value_int_of(jobs, "started", 0),
          ebb_value_int_of(jobs, "succeeded", 0), ebb_value_int_of(jobs, "failed", 0));
    if (ebb_value_text_of(due, "at"))
        field(out, "next", "%s %s", ebb_value_text_of(due, "at"), or_none(ebb_value_text_of(due, "table")));
    for (size_t i = 0; i < ebb_value_get_count(paused); i++)
        ebb_print_field(out, i ? "" : "paused", or_none(ebb_value_get_str(ebb_value_get_at(paused, i))));
    if (!ebb_value_bool_of(store, "ok", true))
        field(out, "store", "can't be written since %s: %s", or_none(ebb_value_text_of(store, "since")),
              or_none(ebb_value_text_of(store, "error")));
}

static void print_status(struct ebb_cli *cli, const struct ebb_value *status)
{
    struct ebb_buf *out = &cli->out;
    const char *why = ebb_value_text_of(status, "why");

    ebb_print_word(cli, why ? EBB_PRINT_YELLOW : EBB_PRINT_GREEN, or_none(ebb_value_text_of(status, "state")));
    if (why) {
        ebb_buf_puts(out, ", not ready: ");
        ebb_print_text(out, why);
    }
    ebb_buf_putc(out, '\n');
    field(out, "process", "%" PRId64 ", ebb %s, started %s", ebb_value_int_of(status, "pid", 0),
          or_none(ebb_value_text_of(status, "version")), or_none(ebb_value_text_of(status, "started")));
    ebb_print_field(out, "address", or_none(ebb_value_text_of(status, "address")));
    print_generation(out, status);
    print_work(out, status);
}

static int run_status(struct ebb_cli *cli, struct ebb_err *err)
{
    struct ebb_daemon_place place;
    struct ebb_value *status = NULL;
    struct ebb_buf text;
    int rc = ebb_daemon_find(ebb_args_get(&cli->args, "state"), &place, err);

    if (rc)
        return rc;
    ebb_buf_init(&text, ANSWER_MAX_BYTES);
    rc = get_status(&place, &text, &status, err);
    if (!rc && cli->is_json)
        ebb_buf_add_str(&cli->out, ebb_buf_str(&text));
    else if (!rc)
        print_status(cli, status);
    ebb_value_free(status);
    ebb_buf_fini(&text);
    return rc;
}

/* ---- reload ---- */

static bool has_old_worker(const struct ebb_value *status, const char *hash)
{
    const struct ebb_value *workers = ebb_value_get(status, "workers");

    for (size_t i = 0; i < ebb_value_get_count(workers); i++) {
        const struct ebb_value *w = ebb_value_get_at(workers, i);
        const char *pool = ebb_value_text_of(w, "pool"), *its = ebb_value_text_of(w, "hash");

        /* A job that runs keeps what it was decided with. */
        if (pool && its && strcmp(pool, "job") != 0 && its[0] && strcmp(its, hash) != 0)
            return true;
    }
    return false;
}

static enum ebb_error error_of(const char *code)
{
    for (int e = EBB_OK + 1; code && e < EBB_ERROR_COUNT; e++)
        if (!strcmp(ebb_error_code((enum ebb_error)e), code))
            return (enum ebb_error)e;
    return EBB_ECONFIG;
}

static int failed(const struct ebb_value *e, struct ebb_err *err)
{
    const char *hint = ebb_value_text_of(e, "hint"), *code = ebb_value_text_of(e, "code");

    ebb_err_set(err, error_of(code), "reload: %s", or_none(ebb_value_text_of(e, "message")));
    if (hint && hint[0])
        ebb_err_hint(err, "%s", hint);
    return -(int)err->error;
}

/* One more look at the status. *is_over: the reload ended, as rc tells. */
static int look(struct ebb_cli *cli, const struct ebb_daemon_place *place, int64_t before, bool *is_over,
                struct ebb_err *err)
{
    const struct ebb_value *g;
    struct ebb_value *status = NULL;
    struct ebb_buf text;
    const char *hash;
    int rc;

    ebb_buf_init(&text, ANSWER_MAX_BYTES);
    rc = get_status(place, &text, &status, err);
    g = ebb_value_get(status, "generation");
    hash = or_none(ebb_value_text_of(g, "hash"));
    *is_over = rc || (ebb_value_int_of(status, "reloads", 0) > before &&
                      !ebb_value_bool_of(status, "is_reloading", false) && !has_old_worker(status, hash));
    if (!rc && *is_over && ebb_value_get(g, "error"))
        rc = failed(ebb_value_get(g, "error"), err);
    else if (!rc && *is_over && cli->is_json)
        ebb_buf_printf(&cli->out, "{\"hash\":\"%s\"}\n", hash);
    else if (!rc && *is_over)
        ebb_buf_printf(&cli->out, "loaded %s\n", hash);
    ebb_value_free(status);
    ebb_buf_fini(&text);
    return rc;
}

static int wait_for(struct ebb_cli *cli, const struct ebb_daemon_place *place, int64_t before, struct ebb_err *err)
{
    bool is_over = false;
    int rc = 0;

    while (!rc && !is_over) {
        if (cli->cancelled && atomic_load(cli->cancelled))
            return ebb_err_set(err, EBB_ECANCELLED, "interrupted: the daemon goes on with the reload");
        uv_sleep(POLL_MS);
        rc = look(cli, place, before, &is_over, err);
    }
    return rc;
}

static int run_reload(struct ebb_cli *cli, struct ebb_err *err)
{
    const char *body = ebb_args_has(&cli->args, "force") ? "{\"force\":true}" : "{}";
    struct ebb_daemon_place place;
    struct ebb_value *status = NULL;
    struct ebb_buf text;
    int64_t before;
    int answer = 0, rc = ebb_daemon_find(ebb_args_get(&cli->args, "state"), &place, err);

    if (rc)
        return rc;
    ebb_buf_init(&text, ANSWER_MAX_BYTES);
    rc = get_status(&place, &text, &status, err);
    before = ebb_value_int_of(status, "reloads", 0);
    ebb_value_free(status);
    ebb_buf_reset(&text);
    if (!rc)
        rc = ask(&place, "POST", "/api/reload", body, &text, &answer, err);
    if (!rc && answer / 100 != 2)
        rc = refused(answer, &text, err);
    if (!rc && ebb_args_has(&cli->args, "wait"))
        rc = wait_for(cli, &place, before, err);
    ebb_buf_fini(&text);
    return rc;
}

const struct ebb_command ebb_command_status = {
    .name = "status",
    .args = "",
    .summary = "what the daemon is doing",
    .about = "Asks the daemon that works on the state folder. Whoever may read that folder may ask.",
    .examples = STATUS_EXAMPLES,
    .run = run_status,
};

const struct ebb_command ebb_command_reload = {
    .name = "reload",
    .args = "",
    .summary = "let the daemon load configuration and policies anew",
    .about = "What can't be loaded whole changes nothing: the policies in use stay. Queued and deferred runs of "
             "policies that changed are decided again; runs that were started keep their plan.",
    .options = RELOAD_OPTIONS,
    .examples = RELOAD_EXAMPLES,
    .run = run_reload,
};
