/* SPDX-License-Identifier: Apache-2.0
 *
 * A Gravitino server as an engine: it runs ebb's own job, from the template that was registered there, on its machine.
 * The handle is "since TIME TEMPLATE" until the run is known, then "run ID": a run has no name of ours, but none of
 * ours is older than TIME.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "service/engine_priv.h"
#include "service/metalake.h"

#define ASK_FIRST_MS 1000
#define ASK_MAX_MS 15000 /* its own knowledge may be five minutes old */
#define ENDING_MS 10000  /* after it was told to end */

struct gravitino {
    const struct ebb_engine_context *context;
    struct ebb_gravitino *server;
    const char *template;
    struct ebb_metalake_run run; /* id "" not known */
    int64_t ask_at_ms, pause_ms;
    int64_t end_at_ms; /* 0: it is not to end */
};

static int gravitino_open(const struct ebb_engine_context *context, void **run, struct ebb_err *err)
{
    const struct ebb_engine_config *config = &ebb_workspace_config(context->ws)->engines.gravitino;
    struct gravitino *g = calloc(1, sizeof *g);
    int rc;

    *run = NULL;
    if (!g)
        return ebb_err_nomem(err);
    g->context = context;
    g->template = config->template ? config->template : EBB_JOB_TEMPLATE;
    g->pause_ms = ASK_FIRST_MS;
    rc = ebb_metalake_open(context->ws, context->catalog, &g->server, err);
    if (rc)
        free(g);
    else
        *run = g;
    return rc;
}

/* ---- begin ---- */

/* What stands on the server under the name is what will get the values: it must be ebb's. */
static int check_template(const struct gravitino *g, struct ebb_err *err)
{
    struct ebb_value *template = NULL;
    int rc = ebb_metalake_get_template(g->server, g->template, &template, err);

    if (!rc && !template) {
        rc = ebb_err_set(err, EBB_ECONFIG, "gravitino: there is no job template %s", g->template);
        ebb_err_hint(err, "on the server's machine: ebb gravitino register --catalog %s", g->context->catalog);
    } else if (!rc && !ebb_metalake_is_ours(template)) {
        rc = ebb_err_set(err, EBB_EENGINE_UNSAFE, "gravitino: job template %s is not the one that ebb registers",
                         g->template);
        ebb_err_hint(err, "ebb gravitino status --catalog %s shows it", g->context->catalog);
    }
    ebb_value_free(template);
    return rc;
}

static int tell_run(const struct gravitino *g, struct ebb_err *err)
{
    char handle[160];

    snprintf(handle, sizeof handle, "run %s", g->run.id);
    return g->context->began(g->context->data, handle, err);
}

/* Which of the runs is ours: the only one that is newer than all there were. None: id stays "". */
static int find(struct gravitino *g, const char *template, const char *since, struct ebb_err *err)
{
    char newest[EBB_METALAKE_TIME];
    size_t count;
    int rc =
        ebb_metalake_find_runs(g->server, template, ebb_gravitino_user(g->server), since, &g->run, &count, newest, err);

    if (!rc && count > 1)
        rc = ebb_err_set(err, EBB_EENGINE, "gravitino: %zu runs of %s began at once: which one is ours is not known",
                         count, template);
    if (rc || !count)
        g->run.id[0] = '\0';
    return rc;
}

/* Who wants the end meanwhile waits for the answer: of a run that is not known none could be told to end. */
static int begin(struct gravitino *g, const struct ebb_engine_spec *spec, const char *since, struct ebb_err *err)
{
    struct ebb_err why;
    bool is_lost = false;
    int rc;

    ebb_gravitino_set_deaf(g->server, true);
    rc = ebb_metalake_run(g->server, g->template, spec->values, &g->run, &is_lost, err);
    if (rc && is_lost && !find(g, g->template, since, &why) && g->run.id[0])
        rc = 0; /* it had arrived */
    ebb_gravitino_set_deaf(g->server, false);
    if (rc) {
        g->run.id[0] = '\0';
        return rc;
    }
    rc = tell_run(g, err);
    if (rc)
        ebb_metalake_cancel(g->server, g->run.id, &g->run, NULL);
    return rc;
}

static int as_engine(int rc, struct ebb_err *err)
{
    switch (-rc) {
    case EBB_ECATALOG:
    case EBB_EREFUSED:
    case EBB_EPERMISSION:
    case EBB_ENOT_FOUND:
        return ebb_err_as(err, EBB_EENGINE, NULL);
    default:
        return rc;
    }
}

static int gravitino_start(void *run, const struct ebb_engine_spec *spec, struct ebb_err *err)
{
    struct gravitino *g = run;
    char since[EBB_METALAKE_TIME], handle[400];
    size_t count;
    int rc;

    if (!spec->values)
        return ebb_err_set(err, EBB_EUNSUPPORTED, "engine gravitino: takes jobs only");
    rc = check_template(g, err);
    if (!rc)
        rc = ebb_metalake_find_runs(g->server, g->template, NULL, "", &g->run, &count, since, err);
    g->run.id[0] = '\0';
    snprintf(handle, sizeof handle, "since %s %s", since, g->template);
    if (!rc)
        rc = g->context->began(g->context->data, handle, err);
    if (!rc)
        rc = begin(g, spec, since, err);
    return as_engine(rc, err);
}

static int gravitino_attach(void *run, const char *handle, const struct ebb_engine_spec *spec, struct ebb_err *err)
{
    struct gravitino *g = run;
    char since[EBB_METALAKE_TIME];
    size_t n;

    (void)spec;
    if (!strncmp(handle, "run ", 4)) {
        snprintf(g->run.id, sizeof g->run.id, "%s", handle + 4);
        return 0;
    }
    if (strncmp(handle, "since ", 6) != 0)
        return ebb_err_set(err, EBB_EINTERNAL, "gravitino: handle %.60s: is none", handle);
    n = strcspn(handle + 6, " ");
    if (n >= sizeof since || !handle[6 + n])
        return ebb_err_set(err, EBB_EINTERNAL, "gravitino: handle %.60s: is none", handle);
    snprintf(since, sizeof since, "%.*s", (int)n, handle + 6);
    return as_engine(find(g, handle + 6 + n + 1, since, err), err);
}

/* ---- while it runs ---- */

static void nap(int64_t ms)
{
    if (ms > 0)
        nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000L}, NULL);
}

static enum ebb_engine_state judge(const struct gravitino *g, struct ebb_err *err)
{
    switch (g->run.state) {
    case EBB_METALAKE_SUCCEEDED:
        return EBB_ENGINE_SUCCEEDED;
    case EBB_METALAKE_FAILED:
        ebb_err_set(err, EBB_EENGINE, "gravitino: run %s of %s failed", g->run.id, g->template);
        ebb_err_hint(err,
                     "its error.log lies on the server's machine, in the staging folder of jobs: "
                     ".../%s/%s",
                     g->template, g->run.id);
        return EBB_ENGINE_FAILED;
    case EBB_METALAKE_CANCELLED:
        return EBB_ENGINE_CANCELLED;
    case EBB_METALAKE_ACTIVE:
        break;
    }
    /* told to end, and the server has passed it on: its status may tell so minutes later */
    return g->end_at_ms && ebb_clock_elapsed_ms() >= g->end_at_ms && !strcmp(g->run.status, "cancelling")
               ? EBB_ENGINE_CANCELLED
               : EBB_ENGINE_RUNNING;
}

static int gravitino_poll(void *run, int wait_ms, enum ebb_engine_state *state, struct ebb_err *err)
{
    struct gravitino *g = run;
    int64_t left_ms = g->ask_at_ms - ebb_clock_elapsed_ms();
    int rc;

    *state = EBB_ENGINE_UNKNOWN;
    if (!g->run.id[0])
        return 0;
    *state = EBB_ENGINE_RUNNING;
    nap(left_ms < wait_ms ? left_ms : wait_ms);
    if (left_ms > wait_ms)
        return 0;
    g->ask_at_ms = ebb_clock_elapsed_ms() + g->pause_ms;
    g->pause_ms = g->pause_ms * 3 / 2 < ASK_MAX_MS ? g->pause_ms * 3 / 2 : ASK_MAX_MS;
    rc = ebb_metalake_get_run(g->server, g->run.id, &g->run, err);
    if (rc == -(int)EBB_ENOT_FOUND) { /* it forgets runs after a week */
        *state = EBB_ENGINE_UNKNOWN;
        return 0;
    }
    if (!rc)
        *state = judge(g, err);
    else if (err && (rc == -(int)EBB_ECATALOG || rc == -(int)EBB_EPERMISSION))
        err->retryable = true; /* whatever keeps us from asking, the run goes on */
    return as_engine(rc, err);
}

static int gravitino_cancel(void *run, struct ebb_err *err)
{
    struct gravitino *g = run;
    int rc;

    if (!g->run.id[0])
        return 0;
    ebb_gravitino_set_deaf(g->server, true); /* whoever wants the end has interrupted all else */
    rc = ebb_metalake_cancel(g->server, g->run.id, &g->run, err);
    if (!g->end_at_ms)
        g->end_at_ms = ebb_clock_elapsed_ms() + ENDING_MS;
    g->ask_at_ms = 0;
    g->pause_ms = ASK_FIRST_MS;
    return as_engine(rc, err);
}

/* Nothing of what it printed can be had from the server: what became of the files is looked at where they lie. */
static int gravitino_rows(void *run, ebb_engine_row_cb *cb, void *data, struct ebb_err *err)
{
    (void)run;
    (void)cb;
    (void)data;
    (void)err;
    return 0;
}

static void gravitino_close(void *run)
{
    struct gravitino *g = run;

    if (!g)
        return;
    ebb_gravitino_free(g->server);
    free(g);
}

const struct ebb_engine_driver ebb_engine_gravitino = {"gravitino",      gravitino_open, gravitino_start,
                                                       gravitino_attach, gravitino_poll, gravitino_cancel,
                                                       gravitino_rows,   gravitino_close};
