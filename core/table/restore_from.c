/* SPDX-License-Identifier: Apache-2.0
 *
 * Restoring from a run folder alone. Its record is not trusted: the table's location that it names must be the one that
 * the folder lies in, or, for a folder elsewhere, that of a table that opens and has the recorded uuid; and each name
 * must be inside.
 */
#include "table/restore_priv.h"

#include <stdio.h>

#include "table/name_priv.h"

struct from {
    struct ebb__run *run;
    struct ebb__restorer *restorer; /* NULL while only checking */
    struct ebb_buf bytes;           /* of the record */
};

static int dup_text(struct ebb__run *run, const char *p, size_t n, const char **out, struct ebb_err *err)
{
    *out = ebb_arena_dup(&run->arena, p, n);
    return *out ? 0 : ebb_err_nomem(err);
}

static int take_header(void *data, const struct ebb_run_header *header, struct ebb_err *err)
{
    struct from *f = data;
    struct ebb__run_record *r = &f->run->record;
    const struct ebb_plan_header *plan = &header->plan;
    int rc;

    if (f->restorer)
        return 0;
    if (strlen(header->run) >= sizeof r->id || !ebb__name_is_safe(ebb_str_of(header->run)) || strchr(header->run, '/'))
        return ebb_err_set(err, EBB_EQUARANTINE, "run record: \"%s\" is no run id", header->run);
    snprintf(r->id, sizeof r->id, "%s", header->run);
    r->status = "started";
    rc = dup_text(f->run, plan->location, strlen(plan->location), &r->location, err);
    if (!rc)
        rc = dup_text(f->run, plan->uuid, strlen(plan->uuid), &r->uuid, err);
    if (!rc)
        rc = dup_text(f->run, plan->name, strlen(plan->name), &r->table, err);
    if (!rc)
        rc = dup_text(f->run, plan->options.p, plan->options.n, &r->options.p, err);
    r->options.n = plan->options.n;
    return rc;
}

static int take_file(void *data, const struct ebb_run_file *file, struct ebb_err *err)
{
    struct from *f = data;
    char id[EBB_STAT_ID_MAX];
    struct ebb_move move;
    struct ebb_buf name;
    int rc;

    ebb_buf_init(&name, EBB_LOCATION_MAX_BYTES);
    rc = ebb__name_of(f->run->record.location, file->path, NULL, &name, err);
    if (rc)
        rc = ebb_err_as(err, EBB_EQUARANTINE, "run record");
    memset(&move, 0, sizeof move);
    memcpy(id, file->id.p, file->id.n); /* its length was checked when it was read */
    id[file->id.n] = '\0';
    move.seq = file->seq;
    move.path = ebb_buf_str(&name);
    move.target = file->target;
    move.id = id;
    move.size_bytes = file->size_bytes;
    move.mtime_ns = file->mtime_ns;
    move.state = EBB_MOVE_PLANNED;
    move.why = "";
    if (!rc && f->restorer)
        rc = ebb__restorer_add(f->restorer, &move, err);
    ebb_buf_fini(&name);
    return rc;
}

static int parse(struct from *f, const char *uri, struct ebb_err *err)
{
    const struct ebb_run_reader reader = {take_header, take_file, f};

    return ebb_run_record_parse(uri, ebb_buf_str(&f->bytes), &reader, err);
}

static int read_record(struct from *f, struct ebb_place *folder, const char *uri, struct ebb_err *err)
{
    bool is_cut = false;
    int rc;

    rc = ebb_place_read_log(folder, EBB_QUARANTINE_RECORD, EBB_RUN_RECORD_MAX_BYTES, &f->bytes, &is_cut, err);
    if (rc == -EBB_ENOENT)
        return ebb_err_as(err, EBB_EQUARANTINE, "not a run folder");
    if (!rc && is_cut)
        rc = ebb_err_set(err, EBB_ELIMIT, "%s: its record is longer than 1 GiB", uri);
    return rc ? rc : parse(f, uri, err);
}

/* Whether the folder at this address is the run folder of this quarantine. */
static bool is_this_folder(const struct ebb_quarantine *q, const char *local)
{
    size_t n = strlen(ebb_place_address(q->place));

    while (n > 0 && ebb_place_address(q->place)[n - 1] == '/')
        n--;
    return n > 0 && strncmp(local, ebb_place_address(q->place), n) == 0 && local[n] == '/' &&
           strcmp(local + n + 1, q->folder) == 0;
}

/* Below the location that the record names: then the location is proved by where the folder lies. */
static int try_inside(struct ebb__run *run, struct ebb_place *folder, bool *is_inside, struct ebb_err *err)
{
    int rc = ebb__run_open_place(run, err);

    *is_inside = !rc && is_this_folder(&run->quarantine, ebb_place_address(folder));
    if (!rc && !*is_inside)
        ebb_quarantine_close(&run->quarantine);
    return rc;
}

static int open_outside(struct ebb__run *run, struct ebb_place *folder, const char *uri, struct ebb_err *err)
{
    struct ebb_str parent = ebb_str_of(uri);
    int rc;

    while (parent.n > 0 && parent.p[parent.n - 1] == '/')
        parent.n--;
    parent = ebb__name_dir(parent);
    rc = dup_text(run, parent.p, parent.n, &run->record.outside, err);
    if (!rc)
        rc = ebb_quarantine_open(run->site.storage, run->place, run->record.outside, run->record.id, &run->quarantine,
                                 err);
    if (!rc && !is_this_folder(&run->quarantine, ebb_place_address(folder)))
        rc = ebb_err_set(err, EBB_EQUARANTINE, "%s: its record belongs to run %s, and this is not its folder", uri,
                         run->record.id);
    return rc ? rc : ebb__run_open_table(run, err);
}

static int open_all(struct ebb__run *run, struct ebb_place *folder, const char *uri, struct ebb_err *err)
{
    bool is_inside = false;
    int rc;

    rc = ebb__run_set_options(run, run->record.options, err);
    if (!rc)
        rc = try_inside(run, folder, &is_inside, err);
    if (!rc && !is_inside)
        rc = open_outside(run, folder, uri, err);
    return rc ? rc : ebb__run_lock(run, err);
}

static int restore_files(struct from *f, const char *uri, const struct ebb_strs *paths, struct ebb_restore_result *out,
                         struct ebb_err *err)
{
    struct ebb__restorer r;
    bool is_gone;
    int rc;

    rc = ebb__restorer_init(&r, f->run, paths, false, out, err);
    f->restorer = &r;
    if (!rc)
        rc = ebb__run_audit(f->run, "restore_started", uri, err);
    if (!rc)
        rc = parse(f, uri, err);
    if (!rc)
        rc = ebb__restorer_flush(&r, err);
    if (!rc && r.left == 0)
        rc = ebb_removal_remove_record(&f->run->quarantine, &is_gone, err);
    if (!rc)
        rc = ebb__restorer_end(&r, err);
    ebb__restorer_fini(&r);
    return rc;
}

struct known {
    const char *id;
    bool is_found;
};

static int note_known(void *data, const struct ebb_record *record, struct ebb_err *err)
{
    struct known *k = data;

    (void)err;
    k->is_found = strcmp(record->id, k->id) == 0;
    return 0;
}

/* The store has the journal of this very run: it knows more than the record. */
static bool is_known(const struct ebb_site *site, const char *id)
{
    struct known k = {id, false};

    return site->store && ebb_store_get(site->store, EBB_RECORD_RUN, id, note_known, &k, NULL) == 0 && k.is_found;
}

int ebb_restore_from(const struct ebb_site *site, const char *uri, const struct ebb_strs *paths,
                     struct ebb_restore_result *out, struct ebb_err *err)
{
    struct ebb_place *folder = NULL;
    struct ebb__run run;
    struct from f = {&run, NULL, {0}};
    int rc;

    memset(out, 0, sizeof *out);
    ebb_buf_init(&f.bytes, EBB_RUN_RECORD_MAX_BYTES);
    rc = ebb__run_init(&run, site, err);
    if (!rc)
        rc = ebb_place_open(site->storage, uri, EBB_PLACE_READ, &folder, err);
    if (!rc)
        rc = read_record(&f, folder, uri, err);
    if (!rc && is_known(site, run.record.id)) {
        rc = ebb_restore(site, run.record.id, paths, out, err);
        goto out;
    }
    if (!rc)
        rc = open_all(&run, folder, uri, err);
    snprintf(out->run, sizeof out->run, "%s", run.record.id);
    if (!rc)
        rc = restore_files(&f, uri, paths, out, err);
out:
    ebb_place_close(folder);
    ebb__run_fini(&run);
    ebb_buf_fini(&f.bytes);
    return rc;
}
