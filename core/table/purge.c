/* SPDX-License-Identifier: Apache-2.0 */
#include "table/purge_priv.h"

#include <stdlib.h>

#include "base/time.h"
#include "table/record_text_priv.h"

#define DEFAULT_AGE_MS ((int64_t)7 * 24 * 3600 * 1000)

static const char *const PURGEABLE[] = {"done", "partial", "failed", "restored"};

struct purging {
    const struct ebb_site *site;
    const struct ebb_purge_options *options;
    struct ebb_purge_result *out;
    int64_t before_ms; /* runs that ended before this */
    struct ebb_strs runs;
};

static bool is_purgeable(const char *status)
{
    size_t i;

    for (i = 0; i < sizeof PURGEABLE / sizeof PURGEABLE[0]; i++)
        if (strcmp(status, PURGEABLE[i]) == 0)
            return true;
    return false;
}

static int64_t age_from(const struct ebb_record *record)
{
    return record->end_ms > 0 ? record->end_ms : record->at_ms;
}

/* What another engine removed lies nowhere. */
static int is_of_engine(const struct ebb_record *record, bool *out, struct ebb_err *err)
{
    struct ebb_buf kind;
    int rc;

    ebb_buf_init(&kind, 4096);
    rc = ebb__record_text(record->json, "kind", &kind, err);
    *out = !strcmp(ebb_buf_cstr(&kind), "engine");
    ebb_buf_fini(&kind);
    return rc;
}

static int take_old(void *data, const struct ebb_record *record, struct ebb_err *err)
{
    struct purging *p = data;
    bool is_engine = false;
    int rc;

    if (!is_purgeable(record->status) || age_from(record) > p->before_ms)
        return 0;
    rc = is_of_engine(record, &is_engine, err);
    return rc || is_engine ? rc : ebb_strs_add(&p->runs, record->id, err);
}

static int tell_young(const struct purging *p, const struct ebb_record *record, struct ebb_err *err)
{
    struct ebb_buf ended, before;

    ebb_buf_init(&ended, 64);
    ebb_buf_init(&before, 64);
    ebb_time_iso(&ended, age_from(record));
    ebb_time_iso(&before, p->before_ms);
    ebb_err_set(err, EBB_ERUN_STATE, "run %s: ended at %s; only what ended before %s is purged", record->id,
                ebb_buf_cstr(&ended), ebb_buf_cstr(&before));
    ebb_err_hint(err, "--older-than 0d purges it now");
    ebb_buf_fini(&ended);
    ebb_buf_fini(&before);
    return -(int)EBB_ERUN_STATE;
}

/* A run that was named: why it can't go is an error, before anything is done. */
static int take_named(void *data, const struct ebb_record *record, struct ebb_err *err)
{
    struct purging *p = data;
    int rc;

    if (strcmp(record->status, "purged") == 0)
        return 0;
    if (!is_purgeable(record->status)) {
        rc = ebb_err_set(err, EBB_ERUN_STATE, "run %s: is %s; only a run that came to its end can be purged",
                         record->id, record->status);
        ebb_err_hint(err, "first: ebb apply --resume %s, or ebb restore %s", record->id, record->id);
        return rc;
    }
    if (age_from(record) > p->before_ms) {
        return tell_young(p, record, err);
    }
    return ebb_strs_add(&p->runs, record->id, err);
}

static int choose(struct purging *p, const struct ebb_strs *named, struct ebb_err *err)
{
    struct ebb_record_filter filter = {0};
    size_t i;
    int rc = 0;

    if (!named || named->count == 0)
        return ebb_store_list(p->site->store, EBB_RECORD_RUN, &filter, take_old, p, err);
    for (i = 0; i < named->count && !rc; i++)
        rc = ebb_store_get(p->site->store, EBB_RECORD_RUN, named->items[i], take_named, p, err);
    return rc;
}

/* ---- one run ---- */

/* The table must be the one that the run worked on. Another uuid or none at all needs --dropped; with another uuid the
 * new table is judged by. */
static int open_owner(struct ebb__purge *p, struct ebb_err *err)
{
    struct ebb__run *run = p->run;
    int rc = ebb__run_open_table(run, err);

    if (rc == -EBB_ETABLE_NOT_FOUND && p->options->dropped) {
        p->is_unowned = true;
        return 0;
    }
    if (rc == -EBB_EPLAN_TABLE && p->options->dropped && run->table)
        rc = 0;
    if (rc) {
        if (rc == -EBB_ETABLE_NOT_FOUND || rc == -EBB_EPLAN_TABLE)
            ebb_err_hint(err, "if the table was dropped: --dropped");
        return rc;
    }
    return ebb__run_protect(run, err);
}

static bool is_about_all(int rc)
{
    return rc == -EBB_ENOMEM || rc == -EBB_ECANCELLED || rc == -EBB_ESTORE || rc == -EBB_ESTORE_CORRUPT ||
           rc == -EBB_EAUDIT || rc == -EBB_ENOSPACE;
}

static int still_purgeable(struct ebb__run *run, struct ebb_err *err)
{
    int rc = ebb__run_load(run, run->record.id, err); /* as it is now that nobody else works on it */

    if (!rc && !is_purgeable(run->record.status))
        rc = ebb_err_set(err, EBB_ERUN_STATE, "run %s: is %s", run->record.id, run->record.status);
    return rc;
}

/* Place, lock, owner. */
static int prepare(struct ebb__purge *p, const char *id, struct ebb_err *err)
{
    int rc;

    rc = ebb__run_load(p->run, id, err);
    if (!rc)
        rc = ebb__run_open_place(p->run, err);
    if (!rc)
        rc = ebb__run_lock(p->run, err);
    if (!rc)
        rc = still_purgeable(p->run, err);
    return rc ? rc : open_owner(p, err);
}

/* The whole location is gone with its quarantine: nothing is left to remove. */
static bool is_place_gone(const struct ebb__purge *p, int rc)
{
    return rc == -EBB_ENOENT && p->run->record.location && !p->run->place && p->options->dropped;
}

static int purge_one(struct purging *all, const char *id, struct ebb_err *err)
{
    struct ebb_err why = {0};
    struct ebb__run run;
    struct ebb__purge p;
    bool is_done = false;
    int rc;

    memset(&p, 0, sizeof p);
    p.run = &run;
    p.options = all->options;
    p.out = all->out;
    rc = ebb__run_init(&run, all->site, &why);
    if (!rc)
        rc = prepare(&p, id, &why);
    if (!rc)
        rc = ebb__purge_files(&p, &is_done, &why);
    else if (is_place_gone(&p, rc)) {
        rc = ebb__run_save(&run, "purged", NULL, &why);
        is_done = !rc;
    }
    if (rc && is_about_all(rc) && err)
        *err = why;
    if (rc && !is_about_all(rc))
        rc = ebb__purge_note(&p, why.message, err);
    if (!rc && is_done)
        rc = ebb_strs_add(&all->out->runs, run.record.id, err);
    ebb__run_fini(&run);
    return rc;
}

int ebb_purge(const struct ebb_site *site, const struct ebb_strs *runs, const struct ebb_purge_options *options,
              struct ebb_purge_result *out, struct ebb_err *err)
{
    struct purging p;
    size_t i;
    int rc;

    memset(out, 0, sizeof *out);
    memset(&p, 0, sizeof p);
    if (!site->store)
        return ebb_err_set(err, EBB_EUSAGE, "purge: needs the state folder with the journal of its runs");
    p.site = site;
    p.options = options;
    p.out = out;
    p.before_ms = ebb_clock_now(&site->clock) - (options->older_than_ms < 0 ? DEFAULT_AGE_MS : options->older_than_ms);
    ebb_strs_init(&p.runs);
    rc = choose(&p, runs, err);
    for (i = 0; i < p.runs.count && !rc; i++)
        rc = purge_one(&p, p.runs.items[i], err);
    if (!rc && out->kept.count > 0)
        rc = ebb_err_set(err, EBB_EPARTIAL, "purge: %zu runs purged; %s: %s", out->runs.count, out->kept.items[0].path,
                         out->kept.items[0].why);
    ebb_strs_fini(&p.runs);
    return rc;
}
