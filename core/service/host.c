/* SPDX-License-Identifier: Apache-2.0
 *
 * The public interface on top of the workspace. Maps of a plan or run are looked up before storage is made, as the
 * command line does.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "engine/lua_version.h"
#include "service/host_priv.h"
#include "service/pass.h"
#include "service/recorded.h"
#include "table/result_json.h"

struct ebb_host {
    struct ebb_workspace_options options;
    char *config, *state_dir, *scripts_dir, *policies;
    struct ebb_strs maps;
    int64_t (*now_ms)(void *);
    void *clock_data;
    void (*log)(void *, enum ebb_host_level, const char *);
    void *log_data;
    const volatile bool *stop;
    atomic_bool cancelled; /* what stop said last */
};

const char *ebb_host_version(void)
{
    return EBB_VERSION;
}

void ebb_host_free_text(char *text)
{
    free(text);
}

static void look_at_stop(struct ebb_host *h)
{
    if (h->stop)
        atomic_store(&h->cancelled, *h->stop);
}

/* The clock is read and progress is told at many steps: good moments to look whether the host wants to stop. */
static int64_t host_now(void *data)
{
    struct ebb_host *h = data;
    struct ebb_clock system = ebb_clock_system();

    look_at_stop(h);
    return h->now_ms ? h->now_ms(h->clock_data) : ebb_clock_now(&system);
}

static void host_log(void *data, enum ebb_log_level level, const char *message)
{
    struct ebb_host *h = data;

    h->log(h->log_data, (enum ebb_host_level)level, message);
}

static void host_progress(void *data, const struct ebb_progress *progress)
{
    (void)progress;
    look_at_stop(data);
}

static void put_printable(char *to, size_t size, const char *from)
{
    struct ebb_buf text;

    ebb_buf_init(&text, 4 * EBB_ERR_MESSAGE_MAX);
    ebb_text_escape(&text, from, strlen(from));
    snprintf(to, size, "%s", text.bad ? "" : ebb_buf_cstr(&text));
    ebb_buf_fini(&text);
}

int ebb__host_tell(int rc, const struct ebb_err *from, struct ebb_host_error *to)
{
    if (!rc || !to)
        return rc;
    memset(to, 0, sizeof *to);
    to->exit_status = ebb_error_exit((enum ebb_error) - rc);
    to->retryable = from->retryable;
    snprintf(to->code, sizeof to->code, "%s", ebb_error_code((enum ebb_error) - rc));
    put_printable(to->message, sizeof to->message, from->message);
    put_printable(to->hint, sizeof to->hint, from->hint);
    return rc;
}

static int copy(char **to, const char *from, struct ebb_err *err)
{
    *to = from ? strdup(from) : NULL;
    return from && !*to ? ebb_err_nomem(err) : 0;
}

static int fill(struct ebb_host *h, const struct ebb_host_options *o, struct ebb_err *err)
{
    int rc = copy(&h->config, o->config, err);

    if (!rc)
        rc = copy(&h->state_dir, o->state_dir, err);
    if (!rc)
        rc = copy(&h->scripts_dir, o->scripts_dir ? o->scripts_dir : EBB_DATADIR "/scripts", err);
    for (size_t i = 0; !rc && i < o->map_count; i++)
        rc = ebb_strs_add(&h->maps, o->maps[i], err);
    h->now_ms = o->now_ms;
    h->clock_data = o->clock_data;
    h->log = o->log;
    h->log_data = o->log_data;
    h->stop = o->cancelled;
    h->options.config = h->config;
    h->options.no_config = true;
    h->options.state_dir = h->state_dir;
    h->options.clock = (struct ebb_clock){host_now, h};
    if (o->log)
        h->options.log = (struct ebb_log){host_log, h, EBB_LOG_INFO};
    h->options.progress = host_progress;
    h->options.progress_data = h;
    h->options.cancelled = &h->cancelled;
    return rc;
}

/* A workspace for one call; plan or run (may be NULL) tell further maps. */
static int enter(struct ebb_host *h, const char *plan, const char *run, struct ebb_workspace **ws, struct ebb_err *err)
{
    struct ebb_strs recorded;
    int rc;

    look_at_stop(h);
    rc = ebb_workspace_open(&h->options, false, ws, err);
    ebb_strs_init(&recorded);
    if (!rc && plan)
        rc = ebb_recorded_maps_of_plan(*ws, plan, &recorded, err);
    if (!rc && run)
        rc = ebb_recorded_maps_of_run(*ws, run, &recorded, err);
    if (!rc)
        rc = ebb_workspace_connect(*ws, &h->maps, &recorded, err);
    if (!rc && h->policies)
        rc = ebb_workspace_set_policies(*ws, h->policies, err);
    ebb_strs_fini(&recorded);
    if (rc) {
        ebb_workspace_close(*ws);
        *ws = NULL;
    }
    return rc;
}

int ebb_host_open(const struct ebb_host_options *options, struct ebb_host **out, struct ebb_host_error *err)
{
    struct ebb_host *h = calloc(1, sizeof *h);
    struct ebb_workspace *ws = NULL;
    struct ebb_err why;
    int rc;

    *out = NULL;
    memset(&why, 0, sizeof why);
    if (!h)
        return ebb__host_tell(ebb_err_nomem(&why), &why, err);
    rc = ebb_lua_check(ebb_lua_version(), &why);
    if (!rc)
        rc = fill(h, options, &why);
    if (!rc) /* what is wrong in the configuration shows now, not at the first call */
        rc = enter(h, NULL, NULL, &ws, &why);
    ebb_workspace_close(ws);
    if (rc) {
        ebb_host_close(h);
        return ebb__host_tell(rc, &why, err);
    }
    *out = h;
    return 0;
}

void ebb_host_close(struct ebb_host *h)
{
    if (!h)
        return;
    free(h->config);
    free(h->state_dir);
    free(h->scripts_dir);
    free(h->policies);
    ebb_strs_fini(&h->maps);
    free(h);
}

/* ---- policies ---- */

static int add_manifest(const char *file, struct ebb_jsonw *w, struct ebb_err *err)
{
    struct ebb_policy *policy = NULL;
    int rc = ebb_policy_load(file, &policy, NULL, err);

    if (!rc) {
        const char *json = ebb_policy_get_manifest_json(policy);

        ebb_jsonw_raw(w, json, strlen(json));
    }
    ebb_policy_free(policy);
    return rc;
}

static int load_policies(struct ebb_host *h, const char *path, struct ebb_buf *out, struct ebb_err *err)
{
    struct ebb_strs files;
    struct ebb_jsonw w;
    int rc;

    ebb_strs_init(&files);
    rc = ebb_policy_files(path, &files, err);
    ebb_jsonw_init(&w, out);
    ebb_jsonw_begin(&w, '[');
    for (size_t i = 0; !rc && i < files.count; i++)
        rc = add_manifest(files.items[i], &w, err);
    ebb_jsonw_end(&w, ']');
    ebb_strs_fini(&files);
    if (!rc) {
        char *dir = NULL;

        rc = copy(&dir, path, err);
        free(h->policies);
        h->policies = dir;
    }
    return rc ? rc : ebb_buf_check(out, "manifest", err);
}

int ebb_host_load_policies(struct ebb_host *host, const char *path, char **manifest, struct ebb_host_error *err)
{
    struct ebb_err why;
    struct ebb_buf out;
    int rc;

    memset(&why, 0, sizeof why);
    if (manifest)
        *manifest = NULL;
    ebb_buf_init(&out, (size_t)64 << 20);
    rc = load_policies(host, path, &out, &why);
    if (!rc && manifest) {
        *manifest = ebb_buf_take(&out);
        rc = *manifest ? 0 : ebb_err_nomem(&why);
    }
    ebb_buf_fini(&out);
    return ebb__host_tell(rc, &why, err);
}

/* ---- one call each ---- */

int ebb_host_decide(struct ebb_host *host, const char *policy, const char *table, char **record,
                    struct ebb_host_error *err)
{
    struct ebb_decide_options options = {policy, table, NULL};
    struct ebb_decision *decision = NULL;
    struct ebb_workspace *ws = NULL;
    struct ebb_err why;
    int rc, copied;

    memset(&why, 0, sizeof why);
    *record = NULL;
    rc = enter(host, NULL, NULL, &ws, &why);
    if (!rc)
        rc = ebb_pass_decide(ws, &options, &decision, &why);
    if (decision) {
        copied = copy(record, ebb_decision_get_record(decision), rc ? NULL : &why);
        rc = rc ? rc : copied;
    }
    ebb_decision_free(decision);
    ebb_workspace_close(ws);
    return ebb__host_tell(rc, &why, err);
}

/* Give a JSON text to the caller; keeps an earlier error. */
static int give(struct ebb_buf *json, char **out, int rc, struct ebb_err *err)
{
    *out = ebb_buf_take(json);
    if (!*out && !rc)
        rc = ebb_err_nomem(err);
    return rc;
}

int ebb_host_plan(struct ebb_host *host, const char *table, const char *older_than, double max_share, char **plan,
                  struct ebb_host_error *err)
{
    struct ebb_plan_options options;
    struct ebb_plan_result result;
    struct ebb_workspace *ws = NULL;
    struct ebb_err why;
    struct ebb_jsonw w;
    struct ebb_buf json;
    int rc;

    memset(&why, 0, sizeof why);
    memset(&result, 0, sizeof result);
    *plan = NULL;
    ebb_plan_options_init(&options);
    options.older_than = older_than;
    options.max_share = max_share;
    ebb_buf_init(&json, (size_t)1 << 20);
    rc = max_share >= 0 && max_share <= 1 ? 0
                                          : ebb_err_set(&why, EBB_EUSAGE, "max_share: a number from 0 to 1 is wanted");
    if (!rc)
        rc = enter(host, NULL, NULL, &ws, &why);
    if (!rc) {
        ebb_workspace_site(ws)->allow_below_floor = ebb_config_allows_below_floor(ebb_workspace_config(ws), table);
        rc = ebb_plan_make(ebb_workspace_site(ws), table, &options, &result, &why);
    }
    if (!rc) {
        ebb_jsonw_init(&w, &json);
        ebb_plan_json(&w, result.id, result.file, result.table, result.uuid, result.location, result.cutoff_ms,
                      &result.summary);
        rc = give(&json, plan, rc, &why);
    }
    ebb_plan_result_fini(&result);
    ebb_plan_options_fini(&options);
    ebb_buf_fini(&json);
    ebb_workspace_close(ws);
    return ebb__host_tell(rc, &why, err);
}

static int give_apply(int rc, struct ebb_apply_result *r, char **result, struct ebb_err *err)
{
    struct ebb_jsonw w;
    struct ebb_buf json;

    if (r->run[0]) {
        ebb_buf_init(&json, (size_t)256 << 20);
        ebb_jsonw_init(&w, &json);
        ebb_apply_json(&w, r);
        rc = give(&json, result, rc, err);
        ebb_buf_fini(&json);
    }
    ebb_apply_result_fini(r);
    return rc;
}

int ebb_host_apply(struct ebb_host *host, const char *plan, char **result, struct ebb_host_error *err)
{
    struct ebb_apply_options options;
    struct ebb_apply_result r;
    struct ebb_workspace *ws = NULL;
    struct ebb_err why;
    int rc;

    memset(&why, 0, sizeof why);
    memset(&options, 0, sizeof options);
    memset(&r, 0, sizeof r);
    *result = NULL;
    rc = enter(host, plan, NULL, &ws, &why);
    if (!rc)
        rc = ebb_apply(ebb_workspace_site(ws), plan, &options, &r, &why);
    rc = give_apply(rc, &r, result, &why);
    ebb_workspace_close(ws);
    return ebb__host_tell(rc, &why, err);
}

int ebb_host_resume(struct ebb_host *host, const char *run, char **result, struct ebb_host_error *err)
{
    struct ebb_apply_result r;
    struct ebb_workspace *ws = NULL;
    struct ebb_err why;
    int rc;

    memset(&why, 0, sizeof why);
    memset(&r, 0, sizeof r);
    *result = NULL;
    rc = enter(host, NULL, run, &ws, &why);
    if (!rc)
        rc = ebb_resume(ebb_workspace_site(ws), run, &r, &why);
    rc = give_apply(rc, &r, result, &why);
    ebb_workspace_close(ws);
    return ebb__host_tell(rc, &why, err);
}

int ebb_host_restore(struct ebb_host *host, const char *run, char **result, struct ebb_host_error *err)
{
    struct ebb_restore_result r;
    struct ebb_workspace *ws = NULL;
    struct ebb_err why;
    struct ebb_jsonw w;
    struct ebb_buf json;
    int rc;

    memset(&why, 0, sizeof why);
    memset(&r, 0, sizeof r);
    *result = NULL;
    ebb_buf_init(&json, (size_t)256 << 20);
    rc = enter(host, NULL, run, &ws, &why);
    if (!rc)
        rc = ebb_restore(ebb_workspace_site(ws), run, NULL, &r, &why);
    if (r.run[0]) {
        ebb_jsonw_init(&w, &json);
        ebb_restore_json(&w, &r);
        rc = give(&json, result, rc, &why);
    }
    ebb_restore_result_fini(&r);
    ebb_buf_fini(&json);
    ebb_workspace_close(ws);
    return ebb__host_tell(rc, &why, err);
}

struct reporting {
    ebb_host_report_cb *report;
    void *data;
};

static void on_report(void *data, const struct ebb_pass_report *r)
{
    struct reporting *to = data;
    struct ebb_jsonw w;
    struct ebb_buf json;

    ebb_buf_init(&json, (size_t)1 << 20);
    ebb_jsonw_init(&w, &json);
    ebb_pass_report_json(&w, r);
    if (!json.bad)
        to->report(to->data, ebb_buf_cstr(&json));
    ebb_buf_fini(&json);
}

int ebb_host_run(struct ebb_host *host, bool dry_run, ebb_host_report_cb *report, void *data,
                 struct ebb_host_error *err)
{
    struct reporting to = {report, data};
    struct ebb_pass_options options = {NULL, NULL, dry_run, host->scripts_dir, report ? on_report : NULL, &to};
    struct ebb_workspace *ws = NULL;
    struct ebb_err why;
    int rc;

    memset(&why, 0, sizeof why);
    rc = enter(host, NULL, NULL, &ws, &why);
    if (!rc)
        rc = ebb_pass_run(ws, &options, &why);
    ebb_workspace_close(ws);
    return ebb__host_tell(rc, &why, err);
}
