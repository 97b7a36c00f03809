/* SPDX-License-Identifier: Apache-2.0 */
#include "service/engine_compare.h"

#include <stdlib.h>

#include "base/time.h"
#include "service/engine_priv.h"

#define ARENA_BYTES (EBB_PLAN_MAX_LINE_BYTES * 4)

void ebb_engine_comparison_fini(struct ebb_engine_comparison *c)
{
    for (size_t i = 0; i < c->only_ebb.count; i++)
        free(c->only_ebb.items[i].path);
    for (size_t i = 0; i < c->only_engine.count; i++)
        free(c->only_engine.items[i].path);
    free(c->only_ebb.items);
    free(c->only_engine.items);
    memset(c, 0, sizeof *c);
}

static int note(struct ebb_engine_comparison *c, struct ebb_engine_differences *list, struct ebb_str path,
                const struct ebb_engine_difference *d, struct ebb_err *err)
{
    list->total++;
    c->unexplained += !d->is_explained;
    if (list->count == EBB_DIFFERENCES_MAX)
        return 0;
    if (!list->items)
        list->items = calloc(EBB_DIFFERENCES_MAX, sizeof *list->items);
    if (!list->items)
        return ebb_err_nomem(err);
    list->items[list->count] = *d;
    list->items[list->count].path = strndup(path.p, path.n);
    return list->items[list->count++].path ? 0 : ebb_err_nomem(err);
}

/* ---- what only the engine would remove ---- */

static const char *explain(enum ebb_offer_rule rule)
{
    switch (rule) {
    case EBB_OFFER_HIDDEN:
        return "hidden here; Spark's rule for hidden names fails where names and location are spelled differently";
    case EBB_OFFER_NEIGHBOUR:
        return "part of another table; Spark knows of one table only";
    case EBB_OFFER_CONFLICT:
        return "its path is the table's under another scheme or authority";
    case EBB_OFFER_NO_FILE:
    case EBB_OFFER_OUTSIDE:
        return "no plain file inside of the location; Spark follows links";
    case EBB_OFFER_KEPT:
        return "kept here: an uncommitted write of Flink's, metadata of another table, or not of a table at all";
    case EBB_OFFER_NO_LOCATION:
    case EBB_OFFER_REACHABLE:
    case EBB_OFFER_MISSING:
    case EBB_OFFER_NO_TIME:
    case EBB_OFFER_YOUNG:
        break;
    }
    return NULL;
}

static int on_refused(void *data, struct ebb_str location, enum ebb_offer_rule rule, struct ebb_err *err)
{
    struct ebb_engine_comparison *c = data;
    const char *why = explain(rule);
    const struct ebb_engine_difference d = {NULL, ebb_offer_rule_name(rule), why ? why : ebb_offer_rule_text(rule),
                                            why != NULL};

    return note(c, &c->only_engine, location, &d, err);
}

/* ---- what only ebb would remove ---- */

static int note_only_ebb(struct ebb_engine_comparison *c, struct ebb_str path, struct ebb_err *err)
{
    bool is_dotted = memmem(path.p, path.n, "/_", 2) || memmem(path.p, path.n, "/.", 2);
    const struct ebb_engine_difference d = {
        NULL, is_dotted ? "hidden-text" : "missed",
        is_dotted ? "hidden for Spark, whose rule for the names of partitions compares text only"
                  : "Spark does not name it",
        is_dotted};

    return note(c, &c->only_ebb, path, &d, err);
}

/* ---- both ---- */

struct side {
    struct ebb_plan_file *file;
    struct ebb_arena arena;
    struct ebb_plan_candidate at;
    bool is_end;
};

static int step(struct side *s, struct ebb_err *err)
{
    ebb_arena_fini(&s->arena);
    ebb_arena_init(&s->arena, ARENA_BYTES);
    return ebb_plan_file_next(s->file, &s->arena, &s->at, &s->is_end, err);
}

static int merge(struct side *a, struct side *b, struct ebb_engine_comparison *c, struct ebb_err *err)
{
    const struct ebb_engine_difference found = {NULL, "found", "ebb does not name it", false};
    int rc = step(a, err);

    if (!rc)
        rc = step(b, err);
    while (!rc && !(a->is_end && b->is_end)) {
        int order = a->is_end ? 1 : b->is_end ? -1 : ebb_str_compare(a->at.path, b->at.path);

        if (order < 0)
            rc = note_only_ebb(c, a->at.path, err);
        else if (order > 0)
            rc = note(c, &c->only_engine, b->at.path, &found, err);
        else
            c->equal++;
        if (!rc && order <= 0)
            rc = step(a, err);
        if (!rc && order >= 0)
            rc = step(b, err);
    }
    return rc;
}

static int compare_files(const struct ebb_site *site, const char *native, const char *other,
                         struct ebb_engine_comparison *c, struct ebb_err *err)
{
    struct side a, b;
    int rc;

    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    ebb_arena_init(&a.arena, ARENA_BYTES);
    ebb_arena_init(&b.arena, ARENA_BYTES);
    rc = ebb_plan_file_open(site, native, &a.file, err);
    if (!rc)
        rc = ebb_plan_file_open(site, other, &b.file, err);
    if (!rc)
        rc = ebb_plan_file_rewind(a.file, err);
    if (!rc)
        rc = ebb_plan_file_rewind(b.file, err);
    if (!rc)
        rc = merge(&a, &b, c, err);
    ebb_plan_file_close(a.file);
    ebb_plan_file_close(b.file);
    ebb_arena_fini(&a.arena);
    ebb_arena_fini(&b.arena);
    return rc;
}

static int make_job(struct ebb_workspace *ws, const char *engine, const struct ebb_plan_result *native,
                    struct ebb_job *job, struct ebb_err *err)
{
    const char *dot = strchr(native->table, '.');
    char *catalog = dot ? strndup(native->table, (size_t)(dot - native->table)) : NULL;
    struct ebb_buf cutoff;
    int rc = 0;

    ebb_buf_init(&cutoff, 64);
    ebb_time_iso(&cutoff, native->cutoff_ms);
    if (!catalog || !ebb_config_has_catalog(ebb_workspace_config(ws), catalog))
        rc = ebb_err_set(err, EBB_EUSAGE, "--compare %s: %s: a table of a configured catalog is wanted", engine,
                         native->table);
    if (!rc) {
        const struct ebb_job_args args = {catalog, dot + 1, ebb_buf_cstr(&cutoff), NULL, "true", NULL, engine};

        rc = ebb_job_parse(&args, ebb_clock_now(&ebb_workspace_site(ws)->clock), job, err);
    }
    free(catalog);
    ebb_buf_fini(&cutoff);
    return rc;
}

int ebb_engine_compare(struct ebb_workspace *ws, const char *engine, const struct ebb_plan_result *native,
                       struct ebb_engine_comparison *out, struct ebb_err *err)
{
    struct ebb_plan_options options;
    struct ebb_plan_result plan;
    struct ebb_job job;
    int rc;

    memset(out, 0, sizeof *out);
    memset(&plan, 0, sizeof plan);
    memset(&job, 0, sizeof job);
    ebb_plan_options_init(&options);
    options.refused = on_refused;
    options.refused_data = out;
    rc = make_job(ws, engine, native, &job, err);
    if (!rc)
        rc = ebb__engine_plan(ws, &job, &options, &plan, err);
    if (!rc)
        rc = compare_files(ebb_workspace_site(ws), native->file, plan.file, out, err);
    memcpy(out->plan, plan.id, sizeof out->plan);
    ebb_plan_result_fini(&plan);
    ebb_plan_options_fini(&options);
    ebb_job_fini(&job);
    return rc;
}
