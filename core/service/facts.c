/* SPDX-License-Identifier: Apache-2.0 */
#include "service/facts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "io/file.h"

#define FACT_RUNS 1000

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

static void fill_snapshot(struct ebb_value *v, const struct ebb_snapshot *s)
{
    struct ebb_value *summary;

    ebb_value_put_int(v, "id", s->id);
    if (s->parent_id >= 0)
        ebb_value_put_int(v, "parent_id", s->parent_id);
    ebb_value_put_int(v, "sequence", s->sequence_number);
    ebb_value_put_int(v, "at", s->timestamp_ms);
    ebb_value_put_str(v, "operation", s->operation);
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

static int put_snapshots(struct ebb_value *table, struct ebb_value *events, const struct ebb_metadata *m, struct ebb_err *err)
{
    struct ebb_value *list = ebb_value_put_list(table, "snapshots");
    const struct ebb_snapshot **sorted = calloc(m->snapshot_count + 1, sizeof *sorted);

    if (!sorted)
        return ebb_err_nomem(err);
    for (size_t i = 0; i < m->snapshot_count; i++)
        sorted[i] = &m->snapshots[i];
    qsort(sorted, m->snapshot_count, sizeof(const struct ebb_snapshot *), by_time);
    for (size_t i = 0; i < m->snapshot_count; i++) {
        struct ebb_value *event = ebb_value_add_map(events);
        char id[32];

        fill_snapshot(ebb_value_add_map(list), sorted[i]);
        snprintf(id, sizeof id, "s-%" PRId64, sorted[i]->id);
        ebb_value_put_str(event, "id", id);
        ebb_value_put_str(event, "type", "snapshot.committed");
        ebb_value_put_int(event, "at", sorted[i]->timestamp_ms);
        ebb_value_put_str(event, "source", "metadata");
        ebb_value_put_int(event, "snapshot_id", sorted[i]->id);
        ebb_value_put_str(event, "operation", sorted[i]->operation);
        if (ebb_snapshot_summary(sorted[i], "ebb.run-id"))
            ebb_value_put_bool(event, "own", true);
    }
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

static void put_counter(struct ebb_value *stats, const char *key, const struct ebb_snapshot *s, const char *counter)
{
    const char *text = ebb_snapshot_summary(s, counter);
    char *end;
    long long n = text ? strtoll(text, &end, 10) : -1;

    if (text && *text && !*end && n >= 0)
        ebb_value_put_int(stats, key, (int64_t)n);
}

static void put_deletes(struct ebb_value *stats, const struct ebb_snapshot *s)
{
    const char *positions = ebb_snapshot_summary(s, "total-position-deletes");
    const char *equality = ebb_snapshot_summary(s, "total-equality-deletes");

    if (positions && equality)
        ebb_value_put_int(stats, "delete_records", (int64_t)(strtoll(positions, NULL, 10) + strtoll(equality, NULL, 10)));
}

struct last_plan {
    struct ebb_value *stats;
    int64_t now_ms;
};

static int on_last_plan(void *data, const struct ebb_record *record, struct ebb_err *err)
{
    struct last_plan *last = data;
    struct ebb_value *plan = NULL, *orphans;

    (void)err;
    if (ebb_value_of_json("plan record", record->json, strlen(record->json), NULL, &plan, NULL))
        return 0;
    orphans = ebb_value_put_map(last->stats, "orphans");
    ebb_value_put_int(orphans, "files", ebb_value_int_of(plan, "candidates", 0));
    ebb_value_put_int(orphans, "bytes", ebb_value_int_of(plan, "candidate_bytes", 0));
    ebb_value_put_int(orphans, "age", last->now_ms - record->at_ms);
    ebb_value_free(plan);
    return 0;
}

static int put_stats(const struct ebb_site *site, struct ebb_value *table, const struct ebb_metadata *m, int64_t now_ms, struct ebb_err *err)
{
    struct ebb_value *stats = ebb_value_put_map(table, "stats");
    const struct ebb_snapshot *s = m->has_current_snapshot ? ebb_metadata_snapshot(m, m->current_snapshot_id) : NULL;
    struct last_plan last = {stats, now_ms};
    struct ebb_record_filter filter = {NULL, m->uuid, NULL, NULL, NULL, 0, true, 1};

    ebb_value_put_int(stats, "snapshots", (int64_t)m->snapshot_count);
    if (s) {
        put_counter(stats, "data_files", s, "total-data-files");
        put_counter(stats, "bytes", s, "total-files-size");
        put_counter(stats, "delete_files", s, "total-delete-files");
        put_deletes(stats, s);
        ebb_value_put_int(stats, "as_of", s->timestamp_ms);
        ebb_value_put_int(stats, "snapshot_id", s->id);
        fill_snapshot(ebb_value_put_map(table, "current_snapshot"), s);
    }
    if (!site->store || !m->uuid)
        return 0;
    return ebb_store_list(site->store, EBB_RECORD_PLAN, &filter, on_last_plan, &last, err);
}

/* ---- runs ---- */

static const char *outcome_of(const char *status)
{
    if (!strcmp(status, "done") || !strcmp(status, "restored") || !strcmp(status, "purged"))
        return "success";
    if (!strcmp(status, "started") || !strcmp(status, "interrupted"))
        return "running";
    return status; /* observed, partial, failed */
}

static int on_run(void *data, const struct ebb_record *record, struct ebb_err *err)
{
    struct ebb_value *run = ebb_value_add_map(data);

    (void)err;
    ebb_value_put_str(run, "id", record->id);
    ebb_value_put_int(run, "started", record->at_ms);
    if (record->end_ms)
        ebb_value_put_int(run, "ended", record->end_ms);
    ebb_value_put_str(run, "outcome", outcome_of(record->status));
    return 0;
}

static int put_runs(const struct ebb_site *site, struct ebb_value *facts, const char *policy, const char *uuid, struct ebb_err *err)
{
    struct ebb_record_filter filter = {NULL, uuid, policy, NULL, NULL, 0, false, FACT_RUNS};

    if (!site->store || !policy || !uuid)
        return 0;
    return ebb_store_list(site->store, EBB_RECORD_RUN, &filter, on_run, ebb_value_put_list(facts, "runs"), err);
}

/* ---- events given by hand ---- */

static void put_event_value(struct ebb_value *event, const char *key, const char *text)
{
    char *end;
    long long number = strtoll(text, &end, 10);

    if (!strcmp(text, "true") || !strcmp(text, "false"))
        ebb_value_put_bool(event, key, text[0] == 't');
    else if (*text && !*end)
        ebb_value_put_int(event, key, (int64_t)number);
    else
        ebb_value_put_str(event, key, text);
}

/* "TYPE key=value key=value" */
static int add_event(struct ebb_value *events, const char *text, size_t number, int64_t now_ms, struct ebb_err *err)
{
    struct ebb_value *event = ebb_value_add_map(events);
    char *copy = strdup(text), *rest = copy, *word;
    char id[32];
    int rc = copy ? 0 : ebb_err_nomem(err);

    snprintf(id, sizeof id, "e-%zu", number + 1);
    ebb_value_put_str(event, "id", id);
    ebb_value_put_int(event, "at", now_ms);
    ebb_value_put_str(event, "source", "hand");
    for (size_t i = 0; !rc && (word = strtok_r(rest, " ", &rest)) != NULL; i++) {
        char *equals = strchr(word, '=');

        if (i == 0 && !equals) {
            ebb_value_put_str(event, "type", word);
        } else if (i > 0 && equals && equals > word) {
            *equals = '\0';
            put_event_value(event, word, equals + 1);
        } else {
            rc = ebb_err_set(err, EBB_EUSAGE, "--event '%s': TYPE key=value … is wanted", text);
        }
    }
    if (!rc && !ebb_value_get(event, "type"))
        rc = ebb_err_set(err, EBB_EUSAGE, "--event: is empty");
    free(copy);
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

int ebb_facts_new(const struct ebb_site *site, const struct ebb_table *t, const struct ebb_facts_options *o, int64_t now_ms,
                  struct ebb_value **out, struct ebb_err *err)
{
    struct ebb_value *facts = ebb_value_new_map(NULL);
    struct ebb_value *table = ebb_value_put_map(facts, "table");
    struct ebb_value *events = ebb_value_put_list(facts, "events");
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
    rc = put_snapshots(table, events, t->metadata, err);
    if (!rc)
        rc = put_stats(site, table, t->metadata, now_ms, err);
    for (size_t i = 0; !rc && o->events && i < o->events->count; i++)
        rc = add_event(events, o->events->items[i], i, now_ms, err);
    if (!rc)
        rc = put_runs(site, facts, o->policy, t->metadata->uuid, err);
    if (!rc)
        rc = ebb_value_check(facts, "facts", err);
    if (rc) {
        ebb_value_free(facts);
        return rc;
    }
    *out = facts;
    return 0;
}

int ebb_facts_load(const char *file, struct ebb_value **out, struct ebb_err *err)
{
    struct ebb_buf bytes;
    int rc;

    ebb_buf_init(&bytes, (size_t)64 << 20);
    rc = ebb_file_read(file, &bytes, err);
    if (!rc)
        rc = ebb_value_of_json(file, bytes.data ? bytes.data : "", bytes.len, NULL, out, err);
    ebb_buf_fini(&bytes);
    if (!rc && !ebb_value_get(*out, "table")) {
        ebb_value_free(*out);
        *out = NULL;
        rc = ebb_err_set(err, EBB_EUSAGE, "%s: is no captured table: no \"table\" in it", file);
    }
    return rc == -(int)EBB_ECORRUPT ? ebb_err_as(err, EBB_EUSAGE, NULL) : rc;
}
