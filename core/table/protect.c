/* SPDX-License-Identifier: Apache-2.0 */
#include "table/protect.h"

#include <stdlib.h>
#include <strings.h>

#include "table/alias_priv.h"
#include "table/owners_priv.h"

struct ebb_protect {
    const struct ebb_site *site;
    const struct ebb_protect_options *options;
    struct ebb_prefix_rules *rules;
    const struct ebb_table *table; /* current state: given, or owned_table */
    struct ebb_table *owned_table;
    struct ebb_reach_reader *reader;
    struct ebb_reach_set *own, *others;
    struct ebb_reach_stats stats;
    struct ebb_zone zone;
    struct ebb_alias alias;
    struct ebb_owners owners;
    struct ebb_buf scratch, conflict;
};

static int add_name(struct ebb_protect *p, struct ebb_reach_set *set, struct ebb_str path, struct ebb_err *err)
{
    struct ebb_str alias;
    int rc = ebb_reach_set_add(set, path, p->table->metadata->location, err);

    if (!rc)
        rc = ebb__alias_find(&p->alias, path, &alias, err);
    return rc || !alias.n ? rc : ebb_reach_set_add(set, alias, p->table->metadata->location, err);
}

static int add_own(void *data, enum ebb_reach_kind kind, struct ebb_str path, struct ebb_err *err)
{
    struct ebb_protect *p = data;

    (void)kind;
    return add_name(p, p->own, path, err);
}

static int add_other(void *data, enum ebb_reach_kind kind, struct ebb_str path, struct ebb_err *err)
{
    struct ebb_protect *p = data;

    (void)kind;
    return add_name(p, p->others, path, err);
}

static int check_gc(const struct ebb_table *table, struct ebb_err *err)
{
    int rc;

    if (ebb_metadata_is_gc_enabled(table->metadata))
        return 0;
    rc = ebb_err_set(err, EBB_EGC_DISABLED, "%s: gc.enabled is \"%s\": files of this table may belong to others",
                     table->label, ebb_metadata_property(table->metadata, "gc.enabled"));
    ebb_err_hint(
        err,
        "a table whose files are shared (a snapshot of another) sets it; nothing is ever removed from such a table");
    return rc;
}

/* "A,B=C" and "A=B,C": all names of a pair mean the same; the side with one name stands for them. */
static int add_pair(const char *text,
                    int (*add)(struct ebb_prefix_rules *, const char *, const char *, struct ebb_err *),
                    struct ebb_prefix_rules *rules, struct ebb_err *err)
{
    const char *equals = strrchr(text, '=');
    char *left = equals ? strndup(text, (size_t)(equals - text)) : NULL;
    bool is_right_list = equals && strchr(equals, ',');
    int rc;

    if (!equals || equals == text || (is_right_list && strchr(left ? left : "", ',')))
        rc = ebb_err_set(err, EBB_EUSAGE, "%s: is not of the form NAMES=NAME", text);
    else if (!left)
        rc = ebb_err_nomem(err);
    else
        rc = is_right_list ? add(rules, equals + 1, left, err) : add(rules, left, equals + 1, err);
    free(left);
    return rc;
}

static int add_equals(const struct ebb_strs *pairs,
                      int (*add)(struct ebb_prefix_rules *, const char *, const char *, struct ebb_err *),
                      struct ebb_prefix_rules *rules, struct ebb_err *err)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < pairs->count; i++)
        rc = add_pair(pairs->items[i], add, rules, err);
    return rc;
}

static int make_rules(struct ebb_protect *p, struct ebb_err *err)
{
    int rc = ebb_prefix_rules_new(&p->rules, err);

    if (!rc)
        rc = add_equals(&p->options->equal_schemes, ebb_prefix_rules_add_schemes, p->rules, err);
    if (!rc)
        rc = add_equals(&p->options->equal_authorities, ebb_prefix_rules_add_authorities, p->rules, err);
    return rc;
}

/* The number of names to expect, so that the set need not grow step by step. */
static int64_t expected_names(const struct ebb_metadata *m)
{
    const struct ebb_snapshot *s = m->has_current_snapshot ? ebb_metadata_snapshot(m, m->current_snapshot_id) : NULL;
    const char *files = s ? ebb_snapshot_summary(s, "total-data-files") : NULL;
    long long n = files ? strtoll(files, NULL, 10) : 0;

    return n > 0 && n < 100000000 ? (int64_t)n : 0;
}

static int build(struct ebb_protect *p, struct ebb_err *err)
{
    const char *scanned = p->options->scanned ? p->options->scanned : p->table->metadata->location;
    struct ebb_reach_options reach = {p->options->keep_deleted_entries};
    uint64_t seed = p->site->store ? ebb_store_seed(p->site->store) : (uint64_t)(uintptr_t)p;
    int rc = check_gc(p->table, err);

    if (!rc)
        rc = make_rules(p, err);
    if (!rc)
        rc = ebb_reach_set_new(p->rules, seed, &p->own, err);
    if (!rc)
        rc = ebb_reach_set_new(p->rules, seed ^ UINT64_C(0x5851F42D4C957F2D), &p->others, err);
    if (!rc)
        rc = ebb_reach_reader_new(p->site, &reach, &p->reader, err);
    if (!rc)
        rc = ebb__zone_init(&p->zone, p->site, p->rules, scanned, err);
    if (rc)
        return rc;
    p->alias.exclude = &p->options->exclude;
    p->alias.is_unwalked = p->options->is_unwalked;
    p->alias.is_prefix_strict = p->options->mismatch == EBB_MISMATCH_DELETE;
    ebb__owners_init(&p->owners, p->site, p->options, &p->zone, add_other, p);
    ebb_reach_set_reserve(p->own, expected_names(p->table->metadata));
    rc = ebb_reach_reader_walk(p->reader, p->table, &p->options->read_also, add_own, p, &p->stats, err);
    return rc ? rc : ebb__owners_look(&p->owners, p->table, err);
}

int ebb_protect_new(const struct ebb_site *site, const struct ebb_table *table,
                    const struct ebb_protect_options *options, struct ebb_protect **out, struct ebb_err *err)
{
    struct ebb_protect *p = calloc(1, sizeof *p);
    int rc;

    if (!p)
        return ebb_err_nomem(err);
    p->site = site;
    p->table = table;
    p->options = options;
    ebb__alias_init(&p->alias, &p->zone);
    ebb_buf_init(&p->scratch, 4 * EBB_LOCATION_MAX_BYTES);
    ebb_buf_init(&p->conflict, 4 * EBB_LOCATION_MAX_BYTES);
    rc = build(p, err);
    if (rc) {
        ebb_protect_free(p);
        return rc;
    }
    *out = p;
    return 0;
}

void ebb_protect_free(struct ebb_protect *p)
{
    if (!p)
        return;
    ebb__owners_fini(&p->owners);
    ebb__alias_fini(&p->alias);
    ebb__zone_fini(&p->zone);
    ebb_reach_reader_free(p->reader);
    ebb_reach_set_free(p->own);
    ebb_reach_set_free(p->others);
    ebb_prefix_rules_free(p->rules);
    ebb_table_free(p->owned_table);
    ebb_buf_fini(&p->scratch);
    ebb_buf_fini(&p->conflict);
    free(p);
}

/* The set only grows: names of the older state stay protected, which can only keep files. */
int ebb_protect_refresh(struct ebb_protect *p, bool *changed, struct ebb_err *err)
{
    struct ebb_table *fresh = NULL;
    int rc = ebb_table_reload(p->site, p->table, &fresh, err);

    if (rc)
        return rc;
    rc = check_gc(fresh, err);
    if (rc) {
        ebb_table_free(fresh);
        return rc;
    }
    *changed = !ebb_table_is_same_state(p->table, fresh);
    ebb_table_free(p->owned_table);
    p->owned_table = fresh;
    p->table = fresh;
    if (*changed)
        rc = ebb_reach_reader_walk(p->reader, fresh, &p->options->read_also, add_own, p, &p->stats, err);
    if (!rc)
        rc = ebb__owners_look(&p->owners, fresh, err);
    *changed = *changed || p->owners.has_changed;
    return rc;
}

static int judge_conflict(const struct ebb_protect *p, const struct ebb_location *at, enum ebb_judged *out,
                          struct ebb_err *err)
{
    int rc;

    *out = p->options->mismatch == EBB_MISMATCH_DELETE ? EBB_JUDGED_FREE : EBB_JUDGED_CONFLICT;
    if (p->options->mismatch != EBB_MISMATCH_ERROR)
        return 0;
    rc = ebb_err_set(err, EBB_EPREFIX_CONFLICT,
                     "%s: %.*s is listed, and the metadata names the same path under another scheme or authority: %s",
                     p->table->label, (int)(at->path.n < 512 ? at->path.n : 512), at->path.p,
                     p->conflict.data ? p->conflict.data : "");
    ebb_err_hint(err, "if both mean the same storage, say --equal-schemes or --equal-authorities; --prefix-mismatch "
                      "ignore keeps such files");
    return rc;
}

int ebb_protect_judge_normal(struct ebb_protect *p, const struct ebb_location *normal, enum ebb_judged *out,
                             struct ebb_err *err)
{
    enum ebb_match own = ebb_reach_set_match_normal(p->own, normal, &p->conflict);
    enum ebb_match other = EBB_MATCH_NONE;

    if (own == EBB_MATCH_SAME) {
        *out = EBB_JUDGED_REACHABLE;
        return 0;
    }
    if (ebb_reach_set_count(p->others) > 0)
        other = ebb_reach_set_match_normal(p->others, normal, own == EBB_MATCH_CONFLICT ? NULL : &p->conflict);
    if (other == EBB_MATCH_SAME) {
        *out = EBB_JUDGED_NEIGHBOUR;
        return 0;
    }
    if (own == EBB_MATCH_CONFLICT || other == EBB_MATCH_CONFLICT)
        return judge_conflict(p, normal, out, err);
    *out = EBB_JUDGED_FREE;
    return 0;
}

int ebb_protect_judge(struct ebb_protect *p, struct ebb_str uri, enum ebb_judged *out, struct ebb_err *err)
{
    struct ebb_location loc;
    int rc = ebb_location_split(uri.p, uri.n, &loc, err);

    if (!rc && !ebb_path_is_normal(loc.path)) {
        ebb_buf_reset(&p->scratch);
        rc = ebb_path_normalise(loc.path, &p->scratch, err);
        loc.path = ebb_buf_str(&p->scratch);
    }
    return rc ? rc : ebb_protect_judge_normal(p, &loc, out, err);
}

bool ebb_protect_is_near(struct ebb_protect *p, struct ebb_str uri, struct ebb_str *fold)
{
    struct ebb_location loc;

    if (ebb_location_split(uri.p, uri.n, &loc, NULL))
        return false;
    ebb_buf_reset(&p->scratch);
    if (ebb_path_normalise(loc.path, &p->scratch, NULL))
        return false;
    return ebb_reach_set_is_near(p->own, ebb_buf_str(&p->scratch), fold);
}

const struct ebb_table *ebb_protect_table(const struct ebb_protect *p)
{
    return p->table;
}

const char *ebb_protect_ownership(const struct ebb_protect *p)
{
    if (!p->site->catalog_count)
        return "none";
    return p->owners.has_catalog_entry && p->owners.is_whole ? "full" : "metadata";
}

int64_t ebb_protect_reachable_count(const struct ebb_protect *p)
{
    return ebb_reach_set_count(p->own);
}

int64_t ebb_protect_files_read(const struct ebb_protect *p)
{
    return p->stats.metadata_files_read;
}

const struct ebb_prefix_rules *ebb_protect_rules(const struct ebb_protect *p)
{
    return p->rules;
}

int64_t ebb_protect_live_files(const struct ebb_protect *p)
{
    return p->stats.live_files;
}

/* As people write it: in either case. */
static bool is_dropped(const struct ebb_protect *p, const char *uuid)
{
    for (size_t i = 0; i < p->options->dropped.count; i++)
        if (!strcasecmp(p->options->dropped.items[i], uuid))
            return true;
    return false;
}

bool ebb_protect_is_known_uuid(const struct ebb_protect *p, const char *uuid)
{
    return (p->table->metadata->uuid && !strcmp(p->table->metadata->uuid, uuid)) ||
           ebb__owners_has_uuid(&p->owners, uuid) || is_dropped(p, uuid);
}

int ebb_protect_each_name(struct ebb_protect *p, ebb_reach_cb *cb, void *data, struct ebb_err *err)
{
    struct ebb_reach_options options = {p->options->keep_deleted_entries};
    struct ebb_reach_reader *reader = NULL;
    int rc = ebb_reach_reader_new(p->site, &options, &reader, err);

    if (!rc)
        rc = ebb_reach_reader_walk(reader, p->table, &p->options->read_also, cb, data, NULL, err);
    ebb_reach_reader_free(reader);
    return rc ? rc : ebb__owners_each_name(&p->owners, cb, data, err);
}

int ebb_protect_add(struct ebb_protect *p, struct ebb_str uri, struct ebb_err *err)
{
    return ebb_reach_set_add(p->others, uri, p->table->metadata->location, err);
}
