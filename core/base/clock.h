/* SPDX-License-Identifier: Apache-2.0
 *
 * Time and log as the host gives them. Library code never reads a clock or prints by itself: it asks these. A fake
 * clock is a struct with its own function. Instants are milliseconds since 1970-01-01T00:00:00Z (POSIX time).
 */
#ifndef EBB_BASE_CLOCK_H
#define EBB_BASE_CLOCK_H

#include <stdint.h>

struct ebb_clock {
    int64_t (*now_ms)(void *data);
    void *data;
};

/* The system's wall clock. */
struct ebb_clock ebb_clock_system(void);
/* A clock that stands still at the given instant. */
struct ebb_clock ebb_clock_fixed(int64_t *now_ms);
int64_t ebb_clock_now(const struct ebb_clock *clock);

/* Milliseconds of the system's monotonic clock, for spans of time only. */
int64_t ebb_clock_elapsed_ms(void);

enum ebb_log_level { EBB_LOG_ERROR, EBB_LOG_WARN, EBB_LOG_INFO, EBB_LOG_DEBUG };

/* Where messages go. `message` is one line without line feed, already escaped for a terminal. write may be NULL:
 * silence. */
struct ebb_log {
    void (*write)(void *data, enum ebb_log_level level, const char *message);
    void *data;
    enum ebb_log_level level; /* messages above it are not made */
};

/* Give one message, formatted and escaped, to the log; nothing when its level is above the log's. Text over 2 KiB is
 * cut. */
void ebb_log_say(const struct ebb_log *log, enum ebb_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
