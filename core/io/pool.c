/* SPDX-License-Identifier: Apache-2.0 */
#include "io/pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"

enum { NAME_MAX_BYTES = 11, CONTEXT_RETRY_MS = 1000 };

struct task {
    struct task *next;
    ebb_pool_work_cb *work;
    ebb_pool_done_cb *done;
    void *data;
};

struct tasks {
    struct task *first, **end;
    size_t count;
};

struct ebb_pool {
    struct ebb_pool_options options;
    char name[NAME_MAX_BYTES + 1];
    uv_async_t async;
    uv_mutex_t mutex; /* guards all below, but for threads */
    uv_cond_t cond;
    struct tasks waiting, done;
    unsigned started, idle, running, gone;
    bool is_closing;
    bool is_ended; /* the async handle is being closed */
    void (*closed)(void *data);
    void *closed_data;
    uv_thread_t *threads;
};

static void tasks_init(struct tasks *t)
{
    t->first = NULL;
    t->end = &t->first;
    t->count = 0;
}

static void tasks_push(struct tasks *t, struct task *task)
{
    task->next = NULL;
    *t->end = task;
    t->end = &task->next;
    t->count++;
}

static struct task *tasks_pop(struct tasks *t)
{
    struct task *task = t->first;

    if (!task)
        return NULL;
    t->first = task->next;
    if (!t->first)
        t->end = &t->first;
    t->count--;
    return task;
}

/* ---- the worker's side ---- */

/* What a thread holds between two tasks. */
struct seat {
    void *context;
    bool has_failed;
    int64_t failed_ms;
};

static void seat_prepare(struct ebb_pool *pool, struct seat *seat)
{
    if (seat->context || !pool->options.context_new)
        return;
    if (seat->has_failed && ebb_clock_elapsed_ms() - seat->failed_ms < CONTEXT_RETRY_MS)
        return;
    seat->context = pool->options.context_new(pool->options.data);
    seat->has_failed = !seat->context;
    seat->failed_ms = ebb_clock_elapsed_ms();
}

/* The next task, NULL at the end; locked before and after. */
static struct task *next_task(struct ebb_pool *pool)
{
    struct task *task;

    while (!(task = tasks_pop(&pool->waiting)) && !pool->is_closing) {
        pool->idle++;
        uv_cond_wait(&pool->cond, &pool->mutex);
        pool->idle--;
    }
    return task;
}

static void set_name(const struct ebb_pool *pool, unsigned number)
{
    char name[16];

    snprintf(name, sizeof name, "%s-%u", pool->name, number % 1000);
    pthread_setname_np(pthread_self(), name);
}

static void worker(void *arg)
{
    struct ebb_pool *pool = arg;
    struct seat seat = {NULL, false, 0};
    struct task *task;

    uv_mutex_lock(&pool->mutex);
    set_name(pool, pool->started);
    while ((task = next_task(pool))) {
        pool->running++;
        uv_mutex_unlock(&pool->mutex);
        seat_prepare(pool, &seat);
        task->work(seat.context, task->data);
        uv_mutex_lock(&pool->mutex);
        pool->running--;
        tasks_push(&pool->done, task);
        uv_async_send(&pool->async);
    }
    uv_mutex_unlock(&pool->mutex);
    if (seat.context && pool->options.context_free)
        pool->options.context_free(seat.context);
    uv_mutex_lock(&pool->mutex);
    pool->gone++;
    uv_async_send(&pool->async);
    uv_mutex_unlock(&pool->mutex);
}

/* ---- the loop's side ---- */

static void pool_free(struct ebb_pool *pool)
{
    uv_cond_destroy(&pool->cond);
    uv_mutex_destroy(&pool->mutex);
    free(pool->threads);
    free(pool);
}

static void on_closed(uv_handle_t *handle)
{
    struct ebb_pool *pool = handle->data;
    void (*closed)(void *) = pool->closed;
    void *data = pool->closed_data;

    pool_free(pool);
    if (closed)
        closed(data);
}

static bool is_over(struct ebb_pool *pool)
{
    bool over;

    uv_mutex_lock(&pool->mutex);
    over = pool->is_closing && pool->gone == pool->started && !pool->done.count && !pool->waiting.count;
    uv_mutex_unlock(&pool->mutex);
    return over;
}

static void on_async(uv_async_t *async)
{
    struct ebb_pool *pool = async->data;
    struct tasks done;
    struct task *task;

    tasks_init(&done);
    uv_mutex_lock(&pool->mutex);
    while ((task = tasks_pop(&pool->done)))
        tasks_push(&done, task);
    uv_mutex_unlock(&pool->mutex);
    while ((task = tasks_pop(&done))) {
        task->done(task->data);
        free(task);
    }
    if (pool->is_ended || !is_over(pool))
        return;
    pool->is_ended = true;
    for (unsigned i = 0; i < pool->started; i++)
        uv_thread_join(&pool->threads[i]);
    uv_close((uv_handle_t *)&pool->async, on_closed);
}

/* uv_mutex_init and the like, undone in order when one fails. */
static int pool_begin(struct ebb_pool *pool, uv_loop_t *loop)
{
    int rc = uv_mutex_init(&pool->mutex);

    if (rc)
        return rc;
    rc = uv_cond_init(&pool->cond);
    if (rc)
        goto no_cond;
    rc = uv_async_init(loop, &pool->async, on_async);
    if (rc)
        goto no_async;
    return 0;
no_async:
    uv_cond_destroy(&pool->cond);
no_cond:
    uv_mutex_destroy(&pool->mutex);
    return rc;
}

int ebb_pool_new(uv_loop_t *loop, const struct ebb_pool_options *options, struct ebb_pool **out, struct ebb_err *err)
{
    struct ebb_pool *pool = calloc(1, sizeof *pool);
    int rc;

    *out = NULL;
    if (!pool)
        return ebb_err_nomem(err);
    pool->options = *options;
    pool->async.data = pool;
    tasks_init(&pool->waiting);
    tasks_init(&pool->done);
    snprintf(pool->name, sizeof pool->name, "%s", options->name);
    if (!pool->options.thread_count)
        pool->options.thread_count = 1;
    pool->threads = calloc(pool->options.thread_count, sizeof *pool->threads);
    if (!pool->threads) {
        free(pool);
        return ebb_err_nomem(err);
    }
    rc = pool_begin(pool, loop);
    if (rc) {
        free(pool->threads);
        free(pool);
        return ebb_err_set(err, EBB_EIO, "threads \"%s\": %s", options->name, uv_strerror(rc));
    }
    *out = pool;
    return 0;
}

/* Start one more thread; signals are for the loop's thread, but for those that an error of the thread raises. */
static int start_thread(struct ebb_pool *pool)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    sigset_t all, before;
    int rc;

    sigfillset(&all);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        sigdelset(&all, own[i]);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = uv_thread_create(&pool->threads[pool->started], worker, pool);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!rc)
        pool->started++;
    return rc;
}

/* Locked. Put the task into the queue and see that somebody takes it. */
static int enqueue(struct ebb_pool *pool, struct task *task, struct ebb_err *err)
{
    size_t free_threads = pool->options.thread_count - pool->running;
    int rc = 0;

    if (pool->is_closing)
        return ebb_err_set(err, EBB_ECANCELLED, "threads \"%s\": being stopped", pool->name);
    if (pool->options.queue_max && pool->waiting.count >= pool->options.queue_max + free_threads)
        return ebb_err_set(err, EBB_ELIMIT, "threads \"%s\": %zu tasks wait already", pool->name, pool->waiting.count);
    if (pool->waiting.count >= pool->idle && pool->started < pool->options.thread_count)
        rc = start_thread(pool);
    if (rc && !pool->started)
        return ebb_err_set(err, EBB_EIO, "threads \"%s\": %s", pool->name, uv_strerror(rc));
    tasks_push(&pool->waiting, task);
    uv_cond_signal(&pool->cond);
    return 0;
}

int ebb_pool_post(struct ebb_pool *pool, ebb_pool_work_cb *work, ebb_pool_done_cb *done, void *data,
                  struct ebb_err *err)
{
    struct task *task = calloc(1, sizeof *task);
    int rc;

    if (!task)
        return ebb_err_nomem(err);
    *task = (struct task){NULL, work, done, data};
    uv_mutex_lock(&pool->mutex);
    rc = enqueue(pool, task, err);
    uv_mutex_unlock(&pool->mutex);
    if (rc)
        free(task);
    return rc;
}

size_t ebb_pool_waiting(struct ebb_pool *pool)
{
    size_t count;

    uv_mutex_lock(&pool->mutex);
    count = pool->waiting.count;
    uv_mutex_unlock(&pool->mutex);
    return count;
}

size_t ebb_pool_running(struct ebb_pool *pool)
{
    size_t count;

    uv_mutex_lock(&pool->mutex);
    count = pool->running;
    uv_mutex_unlock(&pool->mutex);
    return count;
}

void ebb_pool_close(struct ebb_pool *pool, void (*closed)(void *data), void *data)
{
    uv_mutex_lock(&pool->mutex);
    pool->is_closing = true;
    pool->closed = closed;
    pool->closed_data = data;
    uv_cond_broadcast(&pool->cond);
    uv_async_send(&pool->async);
    uv_mutex_unlock(&pool->mutex);
}
