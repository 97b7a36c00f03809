/* SPDX-License-Identifier: Apache-2.0 */
#include "io/store_priv.h"

#include <stdlib.h>

#define HELD_MAX_BYTES ((size_t)256 << 20)

enum held_kind { HELD_RECORD, HELD_VALUE, HELD_JOB };

struct held_write {
    struct held_write *next;
    enum held_kind kind;
    enum ebb_record_kind record_kind;
    struct ebb_record record;
    struct ebb_job_record job;
    const char *scope, *key, *value;
};

struct ebb__store_held {
    struct ebb_arena arena;
    struct held_write *first, **last;
};

int ebb_store_hold(struct ebb_store *store, struct ebb_err *err)
{
    struct ebb__store_held *held;

    if (store->held)
        return ebb_err_set(err, EBB_EINTERNAL, "store: writes are gathered already");
    held = calloc(1, sizeof *held);
    if (!held)
        return ebb_err_nomem(err);
    ebb_arena_init(&held->arena, HELD_MAX_BYTES);
    held->last = &held->first;
    store->held = held;
    return 0;
}

void ebb_store_drop_held(struct ebb_store *store)
{
    if (!store->held)
        return;
    ebb_arena_fini(&store->held->arena);
    free(store->held);
    store->held = NULL;
}

/* Memory of what is gathered is at its end: is it the bound, or the machine? */
static int no_room(const struct ebb__store_held *held, size_t bytes, struct ebb_err *err)
{
    if (held->arena.used_bytes + bytes < HELD_MAX_BYTES)
        return ebb_err_nomem(err);
    return ebb_err_set(err, EBB_ELIMIT, "store: more than %zu MiB of writes are gathered", HELD_MAX_BYTES >> 20);
}

static int new_write(struct ebb_store *store, enum held_kind kind, struct held_write **out, struct ebb_err *err)
{
    *out = ebb_arena_alloc(&store->held->arena, sizeof **out);
    if (!*out)
        return no_room(store->held, sizeof **out, err);
    (*out)->kind = kind;
    return 0;
}

static int copy_texts(struct ebb_store *store, const char **const *texts, size_t count, struct ebb_err *err)
{
    for (size_t i = 0; i < count; i++) {
        const char *text = *texts[i] ? *texts[i] : "";
        size_t n = strlen(text);

        *texts[i] = ebb_arena_dup(&store->held->arena, text, n);
        if (!*texts[i])
            return no_room(store->held, n + 1, err);
    }
    return 0;
}

static void append(struct ebb_store *store, struct held_write *write)
{
    *store->held->last = write;
    store->held->last = &write->next;
}

int ebb__store_hold_record(struct ebb_store *store, enum ebb_record_kind kind, const struct ebb_record *record,
                           struct ebb_err *err)
{
    struct held_write *w;
    int rc = new_write(store, HELD_RECORD, &w, err);

    if (rc)
        return rc;
    w->record_kind = kind;
    w->record = *record;
    {
        const char **const texts[] = {&w->record.id,     &w->record.table,  &w->record.uuid, &w->record.policy,
                                      &w->record.status, &w->record.parent, &w->record.json};

        rc = copy_texts(store, texts, sizeof texts / sizeof texts[0], err);
    }
    if (!rc)
        append(store, w);
    return rc;
}

int ebb__store_hold_value(struct ebb_store *store, const char *scope, const char *key, const char *value,
                          struct ebb_err *err)
{
    struct held_write *w;
    int rc = new_write(store, HELD_VALUE, &w, err);

    if (rc)
        return rc;
    w->scope = scope;
    w->key = key;
    w->value = value;
    {
        const char **const texts[] = {&w->scope, &w->key, &w->value};

        rc = copy_texts(store, texts, value ? 3 : 2, err);
    }
    if (!rc)
        append(store, w);
    return rc;
}

int ebb__store_hold_job(struct ebb_store *store, const struct ebb_job_record *job, struct ebb_err *err)
{
    struct held_write *w;
    int rc = new_write(store, HELD_JOB, &w, err);

    if (rc)
        return rc;
    w->job = *job;
    {
        struct ebb_job_record *j = &w->job;
        const char **const texts[] = {&j->id,     &j->kind,       &j->template_, &j->table, &j->uuid,
                                      &j->policy, &j->occurrence, &j->parent,    &j->plan,  &j->run,
                                      &j->code,   &j->message,    &j->owner,     &j->json};

        rc = copy_texts(store, texts, sizeof texts / sizeof texts[0], err);
    }
    if (!rc)
        append(store, w);
    return rc;
}

static int write_one(struct ebb_store *store, const struct held_write *w, struct ebb_err *err)
{
    bool is_new;

    switch (w->kind) {
    case HELD_RECORD:
        return ebb__store_write_record(store, w->record_kind, &w->record, err);
    case HELD_VALUE:
        return ebb__store_write_value(store, w->scope, w->key, w->value, err);
    default:
        return ebb__store_write_job(store, &w->job, &is_new, err);
    }
}

int ebb_store_release(struct ebb_store *store, struct ebb_err *err)
{
    int rc = 0;

    if (!store->held)
        return ebb_err_set(err, EBB_EINTERNAL, "store: no writes are gathered");
    if (store->held->first) {
        rc = ebb__store_begin(store, err);
        if (!rc) {
            for (const struct held_write *w = store->held->first; !rc && w; w = w->next)
                rc = write_one(store, w, err);
            rc = ebb__store_end(store, rc, err);
        }
    }
    ebb_store_drop_held(store);
    return rc;
}
