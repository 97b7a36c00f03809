/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/text.h"

static int64_t system_now(void *data)
{
    struct timespec t;

    (void)data;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int64_t fixed_now(void *data)
{
    return *(int64_t *)data;
}

struct ebb_clock ebb_clock_system(void)
{
    struct ebb_clock clock = {system_now, NULL};

    return clock;
}

struct ebb_clock ebb_clock_fixed(int64_t *now_ms)
{
    struct ebb_clock clock = {fixed_now, now_ms};

    return clock;
}

int64_t ebb_clock_now(const struct ebb_clock *clock)
{
    return clock->now_ms(clock->data);
}

int64_t ebb_clock_elapsed_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void ebb_log_say(const struct ebb_log *log, enum ebb_log_level level, const char *format, ...)
{
    char line[2048];
    struct ebb_buf escaped;
    va_list args;

    if (!log || !log->write || level > log->level)
        return;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    ebb_buf_init(&escaped, 8192);
    ebb_text_escape(&escaped, line, strlen(line));
    log->write(log->data, level, ebb_buf_cstr(&escaped));
    ebb_buf_fini(&escaped);
}
