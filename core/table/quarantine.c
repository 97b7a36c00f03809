/* SPDX-License-Identifier: Apache-2.0 */
#include "table/quarantine.h"

#include <stdlib.h>

#include "base/failpoint.h"
#include "base/text.h"
#include "base/time.h"
#include "table/name_priv.h"

#define RECORD_LINE_BYTES ((size_t)1 << 20)

/* Whether one real path is the other or lies below it. */
static bool is_around(const char *outer, const char *inner)
{
    size_t n = strlen(outer);

    while (n > 0 && outer[n - 1] == '/')
        n--;
    return strncmp(outer, inner, n) == 0 && (inner[n] == '/' || inner[n] == '\0');
}

static int check_outside(struct ebb_place *table, struct ebb_place *place, const char *uri, struct ebb_err *err)
{
    const char *ours = ebb_place_address(table), *theirs = ebb_place_address(place);
    struct ebb_stat a, b;
    bool inside = false;
    int rc;

    rc = ebb_location_contains(ebb_place_uri(table), uri, NULL, &inside, err);
    if (rc)
        return rc;
    if (ebb_place_is_remote(table) != ebb_place_is_remote(place))
        return ebb_err_set(err, EBB_EUSAGE, "quarantine %s: on another kind of storage than the table", uri);
    if (inside || is_around(ours, theirs) || is_around(theirs, ours))
        return ebb_err_set(err, EBB_EUSAGE, "quarantine %s: lies inside or around the table's location %s", uri,
                           ebb_place_uri(table));
    if (ebb_place_is_remote(table))
        return 0;
    rc = ebb_place_stat_root(table, &a, err);
    if (!rc)
        rc = ebb_place_stat_root(place, &b, err);
    if (!rc && a.dev != b.dev) {
        rc = ebb_err_set(err, EBB_EUSAGE, "quarantine %s: on another file system than the table", uri);
        ebb_err_hint(err, "files are moved, never copied: choose a folder on the table's file system");
    }
    return rc;
}

static int open_outside(struct ebb_storage *storage, struct ebb_place *table, const char *uri,
                        struct ebb_quarantine *out, struct ebb_err *err)
{
    int rc = ebb_place_open(storage, uri, EBB_PLACE_WRITE, &out->owned, err);

    if (rc == -EBB_ENOENT) {
        ebb_err_as(err, EBB_EUSAGE, "quarantine");
        ebb_err_hint(err, "make the folder first");
        return -EBB_EUSAGE;
    }
    if (!rc)
        rc = check_outside(table, out->owned, uri, err);
    out->place = out->owned;
    return rc;
}

static int set_names(struct ebb_quarantine *q, const char *root_uri, const char *prefix, const char *run,
                     struct ebb_err *err)
{
    struct ebb_buf folder, uri;
    int rc;

    ebb_buf_init(&folder, EBB_LOCATION_MAX_BYTES);
    ebb_buf_init(&uri, EBB_LOCATION_MAX_BYTES);
    ebb_buf_printf(&folder, "%s%s", prefix, run);
    ebb__name_uri(root_uri, ebb_buf_str(&folder), &uri);
    rc = ebb_buf_check(&uri, "quarantine", err);
    if (!rc && (!ebb__name_is_safe(ebb_buf_str(&folder)) || strchr(run, '/')))
        rc = ebb_err_set(err, EBB_EQUARANTINE, "quarantine: \"%s\" is no run id", run);
    if (!rc) {
        q->folder = ebb_buf_take(&folder);
        q->uri = ebb_buf_take(&uri);
    }
    if (!rc && (!q->folder || !q->uri))
        rc = ebb_err_nomem(err);
    ebb_buf_fini(&uri);
    ebb_buf_fini(&folder);
    return rc;
}

int ebb_quarantine_open(struct ebb_storage *storage, struct ebb_place *table, const char *outside, const char *run,
                        struct ebb_quarantine *out, struct ebb_err *err)
{
    int rc;

    memset(out, 0, sizeof *out);
    if (outside) {
        rc = open_outside(storage, table, outside, out, err);
        if (!rc)
            rc = set_names(out, outside, "", run, err);
    } else {
        out->place = table;
        rc = set_names(out, ebb_place_uri(table), EBB_QUARANTINE_DIR "/", run, err);
    }
    if (rc)
        ebb_quarantine_close(out);
    return rc;
}

void ebb_quarantine_close(struct ebb_quarantine *q)
{
    ebb_place_close(q->owned);
    free(q->folder);
    free(q->uri);
    memset(q, 0, sizeof *q);
}

int ebb_quarantine_name(const struct ebb_quarantine *q, struct ebb_str target, struct ebb_buf *out, struct ebb_err *err)
{
    struct ebb_str record = EBB_STR(EBB_QUARANTINE_RECORD);

    if (target.n > 0 && (!ebb__name_is_safe(target) || ebb_str_is_equal(target, record) ||
                         ebb_str_is_equal(target, EBB_STR(EBB_QUARANTINE_RECORD_NEW)) ||
                         ebb_str_has_prefix(target, EBB_STR(EBB_QUARANTINE_RECORD "/"))))
        return ebb_err_set(err, EBB_EOUTSIDE, "quarantine: \"%.*s\" can't be a name below a run folder",
                           (int)(target.n > 400 ? 400 : target.n), target.p);
    ebb_buf_puts(out, q->folder);
    if (target.n > 0) {
        ebb_buf_putc(out, '/');
        ebb_buf_add_str(out, target);
    }
    return ebb_buf_check(out, "quarantine name", err);
}

static int record_name(const struct ebb_quarantine *q, struct ebb_buf *out, struct ebb_err *err)
{
    ebb_buf_printf(out, "%s/" EBB_QUARANTINE_RECORD, q->folder);
    return ebb_buf_check(out, "quarantine name", err);
}

static int first_line(const char *run, const struct ebb_plan_header *plan, int64_t now_ms, struct ebb_buf *out,
                      struct ebb_err *err)
{
    struct ebb_buf header, created;
    struct ebb_jsonw w;
    int rc;

    ebb_buf_init(&header, RECORD_LINE_BYTES);
    ebb_buf_init(&created, 64);
    ebb_plan_write_header(&header, plan);
    ebb_time_iso(&created, now_ms);
    rc = ebb_buf_check(&header, "plan header", err);
    if (!rc && header.len > 0 && header.data[header.len - 1] == '\n')
        header.len--;
    ebb_jsonw_init(&w, out);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kint(&w, "ebb_run", EBB_RUN_VERSION);
    ebb_jsonw_kstr(&w, "run", run);
    ebb_jsonw_kstr(&w, "created", ebb_buf_cstr(&created));
    ebb_jsonw_key(&w, "plan");
    ebb_jsonw_raw(&w, header.data ? header.data : "", header.len);
    ebb_jsonw_end(&w, '}');
    ebb_buf_putc(out, '\n');
    if (!rc)
        rc = ebb_buf_check(out, "run record", err);
    ebb_buf_fini(&created);
    ebb_buf_fini(&header);
    return rc;
}

/* What a crash left under the name goes first. */
static int create_anew(struct ebb_place *place, const char *name, const void *bytes, size_t n, struct ebb_err *err)
{
    int rc = ebb_place_unlink(place, name, err);

    if (rc == -EBB_ENOENT)
        rc = 0;
    return rc ? rc : ebb_place_create(place, name, bytes, n, err);
}

static int write_first_line(struct ebb_quarantine *q, const char *name, const char *run,
                            const struct ebb_plan_header *plan, int64_t now_ms, struct ebb_err *err)
{
    struct ebb_buf line, fresh;
    int rc;

    ebb_buf_init(&line, 2 * RECORD_LINE_BYTES);
    ebb_buf_init(&fresh, EBB_LOCATION_MAX_BYTES);
    ebb_buf_printf(&fresh, "%s/" EBB_QUARANTINE_RECORD_NEW, q->folder);
    rc = ebb_buf_check(&fresh, "quarantine name", err);
    if (!rc)
        rc = ebb_place_make_dirs(q->place, q->folder, true, err);
    if (!rc)
        rc = first_line(run, plan, now_ms, &line, err);
    EBB_FAILPOINT("journal.record_begin.before");
    if (!rc && ebb_place_is_remote(q->place)) /* whole, or not there */
        rc = ebb_place_create(q->place, name, line.data, line.len, err);
    else if (!rc)
        rc = create_anew(q->place, fresh.data, line.data, line.len, err);
    EBB_FAILPOINT("journal.record_begin.made");
    if (!rc && !ebb_place_is_remote(q->place))
        rc = ebb_place_move(q->place, fresh.data, q->place, name, err);
    if (!rc)
        rc = ebb_place_sync_dir(q->place, q->folder, err);
    EBB_FAILPOINT("journal.record_begin.after");
    ebb_buf_fini(&fresh);
    ebb_buf_fini(&line);
    return rc;
}

int ebb_quarantine_begin(struct ebb_quarantine *q, const char *run, const struct ebb_plan_header *plan, int64_t now_ms,
                         struct ebb_err *err)
{
    struct ebb_stat st;
    struct ebb_buf name;
    int rc;

    ebb_buf_init(&name, EBB_LOCATION_MAX_BYTES);
    rc = record_name(q, &name, err);
    if (!rc)
        rc = ebb_place_stat(q->place, ebb_buf_cstr(&name), &st, err);
    if (rc == -EBB_ENOENT)
        rc = write_first_line(q, ebb_buf_cstr(&name), run, plan, now_ms, err);
    ebb_buf_fini(&name);
    return rc;
}

void ebb_quarantine_write_file(struct ebb_buf *out, const struct ebb_run_file *file)
{
    struct ebb_jsonw w;

    ebb_jsonw_init(&w, out);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kint(&w, "seq", file->seq);
    ebb_jsonw_path(&w, "path", file->path.p, file->path.n);
    ebb_jsonw_path(&w, "target", file->target.p, file->target.n);
    ebb_jsonw_key(&w, "size");
    ebb_jsonw_uint(&w, file->size_bytes);
    ebb_jsonw_kint(&w, "mtime", file->mtime_ns);
    ebb_jsonw_key(&w, "id");
    ebb_jsonw_strn(&w, file->id.p, file->id.n);
    ebb_jsonw_end(&w, '}');
    ebb_buf_putc(out, '\n');
}

int ebb_quarantine_append(struct ebb_quarantine *q, struct ebb_str lines, bool is_after_stop, struct ebb_err *err)
{
    static const char TORN[] = "\n{\"torn\":true}\n";
    struct ebb_stat st;
    struct ebb_buf name;
    int rc;

    ebb_buf_init(&name, EBB_LOCATION_MAX_BYTES);
    rc = record_name(q, &name, err);
    if (!rc)
        rc = ebb_place_stat(q->place, ebb_buf_cstr(&name), &st, err);
    EBB_FAILPOINT("journal.record_append.before");
    if (!rc && is_after_stop)
        rc = ebb_place_append(q->place, ebb_buf_cstr(&name), TORN, sizeof TORN - 1, true, err);
    if (!rc && lines.n > 0)
        rc = ebb_place_append(q->place, ebb_buf_cstr(&name), lines.p, lines.n, true, err);
    EBB_FAILPOINT("journal.record_append.after");
    ebb_buf_fini(&name);
    return rc;
}

int ebb_quarantine_read(struct ebb_quarantine *q, const struct ebb_run_reader *reader, struct ebb_err *err)
{
    struct ebb_buf name, bytes;
    bool is_cut = false;
    int rc;

    ebb_buf_init(&name, EBB_LOCATION_MAX_BYTES);
    ebb_buf_init(&bytes, EBB_RUN_RECORD_MAX_BYTES);
    rc = record_name(q, &name, err);
    if (!rc)
        rc = ebb_place_read_log(q->place, ebb_buf_cstr(&name), EBB_RUN_RECORD_MAX_BYTES, &bytes, &is_cut, err);
    if (rc == -EBB_ENOENT)
        rc = ebb_err_as(err, EBB_EQUARANTINE, NULL);
    if (!rc && is_cut)
        rc = ebb_err_set(err, EBB_ELIMIT, "%s/" EBB_QUARANTINE_RECORD ": longer than 1 GiB", q->uri);
    if (!rc)
        rc = ebb_run_record_parse(q->uri, ebb_buf_str(&bytes), reader, err);
    ebb_buf_fini(&bytes);
    ebb_buf_fini(&name);
    return rc;
}
