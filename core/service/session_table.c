/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables of a session. Facts are trees that can only grow: what happens is added to them, and when a value changes or
 * they grew too much they are made anew.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "service/facts.h"
#include "service/session_priv.h"

#define GROWN_MAX ((size_t)5000)
#define LOOK_BACK 100 /* commits that tell what is typical */

/* The facts are the session's own. */
static struct ebb_value *mine(const struct ebb_value *v)
{
    return (struct ebb_value *)v;
}

static struct ebb_value *table_of(const struct ebb__stage *t)
{
    return mine(ebb_value_get(t->facts, "table"));
}

/* A list of the facts that grows; a new one is not in what policies see yet. */
static struct ebb_value *list_in(struct ebb__stage *t, struct ebb_value *map, const char *key)
{
    const struct ebb_value *list = ebb_value_get(map, key);

    if (ebb_value_get_kind(list) == EBB_VALUE_LIST)
        return mine(list);
    t->made++;
    return ebb_value_put_list(map, key);
}

/* ---- making facts anew ---- */

/* Lists that grow keep their newest items. */
static size_t first_kept(const char *path, size_t count)
{
    size_t max = !strcmp(path, "events")            ? EBB_FACTS_COMMITS_MAX
                 : !strcmp(path, "table.snapshots") ? EBB_FACTS_SNAPSHOTS_MAX
                                                    : SIZE_MAX;

    return count > max ? count - max : 0;
}

static void copy_list(struct ebb_value *to, const char *key, const struct ebb_value *from, size_t first)
{
    struct ebb_value *list = ebb_value_put_list(to, key);

    for (size_t i = first; i < ebb_value_get_count(from); i++)
        ebb_value_add_copy(list, ebb_value_get_at(from, i));
}

/* Names of properties hold points. */
static size_t part_length(const char *path, bool is_last)
{
    const char *point = is_last ? NULL : strchr(path, '.');

    return point ? (size_t)(point - path) : strlen(path);
}

struct change {
    const char *path; /* what is left of it; NULL: nothing changes here */
    const struct ebb_value *value;
};

static void copy_map(struct ebb_value *to, const struct ebb_value *from, const char *where, struct change change);

static void copy_member(struct ebb_value *to, const char *key, const struct ebb_value *v, const char *where,
                        struct change below)
{
    char path[64];

    snprintf(path, sizeof path, "%s%s%.40s", where, where[0] ? "." : "", key);
    if (below.path || !strcmp(path, "table"))
        copy_map(ebb_value_put_map(to, key), v, path, below);
    else if (ebb_value_get_kind(v) == EBB_VALUE_LIST)
        copy_list(to, key, v, first_kept(path, ebb_value_get_count(v)));
    else
        ebb_value_put_copy(to, key, v);
}

/* Bounded by the parts of the path. */
static void copy_map(struct ebb_value *to, const struct ebb_value *from, const char *where, struct change change)
{
    size_t n = change.path ? part_length(change.path, !strcmp(where, "table.properties")) : 0;
    bool is_last = change.path && !change.path[n], is_done = !change.path;
    struct change below = {is_last || !change.path ? NULL : change.path + n + 1, change.value};

    for (size_t i = 0; i < ebb_value_get_count(from); i++) {
        struct ebb_str key = ebb_value_get_key(from, i);
        bool is_it = change.path && key.n == n && !memcmp(key.p, change.path, n);

        is_done = is_done || is_it;
        if (!is_it)
            copy_member(to, key.p, ebb_value_get_at(from, i), where, (struct change){NULL, NULL});
        else if (is_last)
            ebb_value_put_copy(to, key.p, change.value);
        else
            copy_member(to, key.p, ebb_value_get_at(from, i), where, below);
    }
    if (!is_done && change.value) {
        char key[256];

        snprintf(key, sizeof key, "%.*s", (int)n, change.path);
        if (is_last)
            ebb_value_put_copy(to, key, change.value);
        else
            copy_member(to, key, NULL, where, below);
    }
}

int ebb__stage_change(struct ebb__stage *t, const char *path, const struct ebb_value *value, struct ebb_err *err)
{
    struct ebb_value *facts = ebb_value_new_map(NULL);
    int rc;

    copy_map(facts, t->facts, "", (struct change){path, value});
    if (path && !strcmp(path, "table.stats.orphans.age") && !ebb_value_check(facts, "facts", NULL)) {
        struct ebb_value *old = t->facts; /* a fixed age counts only where no instant is known */

        t->facts = facts;
        t->made++;
        facts = old;
        rc = ebb__stage_change(t, "table.stats.orphans.at", NULL, err);
        ebb_value_free(facts);
        return rc;
    }
    rc = ebb_value_check(facts, "facts", err);
    if (rc) {
        ebb_value_free(facts);
        return rc;
    }
    ebb_value_free(t->facts);
    t->facts = facts;
    t->grown = 0;
    t->made++;
    return 0;
}

/* ---- commits ---- */

int64_t ebb__snapshot_counter(const struct ebb_value *snapshot, const char *key)
{
    return ebb_effect_number(ebb_value_text_of(ebb_value_get(snapshot, "summary"), key));
}

bool ebb__snapshot_is_own(const struct ebb_value *snapshot)
{
    return ebb_value_get(ebb_value_get(snapshot, "summary"), EBB_FACTS_OWN_KEY) != NULL;
}

struct mean {
    double sum;
    int64_t count;
};

static void take_into(struct mean *m, int64_t n)
{
    if (n < 0)
        return;
    m->sum += (double)n;
    m->count++;
}

static int64_t mean_of(const struct mean *m, int64_t otherwise)
{
    return m->count ? (int64_t)(m->sum / (double)m->count) : otherwise;
}

void ebb__facts_typical(const struct ebb_value *facts, struct ebb__commit *out)
{
    const struct ebb_value *snapshots = ebb_value_get(ebb_value_get(facts, "table"), "snapshots");
    size_t count = ebb_value_get_count(snapshots);
    struct mean files = {0, 0}, bytes = {0, 0}, records = {0, 0};

    for (size_t i = count > LOOK_BACK ? count - LOOK_BACK : 0; i < count; i++) {
        const struct ebb_value *s = ebb_value_get_at(snapshots, i);
        const char *operation = ebb_value_text_of(s, "operation");

        if (ebb__snapshot_is_own(s) || !operation || strcmp(operation, "append"))
            continue;
        take_into(&files, ebb__snapshot_counter(s, "added-data-files"));
        take_into(&bytes, ebb__snapshot_counter(s, "added-files-size"));
        take_into(&records, ebb__snapshot_counter(s, "added-records"));
    }
    *out = (struct ebb__commit){0, "append", NULL, mean_of(&files, 1), mean_of(&bytes, 0), mean_of(&records, 0)};
}

static int64_t new_id(const struct ebb__stage *t, int64_t sequence)
{
    char text[160];
    int n = snprintf(text, sizeof text, "%.80s\n%" PRId64 "\n%zu", t->uuid, sequence, t->commits);

    return (int64_t)(XXH3_64bits(text, (size_t)n) >> 2) + 1;
}

static void put_text_int(struct ebb_value *map, const char *key, int64_t n)
{
    char text[32];

    snprintf(text, sizeof text, "%" PRId64, n);
    ebb_value_put_str(map, key, text);
}

static void fill_snapshot(struct ebb_value *v, const struct ebb__commit *c, int64_t id, int64_t parent,
                          int64_t sequence)
{
    struct ebb_value *summary;

    ebb_value_put_int(v, "id", id);
    if (parent >= 0)
        ebb_value_put_int(v, "parent_id", parent);
    ebb_value_put_int(v, "sequence", sequence);
    ebb_value_put_int(v, "at", c->at_ms);
    ebb_value_put_str(v, "operation", c->operation);
    summary = ebb_value_put_map(v, "summary");
    put_text_int(summary, "added-data-files", c->added_files);
    put_text_int(summary, "added-files-size", c->added_bytes);
    put_text_int(summary, "added-records", c->added_records);
    ebb_value_put_str(summary, EBB_FACTS_OWN_KEY, c->run);
}

static void put_event(struct ebb_value *events, const struct ebb__commit *c, int64_t id)
{
    struct ebb_value *event = ebb_value_add_map(events);
    char name[40];

    snprintf(name, sizeof name, "s-%" PRId64, id);
    ebb_value_put_str(event, "id", name);
    ebb_value_put_str(event, "type", "snapshot.committed");
    ebb_value_put_int(event, "at", c->at_ms);
    ebb_value_put_str(event, "source", "metadata");
    ebb_value_put_int(event, "snapshot_id", id);
    ebb_value_put_str(event, "operation", c->operation);
    if (c->run)
        ebb_value_put_bool(event, "own", true);
}

/* Only a counter that is known can be kept. */
static void grow(struct ebb_value *stats, const char *key, int64_t by)
{
    const struct ebb_value *old = ebb_value_get(stats, key);
    int64_t sum;

    if (old && !__builtin_add_overflow(ebb_value_get_int(old, 0), by, &sum))
        ebb_value_put_int(stats, key, sum);
}

static void count_commit(struct ebb_value *table, const struct ebb__commit *c, int64_t id)
{
    const struct ebb_value *known = ebb_value_get(table, "stats");
    struct ebb_value *stats =
        ebb_value_get_kind(known) == EBB_VALUE_MAP ? mine(known) : ebb_value_put_map(table, "stats");

    grow(stats, "snapshots", 1);
    grow(stats, "manifests", 1);
    grow(stats, "data_files", c->added_files);
    grow(stats, "bytes", c->added_bytes);
    if (c->added_files > 0 && c->added_bytes / c->added_files < EBB__SMALL_FILE_BYTES)
        grow(stats, "small_files", c->added_files);
    ebb_value_put_int(stats, "as_of", c->at_ms);
    ebb_value_put_int(stats, "snapshot_id", id);
}

static const struct ebb_value *newest_partition(const struct ebb_value *table)
{
    const struct ebb_value *list = ebb_value_get(table, "partitions"), *newest = NULL;

    for (size_t i = 0; i < ebb_value_get_count(list); i++) {
        const struct ebb_value *p = ebb_value_get_at(list, i);

        if (!newest || ebb_value_int_of(p, "last_write", 0) > ebb_value_int_of(newest, "last_write", 0))
            newest = p;
    }
    return newest;
}

/* Writers go on where they wrote last. */
static void grow_partition(struct ebb_value *table, const struct ebb__commit *c)
{
    struct ebb_value *p = mine(newest_partition(table));
    int64_t largest = c->added_files > 0 ? c->added_bytes / c->added_files : 0;

    if (!p || c->added_files < 1)
        return;
    grow(p, "files", c->added_files);
    grow(p, "bytes", c->added_bytes);
    grow(p, "records", c->added_records);
    if (ebb_value_int_of(p, "files", 0) > 0 && ebb_value_get(p, "bytes"))
        ebb_value_put_int(p, "avg_file", ebb_value_int_of(p, "bytes", 0) / ebb_value_int_of(p, "files", 1));
    if (ebb_value_get(p, "max_file") && ebb_value_int_of(p, "max_file", 0) < largest)
        ebb_value_put_int(p, "max_file", largest);
    ebb_value_put_int(p, "last_write", c->at_ms);
}

/* A table that grew much is made anew, so that what became old in its tree goes. */
static int trim(struct ebb__stage *t, struct ebb_err *err)
{
    return t->grown >= GROWN_MAX ? ebb__stage_change(t, NULL, NULL, err) : 0;
}

int ebb__stage_commit(struct ebb__stage *t, const struct ebb__commit *c, struct ebb_err *err)
{
    struct ebb_value *table, *snapshots;
    const struct ebb_value *last;
    int64_t sequence, parent, id;
    int rc = trim(t, err);

    if (rc)
        return rc;
    table = table_of(t);
    snapshots = list_in(t, table, "snapshots");
    last = ebb_value_get(table, "current_snapshot");
    if (!last && ebb_value_get_count(snapshots))
        last = ebb_value_get_at(snapshots, ebb_value_get_count(snapshots) - 1);
    sequence = ebb_value_int_of(last, "sequence", 0);
    sequence = sequence < INT64_MAX ? sequence + 1 : sequence;
    parent = ebb_value_int_of(last, "id", -1);
    t->commits++;
    id = new_id(t, sequence);
    fill_snapshot(ebb_value_add_map(snapshots), c, id, parent, sequence);
    fill_snapshot(ebb_value_put_map(table, "current_snapshot"), c, id, parent, sequence);
    put_event(list_in(t, t->facts, "events"), c, id);
    count_commit(table, c, id);
    if (!c->run)
        grow_partition(table, c);
    t->grown++;
    return ebb_value_check(t->facts, "facts", err);
}

/* ---- events ---- */

bool ebb__stage_has_event(const struct ebb__stage *t, const char *id, const char *source)
{
    const struct ebb_value *events = ebb_value_get(t->facts, "events");

    for (size_t i = ebb_value_get_count(events); i-- > 0;) {
        const struct ebb_value *e = ebb_value_get_at(events, i);
        const char *known_id = ebb_value_text_of(e, "id"), *known_source = ebb_value_text_of(e, "source");

        if (known_id && !strcmp(known_id, id) && !strcmp(known_source ? known_source : "", source))
            return true;
    }
    return false;
}

int ebb__stage_event(struct ebb__stage *t, const struct ebb_value *event, const char *id, int64_t now_ms,
                     struct ebb_err *err)
{
    int rc = trim(t, err);
    struct ebb_value *own;

    if (rc)
        return rc;
    own = ebb_value_add_map(list_in(t, t->facts, "events"));
    for (size_t i = 0; i < ebb_value_get_count(event); i++)
        ebb_value_put_copy(own, ebb_value_get_key(event, i).p, ebb_value_get_at(event, i));
    ebb_value_put_str(own, "id", id);
    if (!ebb_value_get(event, "at"))
        ebb_value_put_int(own, "at", now_ms);
    if (!ebb_value_get(event, "source"))
        ebb_value_put_str(own, "source", "session");
    t->grown++;
    return ebb_value_check(t->facts, "facts", err);
}

/* ---- life ---- */

int ebb__stage_reset(struct ebb__stage *t, struct ebb_err *err)
{
    struct ebb_value *facts = NULL;
    int rc = ebb_value_dup(t->origin, NULL, &facts, err);

    if (rc)
        return rc;
    ebb_value_free(t->facts);
    t->facts = facts;
    t->grown = 0;
    t->made++;
    t->settings_made++;
    t->commits = 0;
    t->is_history_unknown = false;
    return 0;
}

int ebb__stage_new(const struct ebb_value *facts, struct ebb__stage **out, struct ebb_err *err)
{
    const char *uuid = ebb_value_text_of(ebb_value_get(facts, "table"), "uuid");
    struct ebb__stage *t = calloc(1, sizeof *t);
    int rc = t ? 0 : ebb_err_nomem(err);

    *out = NULL;
    if (!rc && ebb_value_get_kind(ebb_value_get(facts, "table")) != EBB_VALUE_MAP)
        rc = ebb_err_set(err, EBB_EUSAGE, "facts: no \"table\" in them");
    if (!rc) {
        t->uuid = strdup(uuid ? uuid : "");
        rc = t->uuid ? ebb_value_dup(facts, NULL, &t->origin, err) : ebb_err_nomem(err);
    }
    if (!rc)
        rc = ebb__stage_reset(t, err);
    if (rc)
        ebb__stage_free(t);
    else
        *out = t;
    return rc;
}

void ebb__stage_free(struct ebb__stage *t)
{
    if (!t)
        return;
    ebb_value_free(t->facts);
    ebb_value_free(t->origin);
    free(t->uuid);
    free(t);
}
