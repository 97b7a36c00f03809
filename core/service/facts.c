/* SPDX-License-Identifier: Apache-2.0 */
#include "service/facts_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "io/store_jobs.h"

#define FACT_RUNS 1000
#define FACT_PLANS 100 /* that are looked at for the last listing */
#define FACT_NODES 3000000
#define FACT_SUMMARY_ENTRIES 300000 /* of all snapshots together */

struct ebb_value_limits ebb_facts_limits(void)
{
    struct ebb_value_limits limits = ebb_value_limits_wide();

    limits.nodes = FACT_NODES;
    return limits;
}

static void put_json(struct ebb_value *map, const char *key, struct ebb_str json)
{
    struct ebb_value *value = NULL;

    if (!json.n || ebb_value_of_json(key, json.p, json.n, NULL, &value, NULL))
        return; /* for show in policies only: what does not parse as a value is unknown */
    ebb_value_put_copy(map, key, value);
    ebb_value_free(value);
}

static void put_properties(struct ebb_value *table, const struct ebb_metadata *m)
{
    struct ebb_value *properties = ebb_value_put_map(table, "properties");

    for (size_t i = 0; i < m->property_count; i++)
        ebb_value_put_str(properties, m->properties[i].key, m->properties[i].value);
}

static void fill_snapshot(struct ebb_value *v, const struct ebb_snapshot *s, bool with_summary)
{
    struct ebb_value *summary;

    ebb_value_put_int(v, "id", s->id);
    if (s->parent_id >= 0)
        ebb_value_put_int(v, "parent_id", s->parent_id);
    ebb_value_put_int(v, "sequence", s->sequence_number);
    ebb_value_put_int(v, "at", s->timestamp_ms);
    ebb_value_put_str(v, "operation", s->operation);
    if (!with_summary)
        return;
    summary = ebb_value_put_map(v, "summary");
    for (size_t i = 0; i < s->summary_count; i++)
        ebb_value_put_str(summary, s->summary[i].key, s->summary[i].value);
}

static int by_time(const void *a, const void *b)
{
    const struct ebb_snapshot *x = *(const struct ebb_snapshot *const *)a, *y = *(const struct ebb_snapshot *const *)b;

    if (x->timestamp_ms != y->timestamp_ms)
        return x->timestamp_ms < y->timestamp_ms ? -1 : 1;
    return x->sequence_number < y->sequence_number ? -1 : x->sequence_number > y->sequence_number;
}

static void put_commit(struct ebb_value *events, const struct ebb_snapshot *s)
{
    struct ebb_value *event = ebb_value_add_map(events);
    char id[32];

    snprintf(id, sizeof id, "s-%" PRId64, s->id);
    ebb_value_put_str(event, "id", id);
    ebb_value_put_str(event, "type", "snapshot.committed");
    ebb_value_put_int(event, "at", s->timestamp_ms);
    ebb_value_put_str(event, "source", "metadata");
    ebb_value_put_int(event, "snapshot_id", s->id);
    ebb_value_put_str(event, "operation", s->operation);
    if (ebb_snapshot_summary(s, EBB_FACTS_OWN_KEY))
        ebb_value_put_bool(event, "own", true);
}

/* The first of the sorted snapshots that still gets its summary: the newest do, as far as they fit. */
static size_t first_with_summary(const struct ebb_snapshot *const *sorted, size_t count)
{
    size_t entries = 0;

    while (count > 0 && entries + sorted[count - 1]->summary_count <= FACT_SUMMARY_ENTRIES)
        entries += sorted[--count]->summary_count;
    return count;
}

static int put_snapshots(struct ebb_value *table, struct ebb_value *events, const struct ebb_metadata *m,
                         struct ebb_err *err)
{
    struct ebb_value *list = ebb_value_put_list(table, "snapshots");
    const struct ebb_snapshot **sorted = calloc(m->snapshot_count + 1, sizeof *sorted);
    size_t n = m->snapshot_count, summaries;

    if (!sorted)
        return ebb_err_nomem(err);
    for (size_t i = 0; i < n; i++)
        sorted[i] = &m->snapshots[i];
    qsort(sorted, n, sizeof(const struct ebb_snapshot *), by_time);
    summaries = first_with_summary(sorted, n);
    for (size_t i = n > EBB_FACTS_SNAPSHOTS_MAX ? n - EBB_FACTS_SNAPSHOTS_MAX : 0; i < n; i++)
        fill_snapshot(ebb_value_add_map(list), sorted[i], i >= summaries);
    for (size_t i = n > EBB_FACTS_COMMITS_MAX ? n - EBB_FACTS_COMMITS_MAX : 0; i < n; i++)
        put_commit(events, sorted[i]);
    free(sorted);
    return 0;
}

static void put_refs(struct ebb_value *table, const struct ebb_metadata *m)
{
    struct ebb_value *refs = ebb_value_put_map(table, "refs");

    for (size_t i = 0; i < m->ref_count; i++) {
        struct ebb_value *ref = ebb_value_put_map(refs, m->refs[i].name);

        ebb_value_put_int(ref, "snapshot_id", m->refs[i].snapshot_id);
        ebb_value_put_str(ref, "type", m->refs[i].is_branch ? "branch" : "tag");
    }
}

/* A counter of a summary. */
static bool read_counter(const struct ebb_snapshot *s, const char *counter, int64_t *out)
{
    return ebb_text_count(ebb_snapshot_summary(s, counter), out);
}

static void put_counter(struct ebb_value *stats, const char *key, const struct ebb_snapshot *s, const char *counter)
{
    int64_t n;

    if (read_counter(s, counter, &n))
        ebb_value_put_int(stats, key, n);
}

static void put_deletes(struct ebb_value *stats, const struct ebb_snapshot *s)
{
    int64_t positions, equality, sum;

    if (read_counter(s, "total-position-deletes", &positions) && read_counter(s, "total-equality-deletes", &equality) &&
        !__builtin_add_overflow(positions, equality, &sum))
        ebb_value_put_int(stats, "delete_records", sum);
}

#define FOUND 1

/* The newest plan that listed the whole location. */
static int on_plan(void *data, const struct ebb_record *record, struct ebb_err *err)
{
    struct ebb_value *plan = NULL, *orphans;
    bool partial;

    (void)err;
    if (ebb_value_of_json("plan record", record->json, strlen(record->json), NULL, &plan, NULL))
        return 0;
    partial = ebb_value_bool_of(plan, "partial", false);
    if (!partial) {
        orphans = ebb_value_put_map(data, "orphans");
        ebb_value_put_int(orphans, "files", ebb_value_int_of(plan, "candidates", 0));
        ebb_value_put_int(orphans, "bytes", ebb_value_int_of(plan, "candidate_bytes", 0));
        ebb_value_put_int(orphans, "at", record->at_ms);
    }
    ebb_value_free(plan);
    return partial ? 0 : FOUND;
}

static int put_stats(const struct ebb_site *site, struct ebb_value *table, struct ebb_value *stats,
                     const struct ebb_metadata *m, struct ebb_err *err)
{
    const struct ebb_snapshot *s = m->has_current_snapshot ? ebb_metadata_snapshot(m, m->current_snapshot_id) : NULL;
    struct ebb_record_filter filter = {.uuid = m->uuid, .newest_first = true, .limit = FACT_PLANS};
    int rc;

    ebb_value_put_int(stats, "snapshots", (int64_t)m->snapshot_count);
    if (s) {
        put_counter(stats, "data_files", s, "total-data-files");
        put_counter(stats, "bytes", s, "total-files-size");
        put_counter(stats, "delete_files", s, "total-delete-files");
        put_deletes(stats, s);
        ebb_value_put_int(stats, "as_of", s->timestamp_ms);
        ebb_value_put_int(stats, "snapshot_id", s->id);
        fill_snapshot(ebb_value_put_map(table, "current_snapshot"), s, true);
    }
    if (!site->store || !m->uuid)
        return 0;
    rc = ebb_store_list(site->store, EBB_RECORD_PLAN, &filter, on_plan, stats, err);
    return rc == FOUND ? 0 : rc;
}

/* ---- runs ---- */

static const char *outcome_of(const char *status)
{
    if (!strcmp(status, "done") || !strcmp(status, "restored") || !strcmp(status, "purged"))
        return "success";
    if (!strcmp(status, "started"))
        return "running";
    if (!strcmp(status, "interrupted")) /* what goes on with it is a job, which counts as running */
        return "partial";
    return status; /* observed, partial, failed */
}

struct listing {
    struct ebb_value *runs; /* the newest first */
    int asked;              /* of so many more it is told whether they changed something */
};

/* Whether a run did anything to the table, off its document, which counts files once it was applied. */
static bool find_change(const struct ebb_run_head *record, bool *changed)
{
    static const char *const KEYS[] = {"moved", "deleted", "returned"};
    struct ebb_value *run = NULL;
    bool is_known;

    if (!record->json || ebb_value_of_json("run", record->json, strlen(record->json), NULL, &run, NULL))
        return false;
    is_known = ebb_value_get(run, KEYS[0]) != NULL;
    if (is_known)
        *changed = false;
    for (size_t i = 0; is_known && i < sizeof KEYS / sizeof KEYS[0]; i++)
        *changed = *changed || ebb_value_int_of(run, KEYS[i], 0) != 0;
    ebb_value_free(run);
    return is_known;
}

static void put_change(struct listing *l, const struct ebb_run_head *record, struct ebb_value *run)
{
    const char *outcome = ebb_value_text_of(run, "outcome");
    bool is_success = !strcmp(outcome, "success"), changed = is_success;

    if (!l->asked || !record->end_ms || !strcmp(outcome, "observed"))
        return;
    if (find_change(record, &changed))
        ebb_value_put_bool(run, "changed", changed);
    if (changed)
        l->asked = 0;
    else if (is_success)
        l->asked--;
}

static int on_run(void *data, const struct ebb_run_head *record, struct ebb_err *err)
{
    struct listing *l = data;
    struct ebb_value *run = ebb_value_add_map(l->runs);

    (void)err;
    ebb_value_put_str(run, "id", record->id);
    ebb_value_put_int(run, "started", record->at_ms);
    if (record->end_ms)
        ebb_value_put_int(run, "ended", record->end_ms);
    ebb_value_put_str(run, "outcome", outcome_of(record->status));
    put_change(l, record, run);
    return 0;
}

static int list_runs(const struct ebb_site *site, const struct ebb_facts_options *o, const char *policy,
                     const char *uuid, struct ebb_value **out, struct ebb_err *err)
{
    struct listing l = {ebb_value_new_list(NULL), o->runs_max ? 0 : EBB_GUARD_IDLE_MAX};
    int rc;

    *out = l.runs;
    rc = ebb_store_list_runs(site->store, policy, uuid, o->runs_max ? o->runs_max : FACT_RUNS, l.asked > 0, on_run, &l,
                             err);
    return rc ? rc : ebb_value_check(*out, "runs", err);
}

static int on_job(void *data, const struct ebb_job_record *job, struct ebb_err *err)
{
    struct ebb_value *run = ebb_value_add_map(data);

    (void)err;
    ebb_value_put_str(run, "id", job->id);
    ebb_value_put_int(run, "started", job->started_ms ? job->started_ms : job->queued_ms);
    ebb_value_put_str(run, "outcome", "running");
    return 0;
}

/* What is queued or under way and has no run yet; the newest of all. */
static int add_jobs(const struct ebb_site *site, const char *policy, const char *uuid, struct ebb_value *runs,
                    struct ebb_err *err)
{
    struct ebb_job_filter filter = {.uuid = uuid, .policy = policy, .states = EBB_JOBS_ACTIVE};

    for (size_t i = 0; i < ebb_value_get_count(runs); i++)
        if (!strcmp(ebb_value_text_of(ebb_value_get_at(runs, i), "outcome"), "running"))
            return 0; /* that is it */
    return ebb_store_list_jobs(site->store, &filter, on_job, runs, err);
}

/* Of a list that has the newest first, those from before an instant, the oldest first. */
static void add_runs(struct ebb_value *runs, const struct ebb_value *newest_first, int64_t before_ms)
{
    for (size_t i = ebb_value_get_count(newest_first); i-- > 0;) {
        const struct ebb_value *run = ebb_value_get_at(newest_first, i);

        if (ebb_value_int_of(run, "started", 0) < before_ms)
            ebb_value_add_copy(runs, run);
    }
}

/* The latest runs, oldest first; before those under its name, those under the one that it had. */
static int put_runs(const struct ebb_site *site, struct ebb_value *facts, const struct ebb_facts_options *o,
                    const char *uuid, struct ebb_err *err)
{
    struct ebb_value *own = NULL, *former = NULL, *runs;
    const struct ebb_value *first;
    int rc;

    if (!site->store || !o->policy || !uuid)
        return 0;
    rc = list_runs(site, o, o->policy, uuid, &own, err);
    if (!rc && o->was)
        rc = list_runs(site, o, o->was, uuid, &former, err);
    if (!rc) {
        runs = ebb_value_put_list(facts, "runs");
        first = ebb_value_get_at(own, ebb_value_get_count(own) - 1);
        add_runs(runs, former, first ? ebb_value_int_of(first, "started", 0) : INT64_MAX);
        add_runs(runs, own, INT64_MAX);
        rc = add_jobs(site, o->policy, uuid, runs, err);
    }
    ebb_value_free(own);
    ebb_value_free(former);
    return rc;
}

/* ---- all ---- */

static void put_identity(struct ebb_value *v, const struct ebb_table *t)
{
    ebb_value_put_str(v, "catalog", t->ref.catalog);
    ebb_value_put_str(v, "namespace", t->ref.namespace_ ? t->ref.namespace_ : "");
    ebb_value_put_str(v, "name", t->ref.name);
    ebb_value_put_str(v, "uuid", t->metadata->uuid);
    ebb_value_put_str(v, "location", t->metadata->location);
    ebb_value_put_int(v, "format_version", t->metadata->format_version);
}

int ebb_facts_new(const struct ebb_site *site, const struct ebb_table *t, const struct ebb_facts_options *o,
                  int64_t now_ms, struct ebb_value **out, struct ebb_err *err)
{
    struct ebb_value_limits limits = ebb_facts_limits();
    struct ebb_value *facts = ebb_value_new_map(&limits);
    struct ebb_value *table = ebb_value_put_map(facts, "table");
    struct ebb_value *events = ebb_value_put_list(facts, "events"), *stats = ebb_value_put_map(table, "stats");
    int rc;

    put_identity(table, t);
    put_properties(table, t->metadata);
    put_json(table, "schema", t->metadata->schema_json);
    put_json(table, "spec", t->metadata->spec_json);
    put_json(table, "sort_order", t->metadata->sort_order_json);
    put_refs(table, t->metadata);
    if (o->overlaps >= 0)
        ebb_value_put_int(table, "location_overlaps", o->overlaps);
    ebb_value_put_copy(facts, "flags", o->flags);
    ebb_value_put_copy(facts, "fleet", o->fleet);
    rc = put_snapshots(table, events, t->metadata, err);
    if (!rc)
        rc = ebb__facts_put_told(site, t, events, err);
    if (!rc)
        rc = put_stats(site, table, stats, t->metadata, err);
    if (!rc)
        rc = ebb__facts_put_custom(site, t, stats, err);
    if (!rc && (o->manifests & (EBB_LACKS_PARTITIONS | EBB_LACKS_FILES)))
        rc = ebb__facts_put_files(site, t, table, stats, err);
    if (!rc && (o->manifests & EBB_LACKS_WRITES))
        rc = ebb__facts_put_writes(site, t, stats, now_ms, err);
    if (!rc)
        rc = ebb__facts_add_events(facts, o->events, now_ms, err);
    if (!rc)
        rc = put_runs(site, facts, o, t->metadata->uuid, err);
    if (!rc)
        rc = ebb_value_check(facts, "facts", err);
    if (rc) {
        ebb_value_free(facts);
        return rc;
    }
    *out = facts;
    return 0;
}

int ebb_facts_over(const struct ebb_site *site, const struct ebb_table *t, const struct ebb_value *base,
                   const struct ebb_facts_options *o, struct ebb_value **out, struct ebb_err *err)
{
    struct ebb_value_limits limits = ebb_facts_limits();
    struct ebb_value *facts = ebb_value_new_map(&limits);
    int rc;

    for (size_t i = 0; i < ebb_value_get_count(base); i++)
        ebb_value_put_ref(facts, ebb_value_get_key(base, i).p, ebb_value_get_at(base, i));
    ebb_value_put_ref(facts, "fleet", o->fleet);
    rc = put_runs(site, facts, o, t->metadata->uuid, err);
    if (!rc)
        rc = ebb_value_check(facts, "facts", err);
    *out = rc ? NULL : facts;
    if (rc)
        ebb_value_free(facts);
    return rc;
}
