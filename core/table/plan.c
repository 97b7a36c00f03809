/* SPDX-License-Identifier: Apache-2.0 */
#include "table/plan.h"

#include <stdlib.h>

#include "io/file.h"
#include "table/plan_priv.h"

void ebb_plan_options_init(struct ebb_plan_options *options)
{
    memset(options, 0, sizeof *options);
    ebb_protect_options_init(&options->protect);
}

void ebb_plan_options_fini(struct ebb_plan_options *options)
{
    ebb_protect_options_fini(&options->protect);
    ebb_plan_options_init(options);
}

void ebb_plan_result_fini(struct ebb_plan_result *result)
{
    free(result->file);
    free(result->table);
    free(result->uuid);
    free(result->location);
    ebb_strs_fini(&result->summary.held_by);
    memset(result, 0, sizeof *result);
}

/* ---- where to look ---- */

static bool has_dotdot(const char *text)
{
    for (const char *at = text; (at = strstr(at, "..")) != NULL; at += 2)
        if ((at == text || at[-1] == '/') && (at[2] == '\0' || at[2] == '/'))
            return true;
    return false;
}

static int refuse_location(const struct ebb_planning *p, const char *why, struct ebb_err *err)
{
    int rc = ebb_err_set(err, EBB_EOUTSIDE, "location %s: %s %s, the location of %s", p->options->location, why,
                         p->table->metadata->location, p->table->label);

    ebb_err_hint(err, "give the table's own location or a folder inside it, spelled the same way");
    return rc;
}

static int check_folder(const struct ebb_planning *p, struct ebb_err *err)
{
    struct ebb_place *place = NULL;
    struct ebb_stat st;
    int rc = 0;

    if (!p->options->listing && ebb_storage_is_remote(p->site->storage, p->options->location))
        rc = ebb_place_open(p->site->storage, p->options->location, EBB_PLACE_READ, &place, err);
    else if (!p->options->listing)
        rc = ebb_storage_stat(p->site->storage, p->options->location, &st, err);
    ebb_place_close(place);

    if (rc == -(int)EBB_ENOENT)
        return ebb_err_set(err, EBB_ENOENT, "location %s: there is no such folder", p->options->location);
    return rc;
}

/* --location must be the table's location or lie inside it, by whole components and equal prefixes. */
static int choose_scanned(struct ebb_planning *p, struct ebb_protect_options *protect, struct ebb_err *err)
{
    const char *asked = p->options->location;
    bool inside = false;

    if (!asked || !asked[0])
        return 0;
    if (has_dotdot(asked))
        return refuse_location(p, "climbs with .., which is never accepted inside", err);
    if (ebb_location_contains(p->table->metadata->location, asked, NULL, &inside, NULL) || !inside)
        return refuse_location(p, "does not lie inside", err);
    protect->scanned = strdup(asked);
    return protect->scanned ? check_folder(p, err) : ebb_err_nomem(err);
}

/* Where to look, and what to leave out, in the table's own terms. */
static int choose(struct ebb_planning *p, struct ebb_protect_options *protect, struct ebb_err *err)
{
    int rc = ebb__zone_init(&p->zone, p->site, NULL, p->table->metadata->location, err);

    p->protect_options = protect;
    protect->scanned = NULL;
    protect->is_unwalked = p->options->listing != NULL;
    ebb_strs_init(&protect->exclude);
    if (!rc)
        rc = choose_scanned(p, protect, err);
    return rc ? rc : ebb__plan_exclude(p, &p->options->protect.exclude, &protect->exclude, err);
}

static int normal_path_of(const char *uri, struct ebb_location *parts, struct ebb_buf *out, struct ebb_err *err)
{
    int rc = ebb_location_split(uri, strlen(uri), parts, err);

    ebb_buf_reset(out);
    return rc ? rc : ebb_path_normalise(parts->path, out, err);
}

static int prepare_paths(struct ebb_planning *p, const char *scanned, struct ebb_err *err)
{
    struct ebb_location parts;
    const char *location = p->table->metadata->location;
    int rc = normal_path_of(location, &p->root, &p->root_path, err);

    return rc ? rc : normal_path_of(scanned ? scanned : location, &parts, &p->scanned_path, err);
}

static int prepare_hidden(struct ebb_planning *p, struct ebb_err *err)
{
    const struct ebb_metadata *m = p->table->metadata;

    p->hidden_fields = calloc(m->spec_field_count + 1, sizeof *p->hidden_fields);
    if (!p->hidden_fields)
        return ebb_err_nomem(err);
    for (size_t i = 0; i < m->spec_field_count; i++)
        p->hidden_fields[i] = ebb_str_of(m->spec_fields[i].name);
    p->hidden.fields = p->hidden_fields;
    p->hidden.count = m->spec_field_count;
    return 0;
}

/* ---- listing ---- */

int ebb__plan_check_case(const struct ebb_planning *p, struct ebb_place *place, struct ebb_err *err)
{
    bool folded = false;
    int rc = ebb_place_is_case_insensitive(place, &folded, err);

    if (rc || !folded)
        return rc;
    return ebb_err_set(err, EBB_ECASE_FOLDED,
                       "%s: %s is on a file system that does not tell upper from lower case: which file a name "
                       "in the metadata means can't be told",
                       p->table->label, p->table->metadata->location);
}

/* List first, then look again: what was committed meanwhile leaves the candidates (2.6). Then the links: the names of
 * the newest state count. */
static int list_storage(struct ebb_planning *p, struct ebb_err *err)
{
    struct ebb_str root = ebb_buf_str(&p->root_path), scanned = ebb_buf_str(&p->scanned_path);
    const char *below = scanned.n > root.n ? scanned.p + root.n + (root.n > 1) : "";
    struct ebb_place *place = NULL;
    bool changed;
    int rc = ebb_place_open(p->site->storage, p->table->metadata->location, EBB_PLACE_READ, &place, err);

    if (!rc)
        rc = ebb_site_say_versioned(p->site, place, err);
    if (!rc)
        rc = ebb__plan_check_case(p, place, err);
    if (!rc)
        rc = ebb__plan_walk(p, place, below, err);
    if (!rc)
        rc = ebb_protect_refresh(p->protect, &changed, err);
    if (!rc)
        rc = ebb__plan_resolve_links(p, place, err);
    ebb_place_close(place);
    return rc;
}

static int list_inventory(struct ebb_planning *p, struct ebb_err *err)
{
    bool changed;
    int rc = ebb__plan_inventory(p, err);

    return rc ? rc : ebb_protect_refresh(p->protect, &changed, err);
}

static int list(struct ebb_planning *p, struct ebb_err *err)
{
    if (p->options->offers)
        return ebb__plan_take_offers(p, err);
    return p->options->listing ? list_inventory(p, err) : list_storage(p, err);
}

static int spool_dir(const struct ebb_planning *p, struct ebb_buf *out, struct ebb_err *err)
{
    const char *output = p->options->output;
    const char *slash = output ? strrchr(output, '/') : NULL;
    int rc;

    if (output && slash)
        ebb_buf_append(out, output, slash == output ? 1 : (size_t)(slash - output));
    else if (output || !p->site->store)
        ebb_buf_puts(out, ".");
    else
        ebb_buf_printf(out, "%s/plans", ebb_store_dir(p->site->store));
    rc = ebb_buf_check(out, "state folder", err);
    if (!rc && !output && p->site->store)
        rc = ebb_file_make_dirs(ebb_buf_cstr(out), err);
    return rc;
}

static int collect(struct ebb_planning *p, const struct ebb_protect_options *protect, struct ebb_err *err)
{
    struct ebb_buf dir;
    int rc;

    ebb_buf_init(&dir, 4096);
    rc = spool_dir(p, &dir, err);
    if (!rc)
        rc = ebb__spool_new(ebb_buf_cstr(&dir), &p->spool, err);
    ebb_buf_fini(&dir);
    if (!rc)
        rc = prepare_hidden(p, err);
    if (!rc)
        rc = ebb__plan_find_flink(p, err);
    if (!rc)
        rc = ebb_protect_new(p->site, p->table, protect, &p->protect, err);
    if (!rc)
        rc = ebb__plan_protect_flink(p, err);
    if (!rc)
        rc = list(p, err);
    if (!rc)
        rc = ebb__plan_look_at_quarantine(p, err);
    return rc;
}

/* ---- the whole ---- */

static int copy_text(char **to, const char *from, struct ebb_err *err)
{
    *to = strdup(from ? from : "");
    return *to ? 0 : ebb_err_nomem(err);
}

static int fill_result(struct ebb_planning *p, char *file, struct ebb_plan_result *out, struct ebb_err *err)
{
    int rc;

    memset(out, 0, sizeof *out);
    memcpy(out->id, p->id, sizeof out->id);
    out->file = file;
    out->cutoff_ms = p->cutoff_ms;
    out->ownership = ebb_protect_ownership(p->protect);
    rc = copy_text(&out->table, p->table->label, err);
    if (!rc)
        rc = copy_text(&out->uuid, p->table->metadata->uuid, err);
    if (!rc)
        rc = copy_text(&out->location, p->table->metadata->location, err);
    out->summary = p->summary;
    memset(&p->summary.held_by, 0, sizeof p->summary.held_by);
    return rc;
}

static void planning_init(struct ebb_planning *p, const struct ebb_site *site, const struct ebb_plan_options *options)
{
    memset(p, 0, sizeof *p);
    p->site = site;
    p->options = options;
    ebb_buf_init(&p->root_path, EBB_LOCATION_MAX_BYTES);
    ebb_buf_init(&p->scanned_path, EBB_LOCATION_MAX_BYTES);
    ebb__seen_init(&p->links);
}

static void planning_fini(struct ebb_planning *p)
{
    ebb_protect_free(p->protect);
    ebb__spool_free(p->spool);
    ebb_strs_fini(&p->summary.held_by);
    ebb_strs_fini(&p->flink_jobs);
    ebb_strs_fini(&p->flink_folders);
    ebb__seen_fini(&p->links);
    ebb__zone_fini(&p->zone);
    ebb_buf_fini(&p->root_path);
    ebb_buf_fini(&p->scanned_path);
    free(p->hidden_fields);
    free(p->older_than);
}

/* The name may belong to another table than the one that was meant. */
static int check_uuid(const struct ebb_planning *p, struct ebb_err *err)
{
    const char *uuid = p->table->metadata->uuid;

    if (!p->options->uuid || (uuid && !strcmp(uuid, p->options->uuid)))
        return 0;
    return ebb_err_set(err, EBB_EPLAN_TABLE, "table %s: its uuid is now %s, not %s", p->table->label,
                       uuid ? uuid : "unknown", p->options->uuid);
}

int ebb_plan_make(const struct ebb_site *site, const char *table_name, const struct ebb_plan_options *options,
                  struct ebb_plan_result *out, struct ebb_err *err)
{
    struct ebb_planning p;
    struct ebb_protect_options protect = options->protect;
    struct ebb_table *table = NULL;
    char *file = NULL;
    int rc;

    planning_init(&p, site, options);
    protect.scanned = NULL;
    ebb_strs_init(&protect.exclude);
    rc = ebb__plan_cutoff(&p, err);
    if (!rc)
        rc = ebb__plan_check_output(&p, err);
    if (!rc)
        rc = ebb_table_open(site, table_name, &table, err);
    p.table = table;
    if (!rc)
        rc = check_uuid(&p, err);
    if (!rc)
        rc = ebb__plan_follow_clock(&p, err);
    if (!rc)
        rc = choose(&p, &protect, err);
    if (!rc)
        rc = prepare_paths(&p, protect.scanned, err);
    if (!rc)
        rc = collect(&p, &protect, err);
    if (!rc) {
        ebb_store_new_id(site->store, "p", p.now_ms, p.id);
        rc = ebb__plan_write(&p, &protect, &file, err);
    }
    if (!rc)
        rc = fill_result(&p, file, out, err);
    planning_fini(&p);
    ebb_table_free(table);
    ebb_strs_fini(&protect.exclude);
    free(protect.scanned);
    return rc;
}
