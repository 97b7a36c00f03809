/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the engine_*.c files.
 */
#ifndef EBB_SERVICE_ENGINE_PRIV_H
#define EBB_SERVICE_ENGINE_PRIV_H

#include "service/engine_run.h"
#include "service/job.h"

/* ---- engine_conf.c: settings of a Spark session ---- */

/* Settings that ebb's own understanding of statements and answers depends on, one after the other: name, value; NULL
 * at the end. */
const char *const *ebb__engine_spark_forced(void);
/* Whether a setting that somebody gives may count: it begins with "spark." and is none of those. EBB_EUSAGE. */
int ebb__engine_check_setting(const char *name, struct ebb_err *err);
/* All settings of a session in the order in which they count, later ones last: of the configuration, of the run, forced
 * ones. */
typedef int ebb__engine_setting_cb(void *data, const char *name, const char *value, struct ebb_err *err);
int ebb__engine_each_setting(const struct ebb_engine_config *config, const struct ebb_value *session,
                             ebb__engine_setting_cb *cb, void *data, struct ebb_err *err);
/* Append the text of a properties file: that of Spark's own defaults (of the environment's SPARK_CONF_DIR or
 * SPARK_HOME, else beside the program), since naming a file keeps Spark from reading those; then all settings. */
int ebb__engine_properties(const struct ebb_engine_config *config, const char *program, const struct ebb_value *session,
                           struct ebb_buf *out, struct ebb_err *err);

/* ---- engine_output.c: what spark-sql printed ---- */

/* Whether an identifier can't be told to spark-sql, which splits statements also inside of back-ticks. EBB_ESQL. */
int ebb__engine_check_cli(const char *statement, struct ebb_err *err);
/* The rows of a column in a file of standard output: a line of names, then one line a row, split at tabs. EBB_EENGINE.
 */
int ebb__engine_read_output(const char *file, const char *column, ebb_engine_row_cb *cb, void *data,
                            struct ebb_err *err);
/* The one line of a log that tells what went wrong, appended; nothing when there is none. */
void ebb__engine_find_reason(const char *file, struct ebb_buf *out);
/* Leave secrets of the configuration and of the session's settings out of a text, cut to what an error takes. */
void ebb__engine_mask(struct ebb_workspace *ws, const struct ebb_value *session, const char *text, char *out,
                      size_t size);

/* ---- engine_statement.c ---- */

/* A job of another engine, while it is carried out. */
struct ebb__engine_job {
    struct ebb_workspace *ws;
    const struct ebb_job *job;
    const struct ebb_job_origin *origin;
    enum ebb_job_engine engine;
    const struct ebb_engine_driver *driver;
    const struct ebb_engine_config *config;
    const struct ebb_value *options; /* of the action, or NULL */
    int64_t now_ms, cutoff_ms;
    char *location; /* of the table; owned */
    char *uuid;     /* owned; "" none */
    char *metadata; /* URI of the metadata file the plan was made from; owned */
    bool is_dry;
    char key[40];     /* of the engine's run at hand */
    char run[40];     /* "" unless it is to remove */
    char handle[400]; /* by which the engine finds its run, "" none yet */
};
/* Whether it deletes for good: a Gravitino server runs ebb's own job, with quarantine. */
static inline bool ebb__engine_deletes(enum ebb_job_engine engine)
{
    return engine != EBB_JOB_GRAVITINO;
}
/* What the adapter says, and the statement in it as text, appended (none of an engine that takes values). */
int ebb__engine_statement(const struct ebb__engine_job *j, struct ebb_value **spec, struct ebb_buf *text,
                          struct ebb_err *err);

/* ---- engine_slot.c: which run of an engine a table has ---- */

/* Note that a run begins, or its handle becomes known; forget it. One a table: kept in the store. */
int ebb__engine_slot_put(const struct ebb__engine_job *j, const char *handle, struct ebb_err *err);
int ebb__engine_slot_clear(const struct ebb__engine_job *j, struct ebb_err *err);
/* What a process that died left: a run of this table that may still go on. It is asked about by its handle: one that
 * removes is awaited, one that only looks is ended; then it is forgotten. A run of ebb's that it belonged to ends too
 * (done when it is known to have succeeded, else failed). */
int ebb__engine_slot_settle(const struct ebb__engine_job *j, struct ebb_err *err);

/* ---- engine_record.c: runs as the store and the audit log have them ---- */

int ebb__engine_record_begin(struct ebb__engine_job *j, const struct ebb_plan_result *plan, struct ebb_err *err);
/* A file that the engine took away, and how many there are in the end. */
int ebb__engine_record_deleted(const struct ebb__engine_job *j, struct ebb_str location, struct ebb_err *err);
/* status: done, partial, failed. */
int ebb__engine_record_end(const struct ebb__engine_job *j, const char *plan, const char *status, int64_t deleted,
                           struct ebb_err *err);

/* ---- engine_remove.c, engine_trino_check.c ---- */

/* Remove orphans of a table by another engine: see job.h. */
int ebb__engine_remove(struct ebb_workspace *ws, const struct ebb_job *job, enum ebb_job_engine engine,
                       const struct ebb_job_origin *origin, struct ebb_plan_options *options,
                       struct ebb_job_result *result, struct ebb_err *err);
/* job.c: a plan that is held, or whose ownership is not enough, goes no further. EBB_EFUSE, EBB_EOWNERSHIP. */
int ebb__job_check_plan(const struct ebb_plan_result *plan, const struct ebb_job_origin *origin, bool is_dry,
                        struct ebb_err *err);
/* Only what an engine would remove (a dry job, job->engine), as a plan. */
int ebb__engine_plan(struct ebb_workspace *ws, const struct ebb_job *job, struct ebb_plan_options *options,
                     struct ebb_plan_result *plan, struct ebb_err *err);
/* What Trino does differently must do no harm here: nothing that ebb keeps lies where it looks, nothing lies in the
 * table's own quarantine, and its table of the name is this table. EBB_EENGINE_UNSAFE. */
int ebb__engine_check_trino(struct ebb__engine_job *j, const struct ebb_plan_result *plan, struct ebb_err *err);

#endif
