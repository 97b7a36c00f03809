/* SPDX-License-Identifier: Apache-2.0 */
#include "base/calendar_priv.h"

/* How the values of a field are written. */
struct style {
    int min, max;
    int digits;
    const char *range;
    const char *const *names; /* instead of numbers */
    bool has_star;            /* "*" may stand for all values */
};

static void put_value(struct ebb_buf *out, const struct style *s, int value)
{
    if (s->names)
        ebb_buf_puts(out, s->names[value - s->min]);
    else
        ebb_buf_printf(out, "%0*d", s->digits, value);
}

static bool has(uint64_t mask, int value)
{
    return mask >> value & 1;
}

static uint64_t mask_of(int from, int to, int step)
{
    uint64_t mask = 0;

    for (int v = from; v <= to; v += step)
        mask |= UINT64_C(1) << v;
    return mask;
}

/* Runs of three and more as ranges, all else one by one. */
static void put_runs(struct ebb_buf *out, const struct style *s, uint64_t mask)
{
    const char *comma = "";

    for (int v = s->min; v <= s->max; v++) {
        int last = v;

        if (!has(mask, v))
            continue;
        while (last < s->max && has(mask, last + 1))
            last++;
        ebb_buf_puts(out, comma);
        comma = ",";
        put_value(out, s, v);
        if (last < v + 2)
            continue;
        ebb_buf_puts(out, s->range);
        put_value(out, s, last);
        v = last;
    }
}

/* The step of three or more values at equal distances over one, else 0. */
static int find_step(uint64_t mask, int *first, int *last)
{
    int step;

    *first = __builtin_ctzll(mask);
    *last = 63 - __builtin_clzll(mask);
    mask &= mask - 1;
    if (!mask)
        return 0;
    step = __builtin_ctzll(mask) - *first;
    if (step < 2 || *first + step >= *last || mask_of(*first, *last, step) >> *first != (mask >> *first | 1))
        return 0;
    return step;
}

static void put_mask(struct ebb_buf *out, const struct style *s, uint64_t mask)
{
    int first, last, step = find_step(mask, &first, &last);
    bool to_end = last + step > s->max;

    if (s->has_star && mask == mask_of(s->min, s->max, 1)) {
        ebb_buf_putc(out, '*');
    } else if (!step) {
        put_runs(out, s, mask);
    } else if (s->has_star && first == s->min && to_end && s->range[0] == '-') {
        ebb_buf_printf(out, "*/%d", step);
    } else {
        put_value(out, s, first);
        if (!to_end || s->range[0] == '-') {
            ebb_buf_puts(out, s->range);
            put_value(out, s, last);
        }
        ebb_buf_printf(out, "/%d", step);
    }
}

/* A field that began with "*" goes on to: the densest such step that it holds, then the rest. */
static void put_starred(struct ebb_buf *out, const struct style *s, uint64_t mask)
{
    int step = 1;

    while (mask_of(s->min, s->max, step) & ~mask)
        step++;
    ebb_buf_putc(out, '*');
    if (step > 1)
        ebb_buf_printf(out, "/%d", step);
    mask &= ~mask_of(s->min, s->max, step);
    if (!mask)
        return;
    ebb_buf_putc(out, ',');
    put_runs(out, s, mask);
}

static void format_weekdays(const struct ebb_calendar *c, struct ebb_buf *out)
{
    static const char *const NAMES[] = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
    static const struct style STYLE = {0, 6, 0, "..", NAMES, false};
    uint64_t monday_first = (unsigned)c->weekdays >> 1 | ((unsigned)c->weekdays << 6 & 0x40);

    if (c->weekdays == EBB_WEEKDAYS_ALL && !c->last_weekday)
        return;
    ebb_buf_puts(out, c->last_weekday ? "last " : "");
    put_runs(out, &STYLE, monday_first);
    ebb_buf_putc(out, ' ');
}

static void format_years(const struct ebb_calendar *c, struct ebb_buf *out)
{
    if (!c->year_count)
        ebb_buf_putc(out, '*');
    for (int i = 0; i < c->year_count; i++) {
        const struct ebb_calendar_years *y = &c->years[i];

        ebb_buf_printf(out, "%s%d", i ? "," : "", y->from);
        if (y->to != y->from)
            ebb_buf_printf(out, "..%d", y->to);
        if (y->to != y->from && y->step > 1)
            ebb_buf_printf(out, "/%d", y->step);
    }
}

static void format_date(const struct ebb_calendar *c, struct ebb_buf *out)
{
    static const struct style MONTH = {1, 12, 2, "..", NULL, true}, DAY = {1, 31, 2, "..", NULL, true};

    if (!c->year_count && c->months == EBB_MONTHS_ALL && c->days == EBB_DAYS_ALL)
        return;
    format_years(c, out);
    ebb_buf_putc(out, '-');
    put_mask(out, &MONTH, c->months);
    ebb_buf_putc(out, '-');
    if (c->days)
        put_mask(out, &DAY, c->days);
    if (c->last_day)
        ebb_buf_puts(out, c->days ? ",last" : "last");
    ebb_buf_putc(out, ' ');
}

static void format_time(const struct ebb_calendar *c, struct ebb_buf *out)
{
    static const struct style HOUR = {0, 23, 2, "..", NULL, false}, MINUTE = {0, 59, 2, "..", NULL, true};

    if (c->any_hour)
        ebb_buf_putc(out, '*');
    else
        put_mask(out, &HOUR, c->hours);
    ebb_buf_putc(out, ':');
    put_mask(out, &MINUTE, c->minutes);
}

static void format_cron(const struct ebb_calendar *c, struct ebb_buf *out)
{
    static const struct style MINUTE = {0, 59, 1, "-", NULL, true}, MONTH = {1, 12, 1, "-", NULL, true};
    static const struct style HOUR = {0, 23, 1, "-", NULL, false}, DAY = {1, 31, 1, "-", NULL, false};
    static const struct style WEEKDAY = {0, 6, 1, "-", NULL, false};

    put_mask(out, &MINUTE, c->minutes);
    ebb_buf_putc(out, ' ');
    if (c->any_hour)
        ebb_buf_putc(out, '*');
    else
        put_mask(out, &HOUR, c->hours);
    ebb_buf_putc(out, ' ');
    (c->any_day ? put_starred : put_mask)(out, &DAY, c->days);
    ebb_buf_putc(out, ' ');
    put_mask(out, &MONTH, c->months);
    ebb_buf_putc(out, ' ');
    (c->any_weekday ? put_starred : put_mask)(out, &WEEKDAY, c->weekdays);
}

void ebb_calendar_format(const struct ebb_calendar *calendar, struct ebb_buf *out)
{
    switch (calendar->kind) {
    case EBB_CALENDAR_EXPRESSION:
        format_weekdays(calendar, out);
        format_date(calendar, out);
        format_time(calendar, out);
        break;
    case EBB_CALENDAR_CRON:
        format_cron(calendar, out);
        break;
    default:
        ebb_buf_puts(out, "every ");
        ebb_duration_format(out, calendar->step_ms);
        ebb_buf_puts(out, calendar->kind == EBB_CALENDAR_EPOCH ? " from epoch" : " from start_of_day");
        break;
    }
}
