/* SPDX-License-Identifier: Apache-2.0
 *
 * A pool of worker threads beside a libuv loop. Each thread has a context of its own (a workspace, say) that is made in
 * the thread when it first has work and freed there at the end. Tasks run in the order in which they were posted; what
 * they found is told on the loop's thread. Signals are blocked in the threads. All functions are called on the loop's
 * thread unless it says otherwise.
 */
#ifndef EBB_IO_POOL_H
#define EBB_IO_POOL_H

#include <uv.h>

#include "base/err.h"

struct ebb_pool;

struct ebb_pool_options {
    const char *name;      /* of the threads, at most 11 characters */
    unsigned thread_count; /* at least 1 */
    size_t queue_max;      /* tasks that may wait; 0: no bound */
    /* The context of a thread, in that thread; NULL: contexts are NULL. A thread without a context (it failed) hands
     * its tasks NULL and tries again with the next task after a second. */
    void *(*context_new)(void *data);
    void (*context_free)(void *context);
    void *data;
};
/* EBB_ENOMEM, EBB_EIO. Threads are started as they are needed. */
int ebb_pool_new(uv_loop_t *loop, const struct ebb_pool_options *options, struct ebb_pool **out, struct ebb_err *err);

/* work runs in a worker with its context; done then on the loop's thread, exactly once, never from inside of post. Both
 * get data, which stays the caller's. */
typedef void ebb_pool_work_cb(void *context, void *data);
typedef void ebb_pool_done_cb(void *data);
/* EBB_ELIMIT when queue_max tasks wait beside those that free threads take, EBB_ECANCELLED after ebb_pool_close,
 * EBB_EIO when not even one thread can be started; nothing is kept then and no callback comes.
 */
int ebb_pool_post(struct ebb_pool *pool, ebb_pool_work_cb *work, ebb_pool_done_cb *done, void *data,
                  struct ebb_err *err);
/* Tasks that wait, and that run. Any thread. */
size_t ebb_pool_waiting(struct ebb_pool *pool);
size_t ebb_pool_running(struct ebb_pool *pool);
/* Take no more tasks; those that were posted still run. closed is called on the loop's thread when all are done and the
 * threads are gone; the pool is free then. */
void ebb_pool_close(struct ebb_pool *pool, void (*closed)(void *data), void *data);

#endif
