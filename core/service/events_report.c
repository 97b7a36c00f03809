/* SPDX-License-Identifier: Apache-2.0
 *
 * Reports of the Iceberg REST protocol (ReportMetricsRequest). What can hold data of the table, such as filters, is
 * left out.
 */
#include "service/events_priv.h"

#define SOURCE "iceberg-rest"

struct report {
    struct ebb__events *to;
    struct ebb__event_draft draft;
    bool has_metrics, has_snapshot;
    char *kind, *table, *operation;
    int64_t snapshot, sequence;
    bool has_sequence;
    struct ebb_buf metrics;
    struct ebb_jsonw w;
};

/* A counter {unit, value} or a timer {time-unit, count, total-duration}: its value or its duration. */
static int read_result(struct report *r, struct ebb_json *j, const char *name, struct ebb_err *err)
{
    int64_t number, value = 0;
    bool found = false;
    int rc = ebb_json_expect(j, EBB_JSON_OBJECT, name, err);

    while (!rc && !(rc = ebb_json_next(j, err)) && j->kind == EBB_JSON_KEY) {
        if (ebb_json_is_text(j, "value") || ebb_json_is_text(j, "total-duration")) {
            rc = ebb_json_read_int(j, name, &number, err);
            value = number;
            found = !rc;
        } else {
            rc = ebb_json_skip(j, err);
        }
    }
    if (!rc && !found)
        rc = ebb_json_fail(j, err, "metrics.%s: neither value nor total-duration", name);
    if (!rc)
        ebb_jsonw_kint(&r->w, name, value);
    return rc;
}

/* "added-data-files" becomes added_data_files: so that policies can write it as a field. */
static int read_metric(struct report *r, struct ebb_json *j, struct ebb_err *err)
{
    char name[65];

    if (!j->text.n || j->text.n >= sizeof name || memchr(j->text.p, '\0', j->text.n))
        return ebb_json_fail(j, err, "metrics: a name of 1 to 64 bytes is wanted");
    for (size_t i = 0; i < j->text.n; i++)
        name[i] = j->text.p[i] == '-' ? '_' : j->text.p[i];
    name[j->text.n] = '\0';
    return read_result(r, j, name, err);
}

static int read_metrics(struct report *r, struct ebb_json *j, struct ebb_err *err)
{
    int rc = ebb_json_expect(j, EBB_JSON_OBJECT, "metrics", err);

    ebb_jsonw_begin(&r->w, '{');
    while (!rc && !(rc = ebb_json_next(j, err)) && j->kind == EBB_JSON_KEY)
        rc = read_metric(r, j, err);
    ebb_jsonw_end(&r->w, '}');
    r->has_metrics = !rc;
    return rc;
}

static int read_member(struct report *r, struct ebb_json *j, struct ebb_err *err)
{
    struct ebb_arena *arena = &r->to->list->arena;
    int rc;

    if (ebb_json_is_text(j, "report-type"))
        return ebb_json_read_str(j, "report-type", arena, &r->kind, err);
    if (ebb_json_is_text(j, "table-name"))
        return ebb_json_read_str(j, "table-name", arena, &r->table, err);
    if (ebb_json_is_text(j, "operation"))
        return ebb_json_read_str(j, "operation", arena, &r->operation, err);
    if (ebb_json_is_text(j, "metrics"))
        return read_metrics(r, j, err);
    if (ebb_json_is_text(j, "snapshot-id")) {
        rc = ebb_json_read_int(j, "snapshot-id", &r->snapshot, err);
        r->has_snapshot = !rc;
        return rc;
    }
    if (ebb_json_is_text(j, "sequence-number")) {
        rc = ebb_json_read_int(j, "sequence-number", &r->sequence, err);
        r->has_sequence = !rc;
        return rc;
    }
    return ebb_json_skip(j, err);
}

static int wanted(const char *member, struct ebb_err *err)
{
    return ebb_err_set(err, EBB_EUSAGE, "report.%s: is missing", member);
}

static int check(const struct report *r, struct ebb_err *err)
{
    bool is_commit = r->kind && strcmp(r->kind, "commit-report") == 0;

    if (!r->kind)
        return wanted("report-type", err);
    if (!is_commit && strcmp(r->kind, "scan-report") != 0)
        return ebb_err_set(err, EBB_EUSAGE, "report.report-type: commit-report or scan-report is wanted");
    if (!r->table)
        return wanted("table-name", err);
    if (!r->has_snapshot)
        return wanted("snapshot-id", err);
    if (is_commit && !r->has_sequence)
        return wanted("sequence-number", err);
    if (is_commit && !r->operation)
        return wanted("operation", err);
    return r->has_metrics ? 0 : wanted("metrics", err);
}

static int put_together(struct report *r, const char *table, struct ebb_err *err)
{
    struct ebb__event_draft *d = &r->draft;
    bool is_commit = strcmp(r->kind, "commit-report") == 0;
    int rc = ebb__event_bad(ebb_buf_check(&r->metrics, "report.metrics", err), err);

    if (rc)
        return rc;
    d->source = ebb_arena_dup(&r->to->list->arena, SOURCE, strlen(SOURCE));
    d->type = ebb_arena_dup(&r->to->list->arena, is_commit ? "commit.reported" : "scan.reported",
                            is_commit ? strlen("commit.reported") : strlen("scan.reported"));
    d->table = ebb_arena_dup(&r->to->list->arena, table, strlen(table));
    if (!d->source || !d->type || !d->table)
        return ebb_err_nomem(err);
    ebb_jsonw_kint(&d->w, "snapshot_id", r->snapshot);
    if (is_commit) {
        ebb_jsonw_kint(&d->w, "sequence", r->sequence);
        ebb_jsonw_kstr(&d->w, "operation", r->operation);
    }
    ebb_jsonw_key(&d->w, "metrics");
    ebb_jsonw_raw(&d->w, r->metrics.data, r->metrics.len);
    return 0;
}

static int read_report(struct report *r, const char *table, struct ebb_str body, struct ebb_err *err)
{
    struct ebb_json j;
    int rc;

    ebb_json_init(&j, "report", body.p, body.n);
    rc = ebb_json_expect(&j, EBB_JSON_OBJECT, "a report", err);
    while (!rc && !(rc = ebb_json_next(&j, err)) && j.kind == EBB_JSON_KEY)
        rc = read_member(r, &j, err);
    if (!rc)
        rc = ebb_json_expect(&j, EBB_JSON_END, "the end", err);
    rc = ebb__event_bad(rc, err);
    ebb_json_fini(&j);
    if (!rc)
        rc = check(r, err);
    if (!rc)
        rc = put_together(r, table, err);
    return rc ? rc : ebb__event_add(r->to, &r->draft, err);
}

int ebb_events_of_report(const char *table, struct ebb_str body, int64_t now_ms, struct ebb_event_list *out,
                         struct ebb_err *err)
{
    struct ebb__events to;
    struct report r;
    int rc;

    ebb__events_begin(&to, out, body.n, now_ms);
    memset(&r, 0, sizeof r);
    r.to = &to;
    ebb__event_begin(&r.draft, "report", body);
    r.draft.salt = table; /* the same report of two tables is two events */
    ebb_buf_init(&r.metrics, EBB__EVENT_MAX_BYTES);
    ebb_jsonw_init(&r.w, &r.metrics);
    rc = read_report(&r, table, body, err);
    ebb_buf_fini(&r.metrics);
    ebb__event_free(&r.draft);
    if (rc)
        ebb_event_list_fini(out);
    return rc;
}
