/* SPDX-License-Identifier: Apache-2.0
 *
 * Looks: tables that are due or changed go to the workers in chunks; what comes back is when to look again.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "service/daemon_priv.h"

#define FRESH_MS 1000        /* a pointer that was read less long ago is taken as it is */
#define EARLY_MS 1000        /* the least time between two looks at a table that is due at once */
#define EARLY_MAX_MS 60000   /* doubled up to this */
#define SLOT_MAX_MS 3600000  /* the same where a slot is waited for: its end is told, too */
#define PROBLEM_MS 60000     /* after a failed look, doubled up to an hour */
#define ALARM_MAX_MS 3600000 /* the clock may have been set meanwhile */

struct refusal {
    struct refusal *next;
    char *policy, *table, *decision, *message;
    const char *kind; /* of the notice */
};
struct task {
    struct ebb__daemon *d;
    struct ebb__view *view;
    struct ebb__table *tables[EBB__CHUNK_MAX];
    const struct ebb__entry *entries[EBB__CHUNK_MAX];
    bool is_stale[EBB__CHUNK_MAX];
    size_t count;
    bool is_after_end; /* some wait for a slot */
    struct ebb_strs paused;
    int64_t overlaps[EBB__CHUNK_MAX];
    struct ebb_look looks[EBB__CHUNK_MAX];
    struct refusal *refusals;
    int rc;
    struct ebb_err err;
};

static void task_free(struct task *task)
{
    for (size_t i = 0; i < task->count; i++)
        ebb_look_fini(&task->looks[i]);
    while (task->refusals) {
        struct refusal *r = task->refusals;

        task->refusals = r->next;
        free(r->policy);
        free(r->table);
        free(r->decision);
        free(r->message);
        free(r);
    }
    ebb_strs_fini(&task->paused);
    ebb__view_unref(task->view);
    free(task);
}

/* ---- in the worker ---- */

static void keep_refusal(struct task *task, const char *policy, const char *table, const char *decision,
                         const char *message, const char *kind)
{
    struct refusal *r = calloc(1, sizeof *r);

    if (!r)
        return;
    r->policy = strdup(policy);
    r->table = strdup(table);
    r->decision = strdup(decision ? decision : "");
    r->message = strdup(message);
    r->kind = kind;
    r->next = task->refusals;
    task->refusals = r;
}

static void report(void *data, const char *policy, const char *table, const char *verdict, const char *status,
                   const char *decision, const char *job, const struct ebb_err *error)
{
    struct task *task = data;
    struct ebb__daemon *d = task->d;
    struct ebb__subject subject = {job, NULL, policy, table};

    if (verdict && !strcmp(verdict, "refused"))
        keep_refusal(task, policy, table, decision, error ? error->message : "a guard refused the run", "refused");
    else if (error)
        keep_refusal(task, policy, table, decision, error->message, "failed");
    else if (verdict && decision && status && !strcmp(status, "paused"))
        keep_refusal(task, policy, table, decision, "it failed time after time: paused until it is revised", "paused");
    if (!verdict && !error)
        return;
    ebb__say(&d->log, error ? EBB_LOG_WARN : EBB_LOG_INFO, &subject, "decided: %s%s%s%s%s", status ? status : verdict,
             decision ? " " : "", decision ? decision : "", error ? ": " : "", error ? error->message : "");
    ebb__daemon_news(d, "decision", "policy", policy, "table", table, "verdict", verdict ? verdict : "error",
                     "decision", decision ? decision : "", NULL);
}

static struct ebb_catalog *find_catalog(const struct ebb_site *site, const char *name)
{
    for (size_t i = 0; i < site->catalog_count; i++)
        if (!strcmp(ebb_catalog_name(site->catalogs[i]), name))
            return site->catalogs[i];
    return NULL;
}

static int copy_text(char **out, const char *text, struct ebb_err *err)
{
    *out = text ? strdup(text) : NULL;
    return text && !*out ? ebb_err_nomem(err) : 0;
}

static int copy_entry(const struct ebb__entry *e, struct ebb_table_ref *ref, struct ebb_err *err)
{
    int rc = copy_text(&ref->catalog, e->catalog, err);

    if (!rc)
        rc = copy_text(&ref->namespace_, e->namespace_, err);
    if (!rc)
        rc = copy_text(&ref->name, e->name, err);
    if (!rc)
        rc = copy_text(&ref->metadata_uri, e->metadata_uri, err);
    return rc ? rc : copy_text(&ref->folder_uri, e->folder_uri, err);
}

/* As it was listed just now, or as its catalog says. What is wrong with it stands in the reference, as in a listing. */
static int make_ref(const struct task *task, size_t i, const struct ebb_site *site, struct ebb_table_ref *ref,
                    struct ebb_err *err)
{
    const struct ebb__entry *e = task->entries[i];
    struct ebb_catalog *catalog = find_catalog(site, e->catalog);
    struct ebb_table_ref found = {.catalog = NULL};
    struct ebb_err why;
    int rc;

    if (!task->is_stale[i] && !e->needs_load)
        return copy_entry(e, ref, err);
    memset(&why, 0, sizeof why);
    rc = catalog ? ebb_catalog_load(catalog, e->namespace_, e->name, &found, &why)
                 : ebb_err_set(&why, EBB_ECATALOG_UNKNOWN, "catalog %s: is not configured any more", e->catalog);
    if (!rc) {
        *ref = found;
        return 0;
    }
    ebb_table_ref_fini(&found);
    rc = copy_entry(e, ref, err);
    free(ref->metadata_uri);
    ref->metadata_uri = NULL;
    ref->problem = why;
    return rc;
}

static int look_at(struct task *task, struct ebb_worker *worker, const struct ebb_table_ref *refs)
{
    struct ebb_look_options o;

    memset(&o, 0, sizeof o);
    o.overlaps_each = task->overlaps;
    o.is_after_end = task->is_after_end;
    o.paused = &task->paused;
    o.report = report;
    o.data = task;
    return ebb_look_tables(worker->looker, worker->generation, refs, task->count, &o, task->looks, &task->err);
}

static int look(struct task *task, struct ebb_worker *worker)
{
    struct ebb_table_ref *refs = calloc(EBB__CHUNK_MAX, sizeof *refs);
    int rc = refs ? 0 : ebb_err_nomem(&task->err);

    for (size_t i = 0; !rc && i < task->count; i++)
        rc = make_ref(task, i, ebb_workspace_site(worker->ws), &refs[i], &task->err);
    if (!rc)
        rc = look_at(task, worker, refs);
    for (size_t i = 0; refs && i < task->count; i++)
        ebb_table_ref_fini(&refs[i]);
    free(refs);
    return rc;
}

static void work(void *context, void *data)
{
    struct task *task = data;
    struct ebb_worker *worker = context;

    task->rc = ebb_worker_ready(worker, &task->err);
    if (!task->rc)
        task->rc = look(task, worker);
    if (worker)
        ebb__worker_done(worker);
}

/* ---- back on the loop ---- */

static int64_t doubled(int64_t first_ms, uint32_t times, int64_t max_ms)
{
    while (times-- && first_ms < max_ms)
        first_ms *= 2;
    return first_ms < max_ms ? first_ms : max_ms;
}

/* What is due again at once (a pause, a slot that is not free) must not keep the workers busy. */
static int64_t next_wake(const struct ebb__daemon *d, struct ebb__table *t, const struct ebb_look *look, int rc)
{
    int64_t now_ms = ebb__now(d), least;

    if (rc || look->problem.error) {
        least = now_ms + doubled(PROBLEM_MS, t->problems, 60 * PROBLEM_MS);
        t->problems += t->problems < 16;
        return rc || look->wake_ms > least || look->wake_ms <= now_ms ? least : look->wake_ms;
    }
    t->problems = 0;
    if (look->waits_for_slot) { /* jobs that hold it may be of other slots, or not be told */
        t->early += t->early < 16;
        least = now_ms + doubled(EARLY_MS, t->early - 1, SLOT_MAX_MS);
        return look->wake_ms > now_ms && look->wake_ms < least ? look->wake_ms : least;
    }
    if (look->wake_ms > now_ms) {
        t->early = 0;
        return look->wake_ms;
    }
    t->early += t->early < 16;
    return now_ms + doubled(EARLY_MS, t->early - 1, EARLY_MAX_MS);
}

static void tell_problem(struct ebb__daemon *d, const struct task *task, size_t i)
{
    struct ebb__subject subject = {NULL, NULL, NULL, task->entries[i]->label};

    if (task->tables[i]->problems <= 1)
        ebb__say(&d->log, EBB_LOG_WARN, &subject, "table can't be judged: %s", task->looks[i].problem.message);
}

static void finish_table(struct ebb__daemon *d, struct task *task, size_t i)
{
    struct ebb__table *t = task->tables[i];
    const struct ebb_look *l = &task->looks[i];
    const char *location = t->entry->location;
    int64_t wake_ms = next_wake(d, t, l, task->rc);

    if (!task->rc && (!l->waits_for_slot || !t->slot_since_ms))
        t->slot_since_ms = l->waits_for_slot ? ebb_clock_elapsed_ms() : 0;
    if (!task->rc && l->problem.error)
        tell_problem(d, task, i);
    if (!task->rc && !t->is_gone && l->location && (!location || strcmp(location, l->location) != 0))
        d->list_at_elapsed_ms = 0; /* overlaps may be others now */
    ebb__tables_looked(&d->tables, t, wake_ms);
}

static void tell_refusals(struct ebb__daemon *d, const struct task *task)
{
    for (const struct refusal *r = task->refusals; r; r = r->next) {
        struct ebb__subject subject = {NULL, NULL, r->policy, r->table};
        char key[1200];

        if (!r->policy || !r->table || !r->decision || !r->message)
            continue;
        snprintf(key, sizeof key, "%s %s %s %.400s", r->kind, r->policy, r->table, r->message);
        ebb__daemon_notice(d, r->kind, key, &subject, r->decision, r->message,
                           r->decision[0] ? "ebb explain tells why" : "");
    }
}

static void done(void *data)
{
    struct task *task = data;
    struct ebb__daemon *d = task->d;
    int64_t jobs = 0;

    d->looks--;
    for (size_t i = 0; i < task->count; i++) {
        jobs += task->looks[i].jobs;
        finish_table(d, task, i);
    }
    if (task->rc && ebb__is_store_error(&task->err))
        ebb__daemon_store_failed(d, &task->err);
    else if (task->rc && task->rc != -(int)EBB_ECANCELLED)
        ebb__say(&d->log, EBB_LOG_ERROR, NULL, "look at %zu tables failed: %s", task->count, task->err.message);
    tell_refusals(d, task);
    task_free(task);
    ebb__daemon_dirty(d);
    if (jobs)
        ebb__daemon_sync(d);
    ebb__daemon_switch(d);
    ebb__daemon_look(d);
    ebb__daemon_close_more(d);
}

/* ---- sending ---- */

static void fill(struct ebb__daemon *d, struct task *task)
{
    int64_t now_ms = ebb_clock_elapsed_ms();

    while (task->count < EBB__CHUNK_MAX && d->tables.first) {
        struct ebb__table *t = ebb__tables_take(&d->tables);

        task->overlaps[task->count] = t->entry->overlaps;
        task->is_after_end = task->is_after_end || t->slot_since_ms;
        task->tables[task->count] = t;
        task->entries[task->count] = t->entry;
        task->is_stale[task->count++] = now_ms - t->listed_ms > FRESH_MS;
    }
}

static bool send_chunk(struct ebb__daemon *d)
{
    struct task *task = calloc(1, sizeof *task);
    int rc = task ? 0 : -(int)EBB_ENOMEM;

    if (rc)
        return false;
    task->d = d;
    ebb_strs_init(&task->paused);
    for (size_t i = 0; !rc && i < d->paused.count; i++)
        rc = ebb_strs_add(&task->paused, d->paused.items[i], NULL);
    if (!rc) {
        task->view = ebb__view_ref(d->view);
        fill(d, task);
        rc = ebb__daemon_post(d, d->look_pool, work, done, task);
    }
    if (rc) {
        for (size_t i = 0; i < task->count; i++)
            ebb__tables_looked(&d->tables, task->tables[i], ebb__now(d) + PROBLEM_MS);
        task_free(task);
        return false;
    }
    d->looks++;
    d->look_since_ms = ebb_clock_elapsed_ms();
    return true;
}

void ebb__daemon_look(struct ebb__daemon *d)
{
    ebb__tables_due(&d->tables, ebb__now(d));
    while (ebb__daemon_may_start(d) && d->is_listed && !d->is_switching && d->looks < EBB__LOOKS_MAX &&
           d->tables.first && send_chunk(d))
        ;
    ebb__daemon_arm(d);
}

void ebb__daemon_look_all(struct ebb__daemon *d)
{
    for (size_t i = 0; i < d->tables.count; i++)
        ebb__tables_queue(&d->tables, d->tables.items[i]);
    ebb__daemon_look(d);
}

static void on_alarm(uv_timer_t *timer)
{
    ebb__daemon_look(timer->data);
}

void ebb__daemon_arm(struct ebb__daemon *d)
{
    const struct ebb__table *next = ebb__tables_next(&d->tables);
    int64_t wait_ms;

    if (!next || d->is_draining || d->store_fault.is_set) {
        uv_timer_stop(&d->alarm);
        return;
    }
    wait_ms = next->wake_ms - ebb__now(d);
    wait_ms = wait_ms < 1 ? 1 : wait_ms > ALARM_MAX_MS ? ALARM_MAX_MS : wait_ms;
    uv_update_time(&d->loop);
    uv_timer_start(&d->alarm, on_alarm, (uint64_t)wait_ms, 0);
}
