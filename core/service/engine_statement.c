/* SPDX-License-Identifier: Apache-2.0
 *
 * From a job to the text that an engine gets: the adapter gives the statement as data, here it is quoted.
 */
#include <stdlib.h>

#include "base/sql.h"
#include "engine/script.h"
#include "service/engine_priv.h"
#include "service/pass.h"

#define PARTS_MAX 32

static bool is_s3(const char *location)
{
    return !strncmp(location, "s3:", 3) || !strncmp(location, "s3a:", 4) || !strncmp(location, "s3n:", 4);
}

static struct ebb_value *make_context(const struct ebb__engine_job *j)
{
    struct ebb_value *c = ebb_value_new_map(NULL);
    const struct ebb_strs *parts = &j->job->parts;
    struct ebb_buf name;

    ebb_buf_init(&name, 65536);
    for (size_t i = 0; i + 1 < parts->count; i++)
        ebb_buf_printf(&name, "%s%s", i ? "." : "", parts->items[i]);
    ebb_value_put_str(c, "catalog", j->config->catalog ? j->config->catalog : j->job->catalog);
    ebb_value_put_str(c, "namespace", ebb_buf_cstr(&name));
    ebb_value_put_str(c, "name", parts->items[parts->count - 1]);
    ebb_value_put_str(c, "table_location", j->location);
    ebb_value_put_int(c, "now", j->now_ms);
    ebb_value_put_int(c, "older_than", j->cutoff_ms);
    ebb_value_put_str(c, "location", j->job->location);
    ebb_value_put_bool(c, "dry_run", j->is_dry);
    if (j->engine == EBB_JOB_GRAVITINO)
        ebb_value_put_str(c, "template", j->config->template ? j->config->template : EBB_JOB_TEMPLATE);
    if (j->config->prefix_listing < 0 ? is_s3(j->location) : j->config->prefix_listing)
        ebb_value_put_bool(c, "prefix_listing", true);
    ebb_value_put_copy(c, "options", j->options);
    ebb_buf_fini(&name);
    return c;
}

static int run_adapter(const struct ebb__engine_job *j, struct ebb_value **out, struct ebb_err *err)
{
    struct ebb_value *context = make_context(j);
    struct ebb_engine *engine = NULL;
    struct ebb_buf dir;
    int rc = ebb_value_check(context, "job", err);

    ebb_buf_init(&dir, 65536);
    ebb_pass_data_dir(&dir);
    ebb_buf_puts(&dir, "/scripts");
    if (!rc)
        rc = ebb_engine_new(ebb_buf_cstr(&dir), &engine, err);
    if (!rc)
        rc = ebb_engine_spec(engine, ebb_job_engine_name(j->engine), context, out, err);
    ebb_engine_free(engine);
    ebb_value_free(context);
    ebb_buf_fini(&dir);
    return rc;
}

static int take_parts(const struct ebb_value *statement, struct ebb_str parts[PARTS_MAX], size_t *count,
                      struct ebb_err *err)
{
    const struct ebb_value *list = ebb_value_get(statement, "table");

    *count = ebb_value_get_count(list);
    if (*count < 3 || *count > PARTS_MAX)
        return ebb_err_set(err, EBB_ESQL, "table: a name of three to %d parts is wanted", PARTS_MAX);
    for (size_t i = 0; i < *count; i++)
        parts[i] = ebb_value_get_bytes(ebb_value_get_at(list, i));
    return 0;
}

static int spark_text(const struct ebb_value *s, struct ebb_buf *out, struct ebb_err *err)
{
    const struct ebb_value *location = ebb_value_get(s, "location");
    const char *procedure = ebb_value_text_of(s, "procedure");
    struct ebb_str parts[PARTS_MAX];
    struct ebb_sql_arg args[5];
    size_t count, n = 0;
    int rc = take_parts(s, parts, &count, err);

    if (rc)
        return rc;
    memset(args, 0, sizeof args);
    args[n++] = (struct ebb_sql_arg){"table", EBB_SQL_TABLE, {NULL, 0}, parts, count, 0};
    args[n++] = (struct ebb_sql_arg){
        "older_than", EBB_SQL_TIMESTAMP_MS, {NULL, 0}, NULL, 0, ebb_value_int_of(s, "older_than", 0)};
    if (location)
        args[n++] = (struct ebb_sql_arg){"location", EBB_SQL_TEXT, ebb_value_get_bytes(location), NULL, 0, 0};
    args[n++] =
        (struct ebb_sql_arg){"dry_run", EBB_SQL_BOOL, {NULL, 0}, NULL, 0, ebb_value_bool_of(s, "dry_run", true)};
    if (ebb_value_bool_of(s, "prefix_listing", false))
        args[n++] = (struct ebb_sql_arg){"prefix_listing", EBB_SQL_BOOL, {NULL, 0}, NULL, 0, 1};
    return ebb_sql_call(EBB_SQL_SPARK, procedure ? procedure : "", ebb_value_get_bytes(ebb_value_get(s, "catalog")),
                        args, n, out, err);
}

static int trino_text(const struct ebb_value *s, struct ebb_buf *out, struct ebb_err *err)
{
    const char *procedure = ebb_value_text_of(s, "procedure");
    struct ebb_str parts[PARTS_MAX];
    size_t count;
    int rc = take_parts(s, parts, &count, err);

    return rc ? rc
              : ebb_sql_trino_execute(procedure ? procedure : "", parts, count,
                                      ebb_value_int_of(s, "retention_threshold", -1), out, err);
}

int ebb__engine_statement(const struct ebb__engine_job *j, struct ebb_value **spec, struct ebb_buf *text,
                          struct ebb_err *err)
{
    const struct ebb_value *statement;
    const char *dialect;
    int rc = run_adapter(j, spec, err);

    if (rc)
        return rc;
    statement = ebb_value_get(*spec, "statement");
    dialect = ebb_value_text_of(*spec, "dialect");
    if (dialect && !strcmp(dialect, "spark"))
        rc = spark_text(statement, text, err);
    else if (dialect && !strcmp(dialect, "trino"))
        rc = trino_text(statement, text, err);
    else if (j->engine == EBB_JOB_GRAVITINO && ebb_value_get(*spec, "config"))
        return 0; /* values, not a text */
    else
        rc = ebb_err_set(err, EBB_ECONFIG, "scripts: the adapter of %s gives no statement",
                         ebb_job_engine_name(j->engine));
    return rc ? rc : ebb_buf_check(text, "statement", err);
}
