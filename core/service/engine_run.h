/* SPDX-License-Identifier: Apache-2.0
 *
 * One run of something by another engine: begin, look, cancel, take rows. Each engine is a driver; everything else is
 * the same for all. What makes it safe to be killed at any moment: a handle, text by which the engine finds the run
 * again, is told to whoever asked before the engine can act. A handle that is there is asked about, never begun again.
 */
#ifndef EBB_SERVICE_ENGINE_RUN_H
#define EBB_SERVICE_ENGINE_RUN_H

#include "service/workspace.h"

#define EBB_ENGINE_COLUMN "orphan_file_location"

enum ebb_engine_state {
    EBB_ENGINE_RUNNING, /* also: waiting to run */
    EBB_ENGINE_SUCCEEDED,
    EBB_ENGINE_FAILED,
    EBB_ENGINE_CANCELLED,
    EBB_ENGINE_UNKNOWN /* the engine does not know it any more: it may have acted */
};

/* What to run. Borrowed for the whole run. */
struct ebb_engine_spec {
    const char *key;       /* of this run alone, [A-Za-z0-9-]+: a name by which an engine can tell it from others */
    const char *statement; /* one SQL statement, no semicolon; NULL: the engine takes values */
    const struct ebb_value *values; /* of a job template (map of texts), or NULL */
    const struct ebb_value
        *session;       /* settings of the session beside those of the configuration (map of texts); NULL */
    const char *column; /* whose values are the rows */
};

/* What a driver works with. Borrowed. */
struct ebb_engine_context {
    struct ebb_workspace *ws; /* configuration, state folder, log, cancelled flag */
    const char *catalog;      /* configured one, of the table */
    /* Told the handle before anything acts (and again when it becomes more precise). An error of it stops the run:
     * what was begun is ended by the driver. Never NULL. */
    int (*began)(void *data, const char *handle, struct ebb_err *err);
    void *data;
};

/* One row: the value of the column, raw bytes. */
typedef int ebb_engine_row_cb(void *data, struct ebb_str value, struct ebb_err *err);

struct ebb_engine_driver {
    const char *name; /* spark, livy, trino, gravitino */
    /* Make a run; nothing is sent yet. EBB_ECONFIG: the engine is not configured. */
    int (*open)(const struct ebb_engine_context *context, void **run, struct ebb_err *err);
    /* Begin it. EBB_EENGINE (may be tried again when err->retryable: then nothing was begun), EBB_EUNSUPPORTED,
     * EBB_ESQL: it can't be carried to this engine. */
    int (*start)(void *run, const struct ebb_engine_spec *spec, struct ebb_err *err);
    /* Take up one that was begun before, by its handle. */
    int (*attach)(void *run, const char *handle, const struct ebb_engine_spec *spec, struct ebb_err *err);
    /* Wait at most some ms for news. 0 and a state; for FAILED err tells why (one line, no secrets), with 0 returned.
     * An error: it could not be asked (EBB_EENGINE, retryable: ask again). */
    int (*poll)(void *run, int wait_ms, enum ebb_engine_state *state, struct ebb_err *err);
    /* Ask it to end now; its end shows in poll. May be asked again. */
    int (*cancel)(void *run, struct ebb_err *err);
    /* After SUCCEEDED: the rows, in the engine's order. EBB_EENGINE: there is no such column, or the output is cut. */
    int (*rows)(void *run, ebb_engine_row_cb *cb, void *data, struct ebb_err *err);
    void (*close)(void *run); /* a run that goes on is left alone */
};

extern const struct ebb_engine_driver ebb_engine_spark;
extern const struct ebb_engine_driver ebb_engine_livy;
extern const struct ebb_engine_driver ebb_engine_trino;
extern const struct ebb_engine_driver ebb_engine_gravitino;

/* From start (or attach, when handle is not NULL) to the end: polls, cancels when the site is cancelled or past its
 * deadline (then waits up to 30 s for the end), hands the rows on. EBB_EENGINE: it failed, or what became of it is not
 * known; EBB_ECANCELLED. */
int ebb_engine_execute(const struct ebb_engine_driver *driver, const struct ebb_engine_context *context,
                       const char *handle, const struct ebb_engine_spec *spec, ebb_engine_row_cb *row, void *data,
                       struct ebb_err *err);

#endif
