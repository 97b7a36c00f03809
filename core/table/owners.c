/* SPDX-License-Identifier: Apache-2.0 */
#include "table/look_priv.h"

#include <stdlib.h>

#include "table/name_priv.h"

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
        ebb_table_free(owners->items[i].table);
        free(owners->items[i].key);
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

int ebb__owners_each_name(struct ebb_owners *owners, ebb_reach_cb *cb, void *data, struct ebb_err *err)
{
    struct ebb_reach_options options = {owners->options->keep_deleted_entries};
    int rc = 0;

    for (size_t i = 0; !rc && i < owners->count; i++) {
        struct ebb_reach_reader *reader = NULL;

        if (!owners->items[i].table)
            continue;
        rc = ebb_reach_reader_new(owners->site, &options, &reader, err);
        if (!rc)
            rc =
                ebb_reach_reader_walk(reader, owners->items[i].table, &owners->options->read_also, cb, data, NULL, err);
        ebb_reach_reader_free(reader);
    }
    return rc;
}

/* ---- the list ---- */

/* Labels may be equal where names hold dots; keys never are. */
static int make_key(const struct ebb_table_ref *ref, struct ebb_buf *out, struct ebb_err *err)
{
    ebb_buf_init(out, 4 * EBB_LOCATION_MAX_BYTES);
    ebb_buf_printf(out, "%s\n%s\n%s\n%s", ref->catalog, ref->namespace_ ? ref->namespace_ : "", ref->name,
                   ref->folder_uri ? ref->folder_uri : "");
    return ebb_buf_check(out, "a table's name", err);
}

static struct ebb_owner *find_owner(struct ebb_owners *o, const struct ebb_table_ref *ref)
{
    struct ebb_owner *found = NULL;
    struct ebb_buf key;

    if (!make_key(ref, &key, NULL))
        for (size_t i = 0; !found && i < o->count; i++)
            if (!strcmp(o->items[i].key, ebb_buf_cstr(&key)))
                found = &o->items[i];
    ebb_buf_fini(&key);
    return found;
}

static struct ebb_owner *new_owner(struct ebb_owners *o)
{
    if (o->count == o->cap) {
        size_t cap = o->cap ? o->cap * 2 : 16;
        struct ebb_owner *items = realloc(o->items, cap * sizeof *items);

        if (!items)
            return NULL;
        o->items = items;
        o->cap = cap;
    }
    memset(&o->items[o->count], 0, sizeof *o->items);
    return &o->items[o->count];
}

static int add_owner(struct ebb_owners *o, const struct ebb_table_ref *ref, const char *label, struct ebb_owner **out,
                     struct ebb_err *err)
{
    struct ebb_buf key;
    int rc;

    *out = find_owner(o, ref);
    if (*out)
        return 0;
    rc = make_key(ref, &key, err);
    *out = rc ? NULL : new_owner(o);
    if (*out) {
        (*out)->key = ebb_buf_take(&key);
        (*out)->label = strdup(label);
    }
    ebb_buf_fini(&key);
    if (rc)
        return rc;
    if (!*out || !(*out)->key || !(*out)->label) {
        if (*out) {
            free((*out)->key);
            free((*out)->label);
        }
        return ebb_err_nomem(err);
    }
    o->count++;
    return 0;
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
           ebb_stat_is_same(&owner->stat, st);
}

static int remember(struct ebb_owner *owner, const struct ebb_table *t, struct ebb_err *err)
{
    int rc = set_text(&owner->metadata_uri, t->ref.metadata_uri, err);

    if (!rc)
        rc = set_text(&owner->uuid, t->metadata->uuid, err);
    if (!rc)
        rc = set_text(&owner->location, t->metadata->location, err);
    owner->stat = t->metadata_stat;
    return rc;
}

/* A loaded neighbour: remember it and read what it claims. Takes over *t where its names are protected. */
static int take_table(struct ebb_owners *o, struct ebb_table **t, enum ebb_owner_role role, struct ebb_err *err)
{
    struct ebb_owner *owner = NULL;
    struct ebb_look look;
    int rc = add_owner(o, &(*t)->ref, (*t)->label, &owner, err);

    if (rc)
        return rc;
    owner->is_current = true;
    if (is_unchanged(owner, (*t)->ref.metadata_uri, &(*t)->metadata_stat))
        return 0;
    o->has_changed = true;
    rc = remember(owner, *t, err);
    if (rc)
        return rc;
    ebb__look_begin(&look, o, role);
    rc = ebb__look_read(&look, *t, owner, err);
    ebb__look_end(&look);
    if (!rc && owner->role != EBB_OWNER_APART) {
        ebb_table_free(owner->table);
        owner->table = *t;
        *t = NULL;
    }
    return rc;
}

static int take_unloadable(struct ebb_owners *o, const char *label, const struct ebb_table_ref *ref,
                           const struct ebb_err *why, struct ebb_err *err)
{
    struct ebb_owner *owner = NULL;
    struct ebb_look look;
    int rc = add_owner(o, ref, label, &owner, err);

    if (rc)
        return rc;
    owner->is_current = true;
    owner->is_whole = false;
    ebb__look_begin(&look, o, EBB_OWNER_APART);
    rc = ebb__look_unloadable(&look, label, ref, why, err);
    ebb__look_end(&look);
    return rc;
}

/* ---- catalogs ---- */

struct survey {
    struct ebb_owners *owners;
    const struct ebb_table *table;
    bool second_pass; /* entries without a pointer come after all that have one */
    bool has_open;    /* there are such entries: else one pass is enough */
};

static bool is_same(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

/* Declared with --with under another name. */
static bool is_declared(const struct ebb_owners *o, const struct ebb_table *t)
{
    for (size_t i = 0; i < o->count; i++) {
        const struct ebb_owner *owner = &o->items[i];

        if (owner->role != EBB_OWNER_CO)
            continue;
        if ((owner->uuid && is_same(owner->uuid, t->metadata->uuid)) ||
            is_unchanged(owner, t->ref.metadata_uri, &t->metadata_stat))
            return true;
    }
    return false;
}

static bool is_same_pointer(const struct ebb_table *a, const struct ebb_table *b)
{
    return is_same(a->metadata->uuid, b->metadata->uuid) &&
           (ebb_stat_is_one(&a->metadata_stat, &b->metadata_stat) || !strcmp(a->ref.metadata_uri, b->ref.metadata_uri));
}

/* The catalog's entry of the table itself. */
static bool is_own_ref(const struct survey *s, const struct ebb_table_ref *ref)
{
    const struct ebb_table_ref *own = &s->table->ref;

    return is_same(ref->catalog, own->catalog) && is_same(ref->namespace_, own->namespace_) &&
           is_same(ref->name, own->name) && is_same(ref->folder_uri, own->folder_uri);
}

static int survey_loaded(struct survey *s, struct ebb_table **t, struct ebb_err *err)
{
    struct ebb_owners *o = s->owners;
    const char *uuid = (*t)->metadata->uuid;
    bool is_same_uuid = uuid && is_same(uuid, s->table->metadata->uuid);

    if (is_same_pointer(*t, s->table)) {
        o->has_catalog_entry = true;
        return 0;
    }
    if (is_own_ref(s, &(*t)->ref) && is_same(uuid, s->table->metadata->uuid))
        return 0; /* our own entry, moved on since it was loaded: the reload sees to it */
    if (is_same_uuid)
        ebb_log_say(&o->site->log, EBB_LOG_WARN,
                    "%s is also known as %s, with another metadata file: files of both are kept", s->table->label,
                    (*t)->label);
    return take_table(o, t, is_same_uuid || is_declared(o, *t) ? EBB_OWNER_CO : EBB_OWNER_APART, err);
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

static int survey_unloadable(struct survey *s, const struct ebb_table_ref *ref, const struct ebb_err *why,
                             struct ebb_err *err)
{
    struct ebb_buf label;
    int rc = 0;

    ebb_buf_init(&label, 8192);
    make_label(ref, &label);
    if (!is_own_ref(s, ref) && (why->error != EBB_EPOINTER_UNKNOWN || !is_known_folder(s, ref->folder_uri)))
        rc = take_unloadable(s->owners, ebb_buf_cstr(&label), ref, why, err);
    ebb_buf_fini(&label);
    return rc;
}

static bool is_known_state(struct ebb_owners *o, const struct ebb_table_ref *ref)
{
    struct ebb_owner *owner = find_owner(o, ref);
    struct ebb_stat st;

    if (!owner || ebb_storage_stat(o->site->storage, ref->metadata_uri, &st, NULL) ||
        !is_unchanged(owner, ref->metadata_uri, &st))
        return false;
    owner->is_current = true;
    return true;
}

static int on_table(void *data, const struct ebb_table_ref *ref, struct ebb_err *err)
{
    struct survey *s = data;
    struct ebb_table *t = NULL;
    struct ebb_err why;
    int rc;

    if (ebb_site_is_cancelled(s->owners->site))
        return ebb_err_set(err, EBB_ECANCELLED, "interrupted: while looking at the tables of catalog %s", ref->catalog);
    if (!ref->metadata_uri) {
        s->has_open = true;
        return s->second_pass ? survey_unloadable(s, ref, &ref->problem, err) : 0;
    }
    if (s->second_pass || is_known_state(s->owners, ref))
        return 0;
    rc = ebb_table_open_ref(s->owners->site, ref, &t, &why);
    if (rc == -(int)EBB_ENOMEM) {
        if (err)
            *err = why;
        return rc;
    }
    rc = rc ? survey_unloadable(s, ref, &why, err) : survey_loaded(s, &t, err);
    ebb_table_free(t);
    return rc;
}

static int look_at_catalogs(struct survey *s, struct ebb_err *err)
{
    const struct ebb_site *site = s->owners->site;
    int rc = 0;

    for (int pass = 0; !rc && (pass == 0 || (pass == 1 && s->has_open)); pass++) {
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
            rc = take_table(o, &t, EBB_OWNER_CO, err);
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
    if (rc == -(int)EBB_EPERMISSION && ebb_storage_is_remote(o->site->storage, folder)) {
        ebb_log_say(&o->site->log, EBB_LOG_WARN, "%s: whether a table lies there can't be told: %s", folder,
                    why.message);
        return false;
    }
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
        rc = take_table(s->owners, &t, EBB_OWNER_OUTER, err);
    else {
        rc = ebb_err_set(err, EBB_EOWNERSHIP, "%s: lies in the folder of another table, %s, which can't be loaded: %s",
                         s->table->label, folder, why.message);
        ebb_err_hint(err, "configure the catalog that knows it");
    }
    ebb_table_free(t);
    return rc;
}

/* The folders above a local path, as the tables' URIs name them, up to the mount. */
static int climb(struct survey *s, const char *from, uint64_t dev, struct ebb_err *err)
{
    struct ebb_storage *storage = s->owners->site->storage;
    struct ebb_buf path, uri;
    struct ebb_stat st;
    int rc;

    ebb_buf_init(&path, 2 * EBB_LOCATION_MAX_BYTES);
    ebb_buf_init(&uri, 4 * EBB_LOCATION_MAX_BYTES);
    ebb_buf_puts(&path, from);
    rc = ebb_buf_check(&path, "a location", err);
    while (!rc) {
        char *slash = path.len ? strrchr(path.data, '/') : NULL;

        if (!slash || slash == path.data)
            break;
        path.len = (size_t)(slash - path.data);
        *slash = '\0';
        ebb_buf_reset(&uri);
        rc = ebb_uri_map_uri(ebb_storage_map(storage), path.data, &uri, err);
        if (rc || ebb_storage_stat(storage, ebb_buf_cstr(&uri), &st, NULL) || st.dev != dev)
            break;
        rc = take_above(s, ebb_buf_cstr(&uri), err);
    }
    ebb_buf_fini(&path);
    ebb_buf_fini(&uri);
    return rc;
}

/* The prefixes above a location in a bucket, the bucket itself too, and the `metadata` below each of them. */
static int list_above(const struct survey *s, const char *location, struct ebb_strs *folders, struct ebb_strs *below,
                      struct ebb_err *err)
{
    struct ebb_location parts;
    struct ebb_buf uri, metadata;
    size_t least;
    int rc = ebb_location_split(location, strlen(location), &parts, err);

    if (rc)
        return rc;
    least = (size_t)(parts.path.p - location);
    ebb_buf_init(&uri, EBB_LOCATION_MAX_BYTES);
    ebb_buf_init(&metadata, 2 * EBB_LOCATION_MAX_BYTES);
    ebb_buf_puts(&uri, location);
    rc = ebb_buf_check(&uri, "a location", err);
    while (!rc && uri.len > least) {
        while (uri.len > least && uri.data[uri.len - 1] == '/')
            uri.len--;
        while (uri.len > least && uri.data[uri.len - 1] != '/')
            uri.len--;
        uri.data[uri.len] = '\0';
        if (!ebb_storage_is_remote(s->owners->site->storage, uri.data))
            break;
        ebb_buf_reset(&metadata);
        ebb__name_uri(uri.data, EBB_STR("metadata"), &metadata);
        rc = ebb_buf_check(&metadata, "a location", err);
        if (!rc)
            rc = ebb_strs_add(folders, uri.data, err);
        if (!rc)
            rc = ebb_strs_add(below, metadata.data, err);
    }
    ebb_buf_fini(&metadata);
    ebb_buf_fini(&uri);
    return rc;
}

/* One listing each tells where there is none. Where keys may not look, no table can be told. */
static int climb_bucket(struct survey *s, const char *location, struct ebb_err *err)
{
    struct ebb_strs folders, below;
    bool *are_empty = NULL;
    int rc;

    ebb_strs_init(&folders);
    ebb_strs_init(&below);
    rc = list_above(s, location, &folders, &below, err);
    if (!rc) {
        are_empty = calloc(folders.count + 1, sizeof *are_empty);
        rc = are_empty ? ebb_storage_are_empty(s->owners->site->storage, &below, are_empty, err) : ebb_err_nomem(err);
    }
    for (size_t i = 0; !rc && i < folders.count; i++)
        if (!are_empty[i])
            rc = take_above(s, folders.items[i], err);
    free(are_empty);
    ebb_strs_fini(&below);
    ebb_strs_fini(&folders);
    return rc;
}

/* Tables in the folders above the scanned one, as it is written and as it really is, whether or not a catalog is
 * configured. */
static int look_above(struct survey *s, struct ebb_err *err)
{
    const struct ebb_zone *zone = s->owners->zone;
    int rc = 0;

    if (ebb_storage_is_remote(s->owners->site->storage, zone->uri))
        return climb_bucket(s, zone->uri, err);
    if (!zone->chain_count)
        return 0;
    if (zone->target.len && strcmp(zone->target.data, zone->real))
        rc = climb(s, zone->target.data, zone->chain[0].dev, err);
    return rc ? rc : climb(s, zone->real, zone->chain[0].dev, err);
}

int ebb__owners_look(struct ebb_owners *owners, const struct ebb_table *table, struct ebb_err *err)
{
    struct survey survey = {owners, table, false, false};
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
