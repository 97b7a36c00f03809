/* SPDX-License-Identifier: Apache-2.0
 *
 * The lock of a table's location: the file `.ebb-quarantine/lock`, which apply, restore and purge hold. JSON with host,
 * boot, process, run, epoch and expiry; made with O_EXCL. It is a lease: it lives 15 minutes of the storage's clock, is
 * renewed when half of that is gone, and is checked before each batch. Taken over only past its expiry, or when its
 * process is proved to be gone on this very host. Not thread safe.
 */
#ifndef EBB_TABLE_RUN_LOCK_H
#define EBB_TABLE_RUN_LOCK_H

#include "io/place.h"

#define EBB_LOCK_LIFE_MS ((int64_t)15 * 60 * 1000)
#define EBB_LOCK_MAX_SKEW_MS ((int64_t)5 * 60 * 1000)

struct ebb_run_lock {
    struct ebb_place *place; /* NULL: not held */
    struct ebb_clock clock;
    char run[40];
    int64_t epoch;        /* greater than that of every lock before */
    int64_t expires_ms;   /* by the storage's clock */
    int64_t ahead_ms;     /* the storage's clock minus ours */
    char old_holder[256]; /* whom it was taken over from: "run R of process P on HOST"; "": it was free */
};

/* Take the lock of the location that `place` (opened for writing, borrowed until release) is. Makes the quarantine
 * folder. EBB_ELOCKED: someone holds it (who, until when); EBB_ECLOCK: the storage's clock is more than five minutes
 * from ours. */
int ebb_run_lock_take(struct ebb_place *place, const struct ebb_clock *clock, const char *run, struct ebb_run_lock *out,
                      struct ebb_err *err);
/* Is it still ours (run and epoch in the file, not expired)? Renews when half of its life is gone. EBB_ELOCKED when
 * lost: stop at once. */
int ebb_run_lock_check(struct ebb_run_lock *lock, struct ebb_err *err);
/* Remove it if it is still ours. Safe when it is not held. */
void ebb_run_lock_release(struct ebb_run_lock *lock);

#endif
