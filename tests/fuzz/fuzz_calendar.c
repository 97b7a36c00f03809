/* SPDX-License-Identifier: Apache-2.0
 *
 * Calendar expressions and cron: what is accepted keeps its meaning in its normal form, and fires in order.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/calendar.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef int (*parse_cb)(const char *, const struct ebb_tz *, struct ebb_calendar **, struct ebb_err *);

static void check(bool good)
{
    if (!good)
        abort();
}

static void compare(const struct ebb_calendar *a, const struct ebb_calendar *b, int64_t start_ms)
{
    int64_t ms = start_ms, next, other, last;

    for (int i = 0; i < 10; i++) {
        bool more = ebb_calendar_next(a, ms, &next);

        check(more == ebb_calendar_next(b, ms, &other) && next == other);
        if (!more)
            break;
        check(next > ms);
        check(ebb_calendar_last(a, next, &last) && last == next);
        check(!i || (ebb_calendar_last(a, next - 1, &last) && last == ms));
        ms = next;
        check(ebb_calendar_count(a, start_ms, ms) == i + 1);
    }
}

static void fuzz(parse_cb parse, const char *text, const struct ebb_tz *tz)
{
    struct ebb_err err;
    struct ebb_buf normal;
    struct ebb_calendar *c = NULL, *again = NULL;

    ebb_buf_init(&normal, 4096);
    if (!parse(text, tz, &c, &err)) {
        ebb_calendar_format(c, &normal);
        check(!normal.bad && !parse(ebb_buf_cstr(&normal), tz, &again, &err));
        compare(c, again, INT64_C(1774600000000)); /* 2026-03-27 */
        compare(c, again, INT64_C(1792800000000)); /* 2026-10-23 */
    }
    ebb_calendar_free(c);
    ebb_calendar_free(again);
    ebb_buf_fini(&normal);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ebb_tz *tz = NULL;
    char *text = malloc(size + 1);

    if (!text || ebb_tz_load("Europe/Berlin", &tz, NULL))
        goto out;
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    fuzz(ebb_calendar_parse, text, tz);
    fuzz(ebb_cron_parse, text, tz);
out:
    ebb_tz_free(tz);
    free(text);
    return 0;
}
