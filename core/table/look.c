/* SPDX-License-Identifier: Apache-2.0 */
#include "table/look_priv.h"

#include "table/owner_cache_priv.h"

/* Whether a walk of the zone leaves this name out. */
static bool is_left_out(void *data, const char *rel)
{
    const struct ebb_owners *o = data;
    struct ebb_buf uri;
    bool inside = false;

    ebb_buf_init(&uri, 4 * EBB_LOCATION_MAX_BYTES);
    ebb_buf_printf(&uri, "%s/%s", o->zone->uri, rel);
    for (size_t i = 0; !inside && !uri.bad && i < o->options->exclude.count; i++)
        if (ebb_location_contains(o->options->exclude.items[i], ebb_buf_cstr(&uri), o->zone->rules, &inside, NULL))
            inside = false;
    ebb_buf_fini(&uri);
    return inside;
}

/* Excluded is what no walk of the zone lists, under whatever name it may lie there. */
static bool is_excluded(struct ebb_owners *o, const char *uri)
{
    return o->options->exclude.count && ebb__zone_all_rels(o->zone, uri, is_left_out, o);
}

static int refuse_foreign(const struct ebb_owners *o, const char *label, const char *place, struct ebb_err *err)
{
    int rc =
        ebb_err_set(err, EBB_EFOREIGN_TABLE, "%s: lies in %s, but belongs to table %s", place, o->zone->uri, label);

    ebb_err_hint(err, "move one of the tables, leave the place out with --exclude, or name the table with --with if "
                      "both share their files");
    return rc;
}

#define OUTSIDE_MAX 2000 /* more are not remembered */

/* Remember a folder, once. */
static void note_outside(struct ebb_look *look, const char *folder)
{
    struct ebb_strs *list = &look->outside;
    size_t low = 0, high = list->count;
    char *last;

    while (low < high) {
        size_t middle = (low + high) / 2;
        int c = strcmp(list->items[middle], folder);

        if (c == 0)
            return;
        if (c < 0)
            low = middle + 1;
        else
            high = middle;
    }
    look->outside_seen++;
    if (list->count >= OUTSIDE_MAX || ebb_strs_add(list, folder, NULL))
        return;
    last = list->items[list->count - 1];
    memmove(&list->items[low + 1], &list->items[low], (list->count - 1 - low) * sizeof(char *));
    list->items[low] = last;
}

/* What a place of the neighbour means: 0, or a refusal. */
static int judge_place(struct ebb_look *look, const char *label, const char *place, struct ebb_err *err)
{
    enum ebb_zone_relation relation;

    if (!place || !place[0] || look->role == EBB_OWNER_CO)
        return 0;
    relation = ebb__zone_relate(look->owners->zone, place);
    if (relation == EBB_ZONE_AROUND)
        look->touches = true;
    if ((relation == EBB_ZONE_INSIDE || relation == EBB_ZONE_EQUAL) && !is_excluded(look->owners, place))
        return refuse_foreign(look->owners, label, place, err);
    return 0;
}

/* The folder part of a URI, never shorter than its root. */
static const char *folder_of(const char *uri, struct ebb_buf *out)
{
    const char *slash = strrchr(uri, '/');

    ebb_buf_reset(out);
    ebb_buf_append(out, uri, slash && slash > uri ? (size_t)(slash - uri) : strlen(uri));
    return ebb_buf_cstr(out);
}

static int judge_folder_of(struct ebb_look *look, const char *label, const char *file, struct ebb_err *err)
{
    return file ? judge_place(look, label, folder_of(file, &look->folder), err) : 0;
}

/* A link may stand where a folder was that has been moved. */
static int judge_subfolder(struct ebb_look *look, const struct ebb_table *t, const char *name, struct ebb_err *err)
{
    int rc;

    ebb_buf_reset(&look->folder);
    ebb_buf_printf(&look->folder, "%s/%s", t->metadata->location, name);
    rc = ebb_buf_check(&look->folder, "a location", err);
    return rc ? rc : judge_place(look, t->label, ebb_buf_cstr(&look->folder), err);
}

static int judge_known_places(struct ebb_look *look, const struct ebb_table *t, struct ebb_err *err)
{
    static const char *const PATHS[] = {"write.data.path", "write.metadata.path", "write.object-storage.path",
                                        "write.folder-storage.path"};
    const struct ebb_metadata *m = t->metadata;
    int rc = judge_place(look, t->label, m->location, err);

    for (size_t i = 0; !rc && i < sizeof PATHS / sizeof PATHS[0]; i++)
        rc = judge_place(look, t->label, ebb_metadata_property(m, PATHS[i]), err);
    if (!rc)
        rc = judge_subfolder(look, t, "data", err);
    if (!rc)
        rc = judge_subfolder(look, t, "metadata", err);
    if (!rc)
        rc = judge_folder_of(look, t->label, t->ref.metadata_uri, err);
    for (size_t i = 0; !rc && !look->touches && i < m->statistics_count;
         i++) /* names of an outer table are protected one by one */
        rc = judge_folder_of(look, t->label, m->statistics[i].path, err);
    return rc;
}

/* Below its own location, which was compared already, only links and mounts could lead to the zone. */
static bool is_own_folder(const struct ebb_look *look, const char *folder)
{
    bool own = false;

    if (ebb_location_contains(look->table->metadata->location, folder, NULL, &own, NULL) || !own || look->has_mounts)
        return false;
    return !look->owners->zone->real[0] || ebb__zone_is_straight(look->owners->site, folder);
}

/* Whether a file of the neighbour lies in the zone; folders repeat, so the last answer is kept. */
static bool is_name_inside(struct ebb_look *look, const char *uri)
{
    const char *folder = folder_of(uri, &look->folder);
    enum ebb_zone_relation relation;
    bool own;

    if (look->last_folder.len && !strcmp(folder, look->last_folder.data))
        return look->last_inside;
    own = is_own_folder(look, folder);
    if (!own)
        note_outside(look, folder);
    relation = ebb__zone_relate_text(look->owners->zone, folder);
    if (relation == EBB_ZONE_APART && (!own || look->touches))
        relation = ebb__zone_relate(look->owners->zone, folder);
    ebb_buf_reset(&look->last_folder);
    ebb_buf_puts(&look->last_folder, folder);
    look->last_inside = relation == EBB_ZONE_INSIDE || relation == EBB_ZONE_EQUAL;
    return look->last_inside;
}

static int on_name(void *data, enum ebb_reach_kind kind, struct ebb_str path, struct ebb_err *err)
{
    struct ebb_look *look = data;
    struct ebb_buf uri;
    int rc = 0;

    if (look->role != EBB_OWNER_APART)
        return look->owners->protect_name(look->owners->data, kind, path, err);
    ebb_buf_init(&uri, 2 * EBB_LOCATION_MAX_BYTES);
    ebb_buf_add_str(&uri, path);
    rc = ebb_buf_check(&uri, "a name in the metadata", err);
    if (!rc && is_name_inside(look, ebb_buf_cstr(&uri)) && !is_excluded(look->owners, ebb_buf_cstr(&uri)))
        rc = refuse_foreign(look->owners, look->table->label, ebb_buf_cstr(&uri), err);
    ebb_buf_fini(&uri);
    return rc;
}

/* Errors that are about the neighbour's metadata, as opposed to a refusal or to this process; a limit is its own as
 * long as its names do not go into our set. */
static bool is_about_neighbour(const struct ebb_look *look, int rc)
{
    return rc && rc != -(int)EBB_EFOREIGN_TABLE && rc != -(int)EBB_ENOMEM && rc != -(int)EBB_ECANCELLED &&
           (rc != -(int)EBB_ELIMIT || look->role == EBB_OWNER_APART);
}

/* The place of a table that could not be loaded. */
static int judge_claim(struct ebb_look *look, const char *label, const char *place, const struct ebb_err *why,
                       struct ebb_err *err)
{
    int rc = judge_place(look, label, place, err);

    if (rc == -(int)EBB_EFOREIGN_TABLE) {
        rc = ebb_err_set(err, EBB_EFOREIGN_TABLE, "%s: table %s claims a place in %s, and can't be loaded: %s", place,
                         label, look->owners->zone->uri, why->message);
        ebb_err_hint(
            err, "repair that table, take it out of its catalog if it is gone, or leave the place out with --exclude");
    }
    return rc;
}

static int refuse_unread(const struct ebb_owners *o, const char *label, const struct ebb_err *why, struct ebb_err *err)
{
    int rc = ebb_err_set(err, EBB_EFOREIGN_TABLE, "%s: table %s has a place here, and its metadata can't be read: %s",
                         o->zone->uri, label, why->message);

    ebb_err_hint(err, "repair that table, or take it out of its catalog if it is gone");
    return rc;
}

/* The folders that were found when this very metadata file was read before. */
static int judge_remembered(struct ebb_look *look, const struct ebb_table *t, bool *found, struct ebb_err *err)
{
    struct ebb_strs folders;
    int rc;

    ebb_strs_init(&folders);
    rc = ebb__owner_cache_get(look->owners->site, t, &folders, found, err);
    for (size_t i = 0; !rc && *found && i < folders.count; i++) {
        enum ebb_zone_relation relation = ebb__zone_relate(look->owners->zone, folders.items[i]);

        if ((relation == EBB_ZONE_INSIDE || relation == EBB_ZONE_EQUAL) && !is_excluded(look->owners, folders.items[i]))
            rc = refuse_foreign(look->owners, t->label, folders.items[i], err);
    }
    ebb_strs_fini(&folders);
    return rc;
}

static int read_names(struct ebb_look *look, const struct ebb_table *t, const struct ebb_reach_options *options,
                      struct ebb_reach_stats *stats, struct ebb_err *err)
{
    struct ebb_reach_reader *reader = NULL;
    int rc = ebb_reach_reader_new(look->owners->site, options, &reader, err);

    if (!rc)
        rc = ebb_reach_reader_walk(reader, t, &look->owners->options->read_also, on_name, look, stats, err);
    ebb_reach_reader_free(reader);
    return rc;
}

/* Whether something is mounted below the neighbour's location. */
static bool has_mounts_below(const struct ebb_look *look, const struct ebb_table *t)
{
    const struct ebb_mounts *mounts = &look->owners->zone->mounts;
    char real[PATH_MAX];
    size_t n;

    if (!ebb__zone_real(look->owners->site, t->metadata->location, real))
        return false;
    n = strlen(real);
    for (size_t i = 0; i < mounts->count; i++)
        if (!strncmp(mounts->items[i].point, real, n) && mounts->items[i].point[n] == '/')
            return true;
    return false;
}

int ebb__look_read(struct ebb_look *look, const struct ebb_table *t, struct ebb_owner *owner, struct ebb_err *err)
{
    struct ebb_reach_options options = {look->owners->options->keep_deleted_entries};
    struct ebb_reach_stats stats = {0, 0, 0};
    struct ebb_err why;
    bool remembered = false;
    int rc;

    look->table = t;
    look->has_mounts = has_mounts_below(look, t);
    rc = judge_known_places(look, t, err);
    if (!rc && look->role == EBB_OWNER_APART && look->touches)
        look->role = EBB_OWNER_OUTER;
    if (!rc && look->role == EBB_OWNER_APART && !options.keep_deleted_entries)
        rc = judge_remembered(look, t, &remembered, err);
    if (rc || remembered) {
        owner->role = look->role;
        owner->is_whole = rc == 0;
        return rc;
    }
    rc = read_names(look, t, &options, &stats, &why);
    look->owners->files_read += stats.metadata_files_read;
    owner->role = look->role;
    owner->is_whole = rc == 0;
    if (!rc && look->role == EBB_OWNER_APART && !options.keep_deleted_entries &&
        look->outside_seen == look->outside.count)
        return ebb__owner_cache_put(look->owners->site, t, &look->outside, err);
    if (is_about_neighbour(look, rc) && look->role == EBB_OWNER_APART) {
        ebb_log_say(&look->owners->site->log, EBB_LOG_WARN, "neighbour %s: %s", t->label, why.message);
        return 0;
    }
    if (is_about_neighbour(look, rc))
        return refuse_unread(look->owners, t->label, &why, err);
    if (rc && err)
        *err = why;
    return rc;
}

/* The folder of a metadata file, or the one above if it has the usual name. */
static const char *keeping_folder(const char *metadata_uri, struct ebb_buf *out)
{
    static const struct ebb_str USUAL = {"/metadata", 9};
    struct ebb_str folder;

    folder_of(metadata_uri, out);
    folder = ebb_buf_str(out);
    if (folder.n > USUAL.n && !memcmp(folder.p + folder.n - USUAL.n, USUAL.p, USUAL.n)) {
        out->len -= USUAL.n;
        out->data[out->len] = '\0';
    }
    return ebb_buf_cstr(out);
}

/* A table that can't be loaded owns the folder its catalog keeps it in, and the location that its metadata names as far
 * as that can be read. */
int ebb__look_unloadable(struct ebb_look *look, const char *label, const struct ebb_table_ref *ref,
                         const struct ebb_err *why, struct ebb_err *err)
{
    struct ebb_metadata_identity identity = {NULL, NULL, 0, false};
    struct ebb_arena arena;
    struct ebb_buf head;
    int rc = 0;

    ebb_arena_init(&arena, (size_t)1 << 20);
    ebb_buf_init(&head, (size_t)64 * 1024);
    if (ref->metadata_uri &&
        !ebb_storage_read_head(look->owners->site->storage, ref->metadata_uri, head.max, &head, NULL))
        ebb_metadata_identify(ref->metadata_uri, head.data ? head.data : "", head.len, &arena, &identity, NULL);
    if (!ref->folder_uri && !ref->metadata_uri)
        rc = ebb_err_set(err, EBB_EOWNERSHIP, "%s: the catalog does not say where this table is", label);
    if (!rc)
        rc = judge_claim(look, label, ref->folder_uri, why, err);
    if (!rc)
        rc = judge_claim(look, label, identity.location, why, err);
    if (!rc && ref->metadata_uri && !ref->folder_uri)
        rc = judge_claim(look, label, keeping_folder(ref->metadata_uri, &look->folder), why, err);
    if (!rc && look->touches)
        rc = refuse_unread(look->owners, label, why, err);
    else if (!rc)
        ebb_log_say(&look->owners->site->log, EBB_LOG_WARN, "neighbour %s: %s", label, why->message);
    ebb_buf_fini(&head);
    ebb_arena_fini(&arena);
    return rc;
}

void ebb__look_begin(struct ebb_look *look, struct ebb_owners *o, enum ebb_owner_role role)
{
    memset(look, 0, sizeof *look);
    look->owners = o;
    look->role = role;
    ebb_buf_init(&look->folder, 2 * EBB_LOCATION_MAX_BYTES);
    ebb_buf_init(&look->last_folder, 2 * EBB_LOCATION_MAX_BYTES);
}

void ebb__look_end(struct ebb_look *look)
{
    ebb_buf_fini(&look->folder);
    ebb_buf_fini(&look->last_folder);
    ebb_strs_fini(&look->outside);
}
