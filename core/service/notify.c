/* SPDX-License-Identifier: Apache-2.0
 *
 * From a notice to being told: claimed in the store, sent a few at a time, tried again later and later.
 */
#include "service/notify_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <xxhash.h>

#define SENDING_MAX 4
#define FIRST_WAIT_MS 30000
#define COMMAND_MS 60000
#define MAX_WAIT_MS 3600000
#define NEW_START_WAIT_MS 5000 /* at most: whoever starts it anew may have mended what was wrong */
#define TRIES_MIN 5            /* before it is given up: clocks step */

static void schedule(struct ebb_notify *n);
static void maybe_end(struct ebb_notify *n);

static void count(struct ebb_notify *n, const char *result)
{
    ebb_metrics_add(n->metrics, EBB_METRIC_NOTICES, result, 1);
}

/* ---- the store ---- */

static void claimed(void *data)
{
    struct ebb__notify_item *item = data;
    struct ebb_notify *n = item->notify;

    if (item->is_known || n->is_closing) {
        if (item->is_known)
            count(n, "duplicate");
        ebb__notify_item_free(item);
        maybe_end(n);
        return;
    }
    if (item->err.error) {
        ebb_log_say(&n->log, EBB_LOG_ERROR, "notice: %s; it is told all the same, once", item->err.message);
        item->is_unrecorded = true;
    }
    item->state = EBB__NOTIFY_WAITING;
    schedule(n);
}

static void recorded(void *data)
{
    struct ebb__notify_item *item = data;
    struct ebb_notify *n = item->notify;

    if (item->err.error)
        ebb_log_say(&n->log, EBB_LOG_ERROR, "notice: %s", item->err.message);
    if (item->state == EBB__NOTIFY_ENDING || n->is_closing)
        ebb__notify_item_free(item);
    else
        item->state = EBB__NOTIFY_WAITING;
    schedule(n);
    maybe_end(n);
}

static void record(struct ebb__notify_item *item, enum ebb__notify_state state, const char *text, int64_t wait_ms)
{
    item->state = state;
    ebb__notify_record(item, text, wait_ms);
    if (item->is_unrecorded && state == EBB__NOTIFY_RECORDING)
        item->state = EBB__NOTIFY_WAITING;
    else if (ebb_pool_post(item->notify->pool, ebb__notify_put, recorded, item, NULL))
        ebb__notify_item_free(item); /* what the store says of it stays as it is */
}

/* ---- tries ---- */

static int64_t pause_after(const struct ebb__notify_item *item)
{
    int64_t wait = item->notify->first_wait_ms;

    for (int64_t i = 1; i < item->tries && wait < MAX_WAIT_MS; i++)
        wait *= 2;
    if (wait > MAX_WAIT_MS)
        wait = MAX_WAIT_MS;
    return wait / 2 + (int64_t)(XXH64(item->id, strlen(item->id), (uint64_t)item->tries) % (uint64_t)(wait / 2 + 1));
}

static bool is_over(const struct ebb__notify_item *item)
{
    return item->tries >= TRIES_MIN && ebb_clock_now(&item->notify->clock) - item->first_ms >= EBB__NOTIFY_GIVE_UP_MS;
}

static void failed(struct ebb__notify_item *item)
{
    struct ebb_notify *n = item->notify;
    int64_t wait = pause_after(item);

    if (is_over(item)) {
        ebb_log_say(&n->log, EBB_LOG_ERROR, "notice: %s is given up after %lld tries: %s", item->kind,
                    (long long)item->tries, item->err.message);
        count(n, "given-up");
        record(item, EBB__NOTIFY_ENDING, "given-up", 0);
        return;
    }
    ebb_log_say(&n->log, item->tries > 1 ? EBB_LOG_DEBUG : EBB_LOG_WARN, "notice: %s not told: %s; again in %lld s",
                item->kind, item->err.message, (long long)(wait / 1000));
    count(n, "failed");
    item->next_at = ebb_clock_elapsed_ms() + wait;
    record(item, EBB__NOTIFY_RECORDING, "waiting", wait);
}

void ebb__notify_tried(struct ebb__notify_item *item)
{
    struct ebb_notify *n = item->notify;

    n->sending--;
    if (!item->err.error) {
        ebb_log_say(&n->log, EBB_LOG_DEBUG, "notice: %s told to %s", item->kind, item->target->label);
        count(n, "told");
        record(item, EBB__NOTIFY_ENDING, "told", 0);
    } else if (item->err.error == EBB_ECANCELLED) {
        ebb__notify_item_free(item); /* waits in the store */
    } else {
        failed(item);
    }
    schedule(n);
    maybe_end(n);
}

static struct ebb__notify_target *find_target(const struct ebb_notify *n, const char *id)
{
    struct ebb__notify_target *t = n->targets;

    while (t && strcmp(t->id, id))
        t = t->next;
    return t;
}

/* The same place may have other headers by now. False: it is gone. */
static bool take_target(struct ebb__notify_item *item)
{
    struct ebb__notify_target *now = find_target(item->notify, item->target->id);

    if (!now)
        return false;
    now->refs++;
    ebb__notify_target_unref(item->target);
    item->target = now;
    return true;
}

static void start(struct ebb__notify_item *item)
{
    struct ebb_notify *n = item->notify;
    int rc;

    item->state = EBB__NOTIFY_SENDING;
    item->tries++;
    n->sending++;
    item->err = (struct ebb_err){0};
    rc = item->target->url ? ebb__notify_send(item, &item->err) : ebb__notify_command_start(item, &item->err);
    if (rc) {
        n->sending--;
        failed(item);
    }
}

static void due(uv_timer_t *timer)
{
    schedule(timer->data);
}

/* Start what is due, oldest first, and wake when the next one is. Those whose target was taken out of the configuration
 * wait in the store. */
static void schedule(struct ebb_notify *n)
{
    int64_t now = ebb_clock_elapsed_ms(), next = INT64_MAX;
    struct ebb__notify_item *item, *after;

    if (n->is_closing)
        return;
    for (item = n->items; item; item = after) {
        after = item->next;
        if (item->state != EBB__NOTIFY_WAITING)
            continue;
        if (!take_target(item))
            ebb__notify_item_free(item);
        else if (item->next_at > now)
            next = item->next_at < next ? item->next_at : next;
        else if (n->sending < SENDING_MAX)
            start(item);
    }
    if (next == INT64_MAX)
        uv_timer_stop(&n->timer);
    else
        uv_timer_start(&n->timer, due, (uint64_t)(next - now), 0);
}

/* ---- what waited when the process ended ---- */

static void take_found(struct ebb_notify *n, struct ebb__notify_found *f, int64_t now_ms)
{
    struct ebb__notify_target *target = find_target(n, f->target);
    struct ebb__notify_item *item;
    int64_t wait = f->next_ms - now_ms;

    if (!target || ebb__notify_has(n, f->id))
        return;
    item = ebb__notify_item_new(n, target, f->id, f->kind, f->key, f->payload);
    f->payload = NULL;
    if (!item)
        return;
    item->state = EBB__NOTIFY_WAITING;
    item->tries = f->tries;
    item->first_ms = f->first_ms;
    item->next_at = ebb_clock_elapsed_ms() + (wait < 0 ? 0 : wait > NEW_START_WAIT_MS ? NEW_START_WAIT_MS : wait);
}

static void loaded(void *data)
{
    struct ebb__notify_load *load = data;
    struct ebb_notify *n = load->notify;

    if (load->err.error)
        ebb_log_say(&n->log, EBB_LOG_ERROR, "notice: %s", load->err.message);
    for (struct ebb__notify_found *f = load->found; f && !n->is_closing; f = f->next)
        take_found(n, f, load->now_ms);
    ebb__notify_load_free(load);
    schedule(n);
}

static int begin_load(struct ebb_notify *n, struct ebb_err *err)
{
    struct ebb__notify_load *load = calloc(1, sizeof *load);
    int rc;

    if (!load)
        return ebb_err_nomem(err);
    load->notify = n;
    load->now_ms = ebb_clock_now(&n->clock);
    rc = ebb_pool_post(n->pool, ebb__notify_load, loaded, load, err);
    if (rc)
        free(load);
    return rc;
}

/* ---- the outside ---- */

static void drop(struct ebb_notify *n, const char *why)
{
    count(n, "dropped");
    if (!n->is_full)
        ebb_log_say(&n->log, EBB_LOG_ERROR, "notice: %s: some are not told", why);
    n->is_full = true;
}

static void tell_one(struct ebb_notify *n, struct ebb__notify_target *target, const struct ebb_notice *notice)
{
    const char *texts[] = {notice->kind, notice->key, target->id};
    char key[EBB__NOTIFY_HASH], id[EBB__NOTIFY_HASH];
    struct ebb__notify_item *item;

    ebb__notify_hash(texts, 2, key);
    ebb__notify_hash(texts, 3, id);
    if (ebb__notify_has(n, id)) {
        count(n, "duplicate");
        return;
    }
    item = ebb__notify_item_new(n, target, id, notice->kind, key, ebb__notify_payload(n, notice));
    if (!item) {
        drop(n, "too many wait, or memory is exhausted");
        return;
    }
    item->first_ms = ebb_clock_now(&n->clock);
    item->state = EBB__NOTIFY_CLAIMING;
    ebb__notify_record(item, "waiting", 0);
    if (ebb_pool_post(n->pool, ebb__notify_claim, claimed, item, NULL)) {
        ebb__notify_item_free(item);
        drop(n, "memory is exhausted");
    }
}

void ebb_notify_tell(struct ebb_notify *n, const struct ebb_notice *notice)
{
    for (struct ebb__notify_target *t = n->targets; t && !n->is_closing; t = t->next)
        if (ebb__notify_target_wants(t, notice->kind))
            tell_one(n, t, notice);
}

int ebb_notify_configure(struct ebb_notify *n, const struct ebb_config *config, struct ebb_err *err)
{
    struct ebb__notify_target *targets = NULL;
    int rc = ebb__notify_targets(config, &targets, err);

    if (rc)
        return rc;
    ebb__notify_targets_unref(n->targets);
    n->targets = targets;
    return begin_load(n, err);
}

static void notify_free(struct ebb_notify *n)
{
    ebb__notify_targets_unref(n->targets);
    free(n->state_dir);
    free(n);
}

static int open_pool(struct ebb_notify *n, struct ebb_err *err)
{
    struct ebb_pool_options options = {.name = "notice",
                                       .thread_count = 1,
                                       .context_new = ebb__notify_store_open,
                                       .context_free = ebb__notify_store_close,
                                       .data = n->state_dir};

    return ebb_pool_new(n->loop, &options, &n->pool, err);
}

static struct ebb_notify *notify_new(uv_loop_t *loop, const struct ebb_notify_options *options)
{
    struct ebb_notify *n = calloc(1, sizeof *n);

    if (!n || !(n->state_dir = strdup(options->state_dir))) {
        free(n);
        return NULL;
    }
    n->loop = loop;
    n->client = options->client;
    n->metrics = options->metrics;
    n->log = options->log;
    n->clock = options->clock;
    n->first_wait_ms = options->first_wait_ms ? options->first_wait_ms : FIRST_WAIT_MS;
    n->command_ms = options->command_ms ? options->command_ms : COMMAND_MS;
    n->end = &n->items;
    if (gethostname(n->host, sizeof n->host - 1))
        snprintf(n->host, sizeof n->host, "localhost");
    return n;
}

int ebb_notify_new(uv_loop_t *loop, const struct ebb_notify_options *options, struct ebb_notify **out,
                   struct ebb_err *err)
{
    struct ebb_notify *n = notify_new(loop, options);
    int rc;

    *out = NULL;
    if (!n)
        return ebb_err_nomem(err);
    rc = ebb__notify_targets(options->config, &n->targets, err);
    if (!rc)
        rc = open_pool(n, err);
    if (rc) {
        notify_free(n);
        return rc;
    }
    uv_timer_init(loop, &n->timer);
    uv_timer_init(loop, &n->grace);
    n->timer.data = n->grace.data = n;
    n->open = 2;
    *out = n;
    if (begin_load(n, NULL))
        ebb_log_say(&n->log, EBB_LOG_ERROR, "notice: memory is exhausted: what waits is told after the next start");
    return 0;
}

/* ---- end ---- */

static void timer_closed(uv_handle_t *handle)
{
    struct ebb_notify *n = handle->data;
    void (*closed)(void *data) = n->closed;
    void *data = n->data;

    if (--n->open)
        return;
    notify_free(n);
    if (closed)
        closed(data);
}

static void pool_closed(void *data)
{
    struct ebb_notify *n = data;

    uv_close((uv_handle_t *)&n->timer, timer_closed);
    uv_close((uv_handle_t *)&n->grace, timer_closed);
}

/* The pool ends its tasks; items in it are freed by them. */
static void maybe_end(struct ebb_notify *n)
{
    if (!n->is_closing || n->is_pool_closing || n->sending)
        return;
    n->is_pool_closing = true;
    uv_timer_stop(&n->grace);
    ebb_pool_close(n->pool, pool_closed, n);
}

static void give_up(uv_timer_t *timer)
{
    struct ebb_notify *n = timer->data;

    for (struct ebb__notify_item *item = n->items; item; item = item->next)
        if (item->request)
            ebb_http_cancel(item->request);
        else if (item->command)
            ebb__notify_command_kill(item->command);
}

void ebb_notify_close(struct ebb_notify *n, unsigned grace_ms, void (*closed)(void *data), void *data)
{
    struct ebb__notify_item *item, *next;

    n->is_closing = true;
    n->closed = closed;
    n->data = data;
    uv_timer_stop(&n->timer);
    for (item = n->items; item; item = next) {
        next = item->next;
        if (item->state == EBB__NOTIFY_WAITING)
            ebb__notify_item_free(item);
    }
    uv_timer_start(&n->grace, give_up, grace_ms, 0);
    maybe_end(n);
}
