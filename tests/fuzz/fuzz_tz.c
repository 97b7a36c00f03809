/* SPDX-License-Identifier: Apache-2.0
 *
 * Zone files: whatever is read, instants and wall times must agree, and a trigger must move forward.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/calendar.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
    if (!good)
        abort();
}

static void check_instant(const struct ebb_tz *tz, int64_t utc_s)
{
    int64_t wall_s = utc_s + ebb_tz_offset(tz, utc_s), at[2];
    int count = ebb_tz_instants(tz, wall_s, at);

    check(count >= 1 && count <= 2);
    for (int i = 0; i < count; i++)
        check(at[i] + ebb_tz_offset(tz, at[i]) == wall_s);
    check(count < 2 || at[0] < at[1]);
    (void)ebb_tz_instants(tz, utc_s, at);
}

static void check_fires(struct ebb_calendar *c)
{
    int64_t ms = INT64_C(1700000000000), before_ms = ms, next, last;

    if (!c)
        return;
    for (int i = 0; i < 20 && ebb_calendar_next(c, ms, &next); i++) {
        check(next > ms);
        check(ebb_calendar_last(c, next, &last) && last == next);
        ms = next;
        check(ebb_calendar_count(c, before_ms, ms) == i + 1);
    }
    ebb_calendar_free(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ebb_err err;
    struct ebb_tz *tz = NULL;
    struct ebb_calendar *c = NULL;

    if (ebb_tz_parse("Fuzz/Zone", data, size, &tz, &err))
        return 0;
    for (int64_t utc_s = -INT64_C(5000000000); utc_s < INT64_C(20000000000); utc_s += INT64_C(98765432))
        check_instant(tz, utc_s);
    check_instant(tz, -(INT64_C(1) << 47));
    check_instant(tz, INT64_C(1) << 47);
    (void)ebb_calendar_parse("02:30", tz, &c, NULL);
    check_fires(c);
    (void)ebb_calendar_parse("*:15", tz, &c, NULL);
    check_fires(c);
    ebb_tz_free(tz);
    return 0;
}
