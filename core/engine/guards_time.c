/* SPDX-License-Identifier: Apache-2.0
 *
 * Quiet windows and blackouts: whether an instant is one of theirs, and the first that is not; how long an interval is.
 */
#include "engine/eval_priv.h"
#include "engine/policy_priv.h"

#include "base/time.h"

#define MINUTE_MS ((int64_t)60000)
#define DAY_MS (1440 * MINUTE_MS)
#define SEARCH_MS (15 * DAY_MS)
#define FAR_MS (INT64_MAX / 4) /* beyond all sense; sums stay in range */

/* Local wall time: date, ms of the day. */
static int64_t wall_ms(const struct ebb_tz *tz, int64_t at_ms, struct ebb_civil *date)
{
    int64_t ms = (at_ms % 1000 + 1000) % 1000;

    ebb_tz_civil(tz, (at_ms - ms) / 1000, date);
    return ((int64_t)date->hour * 3600 + date->minute * 60 + date->second) * 1000 + ms;
}

/* How long the wall clock is still in the window; 0: it is not. */
static int64_t left_in_window(const struct ebb_quiet *q, int64_t now, int weekday)
{
    int64_t from = q->from_minute * MINUTE_MS, to = q->to_minute * MINUTE_MS;
    bool starts_today = q->days >> weekday & 1, started_yesterday = q->days >> ((weekday + 6) % 7) & 1;

    if (from == 0 && to == 0)
        return starts_today ? DAY_MS - now : 0;
    if (from < to)
        return starts_today && now >= from && now < to ? to - now : 0;
    if (starts_today && now >= from)
        return DAY_MS - now + to;
    return started_yesterday && now < to ? to - now : 0;
}

/* Where the wall clock is `left` later, or, when it is changed before, the next full minute: clocks change at those. */
static int64_t jump(const struct ebb_tz *tz, int64_t at_ms, int64_t now, int64_t left)
{
    int64_t at_s = (at_ms - (at_ms % 1000 + 1000) % 1000) / 1000;

    if (ebb_tz_offset(tz, at_s) == ebb_tz_offset(tz, at_s + (left + 999) / 1000))
        return at_ms + left;
    return at_ms + MINUTE_MS - now % MINUTE_MS;
}

/* The furthest that windows which hold at_ms reach in one step; at_ms when none does. */
static int64_t quiet_until(const struct ebb_guard *guard, const struct ebb_value *flags, int64_t at_ms)
{
    int64_t until = at_ms;

    for (size_t i = 0; i < guard->quiet_count; i++) {
        const struct ebb_quiet *q = &guard->quiet[i];
        struct ebb_civil date;
        int64_t now, left, end;

        if (q->only_if && !ebb_value_bool_of(flags, q->only_if, false))
            continue;
        now = wall_ms(q->tz, at_ms, &date);
        left = left_in_window(q, now, date.weekday);
        end = left > 0 ? jump(q->tz, at_ms, now, left) : at_ms;
        if (end > until)
            until = end;
    }
    return until;
}

bool ebb_guard_is_quiet(const struct ebb_guard *guard, const struct ebb_value *flags, int64_t at_ms)
{
    return quiet_until(guard, flags, at_ms) > at_ms;
}

/* The first instant of the date after the blackout that holds at_ms; at_ms when none does. */
static int64_t blackout_until(const struct ebb_guard *guard, int64_t at_ms)
{
    struct ebb_civil date;
    int64_t day, start_s[2];

    if (!guard->blackout_count)
        return at_ms;
    wall_ms(guard->blackout_tz, at_ms, &date);
    day = ebb_civil_days(date.year, date.month, date.day);
    for (size_t i = 0; i < guard->blackout_count; i++) {
        const struct ebb_blackout *b = &guard->blackouts[i];

        if (day < b->first_day || day > b->last_day)
            continue;
        ebb_tz_instants(guard->blackout_tz, (b->last_day + 1) * 86400, start_s);
        return start_s[0] * 1000 > at_ms ? start_s[0] * 1000 : at_ms + MINUTE_MS;
    }
    return at_ms;
}

bool ebb_guard_is_blackout(const struct ebb_guard *guard, int64_t at_ms)
{
    return blackout_until(guard, at_ms) > at_ms;
}

bool ebb_guard_wait(const struct ebb_guard *guard, const struct ebb_value *flags, int64_t at_ms, int64_t *out_ms,
                    unsigned *by)
{
    int64_t at = at_ms, limit;

    *by = 0;
    if (at_ms > FAR_MS || at_ms < -FAR_MS)
        return false;
    limit = at_ms + SEARCH_MS;
    while (at <= limit) {
        int64_t quiet = quiet_until(guard, flags, at), blackout = blackout_until(guard, at);

        *by |= (quiet > at ? EBB_HELD_QUIET : 0) | (blackout > at ? EBB_HELD_BLACKOUT : 0);
        if (quiet == at && blackout == at) {
            *out_ms = at;
            return true;
        }
        if (blackout > at)
            limit += blackout - at;
        at = blackout > quiet ? blackout : quiet;
    }
    return false;
}

bool ebb_guard_next_free(const struct ebb_guard *guard, const struct ebb_value *flags, int64_t at_ms, int64_t *out_ms)
{
    unsigned by;

    return ebb_guard_wait(guard, flags, at_ms, out_ms, &by);
}

/* ---- intervals ---- */

void ebb_guard_interval(const struct ebb_guard *guard, const struct ebb_value *facts, struct ebb_interval *out)
{
    size_t first;

    *out = (struct ebb_interval){.ms = guard->min_interval_ms};
    if (out->ms <= 0)
        return;
    out->runs = ebb__runs_idle(facts, &first);
    for (int i = EBB_GUARD_IDLE_FROM; i <= out->runs; i++, out->doubled++)
        out->ms = out->ms > INT64_MAX / 2 ? INT64_MAX : 2 * out->ms;
}

/* ---- reading blackouts ---- */

static bool parse_digits(const char *p, int n, int *out)
{
    *out = 0;
    for (int i = 0; i < n; i++) {
        if (p[i] < '0' || p[i] > '9')
            return false;
        *out = *out * 10 + (p[i] - '0');
    }
    return true;
}

/* "2026-12-24" */
static bool parse_date(const char *p, int64_t *day)
{
    int year, month, date;

    if (!parse_digits(p, 4, &year) || p[4] != '-' || !parse_digits(p + 5, 2, &month) || p[7] != '-' ||
        !parse_digits(p + 8, 2, &date))
        return false;
    if (year < 1970 || date < 1 || date > ebb_civil_month_length(year, month))
        return false;
    *day = ebb_civil_days(year, month, date);
    return true;
}

static bool parse_blackout(const char *text, struct ebb_blackout *out)
{
    if (!parse_date(text, &out->first_day))
        return false;
    out->last_day = out->first_day;
    if (!text[10])
        return true;
    return text[10] == '.' && text[11] == '.' && parse_date(text + 12, &out->last_day) && !text[22] &&
           out->last_day >= out->first_day;
}

int ebb_blackouts_parse(const struct ebb_value *list, struct ebb_blackout *out, size_t *count, struct ebb_err *err)
{
    size_t n = ebb_value_get_count(list);
    int rc;

    *count = 0;
    if (list && ebb_value_get_kind(list) != EBB_VALUE_LIST)
        return ebb_err_set(err, EBB_ECONFIG, "blackouts: a list of dates, not empty, is wanted");
    if (n > EBB_POLICY_BLACKOUTS_MAX)
        return ebb_err_set(err, EBB_ECONFIG, "blackouts: more than %d", EBB_POLICY_BLACKOUTS_MAX);
    for (size_t i = 0; i < n; i++) {
        const char *text = ebb_value_get_str(ebb_value_get_at(list, i));

        if (text && strlen(text) == ebb_value_get_bytes(ebb_value_get_at(list, i)).n && parse_blackout(text, &out[i]))
            continue;
        rc = ebb_err_set(err, EBB_ECONFIG, "blackouts[%zu]: \"%.40s\" is neither a date nor a range of dates", i + 1,
                         text ? text : "");
        ebb_err_hint(err, "write \"2026-12-24\" or \"2026-12-24..2027-01-02\"");
        return rc;
    }
    *count = n;
    return 0;
}
