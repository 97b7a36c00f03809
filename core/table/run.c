/* SPDX-License-Identifier: Apache-2.0 */
#include "table/run_priv.h"

#include <stdlib.h>

#include "format/json.h"
#include "table/name_priv.h"

#define ARENA_BYTES ((size_t)8 << 20)

int ebb__run_init(struct ebb__run *run, const struct ebb_site *site, struct ebb_err *err)
{
    memset(run, 0, sizeof *run);
    run->site = *site;
    ebb_strs_init(&run->maps);
    ebb_arena_init(&run->arena, ARENA_BYTES);
    ebb_protect_options_init(&run->protect_options);
    run->record.policy = "";
    run->record.plan = "";
    if (site->store && !site->audit)
        return ebb_err_set(err, EBB_EINTERNAL, "site: a store without an audit log");
    return 0;
}

static void set_deaf(struct ebb__run *run, bool is_deaf)
{
    ebb_storage_set_deaf(run->site.storage, is_deaf);
    for (size_t i = 0; i < run->site.catalog_count; i++)
        ebb_catalog_set_deaf(run->site.catalogs[i], is_deaf);
    run->is_deaf = is_deaf;
}

void ebb__run_fini(struct ebb__run *run)
{
    ebb_run_lock_release(&run->lock);
    if (run->is_deaf)
        set_deaf(run, false);
    ebb_protect_free(run->protect);
    ebb_table_free(run->table);
    ebb_quarantine_close(&run->quarantine);
    ebb_place_close(run->place);
    ebb_protect_options_fini(&run->protect_options);
    free(run->name);
    ebb_arena_fini(&run->arena);
    ebb_storage_free(run->storage);
    ebb_uri_map_free(run->map);
    ebb_strs_fini(&run->maps);
}

static int read_name(struct ebb__run *run, struct ebb_json *j, struct ebb_err *err)
{
    int rc = ebb_json_expect(j, EBB_JSON_STRING, "table", err);

    if (rc)
        return rc;
    free(run->name);
    run->name = strndup(j->text.p ? j->text.p : "", j->text.n);
    return run->name ? 0 : ebb_err_nomem(err);
}

static int read_maps(struct ebb__run *run, struct ebb_json *j, struct ebb_err *err)
{
    int rc = ebb_json_expect(j, EBB_JSON_ARRAY, "map", err);

    while (!rc) {
        rc = ebb_json_next(j, err);
        if (rc || j->kind == EBB_JSON_ARRAY_END)
            break;
        if (j->kind != EBB_JSON_STRING)
            return ebb_json_fail(j, err, "map: a list of texts is expected");
        rc = ebb_strs_addn(&run->maps, j->text.p ? j->text.p : "", j->text.n, err);
    }
    return rc;
}

static int read_members(struct ebb__run *run, struct ebb_str json, struct ebb_err *err)
{
    struct ebb_json j;
    int rc;

    ebb_json_init(&j, "options", json.p ? json.p : "", json.n);
    rc = ebb_json_expect(&j, EBB_JSON_OBJECT, "options", err);
    while (!rc) {
        rc = ebb_json_next(&j, err);
        if (rc || j.kind != EBB_JSON_KEY)
            break;
        if (ebb_str_is_equal(j.text, EBB_STR("table")))
            rc = read_name(run, &j, err);
        else if (ebb_str_is_equal(j.text, EBB_STR("map")))
            rc = read_maps(run, &j, err);
        else
            rc = ebb_json_skip(&j, err);
    }
    ebb_json_fini(&j);
    if (!rc && !run->name)
        rc = ebb_err_set(err, EBB_EPLAN, "options: no table name");
    return rc == -EBB_ECORRUPT ? ebb_err_as(err, EBB_EPLAN, NULL) : rc;
}

/* A storage of our own when the plan was made with maps that the site does not have. */
static int make_storage(struct ebb__run *run, struct ebb_err *err)
{
    const struct ebb_strs *have = run->site.maps;
    bool is_known = true;
    size_t i;
    int rc = 0;

    for (i = 0; i < run->maps.count; i++)
        is_known = is_known && have && ebb_strs_has(have, run->maps.items[i]);
    if (is_known)
        return 0;
    for (i = 0; have && i < have->count && !rc; i++)
        if (!ebb_strs_has(&run->maps, have->items[i]))
            rc = ebb_strs_add(&run->maps, have->items[i], err);
    if (!rc)
        rc = ebb_uri_map_new(&run->map, err);
    for (i = 0; i < run->maps.count && !rc; i++)
        rc = ebb_uri_map_add_text(run->map, run->maps.items[i], err);
    if (!rc)
        rc = ebb_storage_new_like(run->site.storage, run->map, &run->storage, err);
    if (!rc) {
        run->site.storage = run->storage;
        run->site.maps = &run->maps;
    }
    return rc;
}

int ebb__run_set_options(struct ebb__run *run, struct ebb_str options, struct ebb_err *err)
{
    int rc;

    rc = read_members(run, options, err);
    if (!rc)
        rc = ebb_protect_options_read(options, &run->protect_options, err);
    if (!rc)
        rc = make_storage(run, err);
    return rc;
}

int ebb__run_open_place(struct ebb__run *run, struct ebb_err *err)
{
    int rc;

    rc = ebb_place_open(run->site.storage, run->record.location, EBB_PLACE_WRITE, &run->place, err);
    if (!rc)
        rc = ebb_site_say_versioned(&run->site, run->place, err);
    if (!rc)
        rc = ebb_quarantine_open(run->site.storage, run->place, run->record.outside, run->record.id, &run->quarantine,
                                 err);
    return rc;
}

int ebb__run_lock(struct ebb__run *run, struct ebb_err *err)
{
    int rc;

    set_deaf(run, true);
    rc = ebb_run_lock_take(run->place, &run->site.clock, run->record.id, &run->lock, err);
    if (!rc && run->lock.old_holder[0]) {
        ebb_log_say(&run->site.log, EBB_LOG_WARN, "lock: taken over from %s", run->lock.old_holder);
        rc = ebb__run_audit(run, "lock_taken_over", run->lock.old_holder, err);
        if (!rc)
            rc = ebb__run_audit_flush(run, err);
    }
    return rc;
}

static bool is_same_location(const char *a, const char *b)
{
    enum ebb_relation relation;

    return ebb_location_relation(a, b, NULL, &relation, NULL) == 0 && relation == EBB_RELATION_SAME;
}

int ebb__run_open_table(struct ebb__run *run, struct ebb_err *err)
{
    const struct ebb_metadata *m;
    const char *uuid;
    int rc;

    rc = ebb_table_open(&run->site, run->name, &run->table, err);
    if (rc)
        return rc;
    m = run->table->metadata;
    uuid = m->uuid ? m->uuid : "";
    if (strcmp(uuid, run->record.uuid) != 0)
        return ebb_err_set(err, EBB_EPLAN_TABLE, "table %s: its uuid is now %s, not %s", run->name, uuid,
                           run->record.uuid);
    if (!is_same_location(run->record.location, m->location))
        return ebb_err_set(err, EBB_EPLAN_TABLE, "table %s: its location is now %s, not %s", run->name, m->location,
                           run->record.location);
    return 0;
}

int ebb__run_protect(struct ebb__run *run, struct ebb_err *err)
{
    return ebb_protect_new(&run->site, run->table, &run->protect_options, &run->protect, err);
}

int ebb__run_look_again(struct ebb__run *run, bool *changed, struct ebb_err *err)
{
    int rc = ebb_protect_refresh(run->protect, changed, err);

    if (!rc && *changed)
        run->has_changed = true;
    return rc;
}

int ebb__run_judge(struct ebb__run *run, struct ebb_str name, enum ebb_judged *out, struct ebb_err *err)
{
    struct ebb_buf uri;
    int rc;

    ebb_buf_init(&uri, EBB_LOCATION_MAX_BYTES);
    ebb__name_uri(run->record.location, name, &uri);
    rc = ebb_buf_check(&uri, "file name", err);
    if (!rc)
        rc = ebb_protect_judge(run->protect, ebb_buf_str(&uri), out, err);
    ebb_buf_fini(&uri);
    return rc;
}

int ebb__run_may_go_on(struct ebb__run *run, struct ebb_err *err)
{
    if (ebb_site_is_cancelled(&run->site))
        return ebb_err_set(err, EBB_ECANCELLED, "run %s: interrupted", run->record.id);
    return ebb_run_lock_check(&run->lock, err);
}

struct ebb_removal_file ebb__run_file_of(const struct ebb_move *move)
{
    struct ebb_removal_file file = {move->path, move->target, move->id, move->size_bytes, move->mtime_ns};

    return file;
}

const char *ebb__verdict_text(enum ebb_judged verdict)
{
    switch (verdict) {
    case EBB_JUDGED_FREE:
        return "not referenced";
    case EBB_JUDGED_REACHABLE:
        return "the table references it now";
    case EBB_JUDGED_NEIGHBOUR:
        return "it belongs to another table";
    case EBB_JUDGED_CONFLICT:
        return "a file of this path under another prefix is referenced";
    }
    return "unknown verdict";
}
