/* SPDX-License-Identifier: Apache-2.0
 *
 * Signals, on the loop: the first SIGTERM or SIGINT drains, the second ends the process at once; SIGHUP reloads.
 */
#include <signal.h>

#include "service/daemon_priv.h"

static void on_end(uv_signal_t *handle, int number)
{
    struct ebb__daemon *d = handle->data;

    if (d->is_draining) {
        ebb__say(&d->log, EBB_LOG_WARN, NULL, "told to end again: ends at once");
        signal(number, SIG_DFL);
        raise(number);
        return;
    }
    ebb__say(&d->log, EBB_LOG_INFO, NULL, "told to end: nothing new starts, what runs ends at a safe point");
    ebb__daemon_drain(d);
}

static void on_reload(uv_signal_t *handle, int number)
{
    (void)number;
    ebb__daemon_reload(handle->data, "SIGHUP", false);
}

static int watch(struct ebb__daemon *d, size_t i, uv_signal_cb cb, int number, struct ebb_err *err)
{
    if (uv_signal_init(&d->loop, &d->signals[i]))
        return ebb_err_set(err, EBB_EINTERNAL, "signals: can't be watched");
    d->open_handles++;
    d->signals[i].data = d;
    if (uv_signal_start(&d->signals[i], cb, number))
        return ebb_err_set(err, EBB_EINTERNAL, "signals: can't be watched");
    return 0;
}

int ebb__signals_open(struct ebb__daemon *d, struct ebb_err *err)
{
    struct sigaction ignore;
    sigset_t set;
    int rc;

    memset(&ignore, 0, sizeof ignore);
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &ignore, NULL);
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    rc = watch(d, 0, on_end, SIGTERM, err);
    if (!rc)
        rc = watch(d, 1, on_end, SIGINT, err);
    return rc ? rc : watch(d, 2, on_reload, SIGHUP, err);
}
