/* SPDX-License-Identifier: Apache-2.0 */
#include "service/job.h"

#include <stdlib.h>

#include "base/time.h"
#include "service/engine_priv.h"

static bool is_given(const char *text)
{
    return text && text[0];
}

static int split_table(struct ebb_job *job, const char *table, struct ebb_err *err)
{
    const char *at = table;
    int rc = 0;

    while (!rc) {
        const char *dot = strchr(at, '.');
        size_t n = dot ? (size_t)(dot - at) : strlen(at);

        if (!n)
            return ebb_err_set(err, EBB_EUSAGE, "--table %s: schema.table is wanted", table);
        rc = ebb_strs_addn(&job->parts, at, n, err);
        if (!dot)
            break;
        at = dot + 1;
    }
    if (!rc && job->parts.count < 2)
        rc = ebb_err_set(err, EBB_EUSAGE, "--table %s: schema.table is wanted", table);
    return rc;
}

static int parse_names(const struct ebb_job_args *a, struct ebb_job *job, struct ebb_err *err)
{
    struct ebb_buf name;
    int rc;

    if (!is_given(a->catalog))
        return ebb_err_set(err, EBB_EUSAGE, "--catalog: is missing");
    if (!is_given(a->table))
        return ebb_err_set(err, EBB_EUSAGE, "--table: is missing");
    job->catalog = strdup(a->catalog);
    ebb_buf_init(&name, 16384);
    ebb_buf_printf(&name, "%s.%s", a->catalog, a->table);
    rc = ebb_buf_check(&name, "--table", err);
    job->name = ebb_buf_take(&name);
    if (!rc && (!job->catalog || !job->name))
        rc = ebb_err_nomem(err);
    return rc ? rc : split_table(job, a->table, err);
}

static int parse_cutoff(const struct ebb_job_args *a, int64_t now_ms, struct ebb_job *job, struct ebb_err *err)
{
    struct ebb_buf iso;
    int rc;

    if (!is_given(a->older_than))
        return 0;
    rc = ebb_time_parse(a->older_than, "UTC", &job->older_than_ms, err);
    if (rc)
        return ebb_err_as(err, EBB_ETIME, "--older-than");
    if (job->older_than_ms > now_ms)
        return ebb_err_set(err, EBB_ECUTOFF_FUTURE, "--older-than %s: lies in the future", a->older_than);
    job->has_older_than = true;
    ebb_buf_init(&iso, 64);
    ebb_time_iso(&iso, job->older_than_ms);
    job->older_than = ebb_buf_take(&iso);
    return job->older_than ? 0 : ebb_err_nomem(err);
}

static int parse_switches(const struct ebb_job_args *a, struct ebb_job *job, struct ebb_err *err)
{
    if (is_given(a->dry_run) && strcmp(a->dry_run, "true") && strcmp(a->dry_run, "false"))
        return ebb_err_set(err, EBB_EUSAGE, "--dry-run %s: true or false is wanted", a->dry_run);
    job->dry_run = is_given(a->dry_run) && !strcmp(a->dry_run, "true");
    job->engine = is_given(a->engine) ? ebb_job_engine_of(a->engine) : EBB_JOB_NATIVE;
    return job->engine < EBB_JOB_ENGINES
               ? 0
               : ebb_err_set(err, EBB_EUSAGE, "--engine %s: native, spark, livy, trino or gravitino is wanted",
                             a->engine);
}

static int check_spark_conf(const struct ebb_job_args *a, struct ebb_job *job, struct ebb_err *err)
{
    struct ebb_value *conf = NULL;
    int rc;

    if (!is_given(a->spark_conf))
        return 0;
    rc = ebb_value_of_json("--spark-conf", a->spark_conf, strlen(a->spark_conf), NULL, &conf, err);
    if (rc)
        return ebb_err_as(err, EBB_EUSAGE, NULL);
    if (ebb_value_get_kind(conf) != EBB_VALUE_MAP)
        rc = ebb_err_set(err, EBB_EUSAGE, "--spark-conf: a JSON object is wanted");
    for (size_t i = 0; !rc && i < ebb_value_get_count(conf); i++)
        if (!ebb_value_get_str(ebb_value_get_at(conf, i)))
            rc = ebb_err_set(err, EBB_EUSAGE, "--spark-conf: %s: text is wanted", ebb_value_get_key(conf, i).p);
    if (!rc && ebb_value_get_count(conf) && job->engine != EBB_JOB_SPARK && job->engine != EBB_JOB_LIVY)
        rc = ebb_err_set(err, EBB_EUNSUPPORTED, "--spark-conf: only --engine spark or livy can honour it");
    for (size_t i = 0; !rc && i < ebb_value_get_count(conf); i++)
        if (ebb__engine_check_setting(ebb_value_get_key(conf, i).p, err))
            rc = ebb_err_as(err, EBB_EUSAGE, "--spark-conf");
    job->spark_conf = rc ? NULL : conf;
    if (rc)
        ebb_value_free(conf);
    return rc;
}

/* "{{location}}": what a job template leaves in place of a value that nobody sent. */
static bool is_placeholder(const char *text)
{
    size_t n = text ? strlen(text) : 0, inner;

    if (n < 5 || strncmp(text, "{{", 2) != 0)
        return false;
    inner = strspn(text + 2, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-");
    return inner == n - 4 && !strcmp(text + 2 + inner, "}}");
}

static int check_filled(const struct ebb_job_args *a, struct ebb_err *err)
{
    const struct {
        const char *name, *text;
    } all[] = {{"catalog", a->catalog},   {"table", a->table},     {"older-than", a->older_than},
               {"location", a->location}, {"dry-run", a->dry_run}, {"spark-conf", a->spark_conf},
               {"engine", a->engine}};

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (is_placeholder(all[i].text)) {
            ebb_err_set(err, EBB_EUSAGE, "--%s %s: a placeholder that was not filled in", all[i].name, all[i].text);
            ebb_err_hint(err, "whoever starts the job must send a value for each, \"\" for none");
            return -(int)EBB_EUSAGE;
        }
    return 0;
}

int ebb_job_parse(const struct ebb_job_args *a, int64_t now_ms, struct ebb_job *job, struct ebb_err *err)
{
    int rc;

    memset(job, 0, sizeof *job);
    rc = check_filled(a, err);
    if (!rc)
        rc = parse_switches(a, job, err);
    if (!rc)
        rc = parse_names(a, job, err);
    if (!rc)
        rc = parse_cutoff(a, now_ms, job, err);
    if (!rc)
        rc = check_spark_conf(a, job, err);
    if (!rc && is_given(a->location)) {
        job->location = strdup(a->location);
        rc = job->location ? 0 : ebb_err_nomem(err);
    }
    if (rc)
        ebb_job_fini(job);
    return rc;
}

void ebb_job_fini(struct ebb_job *job)
{
    free(job->name);
    free(job->catalog);
    free(job->older_than);
    free(job->location);
    ebb_strs_fini(&job->parts);
    ebb_value_free(job->spark_conf);
    memset(job, 0, sizeof *job);
}

void ebb_job_result_fini(struct ebb_job_result *result)
{
    ebb_plan_result_fini(&result->plan);
    ebb_apply_result_fini(&result->apply);
    memset(result, 0, sizeof *result);
}

/* Whether one of the action's `keep` globs takes the name below the location. */
static bool is_kept(void *data, struct ebb_str dir, struct ebb_str name)
{
    const struct ebb_value *globs = data;
    struct ebb_buf path;
    bool kept;

    ebb_buf_init(&path, 2 * EBB_LOCATION_MAX_BYTES);
    ebb_buf_add_str(&path, dir);
    if (dir.n)
        ebb_buf_putc(&path, '/');
    ebb_buf_add_str(&path, name);
    kept = path.bad;
    for (size_t i = 0; !kept && i < ebb_value_get_count(globs); i++)
        kept = ebb_glob_is_match(ebb_value_get_bytes(ebb_value_get_at(globs, i)), ebb_buf_str(&path));
    ebb_buf_fini(&path);
    return kept;
}

static int read_mismatch(const struct ebb_value *options, enum ebb_mismatch_mode *out, struct ebb_err *err)
{
    static const char *const MODES[] = {"error", "ignore", "delete"};
    const char *text = ebb_value_text_of(options, "prefix_mismatch");

    for (size_t i = 0; text && i < 3; i++)
        if (!strcmp(text, MODES[i])) {
            *out = (enum ebb_mismatch_mode)i;
            return 0;
        }
    return text ? ebb_err_set(err, EBB_EUSAGE, "prefix_mismatch %s: error, ignore or delete is wanted", text) : 0;
}

/* { ["a,b"] = "c" } becomes "a,b=c". */
static int read_equals(const struct ebb_value *map, struct ebb_strs *out, struct ebb_err *err)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < ebb_value_get_count(map); i++) {
        const char *to = ebb_value_get_str(ebb_value_get_at(map, i));
        struct ebb_buf text;

        ebb_buf_init(&text, 65536);
        ebb_buf_printf(&text, "%s=%s", ebb_value_get_key(map, i).p, to ? to : "");
        rc = ebb_buf_check(&text, "equal prefixes", err);
        if (!rc)
            rc = ebb_strs_add(out, ebb_buf_cstr(&text), err);
        ebb_buf_fini(&text);
    }
    return rc;
}

static int read_action_options(const struct ebb_value *options, struct ebb_plan_options *o, struct ebb_err *err)
{
    const struct ebb_value *keep = ebb_value_get(options, "keep");
    int rc = read_mismatch(options, &o->protect.mismatch, err);

    if (ebb_value_get_count(keep)) {
        o->keeps = is_kept;
        o->keeps_data = (void *)(uintptr_t)keep;
    }
    if (!rc)
        rc = read_equals(ebb_value_get(options, "equal_schemes"), &o->protect.equal_schemes, err);
    return rc ? rc : read_equals(ebb_value_get(options, "equal_authorities"), &o->protect.equal_authorities, err);
}

static int fill_plan_options(const struct ebb_job *job, const struct ebb_job_origin *origin, struct ebb_plan_options *o,
                             struct ebb_err *err)
{
    ebb_plan_options_init(o);
    o->older_than = job->older_than; /* NULL: the default of 3 days */
    o->is_job = true;
    o->location = job->location;
    o->max_files = origin->fuses.max_files;
    o->max_bytes = origin->fuses.max_bytes > 0 ? (uint64_t)origin->fuses.max_bytes : 0;
    o->max_share = origin->fuses.max_share;
    o->uuid = origin->uuid;
    o->policy = origin->policy;
    o->decision = origin->decision;
    o->policy_json = origin->policy_json;
    return read_action_options(origin->options, o, err);
}

static int refuse_held(const struct ebb_plan_result *plan, struct ebb_err *err)
{
    int rc = ebb_err_set(err, EBB_EFUSE, "%s: plan %s is held by %s", plan->table, plan->id,
                         plan->summary.held_by.count ? plan->summary.held_by.items[0] : "a fuse");

    ebb_err_hint(err, "look at it with: ebb show %s", plan->id);
    return rc;
}

static int apply_plan(struct ebb_workspace *ws, const struct ebb_job_origin *origin, struct ebb_job_result *result,
                      struct ebb_err *err)
{
    struct ebb_apply_options o;
    int rc;

    memset(&o, 0, sizeof o);
    o.policy = origin->policy;
    rc = ebb_apply(ebb_workspace_site(ws), result->plan.file, &o, &result->apply, err);
    result->was_applied = rc == 0 || rc == -(int)EBB_EPARTIAL;
    return rc;
}

int ebb__job_check_plan(const struct ebb_plan_result *plan, const struct ebb_job_origin *origin, bool is_dry,
                        struct ebb_err *err)
{
    if (!strcmp(plan->summary.status, "held"))
        return refuse_held(plan, err);
    if (is_dry || origin->plan_only || !origin->needs_full || !strcmp(plan->ownership, "full"))
        return 0;
    return ebb_err_set(
        err, EBB_EOWNERSHIP,
        "%s: ownership is %s: an enforced policy acts only when all tables of the catalogs could be read", plan->table,
        plan->ownership);
}

static int run_natively(struct ebb_workspace *ws, const struct ebb_job *job, const struct ebb_job_origin *origin,
                        const struct ebb_plan_options *o, struct ebb_job_result *result, struct ebb_err *err)
{
    int rc = ebb_plan_make(ebb_workspace_site(ws), job->name, o, &result->plan, err);

    if (!rc)
        rc = ebb__job_check_plan(&result->plan, origin, job->dry_run, err);
    return rc || job->dry_run || origin->plan_only ? rc : apply_plan(ws, origin, result, err);
}

/* Files of the current snapshot, as its summary has them; -1 unknown. */
static int64_t files_of(const struct ebb_table *t)
{
    const struct ebb_metadata *m = t->metadata;

    for (size_t i = 0; m->has_current_snapshot && i < m->snapshot_count; i++) {
        const struct ebb_snapshot *s = &m->snapshots[i];
        const char *data = ebb_snapshot_summary(s, "total-data-files");
        const char *deletes = ebb_snapshot_summary(s, "total-delete-files");
        int64_t n = 0, more = 0;

        if (s->id != m->current_snapshot_id)
            continue;
        if (!data || !ebb_text_count(data, &n) || (deletes && !ebb_text_count(deletes, &more)))
            return -1;
        return n > INT64_MAX - more ? INT64_MAX : n + more;
    }
    return -1;
}

/* Who does it: as asked for, or as the binding says; a table of unknown size is ebb's own. */
static int choose_engine(struct ebb_workspace *ws, const struct ebb_job *job, const struct ebb_job_origin *origin,
                         enum ebb_job_engine *out, struct ebb_err *err)
{
    struct ebb_table *t = NULL;
    int rc;

    *out = job->engine != EBB_JOB_NATIVE ? job->engine : origin->engine;
    if (job->engine != EBB_JOB_NATIVE || origin->engine == EBB_JOB_NATIVE || !origin->engine_above)
        return 0;
    rc = ebb_table_open(ebb_workspace_site(ws), job->name, &t, err);
    if (!rc && files_of(t) <= origin->engine_above)
        *out = EBB_JOB_NATIVE;
    ebb_table_free(t);
    return rc;
}

/* A job names a table of a catalog, never a path: what looks like one would be opened as one. */
static int check_name(const struct ebb_workspace *ws, const struct ebb_job *job, struct ebb_err *err)
{
    if (!ebb_config_has_catalog(ebb_workspace_config(ws), job->catalog))
        return ebb_err_set(err, EBB_ECATALOG_UNKNOWN, "--catalog %s: is not configured", job->catalog);
    if (strpbrk(job->name, "/:"))
        return ebb_err_set(err, EBB_EUSAGE, "--table %s: a name without '/' and ':' is wanted",
                           job->name + strlen(job->catalog) + 1);
    return 0;
}

int ebb_job_run(struct ebb_workspace *ws, const struct ebb_job *job, const struct ebb_job_origin *origin,
                struct ebb_job_result *result, struct ebb_err *err)
{
    struct ebb_job_origin none;
    struct ebb_site *site = ebb_workspace_site(ws);
    struct ebb_plan_options o;
    enum ebb_job_engine engine = EBB_JOB_NATIVE;
    bool allowed = site->allow_below_floor;
    int rc;

    memset(&none, 0, sizeof none);
    memset(result, 0, sizeof *result);
    origin = origin ? origin : &none;
    rc = check_name(ws, job, err);
    if (!rc)
        rc = choose_engine(ws, job, origin, &engine, err);
    if (rc)
        return rc;
    rc = fill_plan_options(job, origin, &o, err);
    site->allow_below_floor =
        allowed || origin->allow_below_floor || ebb_config_allows_below_floor(ebb_workspace_config(ws), job->name);
    if (origin->fuses.timeout_ms > 0)
        site->deadline_ms = ebb_clock_elapsed_ms() + origin->fuses.timeout_ms;
    if (!rc && engine != EBB_JOB_NATIVE)
        rc = ebb__engine_remove(ws, job, engine, origin, &o, result, err);
    else if (!rc)
        rc = run_natively(ws, job, origin, &o, result, err);
    site->deadline_ms = 0;
    site->allow_below_floor = allowed;
    ebb_plan_options_fini(&o);
    return rc;
}
