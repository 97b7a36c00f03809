/* SPDX-License-Identifier: Apache-2.0
 *
 * A run that is asked for: its template filled, checked, and put into the store as a job.
 */
#include <stdio.h>
#include <stdlib.h>

#include "service/api_priv.h"
#include "service/gravitino_priv.h"
#include "service/job.h"
#include "service/shell.h"

#define FILLED_MAX_BYTES ((size_t)1024 * 1024)

struct start {
    struct ebb_api_call *call;
    struct ebb__run_request request;
    struct ebb__entity template_;
    struct ebb_buf json;
    char kind[32];
    char *table; /* dotted name, NULL none */
};

/* Answer with what the filling of a placeholder met. */
static int refuse_fill(struct start *s, int rc, const struct ebb_err *why)
{
    if (rc == -(int)EBB_ENOMEM)
        return rc;
    return ebb__run_refuse(s->call, rc == -(int)EBB_EINTERNAL ? EBB__FAULT_RUNTIME : EBB__FAULT_ARGUMENT, why->message);
}

static int fill(struct start *s, const char *text, struct ebb_buf *out)
{
    struct ebb_err why;
    int rc;

    memset(&why, 0, sizeof why);
    ebb_buf_reset(out);
    rc = ebb__template_fill(text ? text : "", s->request.conf, out, &why);
    return rc ? refuse_fill(s, rc, &why) : 0;
}

/* The executor's configuration, which may hold what a real server's jobs need besides. */
static const char *const KNOWN[] = {"catalog_name",
                                    "table_identifier",
                                    "older_than",
                                    "location",
                                    "dry_run",
                                    "spark_conf",
                                    "spark_master",
                                    "spark_executor_instances",
                                    "spark_executor_cores",
                                    "spark_executor_memory",
                                    "spark_driver_memory",
                                    "catalog_type",
                                    "catalog_uri",
                                    "warehouse_location"};
#define TAKEN ((size_t)6)

/* A misspelt dry_run must not remove files. */
static int check_keys(struct start *s)
{
    char why[256];

    for (size_t i = 0; i < ebb_value_get_count(s->request.conf); i++) {
        const char *key = ebb_value_get_key(s->request.conf, i).p;
        size_t k = 0;

        while (k < sizeof KNOWN / sizeof *KNOWN && strcmp(KNOWN[k], key) != 0)
            k++;
        if (k < sizeof KNOWN / sizeof *KNOWN)
            continue;
        snprintf(why, sizeof why, "jobConf: %.100s is no placeholder of " EBB__TEMPLATE_ORPHANS, key);
        return ebb__run_refuse(s->call, EBB__FAULT_ARGUMENT, why);
    }
    return 0;
}

static int check_removal(struct start *s, const struct ebb_value *config)
{
    struct ebb_job_args args = {.catalog = ebb_value_text_of(config, "catalog_name"),
                                .table = ebb_value_text_of(config, "table_identifier"),
                                .older_than = ebb_value_text_of(config, "older_than"),
                                .location = ebb_value_text_of(config, "location"),
                                .dry_run = ebb_value_text_of(config, "dry_run"),
                                .spark_conf = ebb_value_text_of(config, "spark_conf")};
    struct ebb_job job;
    struct ebb_err why;
    int rc = ebb_job_parse(&args, s->call->now_ms, &job, &why);

    if (rc == -(int)EBB_ENOMEM)
        return rc;
    if (rc)
        return ebb__run_refuse(s->call, EBB__FAULT_ARGUMENT, why.message);
    if (!ebb_config_has_catalog(ebb_workspace_config(s->call->ws), job.catalog))
        rc = ebb__run_refuse(s->call, EBB__FAULT_ARGUMENT, "catalog_name: no such catalog is configured");
    else if (strpbrk(job.name, "/:"))
        rc = ebb__run_refuse(s->call, EBB__FAULT_ARGUMENT, "table_identifier: a name without '/' and ':' is wanted");
    if (!rc)
        s->table = strdup(job.name);
    ebb_job_fini(&job);
    return rc ? rc : s->table ? 0 : -(int)EBB_ENOMEM;
}

static int prepare_removal(struct start *s, struct ebb_err *err)
{
    struct ebb_value *root = ebb_value_new_map(NULL);
    struct ebb_value *config = ebb_value_put_map(root, "config");
    struct ebb_buf text;
    char placeholder[64];
    int rc = check_keys(s);

    ebb_buf_init(&text, FILLED_MAX_BYTES);
    for (size_t i = 0; !rc && i < TAKEN; i++) {
        if (!ebb_value_get(s->request.conf, KNOWN[i]))
            continue;
        snprintf(placeholder, sizeof placeholder, "{{%s}}", KNOWN[i]);
        rc = fill(s, placeholder, &text);
        if (!rc)
            ebb_value_put_str(config, KNOWN[i], ebb_buf_cstr(&text));
    }
    if (!rc)
        rc = ebb_value_check(root, "job", err);
    if (!rc)
        rc = check_removal(s, config);
    if (!rc)
        rc = ebb_value_to_json(root, &s->json, err);
    snprintf(s->kind, sizeof s->kind, "remove-orphan-files");
    ebb_buf_fini(&text);
    ebb_value_free(root);
    return rc;
}

static int fill_pairs(struct start *s, const struct ebb_value *from, struct ebb_value *to)
{
    struct ebb_buf key, value;
    struct ebb_err why;
    int rc = 0;

    ebb_buf_init(&key, FILLED_MAX_BYTES);
    ebb_buf_init(&value, FILLED_MAX_BYTES);
    for (size_t i = 0; !rc && i < ebb_value_get_count(from); i++) {
        rc = fill(s, ebb_value_get_key(from, i).p, &key);
        if (!rc)
            rc = fill(s, ebb_value_get_str(ebb_value_get_at(from, i)), &value);
        if (!rc && ebb_shell_check_variable(ebb_buf_cstr(&key), &why))
            rc = ebb__run_refuse(s->call, EBB__FAULT_FORBIDDEN, why.message);
        if (!rc)
            ebb_value_put_str(to, ebb_buf_cstr(&key), ebb_buf_cstr(&value));
    }
    ebb_buf_fini(&value);
    ebb_buf_fini(&key);
    return rc;
}

static int fill_list(struct start *s, const struct ebb_value *from, struct ebb_value *to)
{
    struct ebb_buf text;
    int rc = 0;

    ebb_buf_init(&text, FILLED_MAX_BYTES);
    for (size_t i = 0; !rc && i < ebb_value_get_count(from); i++) {
        rc = fill(s, ebb_value_get_str(ebb_value_get_at(from, i)), &text);
        if (!rc)
            ebb_value_add_str(to, ebb_buf_cstr(&text));
    }
    ebb_buf_fini(&text);
    return rc;
}

/* The executable as a path: "file:" may stand before it. */
static int fill_executable(struct start *s, struct ebb_value *root)
{
    const struct ebb_strs *allowed = &ebb_workspace_config(s->call->ws)->serve.executables;
    struct ebb_buf text;
    struct ebb_err why;
    const char *path;
    int rc;

    ebb_buf_init(&text, FILLED_MAX_BYTES);
    rc = fill(s, ebb_value_text_of(s->template_.json, "executable"), &text);
    path = ebb_buf_cstr(&text);
    if (!strncmp(path, "file://", 7))
        path += 7;
    else if (!strncmp(path, "file:", 5))
        path += 5;
    if (!rc && ebb_shell_check_executable(allowed, path, &why))
        rc = ebb__run_refuse(s->call, EBB__FAULT_FORBIDDEN, why.message);
    if (!rc)
        ebb_value_put_str(root, "executable", path);
    ebb_buf_fini(&text);
    return rc;
}

static int prepare_shell(struct start *s, struct ebb_err *err)
{
    const struct ebb_value *t = s->template_.json;
    struct ebb_value *root = ebb_value_new_map(NULL);
    int rc = fill_executable(s, root);

    snprintf(s->kind, sizeof s->kind, "shell");
    if (!rc && ebb_value_get_count(ebb_value_get(t, "scripts")))
        rc = ebb__run_refuse(s->call, EBB__FAULT_UNSUPPORTED, "scripts are not fetched: only the executable is run");
    if (!rc)
        rc = fill_list(s, ebb_value_get(t, "arguments"), ebb_value_put_list(root, "arguments"));
    if (!rc)
        rc = fill_pairs(s, ebb_value_get(t, "environments"), ebb_value_put_map(root, "environments"));
    ebb_value_put_int(root, "template", s->template_.object.number);
    if (!rc)
        rc = ebb_value_check(root, "job", err);
    if (!rc)
        rc = ebb_value_to_json(root, &s->json, err);
    ebb_value_free(root);
    return rc;
}

static int prepare(struct start *s, struct ebb_err *err)
{
    const char *type = ebb_value_text_of(s->template_.json, "jobType");

    if (!strcmp(s->template_.object.name, EBB__TEMPLATE_ORPHANS))
        return prepare_removal(s, err);
    if (type && !strcmp(type, "shell"))
        return prepare_shell(s, err);
    return ebb__run_refuse(s->call, EBB__FAULT_UNSUPPORTED,
                           "templates of type spark are kept, but this server does not run Spark");
}

static int put(struct start *s, struct ebb_err *err)
{
    struct ebb_store *store = ebb__gravitino_store(s->call);
    struct ebb_job_record job = {.kind = s->kind,
                                 .template_ = s->template_.object.name,
                                 .table = s->table ? s->table : "",
                                 .uuid = "",
                                 .policy = "",
                                 .occurrence = "",
                                 .parent = "",
                                 .state = EBB_JOB_QUEUED,
                                 .queued_ms = s->call->now_ms,
                                 .changed_ms = s->call->now_ms,
                                 .plan = "",
                                 .run = "",
                                 .code = "",
                                 .message = "",
                                 .owner = s->call->who.name,
                                 .json = ebb_buf_cstr(&s->json)};
    char id[40];
    bool is_new = false;
    int rc;

    ebb_store_new_job_id(store, s->call->now_ms, id);
    job.id = id;
    rc = ebb__api_check_room(s->call, job.json, err);
    if (!rc)
        rc = ebb_store_put_job(store, &job, &is_new, err);
    if (rc)
        return rc;
    ebb__gravitino_tell(s->call, EBB_NOTE_JOBS, id);
    return ebb__run_answer(s->call, &job, job.template_, err);
}

int ebb__gravitino_run_start(struct ebb_api_call *call, struct ebb_err *err)
{
    struct start s = {.call = call};
    int rc = ebb__gravitino_metalake(call);

    ebb_buf_init(&s.json, EBB__GRAVITINO_BODY_MAX);
    if (!rc)
        rc = ebb__run_request_read(call, &s.request, err);
    if (!rc)
        rc = ebb__template_get(call, s.request.template_, &s.template_, err);
    if (rc == -(int)EBB_ENOT_FOUND)
        rc = ebb__run_no_template(call, s.request.template_, "RUN");
    if (!rc)
        rc = prepare(&s, err);
    if (!rc)
        rc = put(&s, err);
    if (rc == -(int)EBB_ENOMEM)
        ebb_err_nomem(err);
    free(s.table);
    ebb_buf_fini(&s.json);
    ebb__entity_fini(&s.template_);
    ebb__run_request_fini(&s.request);
    return ebb__gravitino_done(rc);
}
