/* SPDX-License-Identifier: Apache-2.0
 *
 * The queue: jobs in memory, those that run and those that wait. What waits is taken by rank; a job that could start
 * but for its table keeps its place there: what excludes it and ranks lower does not go past it, so none waits for
 * ever.
 */
#include <stdlib.h>
#include <string.h>

#include "service/work_priv.h"

#define AGEING_MS ((int64_t)10 * 60 * 1000)
#define ORDER_MAX_MS ((int64_t)24 * 3600 * 1000) /* so long expiration goes before orphan removal */
#define TEXTS 15

struct item {
    struct ebb_job_record job; /* its texts lie in `texts` */
    char *texts;
    bool is_running;
    int64_t rank; /* while one is chosen */
    char *slot;   /* that it shares with others, NULL none */
    int64_t slot_max;
};
struct ebb_work_queue {
    struct item **items;  /* by id */
    struct item **order;  /* room for as many */
    struct item **active; /* that run; room for running_max */
    size_t count, cap, running;
    unsigned running_max;
};

int ebb_work_queue_new(unsigned running_max, struct ebb_work_queue **out, struct ebb_err *err)
{
    struct ebb_work_queue *q = calloc(1, sizeof *q);

    *out = NULL;
    if (!q)
        return ebb_err_nomem(err);
    q->running_max = running_max ? running_max : 1;
    q->active = calloc(q->running_max, sizeof(struct item *));
    if (!q->active) {
        free(q);
        return ebb_err_nomem(err);
    }
    *out = q;
    return 0;
}

static void item_free(struct item *item)
{
    if (item) {
        free(item->texts);
        free(item->slot);
    }
    free(item);
}

void ebb_work_queue_free(struct ebb_work_queue *q)
{
    if (!q)
        return;
    for (size_t i = 0; i < q->count; i++)
        item_free(q->items[i]);
    free(q->items);
    free(q->order);
    free(q->active);
    free(q);
}

/* ---- what may go side by side ---- */

enum {
    REMOVE = 1,
    APPLY = 2,
    RESTORE = 4,
    PURGE = 8,
    EXPIRE = 16,
    REWRITE = 32,
    MANIFESTS = 64,
    STATS = 128,
    OTHER = 256
};
#define MOVES (REMOVE | APPLY | RESTORE | PURGE)
#define CHANGES (MOVES | EXPIRE | REWRITE | MANIFESTS | OTHER)

/* What each excludes; every one itself, too. OTHER, that may do anything, excludes all that change the table. */
static const struct {
    const char *name;
    unsigned kind, excludes;
} KINDS[] = {
    {"remove-orphan-files", REMOVE, CHANGES},
    {"apply", APPLY, CHANGES},
    {"restore", RESTORE, CHANGES},
    {"purge", PURGE, CHANGES},
    {"expire-snapshots", EXPIRE, MOVES | EXPIRE | REWRITE | OTHER},
    {"rewrite-data-files", REWRITE, MOVES | EXPIRE | REWRITE | MANIFESTS | OTHER},
    {"rewrite-manifests", MANIFESTS, MOVES | REWRITE | MANIFESTS | OTHER},
    {"update-stats", STATS, STATS},
    {"", OTHER, CHANGES},
};
#define KIND_COUNT (sizeof KINDS / sizeof KINDS[0])

static size_t kind_of(const char *name)
{
    for (size_t i = 0; i < KIND_COUNT; i++)
        if (!strcmp(KINDS[i].name, name))
            return i;
    return KIND_COUNT - 1;
}

bool ebb_work_is_compatible(const char *kind, const char *other)
{
    size_t a = kind_of(kind), b = kind_of(other);

    return !(KINDS[a].excludes & KINDS[b].kind) && !(KINDS[b].excludes & KINDS[a].kind);
}

static bool is_same_table(const struct ebb_job_record *a, const struct ebb_job_record *b)
{
    return (a->uuid[0] && !strcmp(a->uuid, b->uuid)) || (a->table[0] && !strcmp(a->table, b->table));
}

static bool excludes(const struct item *a, const struct item *b)
{
    return is_same_table(&a->job, &b->job) && !ebb_work_is_compatible(a->job.kind, b->job.kind);
}

/* ---- putting ---- */

static void texts_of(struct ebb_job_record *job, const char **to[TEXTS])
{
    const char **const all[TEXTS] = {&job->id,      &job->kind,   &job->template_, &job->table,      &job->uuid,
                                     &job->policy,  &job->parent, &job->plan,      &job->run,        &job->code,
                                     &job->message, &job->owner,  &job->json,      &job->occurrence, NULL};

    memcpy(to, all, sizeof all);
}

static struct item *item_new(const struct ebb_job_record *job)
{
    struct item *item = calloc(1, sizeof *item);
    const char **texts[TEXTS];
    size_t bytes = 0;
    char *at;

    if (!item)
        return NULL;
    item->job = *job;
    texts_of(&item->job, texts);
    for (size_t i = 0; texts[i]; i++)
        bytes += (*texts[i] ? strlen(*texts[i]) : 0) + 1;
    at = item->texts = malloc(bytes);
    for (size_t i = 0; at && texts[i]; i++) {
        size_t n = *texts[i] ? strlen(*texts[i]) : 0;

        memcpy(at, *texts[i] ? *texts[i] : "", n + 1);
        *texts[i] = at;
        at += n + 1;
    }
    if (!item->texts) {
        free(item);
        return NULL;
    }
    return item;
}

/* Two looks at once may each have found the last place of a slot free: who starts is settled here. */
static int read_slot(struct item *item, struct ebb_err *err)
{
    struct ebb_value *json = NULL;
    const struct ebb_value *origin;
    const char *slot;
    int rc = ebb_value_of_json("job", item->job.json, strlen(item->job.json), NULL, &json, err);

    if (rc) /* what can't be read fails when it is carried out */
        return rc == -(int)EBB_ENOMEM ? rc : 0;
    origin = ebb_value_get(json, "origin");
    slot = ebb_value_text_of(origin, "slot");
    item->slot_max = ebb_value_int_of(origin, "slot_max", 0);
    if (slot && item->slot_max > 0 && item->job.policy[0]) {
        item->slot = strdup(slot);
        rc = item->slot ? 0 : ebb_err_nomem(err);
    }
    ebb_value_free(json);
    return rc;
}

static int grow(struct ebb_work_queue *q, struct ebb_err *err)
{
    size_t cap = q->cap ? q->cap * 2 : 64;
    struct item **items, **order;

    if (q->count < q->cap)
        return 0;
    items = realloc(q->items, cap * sizeof(struct item *));
    if (items)
        q->items = items;
    order = items ? realloc(q->order, cap * sizeof(struct item *)) : NULL;
    if (!order)
        return ebb_err_nomem(err);
    q->order = order;
    q->cap = cap;
    return 0;
}

/* The first whose id is not less. */
static size_t lower_bound(const struct ebb_work_queue *q, const char *id)
{
    size_t low = 0, high = q->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (strcmp(q->items[middle]->job.id, id) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static size_t place_of(const struct ebb_work_queue *q, const char *id)
{
    size_t at = lower_bound(q, id);

    return at < q->count && !strcmp(q->items[at]->job.id, id) ? at : SIZE_MAX;
}

/* It waits already, and nothing was written of it since: but it may have been put aside. */
static bool is_same(const struct item *item, const struct ebb_job_record *job)
{
    return !item->is_running && item->job.changed_ms == job->changed_ms && item->job.attempt == job->attempt &&
           item->job.queued_ms == job->queued_ms && !strcmp(item->job.json, job->json ? job->json : "");
}

static void insert(struct ebb_work_queue *q, struct item *item)
{
    size_t at = lower_bound(q, item->job.id);

    memmove(&q->items[at + 1], &q->items[at], (q->count - at) * sizeof(struct item *));
    q->items[at] = item;
    q->count++;
}

int ebb_work_queue_put(struct ebb_work_queue *q, const struct ebb_job_record *job, struct ebb_err *err)
{
    size_t at = place_of(q, job->id);
    struct item *item;
    int rc = grow(q, err);

    if (rc)
        return rc;
    if (at != SIZE_MAX && is_same(q->items[at], job)) {
        q->items[at]->job.not_before_ms = job->not_before_ms;
        q->items[at]->job.priority = job->priority;
        return 0;
    }
    item = item_new(job);
    if (!item)
        return ebb_err_nomem(err);
    rc = read_slot(item, err);
    if (rc) {
        item_free(item);
        return rc;
    }
    ebb_work_queue_end(q, job->id);
    insert(q, item);
    return 0;
}

static void forget_active(struct ebb_work_queue *q, const struct item *item)
{
    for (size_t i = 0; i < q->running; i++)
        if (q->active[i] == item) {
            q->active[i] = q->active[--q->running];
            return;
        }
}

void ebb_work_queue_end(struct ebb_work_queue *q, const char *id)
{
    size_t at = place_of(q, id);

    if (at == SIZE_MAX)
        return;
    forget_active(q, q->items[at]);
    item_free(q->items[at]);
    q->count--;
    memmove(&q->items[at], &q->items[at + 1], (q->count - at) * sizeof(struct item *));
}

/* ---- taking ---- */

static int64_t age_ms(const struct item *item, int64_t now_ms)
{
    int64_t age;

    return __builtin_sub_overflow(now_ms, item->job.queued_ms, &age) || age < 0 ? 0 : age;
}

static int64_t rank_of(const struct item *item, int64_t now_ms)
{
    int64_t rank;

    return __builtin_add_overflow(item->job.priority, age_ms(item, now_ms) / AGEING_MS, &rank) ? INT64_MAX : rank;
}

static int by_rank(const void *a, const void *b)
{
    const struct item *x = *(struct item *const *)a, *y = *(struct item *const *)b;
    int names = strcmp(x->job.policy, y->job.policy);

    if (x->rank != y->rank)
        return x->rank > y->rank ? -1 : 1;
    if (x->job.queued_ms != y->job.queued_ms)
        return x->job.queued_ms < y->job.queued_ms ? -1 : 1;
    return names ? names : strcmp(x->job.id, y->job.id);
}

/* Its time has not come. When the clock was set back since that was said nobody knows how long it waited: it has. */
static bool is_early(const struct item *item, int64_t now_ms)
{
    return item->job.not_before_ms > now_ms && item->job.changed_ms <= now_ms;
}

/* Those whose time has come, the first in front. */
static size_t sort_ready(struct ebb_work_queue *q, int64_t now_ms, int64_t *wake_ms)
{
    size_t n = 0;

    for (size_t i = 0; i < q->count; i++) {
        struct item *item = q->items[i];

        if (item->is_running)
            continue;
        if (is_early(item, now_ms)) {
            *wake_ms = item->job.not_before_ms < *wake_ms ? item->job.not_before_ms : *wake_ms;
            continue;
        }
        item->rank = rank_of(item, now_ms);
        q->order[n++] = item;
    }
    if (n)
        qsort(q->order, n, sizeof(struct item *), by_rank);
    return n;
}

static const struct item *runs_against(const struct ebb_work_queue *q, const struct item *item)
{
    for (size_t i = 0; i < q->running; i++)
        if (excludes(item, q->active[i]))
            return q->active[i];
    return NULL;
}

static bool is_slot_full(const struct ebb_work_queue *q, const struct item *item)
{
    int64_t n = 0;

    for (size_t i = 0; item->slot && i < q->running; i++)
        n += q->active[i]->slot && !strcmp(q->active[i]->slot, item->slot);
    return item->slot && n >= item->slot_max;
}

/* An expiration of the table that could start: what it lets go is found by the removal after it. */
static const struct item *goes_before(const struct ebb_work_queue *q, const struct item *item, int64_t now_ms)
{
    if (KINDS[kind_of(item->job.kind)].kind != REMOVE || age_ms(item, now_ms) >= ORDER_MAX_MS)
        return NULL;
    for (size_t i = 0; i < q->count; i++) {
        const struct item *other = q->items[i];

        if (!other->is_running && !is_early(other, now_ms) && KINDS[kind_of(other->job.kind)].kind == EXPIRE &&
            is_same_table(&item->job, &other->job))
            return other;
    }
    return NULL;
}

/* One in front that waits for the table; expirations go past a removal that waits for them. */
static const struct item *waits_before(const struct ebb_work_queue *q, size_t waiting, const struct item *item,
                                       int64_t now_ms)
{
    for (size_t i = 0; i < waiting; i++)
        if (excludes(q->order[i], item) && goes_before(q, q->order[i], now_ms) == NULL)
            return q->order[i];
    return NULL;
}

const struct ebb_job_record *ebb_work_queue_take(struct ebb_work_queue *q, int64_t now_ms, int64_t *wake_ms)
{
    size_t ready, waiting = 0;

    *wake_ms = INT64_MAX;
    ready = sort_ready(q, now_ms, wake_ms);
    if (q->running >= q->running_max)
        return NULL;
    for (size_t i = 0; i < ready; i++) {
        struct item *item = q->order[i];

        if (is_slot_full(q, item))
            continue; /* it keeps no place on its table: that may take long */
        if (!runs_against(q, item) && !goes_before(q, item, now_ms) && !waits_before(q, waiting, item, now_ms)) {
            item->is_running = true;
            q->active[q->running++] = item;
            return &item->job;
        }
        q->order[waiting++] = item;
    }
    return NULL;
}

/* ---- asking ---- */

bool ebb_work_queue_has(const struct ebb_work_queue *q, const char *id, bool *is_running)
{
    size_t at = place_of(q, id);

    *is_running = at != SIZE_MAX && q->items[at]->is_running;
    return at != SIZE_MAX;
}

size_t ebb_work_queue_waiting(const struct ebb_work_queue *q)
{
    return q->count - q->running;
}

size_t ebb_work_queue_running(const struct ebb_work_queue *q)
{
    return q->running;
}

static void put_other(struct ebb_buf *out, const char *text, const struct item *other)
{
    ebb_buf_printf(out, "%s%s (%s)", text, other->job.id, other->job.kind);
}

/* One that excludes it and would be taken first. */
static const struct item *ranks_before(const struct ebb_work_queue *q, struct item *item, int64_t now_ms)
{
    item->rank = rank_of(item, now_ms);
    for (size_t i = 0; i < q->count; i++) {
        struct item *other = q->items[i];

        if (other == item || other->is_running || is_early(other, now_ms) || !excludes(item, other))
            continue;
        other->rank = rank_of(other, now_ms);
        if (by_rank(&other, &item) < 0 && !goes_before(q, other, now_ms))
            return other;
    }
    return NULL;
}

void ebb_work_queue_why(const struct ebb_work_queue *q, const char *id, int64_t now_ms, struct ebb_buf *out)
{
    size_t at = place_of(q, id);
    const struct item *other;
    struct item *item;

    if (at == SIZE_MAX || q->items[at]->is_running)
        return;
    item = q->items[at];
    if (is_early(item, now_ms)) {
        ebb_buf_puts(out, "not before ");
        ebb_time_iso(out, item->job.not_before_ms);
    } else if ((other = runs_against(q, item)) != NULL) {
        put_other(out, "on the same table: ", other);
    } else if ((other = goes_before(q, item, now_ms)) != NULL) {
        put_other(out, "goes before it: ", other);
    } else if ((other = ranks_before(q, item, now_ms)) != NULL) {
        put_other(out, "waits longer for the same table: ", other);
    } else if (is_slot_full(q, item)) {
        ebb_buf_printf(out, "the slot %s is full (%lld)", item->slot, (long long)item->slot_max);
    } else if (q->running >= q->running_max) {
        ebb_buf_printf(out, "all slots are taken (%zu of %u)", q->running, q->running_max);
    }
}
