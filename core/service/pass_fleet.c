/* SPDX-License-Identifier: Apache-2.0
 *
 * The fleet: what is queued or under way, by the slots that policies share.
 */
#include <stdlib.h>

#include "io/store_jobs.h"
#include "service/pass_priv.h"

#define LOADED_MAX 100000 /* that are looked at */
#define RELOAD_MS 1000
#define RELOAD_SHARE 20 /* of the time, at most, is spent on loading */

static const char *slot_of(const struct ebb_value *guard)
{
    return ebb_value_text_of(ebb_value_get(guard, "fleet"), "slot");
}

/* What a policy itself says of its slot. */
static const char *own_slot(const struct ebb_policy *policy)
{
    return slot_of(ebb_value_get(ebb_policy_get_manifest(policy), "guard"));
}

static const struct ebb_policy *find(const struct ebb__fleet *f, const char *name)
{
    for (size_t i = 0; i < f->policy_count; i++)
        if (!strcmp(ebb_policy_get_name(f->policies[i]), name))
            return f->policies[i];
    return NULL;
}

/* ---- counting ---- */

int ebb__fleet_add(struct ebb__fleet *f, const char *policy, struct ebb_err *err)
{
    int64_t *counts;
    int rc;

    f->total++;
    f->is_stale = true;
    if (policy[0] && !find(f, policy))
        f->is_unknown = true;
    for (size_t i = 0; i < f->names.count; i++)
        if (!strcmp(f->names.items[i], policy)) {
            f->counts[i]++;
            return 0;
        }
    counts = realloc(f->counts, (f->names.count + 1) * sizeof *counts);
    if (!counts)
        return ebb_err_nomem(err);
    f->counts = counts;
    f->counts[f->names.count] = 1;
    rc = ebb_strs_add(&f->names, policy, err);
    return rc;
}

static int key_of(const char *policy, const char *uuid, struct ebb_buf *out, struct ebb_err *err)
{
    ebb_buf_reset(out);
    ebb_buf_printf(out, "%s %s", policy, uuid);
    return ebb_buf_check(out, "table uuid", err);
}

struct loading {
    struct ebb__fleet *fleet;
    struct ebb_strs runs; /* policy and uuid of those that are under way */
    struct ebb_buf key;
};

static int on_run(void *data, const struct ebb_record *record, struct ebb_err *err)
{
    struct loading *l = data;
    int rc = key_of(record->policy, record->uuid, &l->key, err);

    if (!rc)
        rc = ebb_strs_add(&l->runs, ebb_buf_cstr(&l->key), err);
    return rc ? rc : ebb__fleet_add(l->fleet, record->policy, err);
}

/* Its run is counted already. */
static int on_job(void *data, const struct ebb_job_record *job, struct ebb_err *err)
{
    struct loading *l = data;
    int rc = key_of(job->policy, job->uuid, &l->key, err);

    if (rc || (job->uuid[0] && ebb_strs_has(&l->runs, ebb_buf_cstr(&l->key))))
        return rc;
    return ebb__fleet_add(l->fleet, job->policy, err);
}

static void forget(struct ebb__fleet *f)
{
    ebb_strs_fini(&f->names);
    ebb_strs_init(&f->names);
    free(f->counts);
    f->counts = NULL;
    f->total = 0;
    f->is_unknown = false;
    f->is_stale = true;
}

static int load(struct ebb__fleet *f, struct ebb_store *store, struct ebb_err *err)
{
    struct ebb_record_filter runs = {.status = "started", .newest_first = true, .limit = LOADED_MAX};
    struct ebb_job_filter jobs = {.states = EBB_JOBS_ACTIVE, .limit = LOADED_MAX};
    struct loading l = {.fleet = f};
    int rc;

    forget(f);
    ebb_strs_init(&l.runs);
    ebb_buf_init(&l.key, 65536);
    rc = ebb_store_list(store, EBB_RECORD_RUN, &runs, on_run, &l, err);
    if (!rc)
        rc = ebb_store_list_jobs(store, &jobs, on_job, &l, err);
    ebb_buf_fini(&l.key);
    ebb_strs_fini(&l.runs);
    return rc;
}

/* ---- as facts ---- */

/* Whether runs of a policy hold the slot: it says so, or one of its bindings, on whichever tables. */
static bool may_hold(const struct ebb__fleet *f, const char *policy, const char *slot)
{
    const struct ebb_policy *p = policy[0] ? find(f, policy) : NULL;
    const char *its = p ? own_slot(p) : NULL;

    if (its && !strcmp(its, slot))
        return true;
    for (size_t i = 0; p && i < f->config->binding_count; i++) {
        const struct ebb_binding *b = &f->config->bindings[i];

        its = b->policy && !strcmp(b->policy, policy) ? slot_of(b->guard) : NULL;
        if (its && !strcmp(its, slot))
            return true;
    }
    return false;
}

/* What runs in a slot is known when the policies of all runs are; an unknown count is left out, and holds back. */
static void put_slot(struct ebb_value *slots, const char *name, const struct ebb__fleet *f)
{
    struct ebb_value *slot;
    int64_t n = 0;

    if (!name || ebb_value_get(slots, name))
        return;
    slot = ebb_value_put_map(slots, name);
    for (size_t i = 0; i < f->names.count; i++)
        if (may_hold(f, f->names.items[i], name))
            n += f->counts[i];
    if (!f->is_unknown)
        ebb_value_put_int(slot, "running", n);
}

static int put_all(struct ebb__fleet *f, struct ebb_err *err)
{
    struct ebb_value *slots;

    ebb_value_free(f->value);
    f->value = ebb_value_new_map(NULL);
    slots = ebb_value_put_map(f->value, "slots");
    for (size_t i = 0; i < f->policy_count; i++)
        put_slot(slots, own_slot(f->policies[i]), f);
    if (f->more)
        put_slot(slots, own_slot(f->more), f);
    for (size_t i = 0; i < f->config->binding_count; i++)
        put_slot(slots, slot_of(f->config->bindings[i].guard), f);
    ebb_value_put_int(f->value, "running", f->total);
    f->is_stale = false;
    return ebb_value_check(f->value, "fleet", err);
}

int ebb__fleet_load(struct ebb__fleet *f, struct ebb_store *store, struct ebb_err *err)
{
    int64_t began_ms = ebb_clock_elapsed_ms();
    int rc;

    if (!store || (f->is_loaded && began_ms < f->reload_ms))
        return 0;
    rc = load(f, store, err);
    f->is_loaded = !rc;
    f->reload_ms = ebb_clock_elapsed_ms();
    f->reload_ms += RELOAD_MS + RELOAD_SHARE * (f->reload_ms - began_ms);
    return rc;
}

void ebb__fleet_forget(struct ebb__fleet *f)
{
    f->is_loaded = false;
}

int ebb__fleet_get(struct ebb__fleet *f, const struct ebb_value **out, struct ebb_err *err)
{
    int rc = f->is_stale || !f->value ? put_all(f, err) : 0;

    *out = rc ? NULL : f->value;
    return rc;
}

void ebb__fleet_init(struct ebb__fleet *f, const struct ebb_config *config, struct ebb_policy *const *policies,
                     size_t policy_count)
{
    memset(f, 0, sizeof *f);
    f->config = config;
    f->policies = policies;
    f->policy_count = policy_count;
    ebb_strs_init(&f->names);
}

void ebb__fleet_fini(struct ebb__fleet *f)
{
    forget(f);
    ebb_value_free(f->value);
    memset(f, 0, sizeof *f);
}
