/* SPDX-License-Identifier: Apache-2.0
 *
 * A look at the store from outside, for diagnosis: nothing is made, migrated or locked, so it may be done beside a
 * daemon, and with a store that this program can't open. Not for a process that has the store open itself: closing the
 * file would drop SQLite's locks.
 */
#ifndef EBB_IO_STORE_LOOK_H
#define EBB_IO_STORE_LOOK_H

#include "io/store.h"

struct ebb_store_look {
    bool exists;                   /* there is a file ebb.db; all else is 0 when not */
    int64_t schema, newest_schema; /* its version, and the newest that this program knows */
    int64_t size_bytes, wal_bytes;
    int64_t free_bytes;         /* within the file, for new records */
    int64_t records, oldest_ms; /* plans, runs and decisions; creation of the oldest, 0 none */
    bool is_led;                /* a daemon holds the state folder */
    long leader_pid;            /* 0 unknown */
};
/* Look at the state folder. check: PRAGMA integrity_check too (reads all of it). EBB_ESTORE_CORRUPT, EBB_ESTORE,
 * EBB_EPERMISSION, EBB_EIO; what was found until then stands in out. */
int ebb_store_look(const char *state_dir, bool check, struct ebb_store_look *out, struct ebb_err *err);

#endif
