/* SPDX-License-Identifier: Apache-2.0 */
#include "table/expire.h"

#include <stdlib.h>
#include <strings.h>

#include "base/text.h"
#include "io/catalog_commit.h"

#define MAX_AGE_DEFAULT_MS ((int64_t)5 * 24 * 3600 * 1000)
#define ATTEMPTS 3

void ebb_expire_result_fini(struct ebb_expire_result *result)
{
    free(result->ids);
    memset(result, 0, sizeof *result);
}

/* ---- which may go ---- */

enum { KEPT = 1, REACHED = 2 }; /* of a snapshot: stays; a branch leads to it */

struct choice {
    const struct ebb_metadata *m;
    int64_t now_ms, older_than_ms, retain_last;
    unsigned char *marks; /* by place in m->by_id */
};

static size_t place_of(const struct choice *c, int64_t id)
{
    size_t from = 0, to = c->m->snapshot_count;

    while (from < to) {
        size_t mid = from + (to - from) / 2;

        if (c->m->by_id[mid]->id == id)
            return mid;
        if (c->m->by_id[mid]->id < id)
            from = mid + 1;
        else
            to = mid;
    }
    return c->m->snapshot_count;
}

static int positive(const struct ebb_metadata *m, const char *key, int64_t fallback, int64_t *out, struct ebb_err *err)
{
    const char *text = ebb_metadata_property(m, key);

    *out = fallback;
    if (!text || (ebb_text_count(text, out) && *out > 0))
        return 0;
    return ebb_err_set(err, EBB_EMETADATA, "property %s: a number from 1 on is wanted", key);
}

static int read_options(struct choice *c, const struct ebb_expire_options *o, struct ebb_err *err)
{
    int64_t age_ms = 0;
    int rc = positive(c->m, "history.expire.max-snapshot-age-ms", MAX_AGE_DEFAULT_MS, &age_ms, err);

    if (!rc)
        rc = positive(c->m, "history.expire.min-snapshots-to-keep", 1, &c->retain_last, err);
    if (rc)
        return rc;
    if (o->retain_last > 0)
        c->retain_last = o->retain_last;
    c->older_than_ms = o->has_older_than ? o->older_than_ms : age_ms > c->now_ms ? 0 : c->now_ms - age_ms;
    for (size_t i = 0; i < c->m->ref_count; i++)
        if (c->m->refs[i].min_snapshots_to_keep < 0 || c->m->refs[i].max_snapshot_age_ms < 0)
            return ebb_err_set(err, EBB_EMETADATA, "refs: %s: its retention is negative", c->m->refs[i].name);
    return 0;
}

static void mark_branch(struct choice *c, const struct ebb_ref *ref)
{
    int64_t least = ref->min_snapshots_to_keep ? ref->min_snapshots_to_keep : c->retain_last;
    int64_t age = ref->max_snapshot_age_ms;
    int64_t cutoff = !age ? c->older_than_ms : age > c->now_ms ? 0 : c->now_ms - age;
    int64_t kept = 0, id = ref->snapshot_id;
    bool keeps = true;

    for (size_t steps = 0; steps <= c->m->snapshot_count; steps++) { /* a chain that goes round ends, too */
        size_t at = place_of(c, id);

        if (at == c->m->snapshot_count)
            return;
        keeps = keeps && (kept < least || c->m->by_id[at]->timestamp_ms >= cutoff);
        c->marks[at] = (unsigned char)(c->marks[at] | REACHED | (keeps ? KEPT : 0));
        kept += keeps;
        id = c->m->by_id[at]->parent_id;
    }
}

static void mark_one(struct choice *c, int64_t id)
{
    size_t at = place_of(c, id);

    if (at < c->m->snapshot_count)
        c->marks[at] |= KEPT;
}

static void mark_all(struct choice *c)
{
    for (size_t i = 0; i < c->m->ref_count; i++) {
        mark_one(c, c->m->refs[i].snapshot_id);
        if (c->m->refs[i].is_branch)
            mark_branch(c, &c->m->refs[i]);
    }
    if (c->m->has_current_snapshot)
        mark_one(c, c->m->current_snapshot_id);
    for (size_t i = 0; i < c->m->snapshot_count; i++)
        if (!(c->marks[i] & REACHED) && c->m->by_id[i]->timestamp_ms >= c->older_than_ms)
            c->marks[i] |= KEPT;
}

static int by_time(const void *a, const void *b)
{
    const struct ebb_snapshot *const *x = a, *const *y = b;

    if ((*x)->timestamp_ms != (*y)->timestamp_ms)
        return (*x)->timestamp_ms < (*y)->timestamp_ms ? -1 : 1;
    return ((*x)->id > (*y)->id) - ((*x)->id < (*y)->id);
}

static int collect(const struct choice *c, struct ebb_expire_result *out, struct ebb_err *err)
{
    const struct ebb_snapshot **gone = calloc(c->m->snapshot_count + 1, sizeof(struct ebb_snapshot *));
    size_t n = 0;

    out->ids = calloc(c->m->snapshot_count + 1, sizeof *out->ids);
    if (!gone || !out->ids) {
        free(gone);
        return ebb_err_nomem(err);
    }
    for (size_t i = 0; i < c->m->snapshot_count; i++)
        if (!(c->marks[i] & KEPT))
            gone[n++] = c->m->by_id[i];
    qsort(gone, n, sizeof(struct ebb_snapshot *), by_time);
    for (size_t i = 0; i < n; i++)
        out->ids[i] = gone[i]->id;
    out->count = n;
    out->kept = c->m->snapshot_count - n;
    out->older_than_ms = c->older_than_ms;
    free(gone);
    return 0;
}

int ebb_expire_choose(const struct ebb_metadata *metadata, const struct ebb_expire_options *options, int64_t now_ms,
                      struct ebb_expire_result *out, struct ebb_err *err)
{
    struct choice c = {.m = metadata, .now_ms = now_ms};
    int rc;

    memset(out, 0, sizeof *out);
    if (!ebb_metadata_is_gc_enabled(metadata))
        return ebb_err_set(err, EBB_EGC_DISABLED, "gc.enabled is not true: snapshots of this table stay");
    if (options->has_older_than && options->older_than_ms > now_ms)
        return ebb_err_set(err, EBB_ECUTOFF_FUTURE, "older than: lies in the future");
    rc = read_options(&c, options, err);
    if (rc)
        return rc;
    c.marks = calloc(metadata->snapshot_count + 1, 1);
    if (!c.marks)
        return ebb_err_nomem(err);
    mark_all(&c);
    rc = collect(&c, out, err);
    free(c.marks);
    if (rc)
        ebb_expire_result_fini(out);
    return rc;
}

/* ---- the commit ---- */

static struct ebb_catalog *catalog_of(const struct ebb_site *site, const char *name)
{
    for (size_t i = 0; i < site->catalog_count; i++)
        if (!strcmp(ebb_catalog_name(site->catalogs[i]), name))
            return site->catalogs[i];
    return NULL;
}

static int commit(const struct ebb_site *site, const struct ebb_table *t, struct ebb_expire_result *out,
                  struct ebb_err *err)
{
    const struct ebb_metadata *m = t->metadata;
    struct ebb_commit_ref *refs = calloc(m->ref_count + 1, sizeof *refs);
    struct ebb_commit_removal removal = {.namespace_ = t->ref.namespace_,
                                         .name = t->ref.name,
                                         .uuid = m->uuid,
                                         .refs = refs,
                                         .ref_count = m->ref_count,
                                         .snapshots = out->ids,
                                         .count = out->count};
    struct ebb_catalog *catalog = catalog_of(site, t->ref.catalog);
    struct ebb_commit_done done = {.metadata_uri = NULL};
    int rc = refs ? 0 : ebb_err_nomem(err);

    if (!rc && !catalog)
        rc = ebb_err_set(err, EBB_ECATALOG_UNKNOWN, "%s: is in no configured catalog", t->label);
    for (size_t i = 0; !rc && i < m->ref_count; i++)
        refs[i] = (struct ebb_commit_ref){m->refs[i].name, m->refs[i].snapshot_id};
    if (!rc)
        rc = ebb_catalog_remove_snapshots(catalog, &removal, &done, err);
    out->was_committed = !rc;
    ebb_commit_done_fini(&done);
    free(refs);
    return rc;
}

static int check_uuid(const struct ebb_table *t, const char *uuid, struct ebb_err *err)
{
    if (!uuid || (t->metadata->uuid && !strcasecmp(uuid, t->metadata->uuid)))
        return 0;
    return ebb_err_set(err, EBB_EMETADATA_CHANGED, "%s: another table has this name now", t->label);
}

static int run_once(const struct ebb_site *site, const char *name, const struct ebb_expire_options *options,
                    struct ebb_expire_result *out, struct ebb_err *err)
{
    struct ebb_table *t = NULL;
    int rc = ebb_table_open(site, name, &t, err);

    if (!rc)
        rc = check_uuid(t, options->uuid, err);
    if (!rc)
        rc = ebb_expire_choose(t->metadata, options, ebb_clock_now(&site->clock), out, err);
    if (rc && t && err && err->error == EBB_EGC_DISABLED)
        rc = ebb_err_as(err, EBB_EGC_DISABLED, t->label);
    if (!rc && !options->dry_run && out->count)
        rc = commit(site, t, out, err);
    ebb_table_free(t);
    if (rc)
        ebb_expire_result_fini(out);
    return rc;
}

int ebb_expire_run(const struct ebb_site *site, const char *name, const struct ebb_expire_options *options,
                   struct ebb_expire_result *out, struct ebb_err *err)
{
    int rc = 0;

    memset(out, 0, sizeof *out);
    for (int i = 0; i < ATTEMPTS; i++) {
        if (ebb_site_is_cancelled(site))
            return ebb_err_set(err, EBB_ECANCELLED, "interrupted: before anything was changed");
        rc = run_once(site, name, options, out, err);
        if (rc != -(int)EBB_ECOMMIT_CONFLICT)
            break;
    }
    return rc;
}
