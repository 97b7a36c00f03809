/* SPDX-License-Identifier: Apache-2.0 */
#include "table/apply.h"

#include "table/name_priv.h"
#include "table/notes_priv.h"
#include "table/quarantine.h"
#include "table/record_text_priv.h"
#include "table/verify_priv.h"

/* `runs` and `uris` are the run folders, side by side, in which files of this table may lie. */
struct verify {
    const struct ebb_site *site;
    const struct ebb_table *table;
    struct ebb_strs runs, uris;
    bool is_listed;
    int64_t needed; /* missing ones that a reader needs */
    struct ebb_verify_result *out;
};

static int add_shelf(struct verify *v, const char *run, const char *uri, struct ebb_err *err)
{
    int rc;

    if (ebb_strs_has(&v->uris, uri))
        return 0;
    rc = ebb_strs_add(&v->runs, run, err);
    return rc ? rc : ebb_strs_add(&v->uris, uri, err);
}

/* Run folders below the default quarantine. */
struct folder_walk {
    struct verify *v;
    struct ebb_err *err;
    int rc;
};

static bool note_folder(void *data, struct ebb_str dir)
{
    struct folder_walk *f = data;
    struct ebb_str name = dir;
    struct ebb_buf uri, run;

    name.p += ebb__name_dir(dir).n;
    name.n -= ebb__name_dir(dir).n;
    if (name.n > 0 && name.p[0] == '/') {
        name.p++;
        name.n--;
    }
    ebb_buf_init(&uri, EBB_LOCATION_MAX_BYTES);
    ebb_buf_init(&run, EBB_LOCATION_MAX_BYTES);
    ebb__name_uri(f->v->table->metadata->location, EBB_STR(EBB_QUARANTINE_DIR), &uri);
    ebb_buf_putc(&uri, '/');
    ebb_buf_add_str(&uri, name);
    ebb_buf_add_str(&run, name);
    if (!f->rc)
        f->rc = ebb_buf_check(&uri, "quarantine", f->err);
    if (!f->rc)
        f->rc = add_shelf(f->v, ebb_buf_cstr(&run), uri.data, f->err);
    ebb_buf_fini(&run);
    ebb_buf_fini(&uri);
    return false;
}

static int ignore_entry(void *data, const struct ebb_walk_entry *entry, struct ebb_err *err)
{
    (void)data;
    (void)entry;
    (void)err;
    return 0;
}

static int list_folders(struct verify *v, struct ebb_err *err)
{
    const struct ebb_walk_ops ops = {note_folder, NULL, ignore_entry};
    struct folder_walk f = {v, err, 0};
    struct ebb_place *place = NULL;
    struct ebb_stat st;
    int rc;

    rc = ebb_place_open(v->site->storage, v->table->metadata->location, EBB_PLACE_READ, &place, err);
    if (!rc)
        rc = ebb_place_stat(place, EBB_QUARANTINE_DIR, &st, err);
    if (!rc)
        rc = ebb_place_walk(place, EBB_QUARANTINE_DIR, &ops, &f, err);
    ebb_place_close(place);
    if (rc == -EBB_ENOENT)
        return 0;
    return rc ? rc : f.rc;
}

static int note_run(void *data, const struct ebb_record *record, struct ebb_err *err)
{
    struct ebb_buf uri;
    int rc;

    ebb_buf_init(&uri, EBB_LOCATION_MAX_BYTES);
    rc = ebb__record_text(record->json, "quarantine", &uri, err);
    if (!rc && uri.len > 0)
        rc = add_shelf(data, record->id, uri.data, err);
    ebb_buf_fini(&uri);
    return rc;
}

/* Only when something is missing: which run folders there are. */
static int list_shelves(struct verify *v, struct ebb_err *err)
{
    struct ebb_record_filter filter = {0};
    int rc = 0;

    if (v->is_listed)
        return 0;
    v->is_listed = true;
    filter.uuid = v->table->metadata->uuid ? v->table->metadata->uuid : "";
    if (v->site->store)
        rc = ebb_store_list(v->site->store, EBB_RECORD_RUN, &filter, note_run, v, err);
    return rc ? rc : list_folders(v, err);
}

static int look_on_shelf(struct verify *v, size_t i, struct ebb_str name, const char *uri, bool *found,
                         struct ebb_err *err)
{
    struct ebb_stat st;
    struct ebb_buf there;
    int rc;

    ebb_buf_init(&there, EBB_LOCATION_MAX_BYTES);
    ebb__name_uri(v->uris.items[i], name, &there);
    rc = ebb_buf_check(&there, "file name", err);
    if (!rc)
        rc = ebb_storage_stat(v->site->storage, there.data, &st, err);
    ebb_buf_fini(&there);
    *found = rc == 0;
    if (!rc)
        return ebb__notes_add(&v->out->quarantined, ebb_str_of(uri), v->runs.items[i], err);
    return rc == -EBB_ENOENT ? 0 : rc;
}

static int look_in_quarantines(struct verify *v, const char *uri, bool *found, struct ebb_err *err)
{
    struct ebb_buf name;
    size_t i;
    int rc;

    *found = false;
    ebb_buf_init(&name, EBB_LOCATION_MAX_BYTES);
    rc = ebb__name_of(v->table->metadata->location, ebb_str_of(uri), NULL, &name, NULL);
    if (rc) {
        rc = 0; /* outside: no run moves such a file */
        goto out;
    }
    rc = list_shelves(v, err);
    for (i = 0; i < v->uris.count && !rc && !*found; i++)
        rc = look_on_shelf(v, i, ebb_buf_str(&name), uri, found, err);
out:
    ebb_buf_fini(&name);
    return rc;
}

static int note_absent(void *data, const char *uri, enum ebb__absence absence, struct ebb_err *err)
{
    struct verify *v = data;
    bool found;
    int rc = look_in_quarantines(v, uri, &found, err);

    if (rc)
        return rc;
    if (absence == EBB_ABSENT_LOG && !found)
        return ebb__notes_add(&v->out->missing, ebb_str_of(uri),
                              "an old metadata file that the log names; nothing reads it", err);
    v->needed++;
    return found ? 0 : ebb__notes_add(&v->out->missing, ebb_str_of(uri), "not there", err);
}

static int say(const struct verify *v, const char *table, struct ebb_err *err)
{
    int rc;

    if (v->needed == 0)
        return 0;
    rc = ebb_err_set(err, EBB_EVERIFY, "table %s: %lld reachable files are not where they should be", table,
                     (long long)v->needed);
    if (v->out->quarantined.count > 0)
        ebb_err_hint(err, "%zu lie in quarantine: ebb restore %s", v->out->quarantined.count,
                     v->out->quarantined.items[0].why);
    return rc;
}

int ebb_verify(const struct ebb_site *site, const char *table, struct ebb_verify_result *out, struct ebb_err *err)
{
    struct ebb_table *opened = NULL;
    struct verify v;
    int rc;

    memset(out, 0, sizeof *out);
    memset(&v, 0, sizeof v);
    v.site = site;
    v.out = out;
    rc = ebb_table_open(site, table, &opened, err);
    v.table = opened;
    if (!rc)
        rc = ebb__verify_walk(site, opened, 1, note_absent, &v, &out->checked, err);
    if (!rc)
        rc = say(&v, table, err);
    ebb_strs_fini(&v.uris);
    ebb_strs_fini(&v.runs);
    ebb_table_free(opened);
    return rc;
}
