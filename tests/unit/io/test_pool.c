/* SPDX-License-Identifier: Apache-2.0
 *
 * The pool of worker threads: order, contexts, limits, signals, close.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "io/pool.h"

struct world {
    uv_loop_t loop;
    struct ebb_pool *pool;
    pthread_t loop_thread;
    uv_sem_t gate;
    atomic_int contexts_made, contexts_freed, contexts_wanted_fail;
    atomic_int worked;
    int done, closed;
    int order[64];
    struct ebb_err err;
};

struct job {
    struct world *w;
    int number;
    bool waits, had_context, blocks_signals, is_elsewhere;
    int repeat;
};

static void *context_new(void *data)
{
    struct world *w = data;

    if (atomic_load(&w->contexts_wanted_fail) > 0) {
        atomic_fetch_sub(&w->contexts_wanted_fail, 1);
        return NULL;
    }
    atomic_fetch_add(&w->contexts_made, 1);
    struct world **context = malloc(sizeof(struct world *));
    *context = w;
    return context;
}

static void context_free(void *context)
{
    struct world *w = *(struct world **)context;

    atomic_fetch_add(&w->contexts_freed, 1);
    free(context);
}

static int open_world(struct world *w, unsigned threads, size_t queue_max)
{
    struct ebb_pool_options options = {"unit", threads, queue_max, context_new, context_free, w};

    memset(w, 0, sizeof *w);
    w->loop_thread = pthread_self();
    assert_int_equal(uv_loop_init(&w->loop), 0);
    assert_int_equal(uv_sem_init(&w->gate, 0), 0);
    return ebb_pool_new(&w->loop, &options, &w->pool, &w->err);
}

static void on_closed(void *data)
{
    struct world *w = data;

    w->closed++;
}

static void close_world(struct world *w)
{
    ebb_pool_close(w->pool, on_closed, w);
    assert_int_equal(w->closed, 0);
    assert_int_equal(uv_run(&w->loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(w->closed, 1);
    assert_int_equal(uv_loop_close(&w->loop), 0);
    assert_int_equal(atomic_load(&w->contexts_made), atomic_load(&w->contexts_freed));
    uv_sem_destroy(&w->gate);
}

static void work(void *context, void *data)
{
    struct job *job = data;
    sigset_t blocked;

    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    job->blocks_signals = sigismember(&blocked, SIGTERM) && sigismember(&blocked, SIGHUP);
    job->had_context = context != NULL;
    job->is_elsewhere = !pthread_equal(pthread_self(), job->w->loop_thread);
    if (job->waits)
        uv_sem_wait(&job->w->gate);
    atomic_fetch_add(&job->w->worked, 1);
}

static void done(void *data)
{
    struct job *job = data;

    assert_true(pthread_equal(pthread_self(), job->w->loop_thread));
    if (job->w->done < 64)
        job->w->order[job->w->done] = job->number;
    job->w->done++;
    if (job->repeat-- > 0)
        assert_int_equal(ebb_pool_post(job->w->pool, work, done, job, NULL), 0);
}

static void run_until_done(struct world *w, int count)
{
    while (w->done < count)
        uv_run(&w->loop, UV_RUN_ONCE);
}

static void test_order(void **state)
{
    struct world w;
    struct job jobs[64];
    (void)state;

    assert_int_equal(open_world(&w, 1, 0), 0);
    for (int i = 0; i < 64; i++) {
        jobs[i] = (struct job){.w = &w, .number = i};
        assert_int_equal(ebb_pool_post(w.pool, work, done, &jobs[i], NULL), 0);
    }
    assert_int_equal(w.done, 0);
    run_until_done(&w, 64);
    for (int i = 0; i < 64; i++) {
        assert_int_equal(w.order[i], i);
        assert_true(jobs[i].had_context && jobs[i].blocks_signals && jobs[i].is_elsewhere);
    }
    assert_int_equal(atomic_load(&w.contexts_made), 1);
    close_world(&w);
}

static void test_unused(void **state)
{
    struct world w;
    (void)state;

    assert_int_equal(open_world(&w, 8, 0), 0);
    close_world(&w);
    assert_int_equal(atomic_load(&w.contexts_made), 0);
}

static void test_full(void **state)
{
    struct world w;
    struct job jobs[5];
    (void)state;

    assert_int_equal(open_world(&w, 2, 2), 0);
    for (int i = 0; i < 5; i++)
        jobs[i] = (struct job){.w = &w, .number = i, .waits = true};
    /* two are taken by the threads, two wait */
    for (int i = 0; i < 4; i++)
        assert_int_equal(ebb_pool_post(w.pool, work, done, &jobs[i], NULL), 0);
    assert_int_equal(ebb_pool_post(w.pool, work, done, &jobs[4], &w.err), -EBB_ELIMIT);
    assert_non_null(strstr(w.err.message, "\"unit\""));
    while (ebb_pool_running(w.pool) < 2)
        sched_yield();
    assert_int_equal(ebb_pool_waiting(w.pool), 2);
    uv_sem_post(&w.gate);
    run_until_done(&w, 1);
    assert_int_equal(ebb_pool_post(w.pool, work, done, &jobs[4], &w.err), 0);
    for (int i = 0; i < 4; i++)
        uv_sem_post(&w.gate);
    run_until_done(&w, 5);
    assert_int_equal(ebb_pool_waiting(w.pool) + ebb_pool_running(w.pool), 0);
    close_world(&w);
}

/* What was posted before close still runs, and its done is told before closed. */
static void test_close_finishes(void **state)
{
    struct world w;
    struct job jobs[32], late = {.w = &w};
    (void)state;

    assert_int_equal(open_world(&w, 3, 0), 0);
    for (int i = 0; i < 32; i++) {
        jobs[i] = (struct job){.w = &w, .number = i, .waits = true};
        assert_int_equal(ebb_pool_post(w.pool, work, done, &jobs[i], NULL), 0);
    }
    ebb_pool_close(w.pool, on_closed, &w);
    assert_int_equal(ebb_pool_post(w.pool, work, done, &late, &w.err), -EBB_ECANCELLED);
    for (int i = 0; i < 32; i++)
        uv_sem_post(&w.gate);
    assert_int_equal(uv_run(&w.loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(w.done, 32);
    assert_int_equal(w.closed, 1);
    assert_int_equal(atomic_load(&w.worked), 32);
    assert_int_equal(uv_loop_close(&w.loop), 0);
    assert_int_equal(atomic_load(&w.contexts_made), atomic_load(&w.contexts_freed));
    uv_sem_destroy(&w.gate);
}

static void test_no_context(void **state)
{
    struct world w;
    struct job first = {.w = &w}, second = {.w = &w};
    (void)state;

    assert_int_equal(open_world(&w, 1, 0), 0);
    atomic_store(&w.contexts_wanted_fail, 1);
    assert_int_equal(ebb_pool_post(w.pool, work, done, &first, NULL), 0);
    run_until_done(&w, 1);
    assert_false(first.had_context);
    for (int n = 2; !second.had_context; n++) {
        assert_int_equal(ebb_pool_post(w.pool, work, done, &second, NULL), 0);
        run_until_done(&w, n);
    }
    assert_int_equal(atomic_load(&w.contexts_made), 1);
    close_world(&w);
}

/* Tasks that post again from done, on more threads than cores. */
static void test_many(void **state)
{
    struct world w;
    struct job jobs[100];
    (void)state;

    assert_int_equal(open_world(&w, 7, 0), 0);
    for (int i = 0; i < 100; i++) {
        jobs[i] = (struct job){.w = &w, .number = i, .repeat = 99};
        assert_int_equal(ebb_pool_post(w.pool, work, done, &jobs[i], NULL), 0);
    }
    run_until_done(&w, 10000);
    assert_int_equal(atomic_load(&w.worked), 10000);
    assert_true(atomic_load(&w.contexts_made) <= 7);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),          cmocka_unit_test(test_unused),     cmocka_unit_test(test_full),
        cmocka_unit_test(test_close_finishes), cmocka_unit_test(test_no_context), cmocka_unit_test(test_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
