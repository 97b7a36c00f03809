/* SPDX-License-Identifier: Apache-2.0
 *
 * Looks over the small warehouse of service_help.h, and the jobs that are in its store.
 */
#ifndef EBB_TESTS_LOOK_HELP_H
#define EBB_TESTS_LOOK_HELP_H

#include "service_help.h"

#include <pthread.h>

#include "io/store_jobs.h"
#include "service/look.h"
#include "service/work.h"

#define LOOKED_MAX 16

struct looked {
    struct ebb_generation *generation;
    struct ebb_looker *looker;
    struct ebb_table_ref refs[LOOKED_MAX];
    size_t count;
    struct ebb_look looks[LOOKED_MAX];
    char status[64], verdict[16], job[40], code[64]; /* of the last that was told */
    size_t told;
};

static inline void on_looked(void *data, const char *policy, const char *table, const char *verdict, const char *status,
                             const char *decision, const char *job, const struct ebb_err *error)
{
    struct looked *l = data;

    assert_non_null(policy);
    assert_non_null(table);
    (void)decision;
    keep(l->status, sizeof l->status, status);
    keep(l->verdict, sizeof l->verdict, verdict);
    keep(l->job, sizeof l->job, job);
    keep(l->code, sizeof l->code, error ? ebb_error_code(error->error) : "");
    l->told++;
}

static inline int keep_ref(void *data, const struct ebb_table_ref *ref, struct ebb_err *err)
{
    struct looked *l = data;
    struct ebb_table_ref *to = &l->refs[l->count++];

    (void)err;
    assert_true(l->count <= LOOKED_MAX);
    memset(to, 0, sizeof *to);
    ebb_strs_init(&to->lagging);
    to->catalog = strdup(ref->catalog);
    to->namespace_ = strdup(ref->namespace_);
    to->name = strdup(ref->name);
    to->metadata_uri = ref->metadata_uri ? strdup(ref->metadata_uri) : NULL;
    to->folder_uri = ref->folder_uri ? strdup(ref->folder_uri) : NULL;
    to->problem = ref->problem;
    return 0;
}

/* A looker on what the configuration says now. */
static inline void start_looker(struct world *w, struct looked *l)
{
    struct ebb_generation_options o = {.now_ms = world_now(w)};
    struct ebb_site *site;
    char config[512];

    memset(l, 0, sizeof *l);
    assert_ok(w, try_open(w, w->shift_ms));
    world_path(w, "ebb.lua", config);
    o.config = config;
    assert_ok(w, ebb_generation_load(&o, &l->generation, NULL, &w->err));
    assert_ok(w, ebb_looker_new(w->ws, w->scripts, NULL, &l->looker, &w->err));
    site = ebb_workspace_site(w->ws);
    for (size_t i = 0; i < site->catalog_count; i++)
        assert_ok(w, ebb_catalog_list(site->catalogs[i], keep_ref, l, &w->err));
}

static inline void forget_looks(struct looked *l)
{
    for (size_t i = 0; i < LOOKED_MAX; i++)
        ebb_look_fini(&l->looks[i]);
}

static inline void end_looker(struct looked *l)
{
    forget_looks(l);
    for (size_t i = 0; i < l->count; i++)
        ebb_table_ref_fini(&l->refs[i]);
    ebb_looker_free(l->looker);
    ebb_generation_unref(l->generation);
    memset(l, 0, sizeof *l);
}

/* Look at all tables as of now + shift. */
static inline int look_with(struct world *w, struct looked *l, int64_t shift_ms, struct ebb_look_options o)
{
    w->shift_ms = shift_ms;
    forget_looks(l);
    l->told = 0;
    o.report = on_looked;
    o.data = l;
    memset(&w->err, 0, sizeof w->err);
    return ebb_look_tables(l->looker, l->generation, l->refs, l->count, &o, l->looks, &w->err);
}

static inline int look(struct world *w, struct looked *l, int64_t shift_ms)
{
    return look_with(w, l, shift_ms, (struct ebb_look_options){.overlaps = 0});
}

struct job_seen {
    int count;
    char id[40], kind[40], occurrence[160], parent[40], json[4096];
    enum ebb_job_state state;
};

static inline int on_job_seen(void *data, const struct ebb_job_record *job, struct ebb_err *err)
{
    struct job_seen *s = data;

    (void)err;
    s->count++;
    keep(s->id, sizeof s->id, job->id);
    keep(s->kind, sizeof s->kind, job->kind);
    keep(s->occurrence, sizeof s->occurrence, job->occurrence);
    keep(s->parent, sizeof s->parent, job->parent);
    keep(s->json, sizeof s->json, job->json);
    s->state = job->state;
    return 0;
}

/* All jobs; the last one is kept. */
static inline struct job_seen jobs_of(struct world *w)
{
    struct job_seen s;

    memset(&s, 0, sizeof s);
    assert_ok(w, ebb_store_list_jobs(ebb_workspace_site(w->ws)->store, NULL, on_job_seen, &s, &w->err));
    return s;
}

static inline void sql_on(struct world *w, const char *sql)
{
    char path[512];
    sqlite3 *db;

    world_path(w, "state/ebb.db", path);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    sqlite3_close(db);
}

#endif
