/* SPDX-License-Identifier: Apache-2.0 */
#include "service/engine_run.h"

#include "base/clock.h"

#define POLL_MS 500
#define ENDING_MS 30000
#define ASKED_IN_VAIN_MS ((int64_t)5 * 60 * 1000)

struct execution {
    const struct ebb_engine_driver *driver;
    const struct ebb_site *site;
    void *run;
    int64_t in_vain_ms; /* since when it does not answer; 0: it does */
    int64_t ending_ms;  /* since when it is to end; 0: it is not */
};

static int unknown(const struct execution *x, struct ebb_err *err)
{
    int rc = ebb_err_set(err, EBB_EENGINE, "%s: what became of the run is not known", x->driver->name);

    ebb_err_hint(err, "files may have been deleted; the next plan shows what is left");
    return rc;
}

/* An engine that does not answer for a moment goes on all the same. */
static int poll(struct execution *x, enum ebb_engine_state *state, struct ebb_err *err)
{
    int rc = x->driver->poll(x->run, POLL_MS, state, err);

    if (!rc) {
        x->in_vain_ms = 0;
        return 0;
    }
    if (rc == -(int)EBB_ECANCELLED || (err && err->retryable)) {
        if (!x->in_vain_ms)
            x->in_vain_ms = ebb_clock_elapsed_ms();
        if (ebb_clock_elapsed_ms() - x->in_vain_ms < ASKED_IN_VAIN_MS) {
            *state = EBB_ENGINE_RUNNING;
            return 0;
        }
    }
    return rc;
}

/* Ask it to end when it is time for that; once it is to, its end is awaited for a while. */
static int watch(struct execution *x, struct ebb_err *err)
{
    int64_t now_ms = ebb_clock_elapsed_ms();

    if (!x->ending_ms && ebb_site_is_cancelled(x->site)) {
        x->ending_ms = now_ms;
        x->driver->cancel(x->run, NULL);
    }
    if (x->ending_ms && now_ms - x->ending_ms > ENDING_MS) {
        unknown(x, err);
        return ebb_err_as(err, EBB_ECANCELLED, "interrupted");
    }
    return 0;
}

static int wait_for_end(struct execution *x, struct ebb_err *err)
{
    enum ebb_engine_state state = EBB_ENGINE_RUNNING;
    struct ebb_err why;
    int rc = 0;

    memset(&why, 0, sizeof why);
    while (!rc && state == EBB_ENGINE_RUNNING) {
        rc = watch(x, &why);
        if (!rc)
            rc = poll(x, &state, &why);
    }
    if (!rc && state == EBB_ENGINE_FAILED && !x->ending_ms)
        rc = why.error ? -(int)why.error : ebb_err_set(&why, EBB_EENGINE, "%s: failed", x->driver->name);
    else if (!rc && state == EBB_ENGINE_UNKNOWN)
        rc = unknown(x, &why);
    else if (!rc && state != EBB_ENGINE_SUCCEEDED)
        rc = ebb_err_set(&why, EBB_ECANCELLED, "interrupted: the run on %s was cancelled", x->driver->name);
    if (rc && err)
        *err = why;
    return rc;
}

int ebb_engine_execute(const struct ebb_engine_driver *driver, const struct ebb_engine_context *context,
                       const char *handle, const struct ebb_engine_spec *spec, ebb_engine_row_cb *row, void *data,
                       struct ebb_err *err)
{
    struct execution x = {driver, ebb_workspace_site(context->ws), NULL, 0, 0};
    int rc = driver->open(context, &x.run, err);

    if (rc)
        return rc;
    rc = handle ? driver->attach(x.run, handle, spec, err) : driver->start(x.run, spec, err);
    if (!rc)
        rc = wait_for_end(&x, err);
    if (!rc)
        rc = driver->rows(x.run, row, data, err);
    driver->close(x.run);
    return rc;
}
