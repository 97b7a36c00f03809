/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of the doctor. Each looks at one matter and tells what it finds.
 */
#ifndef EBB_SERVICE_DOCTOR_PRIV_H
#define EBB_SERVICE_DOCTOR_PRIV_H

#include "service/doctor.h"
#include "service/generation.h"

struct ebb__doctor {
    const struct ebb_doctor_options *o;
    struct ebb_config *config;         /* NULL: it can't be read */
    struct ebb_generation *generation; /* NULL: it can't be loaded */
    struct ebb_strs secrets;
    struct ebb_buf state; /* folder, "" unknown */
    int64_t tables;       /* that catalogs know */
    enum ebb_doctor_level worst;
    bool no_memory;
};

/* Tell one line. hint "" none. */
void ebb__doctor_say(struct ebb__doctor *d, enum ebb_doctor_level level, const char *check, const char *hint,
                     const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Tell an error with its own hint. */
void ebb__doctor_error(struct ebb__doctor *d, enum ebb_doctor_level level, const char *check,
                       const struct ebb_err *why);
/* Whether any binding lets runs act by themselves. */
bool ebb__doctor_is_enforcing(const struct ebb__doctor *d);
/* How far the clock of a folder's file system is ahead of ours; false when it can't be told without leaving a trace. */
bool ebb__doctor_clock_ahead(struct ebb__doctor *d, const char *folder, int64_t *ahead_ms);
/* Tell of a difference between the clocks, if there is any to speak of. */
void ebb__doctor_clock_of(struct ebb__doctor *d, const char *folder);

/* Look at the bucket that holds a table's folder, reading only. */
void ebb__doctor_bucket(struct ebb__doctor *d, struct ebb_storage *storage, const char *uri);

void ebb__doctor_policies(struct ebb__doctor *d);
void ebb__doctor_catalogs(struct ebb__doctor *d);
void ebb__doctor_engines(struct ebb__doctor *d);
void ebb__doctor_state(struct ebb__doctor *d);
void ebb__doctor_serve(struct ebb__doctor *d);
void ebb__doctor_system(struct ebb__doctor *d);

#endif
