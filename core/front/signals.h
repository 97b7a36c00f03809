/* SPDX-License-Identifier: Apache-2.0
 *
 * Interruption. A thread waits for SIGINT, SIGTERM and SIGHUP: the first one sets a flag that long work looks at, the
 * second one ends the process (the journal knows what was done).
 */
#ifndef EBB_FRONT_SIGNALS_H
#define EBB_FRONT_SIGNALS_H

#include <stdatomic.h>

#include "base/err.h"

/* Start watching, before any other thread is made; SIGPIPE is ignored from here on. The flag must live as long as the
 * process. EBB_EINTERNAL. */
int ebb_signals_watch(atomic_bool *interrupted, struct ebb_err *err);

#endif
