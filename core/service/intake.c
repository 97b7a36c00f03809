/* SPDX-License-Identifier: Apache-2.0
 *
 * Events on their way into the store. One batch is written at a time; what comes meanwhile waits and is the next batch:
 * so there are as few transactions as the disk wants. The batch belongs to the writing thread until it is done.
 */
#include <stdlib.h>

#include "service/events.h"

#define WAITING_MAX 100000
#define WAITING_MAX_BYTES ((size_t)256 << 20)
#define BATCH_MAX 50000

struct entry {
    struct entry *next;
    struct ebb_event_list list;
    ebb_intake_cb *done;
    void *data;
    size_t fresh;
};

struct batch {
    struct entry *first;
    size_t count; /* events */
    size_t fresh;
    struct ebb_strs tables; /* that have new events */
    struct ebb_err err;     /* EBB_OK: written */
};

struct ebb_intake {
    struct ebb_intake_options options;
    struct ebb_pool *pool;
    struct entry *first, **last;
    size_t waiting, waiting_bytes; /* those of the batch too */
    struct batch batch;
    bool is_writing, is_closing;
    struct ebb_err open_err; /* the writing thread's: why it has no store */
    void (*closed)(void *data);
    void *closed_data;
};

/* ---- the writing thread ---- */

static void *open_store(void *data)
{
    struct ebb_intake *intake = data;
    struct ebb_store *store = NULL;

    intake->open_err.error = EBB_OK;
    return ebb_store_open(intake->options.state_dir, &store, &intake->open_err) ? NULL : store;
}

static void close_store(void *context)
{
    ebb_store_close(context);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int note_tables(struct batch *batch, const struct ebb_event *events, const bool *is_new, struct ebb_err *err)
{
    const char **names = malloc((batch->count + 1) * sizeof *names);
    size_t count = 0;
    int rc = names ? 0 : ebb_err_nomem(err);

    for (size_t i = 0; !rc && i < batch->count; i++)
        if (is_new[i] && events[i].table[0])
            names[count++] = events[i].table;
    if (count)
        qsort(names, count, sizeof(const char *), compare_names);
    for (size_t i = 0; !rc && i < count; i++)
        if (i == 0 || strcmp(names[i - 1], names[i]) != 0)
            rc = ebb_strs_add(&batch->tables, names[i], err);
    free(names);
    return rc;
}

static void note_fresh(struct batch *batch, const bool *is_new)
{
    size_t at = 0;

    for (struct entry *e = batch->first; e; e = e->next)
        for (size_t i = 0; i < e->list.count; i++)
            e->fresh += is_new[at++];
}

static int write_batch(struct ebb_store *store, struct batch *batch, struct ebb_err *err)
{
    struct ebb_event *events = malloc((batch->count + 1) * sizeof *events);
    bool *is_new = calloc(batch->count + 1, sizeof *is_new);
    size_t at = 0;
    int rc = events && is_new ? 0 : ebb_err_nomem(err);

    if (rc)
        goto out;
    for (const struct entry *e = batch->first; e; e = e->next)
        for (size_t i = 0; i < e->list.count; i++)
            events[at++] = e->list.items[i];
    rc = ebb_store_put_events(store, events, batch->count, is_new, &batch->fresh, err);
    if (rc)
        goto out;
    note_fresh(batch, is_new);
    note_tables(batch, events, is_new, NULL); /* durable in any case: a table that is not told of is seen by the poll */
out:
    free(events);
    free(is_new);
    return rc;
}

static void work(void *context, void *data)
{
    struct ebb_intake *intake = data;
    struct batch *batch = &intake->batch;

    batch->err.error = EBB_OK;
    if (context)
        write_batch(context, batch, &batch->err);
    else if (intake->open_err.error)
        batch->err = intake->open_err;
    else
        ebb_err_nomem(&batch->err);
}

/* ---- the loop's thread ---- */

static int begin_batch(struct ebb_intake *intake, struct ebb_err *err);

static void count(struct ebb_intake *intake, const char *result, size_t n)
{
    if (n)
        ebb_metrics_add(intake->options.metrics, EBB_METRIC_EVENTS, result, (int64_t)n);
    ebb_metrics_set(intake->options.metrics, EBB_METRIC_EVENTS_WAITING, NULL, (double)intake->waiting);
}

static void finish(struct ebb_intake *intake, struct entry *entry, const struct ebb_err *why)
{
    intake->waiting -= entry->list.count;
    intake->waiting_bytes -= entry->list.arena.used_bytes;
    if (entry->done)
        entry->done(entry->data, entry->fresh, why);
    ebb_event_list_fini(&entry->list);
    free(entry);
}

static void gone(void *data)
{
    struct ebb_intake *intake = data;
    void (*closed)(void *) = intake->closed;
    void *closed_data = intake->closed_data;

    free(intake);
    if (closed)
        closed(closed_data);
}

/* Nothing can be written: those that wait are told. */
static void fail_all(struct ebb_intake *intake, const struct ebb_err *why)
{
    struct entry *entry = intake->first, *next;

    intake->first = NULL;
    intake->last = &intake->first;
    for (; entry; entry = next) {
        next = entry->next;
        finish(intake, entry, why);
    }
}

static void go_on(struct ebb_intake *intake)
{
    struct ebb_err err;

    if (intake->first && begin_batch(intake, &err))
        fail_all(intake, &err);
    if (intake->is_closing && !intake->is_writing)
        ebb_pool_close(intake->pool, gone, intake);
}

static void written(void *data)
{
    struct ebb_intake *intake = data;
    struct batch batch = intake->batch;
    struct entry *next;
    size_t failed = batch.err.error ? batch.count : 0;

    memset(&intake->batch, 0, sizeof intake->batch);
    if (batch.err.error)
        ebb_metrics_add(intake->options.metrics, EBB_METRIC_STORE_ERRORS, NULL, 1);
    if (batch.err.error && intake->options.failed)
        intake->options.failed(intake->options.data, &batch.err);
    if (batch.tables.count && intake->options.arrived)
        intake->options.arrived(intake->options.data, &batch.tables);
    for (struct entry *e = batch.first; e; e = next) {
        next = e->next;
        finish(intake, e, &batch.err);
    }
    count(intake, "failed", failed);
    count(intake, "new", batch.fresh);
    count(intake, "duplicate", batch.count - failed - batch.fresh);
    ebb_strs_fini(&batch.tables);
    intake->is_writing = false;
    go_on(intake);
}

/* Of those that wait as many as make a batch; the others stay. */
static void gather(struct ebb_intake *intake, struct batch *batch)
{
    struct entry **end = &batch->first;

    memset(batch, 0, sizeof *batch);
    ebb_strs_init(&batch->tables);
    while (intake->first && (!batch->count || batch->count + intake->first->list.count <= BATCH_MAX)) {
        struct entry *entry = intake->first;

        intake->first = entry->next;
        entry->next = NULL;
        *end = entry;
        end = &entry->next;
        batch->count += entry->list.count;
    }
    if (!intake->first)
        intake->last = &intake->first;
}

/* On an error all wait as before. */
static int begin_batch(struct ebb_intake *intake, struct ebb_err *err)
{
    struct entry **end = &intake->batch.first;
    int rc;

    gather(intake, &intake->batch);
    rc = ebb_pool_post(intake->pool, work, written, intake, err);
    if (!rc) {
        intake->is_writing = true;
        return 0;
    }
    while (*end)
        end = &(*end)->next;
    *end = intake->first;
    if (!intake->first)
        intake->last = end;
    intake->first = intake->batch.first;
    if (intake->last == &intake->batch.first)
        intake->last = &intake->first;
    return rc;
}

int ebb_intake_new(uv_loop_t *loop, const struct ebb_intake_options *options, struct ebb_intake **out,
                   struct ebb_err *err)
{
    struct ebb_intake *intake = calloc(1, sizeof *intake);
    struct ebb_pool_options pool = {
        .name = "events", .thread_count = 1, .context_new = open_store, .context_free = close_store, .data = intake};
    int rc;

    *out = NULL;
    if (!intake)
        return ebb_err_nomem(err);
    intake->options = *options;
    if (!intake->options.waiting_max)
        intake->options.waiting_max = WAITING_MAX;
    intake->last = &intake->first;
    rc = ebb_pool_new(loop, &pool, &intake->pool, err);
    if (rc)
        free(intake);
    else
        *out = intake;
    return rc;
}

static bool is_full(const struct ebb_intake *intake, const struct ebb_event_list *list)
{
    if (!intake->waiting)
        return false;
    return intake->waiting + list->count > intake->options.waiting_max ||
           intake->waiting_bytes + list->arena.used_bytes > WAITING_MAX_BYTES;
}

static int check(struct ebb_intake *intake, const struct ebb_event_list *list, struct ebb_err *err)
{
    int rc;

    if (intake->is_closing)
        return ebb_err_set(err, EBB_ECANCELLED, "events: no more are taken in, the service stops");
    if (!is_full(intake, list))
        return 0;
    count(intake, "refused", list->count);
    rc = ebb_err_set(err, EBB_ELIMIT, "events: %zu wait to be written already", intake->waiting);
    if (err)
        err->retryable = true;
    return rc;
}

int ebb_intake_put(struct ebb_intake *intake, struct ebb_event_list *list, ebb_intake_cb *done, void *data,
                   struct ebb_err *err)
{
    struct entry *entry = NULL;
    int rc = check(intake, list, err);

    if (!rc) {
        entry = calloc(1, sizeof *entry);
        rc = entry ? 0 : ebb_err_nomem(err);
    }
    if (rc) {
        ebb_event_list_fini(list);
        return rc;
    }
    *entry = (struct entry){NULL, *list, done, data, 0};
    memset(list, 0, sizeof *list);
    intake->waiting += entry->list.count;
    intake->waiting_bytes += entry->list.arena.used_bytes;
    *intake->last = entry;
    intake->last = &entry->next;
    rc = intake->is_writing ? 0 : begin_batch(intake, err);
    if (rc) { /* nobody else waits then */
        intake->first = NULL;
        intake->last = &intake->first;
        entry->done = NULL;
        finish(intake, entry, err);
    }
    return rc;
}

size_t ebb_intake_waiting(const struct ebb_intake *intake)
{
    return intake->waiting;
}

void ebb_intake_close(struct ebb_intake *intake, void (*closed)(void *data), void *data)
{
    if (!intake) {
        if (closed)
            closed(data);
        return;
    }
    intake->is_closing = true;
    intake->closed = closed;
    intake->closed_data = data;
    if (!intake->is_writing)
        go_on(intake);
}
