/* SPDX-License-Identifier: Apache-2.0 */
#include "front/signals.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static void fill_set(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGHUP);
}

static void *watch(void *data)
{
    struct ebb_signals *signals = data;
    sigset_t set;
    int number;

    fill_set(&set);
    while (sigwait(&set, &number) == 0) {
        if (number != SIGINT)
            atomic_store(&signals->ends, true);
        if (atomic_exchange(&signals->interrupted, true) && !(number == SIGINT && atomic_load(&signals->converses))) {
            signal(number, SIG_DFL);
            pthread_sigmask(SIG_UNBLOCK, &set, NULL);
            raise(number);
        }
    }
    return NULL;
}

int ebb_signals_watch(struct ebb_signals *signals, struct ebb_err *err)
{
    struct sigaction ignore;
    pthread_t thread;
    sigset_t set;

    memset(&ignore, 0, sizeof ignore);
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &ignore, NULL);
    fill_set(&set);
    if (pthread_sigmask(SIG_BLOCK, &set, NULL) || pthread_create(&thread, NULL, watch, signals))
        return ebb_err_set(err, EBB_EINTERNAL, "signals: can't be watched");
    pthread_detach(thread);
    return 0;
}
