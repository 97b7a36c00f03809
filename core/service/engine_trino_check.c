/* SPDX-License-Identifier: Apache-2.0
 *
 * Trino can't be asked what it would remove, compares bare names, knows neither hidden files nor neighbours, and finds
 * its table by a name that it folds. What of this could do harm is ruled out before.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/sql.h"
#include "service/engine_priv.h"

#define LEVELS_MAX 32

/* ---- the quarantine ---- */

#define FOUND 1

static int on_dir(void *data, struct ebb_str dir, struct ebb_err *err)
{
    (void)data;
    (void)dir;
    (void)err;
    return 0;
}

/* Only the lock lies in the folder itself. */
static int on_entry(void *data, const struct ebb_walk_entry *entry, struct ebb_err *err)
{
    (void)data;
    (void)err;
    return entry->kind != EBB_WALK_FILE || memchr(entry->dir.p, '/', entry->dir.n) ? FOUND : 0;
}

static int check_quarantine(const struct ebb__engine_job *j, struct ebb_err *err)
{
    static const struct ebb_walk_ops OPS = {NULL, on_dir, on_entry};
    struct ebb_place *place = NULL;
    int rc = ebb_place_open(ebb_workspace_site(j->ws)->storage, j->location, EBB_PLACE_READ, &place, err);

    if (!rc)
        rc = ebb_place_walk(place, ".ebb-quarantine", &OPS, NULL, err);
    ebb_place_close(place);
    if (rc == FOUND) {
        ebb_err_set(err, EBB_EENGINE_UNSAFE, "%s: runs lie in %s/.ebb-quarantine: Trino does not spare hidden files",
                    j->job->name, j->location);
        ebb_err_hint(err, "ebb purge or ebb restore them first, or keep a quarantine outside with --quarantine");
        return -(int)EBB_EENGINE_UNSAFE;
    }
    return rc == -(int)EBB_ENOENT ? 0 : rc;
}

/* ---- is it the same table? ---- */

struct pointer {
    const char *wanted;
    bool is_same;
};

/* Equal but for the scheme's spelling. */
static int on_file(void *data, struct ebb_str value, struct ebb_err *err)
{
    struct pointer *p = data;
    struct ebb_location a, b;

    (void)err;
    p->is_same = !ebb_location_split(value.p, value.n, &a, NULL) &&
                 !ebb_location_split(p->wanted, strlen(p->wanted), &b, NULL) && ebb_str_is_equal(a.path, b.path) &&
                 ebb_str_is_equal(a.authority, b.authority);
    return 0;
}

static int make_question(const struct ebb__engine_job *j, struct ebb_buf *out, struct ebb_err *err)
{
    const struct ebb_strs *levels = &j->job->parts;
    struct ebb_str parts[LEVELS_MAX + 1];
    struct ebb_buf last;
    int rc = 0;

    ebb_buf_init(&last, 4096);
    ebb_buf_printf(&last, "%s$metadata_log_entries", levels->items[levels->count - 1]);
    if (last.bad || levels->count > LEVELS_MAX)
        rc = ebb_err_set(err, EBB_ESQL, "%s: the name is too long", j->job->name);
    parts[0] = ebb_str_of(j->config->catalog ? j->config->catalog : j->job->catalog);
    for (size_t i = 0; !rc && i < levels->count; i++)
        parts[i + 1] = i + 1 < levels->count ? ebb_str_of(levels->items[i]) : ebb_buf_str(&last);
    ebb_buf_puts(out, "SELECT \"file\" FROM ");
    if (!rc)
        rc = ebb_sql_identifier(EBB_SQL_TRINO, parts, levels->count + 1, out, err);
    ebb_buf_puts(out, " ORDER BY \"timestamp\" DESC LIMIT 1");
    ebb_buf_fini(&last);
    return rc ? rc : ebb_buf_check(out, "statement", err);
}

static int no_note(void *data, const char *handle, struct ebb_err *err)
{
    (void)data;
    (void)handle;
    (void)err;
    return 0; /* it only reads */
}

static int check_pointer(const struct ebb__engine_job *j, struct ebb_err *err)
{
    struct ebb_engine_context context = {j->ws, j->job->catalog, no_note, NULL};
    struct pointer p = {j->metadata, false};
    struct ebb_engine_spec spec = {"ebb-look", NULL, NULL, NULL, "file"};
    struct ebb_buf text;
    int rc;

    ebb_buf_init(&text, 65536);
    rc = make_question(j, &text, err);
    spec.statement = ebb_buf_cstr(&text);
    if (!rc)
        rc = ebb_engine_execute(j->driver, &context, NULL, &spec, on_file, &p, err);
    ebb_buf_fini(&text);
    if (rc || p.is_same)
        return rc;
    ebb_err_set(err, EBB_EENGINE_UNSAFE, "%s: Trino's table of this name is another one, or was just changed",
                j->job->name);
    ebb_err_hint(err, "engines.trino.catalog is what Trino calls the catalog; it must show metadata %.300s",
                 j->metadata);
    return -(int)EBB_EENGINE_UNSAFE;
}

int ebb__engine_check_trino(struct ebb__engine_job *j, const struct ebb_plan_result *plan, struct ebb_err *err)
{
    const struct ebb_plan_summary *s = &plan->summary;
    int rc;

    if (s->kept || s->links || s->mounts) {
        ebb_err_set(err, EBB_EENGINE_UNSAFE,
                    "%s: ebb keeps %" PRId64 " old files that nothing references, Trino would not (links: %" PRId64
                    ", mounts: %" PRId64 ")",
                    j->job->name, s->kept, s->links, s->mounts);
        ebb_err_hint(err, "of neighbours, of uncommitted writes, without a known time …; run it natively");
        return -(int)EBB_EENGINE_UNSAFE;
    }
    if (s->hidden)
        ebb_log_say(&ebb_workspace_site(j->ws)->log, EBB_LOG_WARN,
                    "%s: %" PRId64 " hidden files (_SUCCESS, dot files): old ones below data and metadata go too",
                    j->job->name, s->hidden);
    rc = check_quarantine(j, err);
    return rc ? rc : check_pointer(j, err);
}
