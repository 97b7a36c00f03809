/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "service/engine_priv.h"
#include "service/shell_priv.h"

#define SCOPE "engine-run"

int ebb__engine_slot_put(const struct ebb__engine_job *j, const char *handle, struct ebb_err *err)
{
    struct ebb_store *store = ebb_workspace_site(j->ws)->store;
    struct ebb_buf json, owner;
    struct ebb_jsonw w;
    int rc;

    ebb_buf_init(&json, 65536);
    ebb_buf_init(&owner, 256);
    rc = ebb__child_mark(getpid(), &owner, err);
    ebb_jsonw_init(&w, &json);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kstr(&w, "engine", ebb_job_engine_name(j->engine));
    ebb_jsonw_kstr(&w, "key", j->key);
    ebb_jsonw_kstr(&w, "handle", handle);
    ebb_jsonw_kstr(&w, "run", j->run);
    ebb_jsonw_kstr(&w, "owner", ebb_buf_cstr(&owner));
    ebb_jsonw_end(&w, '}');
    if (!rc)
        rc = ebb_buf_check(&json, "run of an engine", err);
    if (!rc)
        rc = ebb_store_put_value(store, SCOPE, j->job->name, ebb_buf_cstr(&json), err);
    ebb_buf_fini(&owner);
    ebb_buf_fini(&json);
    return rc;
}

int ebb__engine_slot_clear(const struct ebb__engine_job *j, struct ebb_err *err)
{
    return ebb_store_put_value(ebb_workspace_site(j->ws)->store, SCOPE, j->job->name, NULL, err);
}

static const struct ebb_engine_driver *driver_of(const char *name)
{
    const struct ebb_engine_driver *const ALL[] = {&ebb_engine_spark, &ebb_engine_livy, &ebb_engine_trino,
                                                   &ebb_engine_gravitino};

    for (size_t i = 0; name && i < sizeof ALL / sizeof ALL[0]; i++)
        if (!strcmp(ALL[i]->name, name))
            return ALL[i];
    return NULL;
}

static int began(void *data, const char *handle, struct ebb_err *err)
{
    (void)data;
    (void)handle;
    (void)err;
    return 0;
}

static int no_row(void *data, struct ebb_str value, struct ebb_err *err)
{
    (void)data;
    (void)value;
    (void)err;
    return 0;
}

/* What became of it; one that only looks is ended first. Its answer is of no use any more: nobody knows what it was
 * compared with. */
static int ask(const struct ebb__engine_job *j, const struct ebb_value *slot, bool is_run, const char **status,
               struct ebb_err *err)
{
    const struct ebb_engine_driver *driver = driver_of(ebb_value_text_of(slot, "engine"));
    const char *handle = ebb_value_text_of(slot, "handle"), *key = ebb_value_text_of(slot, "key");
    struct ebb_engine_context context = {j->ws, j->job->catalog, began, NULL};
    struct ebb_engine_spec spec = {key ? key : "", "", NULL, NULL, ""};
    struct ebb_err why;
    void *run = NULL;
    int rc;

    *status = "failed";
    if (!driver || !handle || !handle[0])
        return 0;
    if (is_run) {
        rc = ebb_engine_execute(driver, &context, handle, &spec, no_row, NULL, &why);
        if (!rc)
            *status = "done";
        if (rc && err)
            *err = why;
        /* a server that does not answer may still be at it */
        return rc == -(int)EBB_EENGINE && why.retryable ? rc : rc == -(int)EBB_ECANCELLED ? rc : 0;
    }
    rc = driver->open(&context, &run, err);
    if (!rc)
        rc = driver->attach(run, handle, &spec, err);
    if (!rc)
        rc = driver->cancel(run, err);
    driver->close(run);
    return rc;
}

struct ending {
    const struct ebb__engine_job *j;
    const char *status;
};

static int end_run(void *data, const struct ebb_record *record, struct ebb_err *err)
{
    struct ending *e = data;
    struct ebb__engine_job j = *e->j;

    if (strcmp(record->status, "started") != 0 && strcmp(record->status, "interrupted") != 0)
        return 0;
    snprintf(j.run, sizeof j.run, "%s", record->id);
    j.now_ms = record->at_ms;
    return ebb__engine_record_end(&j, record->parent, e->status, 0, err);
}

/* Whoever began it is still there. */
static int check_owner(const struct ebb__engine_job *j, const struct ebb_value *slot, struct ebb_err *err)
{
    const char *owner = ebb_value_text_of(slot, "owner");

    if (!owner || strtol(owner, NULL, 10) == getpid() || !ebb__child_lives(owner))
        return 0;
    return ebb_err_set(err, EBB_ELOCKED, "%s: process %.*s has a run of %s on it", j->job->name,
                       (int)strcspn(owner, " "), owner, ebb_value_text_of(slot, "engine"));
}

static int settle(const struct ebb__engine_job *j, const struct ebb_value *slot, struct ebb_err *err)
{
    struct ebb_store *store = ebb_workspace_site(j->ws)->store;
    const char *run = ebb_value_text_of(slot, "run");
    struct ending e = {j, "failed"};
    int rc = check_owner(j, slot, err);

    if (!rc)
        rc = ask(j, slot, run && run[0], &e.status, err);

    if (!rc && run && run[0])
        rc = ebb_store_get(store, EBB_RECORD_RUN, run, end_run, &e, err);
    return rc ? rc : ebb__engine_slot_clear(j, err);
}

int ebb__engine_slot_settle(const struct ebb__engine_job *j, struct ebb_err *err)
{
    struct ebb_value *slot = NULL;
    struct ebb_buf json;
    bool found = false;
    int rc;

    ebb_buf_init(&json, 65536);
    rc = ebb_store_get_value(ebb_workspace_site(j->ws)->store, SCOPE, j->job->name, &json, &found, err);
    if (!rc && found)
        rc = ebb_value_of_json("run of an engine", json.data, json.len, NULL, &slot, err);
    if (!rc && found)
        rc = settle(j, slot, err);
    ebb_value_free(slot);
    ebb_buf_fini(&json);
    return rc;
}
