/* SPDX-License-Identifier: Apache-2.0
 *
 * The warehouse of `ebb demo`: copies the installed tables into a folder, with times relative to now, and writes a
 * configuration for them.
 */
#ifndef EBB_FRONT_DEMO_WAREHOUSE_H
#define EBB_FRONT_DEMO_WAREHOUSE_H

#include "base/buf.h"

/* from: folder with wh/, young.txt and catalog.db; policies: folder with the shipped policy. to: an absolute path that
 * does not exist yet or is empty. Files listed in young.txt get now_ms as their time, all others ten days before.
 * EBB_EUSAGE when `to` holds anything. */
int ebb_demo_warehouse_make(const char *from, const char *policies, const char *to, int64_t now_ms,
                            struct ebb_err *err);
/* Compare every file below to/wh with the original: content and time. *same counts those that are equal, *other those
 * that are missing or differ. */
int ebb_demo_warehouse_compare(const char *from, const char *to, int64_t now_ms, int64_t *same, int64_t *other,
                               struct ebb_err *err);

#endif
