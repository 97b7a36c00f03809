/* SPDX-License-Identifier: Apache-2.0 */
#include "table/owners_priv.h"

#include <stdlib.h>

void ebb__owners_init(struct ebb_owners *owners, const struct ebb_site *site, const struct ebb_protect_options *options,
                      const struct ebb_zone *zone, ebb_reach_cb *protect_name, void *data)
{
    memset(owners, 0, sizeof *owners);
    owners->site = site;
    owners->options = options;
    owners->zone = zone;
    owners->protect_name = protect_name;
    owners->data = data;
}

void ebb__owners_fini(struct ebb_owners *owners)
{
    for (size_t i = 0; i < owners->count; i++) {
        free(owners->items[i].label);
        free(owners->items[i].uuid);
        free(owners->items[i].metadata_uri);
        free(owners->items[i].location);
    }
    free(owners->items);
    memset(owners, 0, sizeof *owners);
}

bool ebb__owners_has_uuid(const struct ebb_owners *owners, const char *uuid)
{
    for (size_t i = 0; i < owners->count; i++)
        if (owners->items[i].role != EBB_OWNER_APART && owners->items[i].uuid && !strcmp(owners->items[i].uuid, uuid))
            return true;
    return false;
}

static bool is_excluded(const struct ebb_owners *o, const char *uri)
{
    bool inside = false;

    for (size_t i = 0; i < o->options->exclude.count; i++)
        if (!ebb_location_contains(o->options->exclude.items[i], uri, o->zone->rules, &inside, NULL) && inside)
            return true;
    return false;
}

static int refuse_foreign(const struct ebb_owners *o, const char *label, const char *place, struct ebb_err *err)
{
    int rc = ebb_err_set(err, EBB_EFOREIGN_TABLE, "%s: lies in %s, but belongs to table %s", place, o->zone->uri, label);

    ebb_err_hint(err, "move one of the tables, leave the place out with --exclude, or name the table with --with if both share their files");
    return rc;
}

/* ---- one neighbour ---- */

struct look {
    struct ebb_owners *owners;
    const struct ebb_table *table; /* the neighbour */
    enum ebb_owner_role role;
    bool touches; /* one of its places holds the zone */
    struct ebb_buf folder, last_folder;
    bool last_inside;
};

/* What a place of the neighbour means: 0, or a refusal. */
static int judge_place(struct look *look, const char *label, const char *place, struct ebb_err *err)
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

static int judge_folder_of(struct look *look, const char *label, const char *file, struct ebb_err *err)
{
    return file ? judge_place(look, label, folder_of(file, &look->folder), err) : 0;
}

static int judge_known_places(struct look *look, const struct ebb_table *t, struct ebb_err *err)
{
    static const char *const PATHS[] = {"write.data.path", "write.metadata.path", "write.object-storage.path",
                                        "write.folder-storage.path"};
    const struct ebb_metadata *m = t->metadata;
    int rc = judge_place(look, t->label, m->location, err);

    for (size_t i = 0; !rc && i < sizeof PATHS / sizeof PATHS[0]; i++)
        rc = judge_place(look, t->label, ebb_metadata_property(m, PATHS[i]), err);
    if (!rc)
        rc = judge_folder_of(look, t->label, t->ref.metadata_uri, err);
    for (size_t i = 0; !rc && i < m->statistics_count; i++)
        rc = judge_folder_of(look, t->label, m->statistics[i].path, err);
    return rc;
}

/* Whether a file of the neighbour lies in the zone; folders repeat, so the last answer is kept. */
static bool is_name_inside(struct look *look, const char *uri)
{
    const char *folder = folder_of(uri, &look->folder);
    enum ebb_zone_relation relation;

    if (look->last_folder.len && !strcmp(folder, look->last_folder.data))
        return look->last_inside;
    relation = ebb__zone_relate_text(look->owners->zone, folder);
    if (relation == EBB_ZONE_APART) {
        bool own = false;

        /* below its own location, which was compared by real path already, only links could lead here */
        if (ebb_location_contains(look->table->metadata->location, folder, NULL, &own, NULL) || !own || look->touches)
            relation = ebb__zone_relate(look->owners->zone, folder);
    }
    ebb_buf_reset(&look->last_folder);
    ebb_buf_puts(&look->last_folder, folder);
    look->last_inside = relation == EBB_ZONE_INSIDE || relation == EBB_ZONE_EQUAL;
    return look->last_inside;
}

/* A relative name is meant below the neighbour's own location. */
static int protect_whole_name(struct look *look, enum ebb_reach_kind kind, struct ebb_str path, struct ebb_err *err)
{
    struct ebb_location parts;
    struct ebb_buf uri;
    int rc;

    if (!path.n || path.p[0] == '/' || ebb_location_split(path.p, path.n, &parts, NULL) || parts.scheme.n)
        return look->owners->protect_name(look->owners->data, kind, path, err);
    ebb_buf_init(&uri, 2 * EBB_LOCATION_MAX_BYTES);
    ebb_buf_printf(&uri, "%s/", look->table->metadata->location);
    ebb_buf_add_str(&uri, path);
    rc = ebb_buf_check(&uri, "a name in the metadata", err);
    if (!rc)
        rc = look->owners->protect_name(look->owners->data, kind, ebb_buf_str(&uri), err);
    ebb_buf_fini(&uri);
    return rc;
}

static int on_name(void *data, enum ebb_reach_kind kind, struct ebb_str path, struct ebb_err *err)
{
    struct look *look = data;
    struct ebb_buf uri;
    int rc = 0;

    if (look->role != EBB_OWNER_APART)
        return protect_whole_name(look, kind, path, err);
    if (kind == EBB_REACH_METADATA && path.n && !memchr(path.p, ':', path.n) && path.p[0] != '/')
        return 0;
    ebb_buf_init(&uri, 2 * EBB_LOCATION_MAX_BYTES);
    ebb_buf_add_str(&uri, path);
    rc = ebb_buf_check(&uri, "a name in the metadata", err);
    if (!rc && is_name_inside(look, ebb_buf_cstr(&uri)) && !is_excluded(look->owners, ebb_buf_cstr(&uri)))
        rc = refuse_foreign(look->owners, look->table->label, ebb_buf_cstr(&uri), err);
    ebb_buf_fini(&uri);
    return rc;
}

/* Errors that are about the neighbour's metadata, as opposed to a refusal or to this process. */
static bool is_about_neighbour(int rc)
{
    return rc && rc != -(int)EBB_EFOREIGN_TABLE && rc != -(int)EBB_ENOMEM && rc != -(int)EBB_ECANCELLED &&
           rc != -(int)EBB_ELIMIT;
}

static int refuse_unread(const struct ebb_owners *o, const char *label, const struct ebb_err *why, struct ebb_err *err)
{
    int rc = ebb_err_set(err, EBB_EFOREIGN_TABLE, "%s: table %s has a place here, and its metadata can't be read: %s",
                         o->zone->uri, label, why->message);

    ebb_err_hint(err, "repair that table, or take it out of its catalog if it is gone");
    return rc;
}

static int read_neighbour(struct look *look, const struct ebb_table *t, struct ebb_owner *owner, struct ebb_err *err)
{
    struct ebb_reach_options options = {look->owners->options->keep_deleted_entries};
    struct ebb_reach_stats stats = {0, 0, 0};
    struct ebb_err why;
    int rc;

    look->table = t;
    rc = judge_known_places(look, t, err);
    if (rc)
        return rc;
    if (look->role == EBB_OWNER_APART && look->touches)
        look->role = EBB_OWNER_OUTER;
    rc = ebb_reach_walk(look->owners->site, t, &options, on_name, look, &stats, &why);
    look->owners->files_read += stats.metadata_files_read;
    owner->role = look->role;
    owner->is_whole = rc == 0;
    if (is_about_neighbour(rc) && look->role == EBB_OWNER_APART) {
        ebb_log_say(&look->owners->site->log, EBB_LOG_WARN, "neighbour %s: %s", t->label, why.message);
        return 0;
    }
    if (is_about_neighbour(rc))
        return refuse_unread(look->owners, t->label, &why, err);
    if (rc && err)
        *err = why;
    return rc;
}

/* A table that can't be loaded owns the folder its catalog keeps it in, and the location that its metadata names as far as that can be read. */
static int judge_unloadable(struct look *look, const char *label, const struct ebb_table_ref *ref, const struct ebb_err *why,
                            struct ebb_err *err)
{
    struct ebb_metadata_identity identity = {NULL, NULL, 0, false};
    struct ebb_arena arena;
    struct ebb_buf head;
    int rc = 0;

    ebb_arena_init(&arena, (size_t)1 << 20);
    ebb_buf_init(&head, (size_t)64 * 1024);
    if (ref->metadata_uri && !ebb_storage_read_head(look->owners->site->storage, ref->metadata_uri, head.max, &head, NULL))
        ebb_metadata_identify(ref->metadata_uri, head.data ? head.data : "", head.len, &arena, &identity, NULL);
    if (!ref->folder_uri && !ref->metadata_uri)
        rc = ebb_err_set(err, EBB_EOWNERSHIP, "%s: the catalog does not say where this table is", label);
    if (!rc)
        rc = judge_place(look, label, ref->folder_uri, err);
    if (!rc)
        rc = judge_place(look, label, identity.location, err);
    if (!rc && ref->metadata_uri && !ref->folder_uri) {
        struct ebb_buf folder;

        ebb_buf_init(&folder, EBB_LOCATION_MAX_BYTES);
        ebb_buf_puts(&folder, folder_of(ref->metadata_uri, &look->folder));
        rc = judge_place(look, label, folder_of(ebb_buf_cstr(&folder), &look->folder), err);
        ebb_buf_fini(&folder);
    }
    if (!rc && look->touches)
        rc = refuse_unread(look->owners, label, why, err);
    else if (!rc)
        ebb_log_say(&look->owners->site->log, EBB_LOG_WARN, "neighbour %s: %s", label, why->message);
    ebb_buf_fini(&head);
    ebb_arena_fini(&arena);
    return rc;
}

/* ---- the list ---- */

static struct ebb_owner *find_owner(struct ebb_owners *o, const char *label)
{
    for (size_t i = 0; i < o->count; i++)
        if (!strcmp(o->items[i].label, label))
            return &o->items[i];
    return NULL;
}

static struct ebb_owner *add_owner(struct ebb_owners *o, const char *label)
{
    struct ebb_owner *owner = find_owner(o, label);

    if (owner)
        return owner;
    if (o->count == o->cap) {
        size_t cap = o->cap ? o->cap * 2 : 16;
        struct ebb_owner *items = realloc(o->items, cap * sizeof *items);

        if (!items)
            return NULL;
        o->items = items;
        o->cap = cap;
    }
    owner = &o->items[o->count];
    memset(owner, 0, sizeof *owner);
    owner->label = strdup(label);
    if (!owner->label)
        return NULL;
    o->count++;
    return owner;
}

static int set_text(char **slot, const char *text, struct ebb_err *err)
{
    free(*slot);
    *slot = text ? strdup(text) : NULL;
    return text && !*slot ? ebb_err_nomem(err) : 0;
}

static bool is_unchanged(const struct ebb_owner *owner, const char *metadata_uri, const struct ebb_stat *st)
{
    return owner->metadata_uri && metadata_uri && owner->is_whole && !strcmp(owner->metadata_uri, metadata_uri) &&
           owner->stat.dev == st->dev && owner->stat.ino == st->ino && owner->stat.ctime_ns == st->ctime_ns &&
           owner->stat.size_bytes == st->size_bytes && owner->stat.mtime_ns == st->mtime_ns;
}

static void begin_look(struct look *look, struct ebb_owners *o, enum ebb_owner_role role)
{
    memset(look, 0, sizeof *look);
    look->owners = o;
    look->role = role;
    ebb_buf_init(&look->folder, 2 * EBB_LOCATION_MAX_BYTES);
    ebb_buf_init(&look->last_folder, 2 * EBB_LOCATION_MAX_BYTES);
}

static void end_look(struct look *look)
{
    ebb_buf_fini(&look->folder);
    ebb_buf_fini(&look->last_folder);
}

/* A loaded neighbour: remember it and read what it claims. */
static int take_table(struct ebb_owners *o, const struct ebb_table *t, enum ebb_owner_role role, struct ebb_err *err)
{
    struct ebb_owner *owner = add_owner(o, t->label);
    struct look look;
    int rc;

    if (!owner)
        return ebb_err_nomem(err);
    owner->is_current = true;
    if (is_unchanged(owner, t->ref.metadata_uri, &t->metadata_stat))
        return 0;
    o->has_changed = true;
    rc = set_text(&owner->metadata_uri, t->ref.metadata_uri, err);
    if (!rc)
        rc = set_text(&owner->uuid, t->metadata->uuid, err);
    if (!rc)
        rc = set_text(&owner->location, t->metadata->location, err);
    if (rc)
        return rc;
    owner->stat = t->metadata_stat;
    begin_look(&look, o, role);
    rc = read_neighbour(&look, t, owner, err);
    end_look(&look);
    return rc;
}

static int take_unloadable(struct ebb_owners *o, const char *label, const struct ebb_table_ref *ref, const struct ebb_err *why,
                           struct ebb_err *err)
{
    struct ebb_owner *owner = add_owner(o, label);
    struct look look;
    int rc;

    if (!owner)
        return ebb_err_nomem(err);
    owner->is_current = true;
    owner->is_whole = false;
    begin_look(&look, o, EBB_OWNER_APART);
    rc = judge_unloadable(&look, label, ref, why, err);
    end_look(&look);
    return rc;
}

/* ---- catalogs ---- */

struct survey {
    struct ebb_owners *owners;
    const struct ebb_table *table;
    bool second_pass;      /* entries without a pointer come after all that have one */
};

static enum ebb_owner_role role_of(const struct ebb_owners *o, const struct ebb_table *ours, const struct ebb_table *t)
{
    for (size_t i = 0; i < o->count; i++)
        if (o->items[i].role == EBB_OWNER_CO && o->items[i].uuid && t->metadata->uuid && !strcmp(o->items[i].uuid, t->metadata->uuid))
            return EBB_OWNER_CO;
    if (ours->metadata->uuid && t->metadata->uuid && !strcmp(ours->metadata->uuid, t->metadata->uuid))
        return EBB_OWNER_CO;
    return EBB_OWNER_APART;
}

static bool is_same_pointer(const struct ebb_table *a, const struct ebb_table *b)
{
    return (a->metadata_stat.ino == b->metadata_stat.ino && a->metadata_stat.dev == b->metadata_stat.dev) ||
           !strcmp(a->ref.metadata_uri, b->ref.metadata_uri);
}

static int survey_loaded(struct survey *s, const struct ebb_table *t, struct ebb_err *err)
{
    struct ebb_owners *o = s->owners;
    enum ebb_owner_role role = role_of(o, s->table, t);

    if (role == EBB_OWNER_CO && is_same_pointer(t, s->table)) {
        o->has_catalog_entry = true;
        return 0;
    }
    if (!strcmp(t->label, s->table->label))
        return 0; /* our own entry, moved on since it was loaded: the reload sees to it */
    if (role == EBB_OWNER_CO)
        ebb_log_say(&o->site->log, EBB_LOG_WARN, "%s is also known as %s, with another metadata file: files of both are kept",
                    s->table->label, t->label);
    return take_table(o, t, role, err);
}

static void make_label(const struct ebb_table_ref *ref, struct ebb_buf *out)
{
    ebb_buf_reset(out);
    ebb_buf_printf(out, "%s.%s%s%s", ref->catalog, ref->namespace_ ? ref->namespace_ : "",
                   ref->namespace_ && ref->namespace_[0] ? "." : "", ref->name);
}

/* A folder without a pointer of its own is fine when another catalog knows the table that lives there. */
static bool is_known_folder(const struct survey *s, const char *folder)
{
    struct ebb_zone zone;
    bool known = false;

    if (!folder || ebb__zone_init(&zone, s->owners->site, NULL, folder, NULL))
        return false;
    known = ebb__zone_relate(&zone, s->table->metadata->location) == EBB_ZONE_EQUAL;
    for (size_t i = 0; !known && i < s->owners->count; i++) {
        const struct ebb_owner *owner = &s->owners->items[i];

        known = owner->is_current && owner->location && ebb__zone_relate(&zone, owner->location) == EBB_ZONE_EQUAL;
    }
    ebb__zone_fini(&zone);
    return known;
}

static int survey_unloadable(struct survey *s, const struct ebb_table_ref *ref, const struct ebb_err *why, struct ebb_err *err)
{
    struct ebb_buf label;
    int rc = 0;

    ebb_buf_init(&label, 8192);
    make_label(ref, &label);
    if (why->error != EBB_EPOINTER_UNKNOWN || !is_known_folder(s, ref->folder_uri)) {
        if (strcmp(ebb_buf_cstr(&label), s->table->label))
            rc = take_unloadable(s->owners, ebb_buf_cstr(&label), ref, why, err);
    }
    ebb_buf_fini(&label);
    return rc;
}

static int is_known_state(struct ebb_owners *o, const struct ebb_table_ref *ref)
{
    struct ebb_owner *owner;
    struct ebb_stat st;
    struct ebb_buf label;

    ebb_buf_init(&label, 8192);
    make_label(ref, &label);
    owner = find_owner(o, ebb_buf_cstr(&label));
    ebb_buf_fini(&label);
    if (!owner || ebb_storage_stat(o->site->storage, ref->metadata_uri, &st, NULL) || !is_unchanged(owner, ref->metadata_uri, &st))
        return 0;
    owner->is_current = true;
    return 1;
}

static int on_table(void *data, const struct ebb_table_ref *ref, struct ebb_err *err)
{
    struct survey *s = data;
    struct ebb_table *t = NULL;
    struct ebb_err why;
    int rc;

    if (ebb_site_is_cancelled(s->owners->site))
        return ebb_err_set(err, EBB_ECANCELLED, "interrupted: while looking at the tables of catalog %s", ref->catalog);
    if (!ref->metadata_uri)
        return s->second_pass ? survey_unloadable(s, ref, &ref->problem, err) : 0;
    if (s->second_pass || is_known_state(s->owners, ref))
        return 0;
    rc = ebb_table_open_ref(s->owners->site, ref, &t, &why);
    if (rc == -(int)EBB_ENOMEM) {
        if (err)
            *err = why;
        return rc;
    }
    rc = rc ? survey_unloadable(s, ref, &why, err) : survey_loaded(s, t, err);
    ebb_table_free(t);
    return rc;
}

static int look_at_catalogs(struct survey *s, struct ebb_err *err)
{
    const struct ebb_site *site = s->owners->site;
    int rc = 0;

    for (int pass = 0; !rc && pass < 2; pass++) {
        s->second_pass = pass == 1;
        for (size_t i = 0; !rc && i < site->catalog_count; i++)
            rc = ebb_catalog_list(site->catalogs[i], on_table, s, err);
    }
    return rc;
}

static int look_at_declared(struct ebb_owners *o, struct ebb_err *err)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < o->options->with.count; i++) {
        struct ebb_table *t = NULL;

        rc = ebb_table_open(o->site, o->options->with.items[i], &t, err);
        if (!rc)
            rc = take_table(o, t, EBB_OWNER_CO, err);
        ebb_table_free(t);
    }
    return rc;
}

/* ---- folders above ---- */

static bool has_metadata_below(const struct ebb_owners *o, const char *folder)
{
    struct ebb_table_ref ref;
    struct ebb_err why;
    int rc;

    memset(&ref, 0, sizeof ref);
    rc = ebb_table_ref_by_path(o->site->storage, folder, &ref, &why);
    ebb_table_ref_fini(&ref);
    return rc != -(int)EBB_ETABLE_NOT_FOUND && rc != -(int)EBB_ENOENT;
}

static int take_above(struct survey *s, const char *folder, struct ebb_err *err)
{
    struct ebb_table *t = NULL;
    struct ebb_err why;
    int rc;

    if (!has_metadata_below(s->owners, folder) || is_known_folder(s, folder))
        return 0;
    rc = ebb_table_open(s->owners->site, folder, &t, &why);
    if (rc == 0)
        rc = take_table(s->owners, t, EBB_OWNER_OUTER, err);
    else {
        rc = ebb_err_set(err, EBB_EOWNERSHIP, "%s: lies in the folder of another table, %s, which can't be loaded: %s",
                         s->table->label, folder, why.message);
        ebb_err_hint(err, "configure the catalog that knows it");
    }
    ebb_table_free(t);
    return rc;
}

/* Tables in the folders above the location, up to the mount, whether or not a catalog is configured. */
static int look_above(struct survey *s, struct ebb_err *err)
{
    char path[PATH_MAX];
    struct ebb_stat st;
    uint64_t dev;
    int rc = 0;

    if (!ebb__zone_real(s->owners->site, s->table->metadata->location, path) || !s->owners->zone->chain_count)
        return 0;
    dev = s->owners->zone->chain[0].dev;
    while (!rc) {
        char *slash = strrchr(path, '/');

        if (!slash || slash == path)
            break;
        *slash = '\0';
        if (ebb_storage_stat(s->owners->site->storage, path, &st, NULL) || st.dev != dev)
            break;
        rc = take_above(s, path, err);
    }
    return rc;
}

int ebb__owners_look(struct ebb_owners *owners, const struct ebb_table *table, struct ebb_err *err)
{
    struct survey survey = {owners, table, false};
    int rc;

    owners->has_changed = false;
    for (size_t i = 0; i < owners->count; i++)
        owners->items[i].is_current = false;
    rc = look_at_declared(owners, err);
    if (!rc)
        rc = look_at_catalogs(&survey, err);
    if (!rc)
        rc = look_above(&survey, err);
    owners->is_whole = true;
    for (size_t i = 0; i < owners->count; i++)
        if (owners->items[i].is_current && !owners->items[i].is_whole)
            owners->is_whole = false;
    return rc;
}
