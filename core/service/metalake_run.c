/* SPDX-License-Identifier: Apache-2.0 */
#include "service/metalake.h"

#include <stdio.h>

#include "io/http_sync.h"

#define BODY_MAX ((size_t)1 << 20)

static int put_path(const char *id, struct ebb_buf *path, struct ebb_err *err)
{
    ebb_buf_puts(path, "/jobs/runs");
    if (id)
        ebb_gravitino_segment(path, id);
    return ebb_buf_check(path, "job run", err);
}

/* ---- what is told of a run ---- */

static enum ebb_metalake_state state_of(const char *status)
{
    if (!strcmp(status, "succeeded"))
        return EBB_METALAKE_SUCCEEDED;
    if (!strcmp(status, "failed"))
        return EBB_METALAKE_FAILED;
    return strcmp(status, "cancelled") ? EBB_METALAKE_ACTIVE : EBB_METALAKE_CANCELLED;
}

/* A status that this version does not know is one that goes on. */
static int read_run(const struct ebb_value *job, struct ebb_metalake_run *out, struct ebb_err *err)
{
    const char *id = ebb_value_text_of(job, "jobId"), *status = ebb_value_text_of(job, "status");

    if (!id || !id[0] || strlen(id) >= sizeof out->id || !status || strlen(status) >= sizeof out->status)
        return ebb_err_set(err, EBB_ECATALOG, "job run: the server's answer names no run");
    snprintf(out->id, sizeof out->id, "%s", id);
    snprintf(out->status, sizeof out->status, "%s", status);
    out->state = state_of(status);
    return 0;
}

static int ask_run(struct ebb_gravitino *g, struct ebb_gravitino_call *call, const char *id,
                   struct ebb_metalake_run *out, struct ebb_err *err)
{
    struct ebb_value *answer = NULL;
    struct ebb_buf path;
    int rc;

    ebb_buf_init(&path, BODY_MAX);
    rc = put_path(id, &path, err);
    call->path = ebb_buf_cstr(&path);
    call->what = id ? id : "job run";
    if (!rc)
        rc = ebb_metalake_ask(g, call, "job", &answer, err);
    if (!rc)
        rc = read_run(ebb_value_get(answer, "job"), out, err);
    ebb_value_free(answer);
    ebb_buf_fini(&path);
    return rc;
}

int ebb_metalake_get_run(struct ebb_gravitino *g, const char *id, struct ebb_metalake_run *out, struct ebb_err *err)
{
    struct ebb_gravitino_call call = {.method = "GET"};

    return ask_run(g, &call, id, out, err);
}

int ebb_metalake_cancel(struct ebb_gravitino *g, const char *id, struct ebb_metalake_run *out, struct ebb_err *err)
{
    struct ebb_gravitino_call call = {.method = "POST"};

    return ask_run(g, &call, id, out, err);
}

/* ---- start ---- */

/* The server puts values in by Java's Matcher.appendReplacement: `\` and `$` have a meaning there. */
static int put_value(struct ebb_value *conf, const char *key, const char *value, struct ebb_err *err)
{
    struct ebb_buf text;
    int rc;

    ebb_buf_init(&text, BODY_MAX);
    for (const char *p = value; *p; p++) {
        if (*p == '\\' || *p == '$')
            ebb_buf_putc(&text, '\\');
        ebb_buf_putc(&text, *p);
    }
    rc = ebb_buf_check(&text, key, err);
    if (!rc)
        ebb_value_put_str(conf, key, ebb_buf_cstr(&text));
    ebb_buf_fini(&text);
    return rc;
}

static int make_body(const char *template, const struct ebb_value *values, struct ebb_buf *out, struct ebb_err *err)
{
    struct ebb_value *body = ebb_value_new_map(NULL), *conf;
    int rc = 0;

    ebb_value_put_str(body, "jobTemplateName", template);
    conf = ebb_value_put_map(body, "jobConf");
    for (size_t i = 0; !rc && i < ebb_value_get_count(values); i++) {
        const char *text = ebb_value_get_str(ebb_value_get_at(values, i));

        rc = text ? put_value(conf, ebb_value_get_key(values, i).p, text, err)
                  : ebb_err_set(err, EBB_EINTERNAL, "%s: is no text", ebb_value_get_key(values, i).p);
    }
    if (!rc)
        rc = ebb_value_check(body, "job run", err);
    if (!rc)
        rc = ebb_value_to_json(body, out, err);
    ebb_value_free(body);
    return rc;
}

int ebb_metalake_run(struct ebb_gravitino *g, const char *template, const struct ebb_value *values,
                     struct ebb_metalake_run *out, bool *is_lost, struct ebb_err *err)
{
    struct ebb_gravitino_call call = {.method = "POST"};
    struct ebb_buf body;
    int rc;

    *is_lost = false;
    ebb_buf_init(&body, BODY_MAX);
    rc = make_body(template, values, &body, err);
    if (!rc) {
        call.body = ebb_buf_cstr(&body);
        rc = ask_run(g, &call, NULL, out, err);
        /* an error of its own says that nothing was begun; no answer, or that of something between, says nothing */
        *is_lost = rc && (call.status == 200 || !call.status || (call.status >= 500 && !call.type[0]));
    }
    ebb_buf_fini(&body);
    return rc;
}

/* ---- find ---- */

/* Instants as the server writes them: "2026-11-30T18:51:58.95Z", of 0 to 9 digits behind the point. */
static int compare_times(const char *a, const char *b)
{
    size_t n = strcspn(a, ".Z"), m = strcspn(b, ".Z");
    int order = strncmp(a, b, n < m ? n : m);

    if (order || n != m)
        return order ? order : n < m ? -1 : 1;
    a += n + (a[n] == '.');
    b += m + (b[m] == '.');
    for (int i = 0; i < 9; i++) {
        char x = *a >= '0' && *a <= '9' ? *a++ : '0', y = *b >= '0' && *b <= '9' ? *b++ : '0';

        if (x != y)
            return x < y ? -1 : 1;
    }
    return 0;
}

/* "2026-11-30T18:51:58" and what may follow: it is compared byte by byte, and kept beside other words. */
static bool is_instant(const char *text)
{
    static const char SHAPE[] = "0000-00-00T00:00:00";
    size_t n = strlen(text), i = 0;

    for (; SHAPE[i]; i++)
        if (SHAPE[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != SHAPE[i])
            return false;
    if (text[i] == '.')
        i += 1 + strspn(text + i + 1, "0123456789");
    return n < EBB_METALAKE_TIME && text[i] == 'Z' && !text[i + 1];
}

struct search {
    const char *template, *creator, *since;
    struct ebb_metalake_run *out;
    size_t count;
    char newest[EBB_METALAKE_TIME], last[EBB_METALAKE_TIME];
};

static int look_at(struct search *s, const struct ebb_value *job, struct ebb_err *err)
{
    const struct ebb_value *audit = ebb_value_get(job, "audit");
    const char *of = ebb_value_text_of(job, "jobTemplateName"), *by = ebb_value_text_of(audit, "creator");
    const char *at = ebb_value_text_of(audit, "createTime");
    int rc;

    if (!of || strcmp(of, s->template) != 0)
        return 0;
    if (!at || !is_instant(at))
        return ebb_err_set(err, EBB_ECATALOG, "job runs: the server does not tell when a run was made");
    if (compare_times(at, s->newest) > 0)
        snprintf(s->newest, sizeof s->newest, "%s", at);
    if ((s->since[0] && compare_times(at, s->since) <= 0) || (s->creator && (!by || strcmp(by, s->creator) != 0)))
        return 0;
    s->count++;
    if (s->last[0] && compare_times(at, s->last) <= 0)
        return 0;
    rc = read_run(job, s->out, err);
    snprintf(s->last, sizeof s->last, "%s", at);
    return rc;
}

int ebb_metalake_find_runs(struct ebb_gravitino *g, const char *template, const char *creator, const char *since,
                           struct ebb_metalake_run *out, size_t *count, char newest[EBB_METALAKE_TIME],
                           struct ebb_err *err)
{
    struct search s = {.template = template, .creator = creator, .since = since, .out = out};
    struct ebb_gravitino_call call = {.what = "job runs"};
    const struct ebb_value *jobs;
    struct ebb_value *answer = NULL;
    struct ebb_buf path;
    int rc;

    *count = 0;
    ebb_buf_init(&path, BODY_MAX);
    ebb_buf_puts(&path, "/jobs/runs?jobTemplateName=");
    ebb_http_encode(&path, ebb_str_of(template), false);
    rc = ebb_buf_check(&path, call.what, err);
    call.path = ebb_buf_cstr(&path);
    if (!rc)
        rc = ebb_metalake_ask(g, &call, "jobs", &answer, err);
    jobs = ebb_value_get(answer, "jobs");
    for (size_t i = 0; !rc && i < ebb_value_get_count(jobs); i++)
        rc = look_at(&s, ebb_value_get_at(jobs, i), err);
    *count = s.count;
    snprintf(newest, EBB_METALAKE_TIME, "%s", s.newest);
    ebb_value_free(answer);
    ebb_buf_fini(&path);
    return rc;
}
