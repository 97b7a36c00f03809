/* SPDX-License-Identifier: Apache-2.0
 *
 * Spark behind Livy: a batch of scripts/spark/ebb_statement.py, whose output is found in the log by a marker. The
 * handle is the batch's name until its id is known, then "name id".
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "format/json.h"
#include "io/livy.h"
#include "service/engine_priv.h"

#define REQUEST_MAX_BYTES ((size_t)4 << 20)

struct livy {
    const struct ebb_engine_context *context;
    const struct ebb_engine_config *config;
    const struct ebb_engine_spec *spec;
    struct ebb_livy *client;
    char name[64];
    int64_t id; /* -1 unknown */
    bool is_to_end;
};

static int livy_open(const struct ebb_engine_context *context, void **run, struct ebb_err *err)
{
    const struct ebb_engine_config *config = &ebb_workspace_config(context->ws)->engines.livy;
    const struct ebb_livy_options o = {config->uri, config->user, config->password, config->token,
                                       ebb_workspace_site(context->ws)->log};
    struct livy *l;
    int rc;

    *run = NULL;
    if (!config->is_set)
        return ebb_err_set(err, EBB_ECONFIG, "engine livy: is not configured (engines.livy)");
    l = calloc(1, sizeof *l);
    if (!l)
        return ebb_err_nomem(err);
    *l = (struct livy){.context = context, .config = config, .id = -1};
    rc = ebb_livy_new(&o, &l->client, err);
    if (rc)
        free(l);
    else
        *run = l;
    return rc;
}

/* ---- begin ---- */

static int put_argument(const struct livy *l, struct ebb_jsonw *w, struct ebb_err *err)
{
    struct ebb_buf text;
    struct ebb_jsonw inner;
    int rc;

    ebb_buf_init(&text, REQUEST_MAX_BYTES);
    ebb_jsonw_init(&inner, &text);
    ebb_jsonw_begin(&inner, '{');
    ebb_jsonw_kstr(&inner, "key", l->spec->key);
    ebb_jsonw_kstr(&inner, "statement", l->spec->statement);
    ebb_jsonw_kstr(&inner, "column", l->spec->column);
    ebb_jsonw_end(&inner, '}');
    rc = ebb_buf_check(&text, "statement", err);
    if (!rc)
        ebb_jsonw_str(w, ebb_buf_cstr(&text));
    ebb_buf_fini(&text);
    return rc;
}

static int put_setting(void *data, const char *name, const char *value, struct ebb_err *err)
{
    (void)err;
    ebb_value_put_str(data, name, value); /* again: the later one counts */
    return 0;
}

static int make_request(const struct livy *l, struct ebb_buf *out, struct ebb_err *err)
{
    struct ebb_value *conf = ebb_value_new_map(NULL);
    struct ebb_jsonw w;
    int rc = ebb__engine_each_setting(l->config, l->spec->session, put_setting, conf, err);

    if (!rc)
        rc = ebb_value_check(conf, "settings of Spark", err);
    ebb_jsonw_init(&w, out);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kstr(&w, "file", l->config->file);
    ebb_jsonw_kstr(&w, "name", l->name);
    ebb_jsonw_key(&w, "args");
    ebb_jsonw_begin(&w, '[');
    if (!rc)
        rc = put_argument(l, &w, err);
    ebb_jsonw_end(&w, ']');
    ebb_jsonw_key(&w, "conf");
    if (!rc)
        ebb_value_write(conf, &w);
    ebb_jsonw_end(&w, '}');
    ebb_value_free(conf);
    return rc ? rc : ebb_buf_check(out, "request to Livy", err);
}

static int tell_handle(const struct livy *l, struct ebb_err *err)
{
    char handle[128];

    if (l->id >= 0)
        snprintf(handle, sizeof handle, "%s %" PRId64, l->name, l->id);
    else
        snprintf(handle, sizeof handle, "%s", l->name);
    return l->context->began(l->context->data, handle, err);
}

static int livy_start(void *run, const struct ebb_engine_spec *spec, struct ebb_err *err)
{
    struct livy *l = run;
    struct ebb_buf request;
    int rc;

    l->spec = spec;
    if (!spec->statement)
        return ebb_err_set(err, EBB_EUNSUPPORTED, "engine livy: takes statements only");
    snprintf(l->name, sizeof l->name, "%.60s", spec->key);
    ebb_buf_init(&request, REQUEST_MAX_BYTES);
    rc = make_request(l, &request, err);
    if (!rc)
        rc = tell_handle(l, err);
    if (!rc)
        rc = ebb_livy_start(l->client, l->name, ebb_buf_cstr(&request), &l->id, err);
    if (!rc)
        rc = tell_handle(l, err);
    if (rc && l->id >= 0)
        ebb_livy_delete(l->client, l->id, NULL);
    ebb_buf_fini(&request);
    return rc;
}

static int livy_attach(void *run, const char *handle, const struct ebb_engine_spec *spec, struct ebb_err *err)
{
    struct livy *l = run;
    size_t n = strcspn(handle, " ");

    l->spec = spec;
    snprintf(l->name, sizeof l->name, "%.*s", (int)n, handle);
    if (handle[n])
        l->id = strtoll(handle + n + 1, NULL, 10);
    return l->id >= 0 ? 0 : ebb_livy_find(l->client, l->name, &l->id, err);
}

/* ---- its log ---- */

struct reading {
    struct livy *l;
    ebb_engine_row_cb *cb;
    void *data;
    int64_t lines, rows, lines_said, rows_said; /* said: -1 not */
    char why[512];
};

/* What follows "<marker> <key> " in a line. */
static bool is_marked(struct ebb_str line, const char *marker, const char *key, struct ebb_str *rest)
{
    size_t m = strlen(marker), k = strlen(key);

    if (line.n < m + k + 2 || memcmp(line.p, marker, m) != 0 || line.p[m] != ' ' ||
        memcmp(line.p + m + 1, key, k) != 0 || line.p[m + 1 + k] != ' ')
        return false;
    *rest = (struct ebb_str){line.p + m + k + 2, line.n - m - k - 2};
    return true;
}

static bool take_number(struct ebb_str *rest, int64_t *out)
{
    size_t i = 0;

    *out = 0;
    while (i < rest->n && i < 15 && rest->p[i] >= '0' && rest->p[i] <= '9')
        *out = *out * 10 + (rest->p[i++] - '0');
    if (!i)
        return false;
    i += i < rest->n;
    *rest = (struct ebb_str){rest->p + i, rest->n - i};
    return true;
}

static int take_rows(struct reading *r, struct ebb_str rest, struct ebb_err *err)
{
    struct ebb_json j;
    int64_t line;
    int rc;

    if (!take_number(&rest, &line) || line != r->lines++)
        return ebb_err_set(err, EBB_EENGINE, "livy: lines of the answer are missing in the log");
    ebb_json_init(&j, "answer of the job", rest.p, rest.n);
    rc = ebb_json_expect(&j, EBB_JSON_ARRAY, "rows", err);
    while (!rc && !(rc = ebb_json_next(&j, err)) && j.kind == EBB_JSON_STRING) {
        r->rows++;
        rc = r->cb ? r->cb(r->data, j.text, err) : 0;
    }
    ebb_json_fini(&j);
    return rc;
}

static int take_reason(struct reading *r, struct ebb_str rest, struct ebb_err *err)
{
    struct ebb_json j;
    int rc;

    ebb_json_init(&j, "reason", rest.p, rest.n);
    rc = ebb_json_expect(&j, EBB_JSON_STRING, "reason", err);
    if (!rc)
        snprintf(r->why, sizeof r->why, "%.*s", (int)(j.text.n < 500 ? j.text.n : 500), j.text.p);
    ebb_json_fini(&j);
    return rc;
}

static int on_line(void *data, struct ebb_str line, struct ebb_err *err)
{
    struct reading *r = data;
    const char *key = r->l->spec->key;
    struct ebb_str rest;

    if (is_marked(line, "EBB-ROWS", key, &rest))
        return take_rows(r, rest, err);
    if (is_marked(line, "EBB-FAILED", key, &rest))
        return take_reason(r, rest, err);
    if (is_marked(line, "EBB-END", key, &rest) &&
        (!take_number(&rest, &r->lines_said) || !take_number(&rest, &r->rows_said)))
        return ebb_err_set(err, EBB_EENGINE, "livy: the end of the answer is damaged");
    return 0;
}

static int livy_rows(void *run, ebb_engine_row_cb *cb, void *data, struct ebb_err *err)
{
    struct livy *l = run;
    struct reading r = {l, cb, data, 0, 0, -1, -1, ""};
    int rc = ebb_livy_log(l->client, l->id, on_line, &r, err);

    if (!rc && (r.lines_said != r.lines || r.rows_said != r.rows))
        rc = ebb_err_set(err, EBB_EENGINE, "livy: the answer of batch %" PRId64 " is not whole in its log", l->id);
    return rc;
}

static int failed(struct livy *l, struct ebb_err *err)
{
    struct reading r = {l, NULL, NULL, 0, 0, -1, -1, ""};
    char told[512];

    ebb_livy_log(l->client, l->id, on_line, &r, NULL);
    ebb__engine_mask(l->context->ws, l->spec->session, r.why, told, sizeof told);
    return ebb_err_set(err, EBB_EENGINE, "livy: batch %" PRId64 " failed%s%s", l->id, told[0] ? ": " : "", told);
}

/* ---- while it runs ---- */

static int livy_poll(void *run, int wait_ms, enum ebb_engine_state *state, struct ebb_err *err)
{
    static const enum ebb_engine_state STATES[] = {EBB_ENGINE_RUNNING, EBB_ENGINE_SUCCEEDED, EBB_ENGINE_FAILED,
                                                   EBB_ENGINE_CANCELLED, EBB_ENGINE_UNKNOWN};
    struct livy *l = run;
    enum ebb_livy_state now = EBB_LIVY_GONE;
    int rc = l->id >= 0 ? ebb_livy_state(l->client, l->id, &now, err) : 0;

    if (rc)
        return rc;
    *state = STATES[now];
    if (l->is_to_end && (now == EBB_LIVY_GONE || now == EBB_LIVY_DEAD))
        *state = EBB_ENGINE_CANCELLED;
    else if (now == EBB_LIVY_DEAD)
        failed(l, err);
    else if (now == EBB_LIVY_RUNNING)
        nanosleep(&(struct timespec){wait_ms / 1000, wait_ms % 1000 * 1000000L}, NULL);
    return 0;
}

static int livy_cancel(void *run, struct ebb_err *err)
{
    struct livy *l = run;

    l->is_to_end = true;
    return l->id >= 0 ? ebb_livy_delete(l->client, l->id, err) : 0;
}

static void livy_close(void *run)
{
    struct livy *l = run;

    if (!l)
        return;
    ebb_livy_free(l->client);
    free(l);
}

const struct ebb_engine_driver ebb_engine_livy = {"livy",    livy_open,   livy_start, livy_attach,
                                                  livy_poll, livy_cancel, livy_rows,  livy_close};
