/* SPDX-License-Identifier: Apache-2.0
 *
 * Interruption. A thread waits for SIGINT, SIGTERM and SIGHUP: the first one sets a flag that long work looks at, the
 * second one ends the process (the journal knows what was done); but SIGINT never does while a conversation goes on,
 * where it only means the line or command at hand.
 */
#ifndef EBB_FRONT_SIGNALS_H
#define EBB_FRONT_SIGNALS_H

#include <stdatomic.h>

#include "base/err.h"

struct ebb_signals {
    atomic_bool interrupted; /* whoever deals with it sets it back */
    atomic_bool ends;        /* SIGTERM or SIGHUP came */
    atomic_bool converses;   /* a conversation goes on */
};
/* Start watching, before any other thread is made; SIGPIPE is ignored from here on. signals must live as long as the
 * process. EBB_EINTERNAL. */
int ebb_signals_watch(struct ebb_signals *signals, struct ebb_err *err);

#endif
