/* SPDX-License-Identifier: Apache-2.0
 *
 * The schema of guard.
 */
#include <stdio.h>

#include "engine/policy_priv.h"

#define MANY 1e15

static const struct ebb__rule GUARD[] = {
    {"overlap", EBB__TYPE_TEXT, false, NULL, "skip|queue_one|cancel_running", 0, 0},
    {"min_interval", EBB__TYPE_DURATION, false, "duration", NULL, 0, 0},
    {"timeout", EBB__TYPE_DURATION, false, "duration", NULL, 0, 0},
    {"quiet", EBB__TYPE_LIST, false, NULL, NULL, 0, 0},
    {"deletes", EBB__TYPE_MAP, false, NULL, NULL, 0, 0},
    {"rewrites", EBB__TYPE_MAP, false, NULL, NULL, 0, 0},
    {"fleet", EBB__TYPE_MAP, false, NULL, NULL, 0, 0},
    {"backoff", EBB__TYPE_MAP, false, NULL, NULL, 0, 0},
    {"ignore_own", EBB__TYPE_BOOL, false, NULL, NULL, 0, 0},
    {"stop_in_quiet", EBB__TYPE_BOOL, false, NULL, NULL, 0, 0},
    {"pause_after", EBB__TYPE_INTEGER, false, "integer", NULL, 1, MANY},
};
static const struct ebb__rule QUIET[] = {
    {"days", EBB__TYPE_TEXT, false, NULL, NULL, 0, 0},    {"from", EBB__TYPE_TEXT, true, NULL, NULL, 0, 0},
    {"to", EBB__TYPE_TEXT, true, NULL, NULL, 0, 0},       {"tz", EBB__TYPE_TEXT, false, "timezone,string", NULL, 0, 0},
    {"only_if", EBB__TYPE_TEXT, false, NULL, NULL, 0, 0},
};
static const struct ebb__rule LIMITS[] = {
    {"max_files", EBB__TYPE_INTEGER, false, "integer", NULL, 1, MANY},
    {"max_bytes", EBB__TYPE_SIZE, false, "bytes", NULL, 0, 0},
    {"on_exceed", EBB__TYPE_TEXT, false, NULL, "hold|trim", 0, 0},
    {"max_share", EBB__TYPE_NUMBER, false, "number", NULL, 0, 0}, /* deletes only: stays last */
};
static const struct ebb__rule FLEET[] = {
    {"slot", EBB__TYPE_TEXT, true, NULL, NULL, 0, 0},
    {"max_running", EBB__TYPE_INTEGER, true, "integer", NULL, 1, MANY},
};
static const struct ebb__rule BACKOFF[] = {
    {"after_failures", EBB__TYPE_INTEGER, false, NULL, NULL, 1, 1000},
    {"first", EBB__TYPE_DURATION, true, "duration", NULL, 0, 0},
    {"factor", EBB__TYPE_NUMBER, false, NULL, NULL, 1, 10},
    {"max", EBB__TYPE_DURATION, false, "duration", NULL, 0, 0},
};
#define N(rules) (sizeof(rules) / sizeof *(rules))

const struct ebb__rule_set EBB__GUARD_RULES[] = {
    {"policy.guard", GUARD, N(GUARD)},
    {"policy.guard.quiet[]", QUIET, N(QUIET)},
    {"policy.guard.deletes", LIMITS, N(LIMITS)},
    {"policy.guard.rewrites", LIMITS, N(LIMITS) - 1},
    {"policy.guard.fleet", FLEET, N(FLEET)},
    {"policy.guard.backoff", BACKOFF, N(BACKOFF)},
    {NULL, NULL, 0},
};

static int day_of(const char *name)
{
    static const char NAMES[] = "SunMonTueWedThuFriSat";

    for (int i = 0; i < 7; i++)
        if (!strncmp(name, NAMES + 3 * i, 3))
            return i;
    return -1;
}

bool ebb__days_parse(const char *text, unsigned *out)
{
    *out = 0;
    for (const char *p = text;; p++) {
        int first = day_of(p), last = first;

        if (first < 0)
            return false;
        p += 3;
        if (p[0] == '.' && p[1] == '.') {
            last = day_of(p + 2);
            if (last < 0)
                return false;
            p += 5;
        }
        for (int day = first;; day = (day + 1) % 7) {
            *out |= 1u << day;
            if (day == last)
                break;
        }
        if (!*p)
            return true;
        if (*p != ',')
            return false;
    }
}

bool ebb__minute_parse(const char *text, int *out)
{
    static const char DIGITS[] = "0123456789";

    if (strlen(text) != 5 || text[2] != ':' || strspn(text, DIGITS) != 2 || strspn(text + 3, DIGITS) != 2)
        return false;
    *out = ((text[0] - '0') * 10 + text[1] - '0') * 60 + (text[3] - '0') * 10 + text[4] - '0';
    return text[3] <= '5' && *out <= 24 * 60;
}

static void check_window(struct ebb__checker *c, const char *path, const struct ebb_value *q)
{
    const char *from = ebb_value_text_of(q, "from"), *to = ebb_value_text_of(q, "to");
    const char *days = ebb_value_text_of(q, "days"), *zone = ebb_value_text_of(q, "tz");
    int first = -1, last = -1;
    struct ebb_tz *tz = NULL;
    struct ebb_err err;
    unsigned bits;
    char place[EBB__PATH_MAX];

    if (days && !ebb__days_parse(days, &bits))
        ebb__checker_fail(c, ebb__path_join(place, path, "days"), 0, "write \"Mon..Fri\" or \"Sat,Sun\"",
                          "days \"%.40s\" is not understood", days);
    if (from && (!ebb__minute_parse(from, &first) || first == 1440))
        ebb__checker_fail(c, ebb__path_join(place, path, "from"), 0, "write \"07:30\"",
                          "from \"%.20s\" is no time of day", from);
    if (to && !ebb__minute_parse(to, &last))
        ebb__checker_fail(c, ebb__path_join(place, path, "to"), 0, "write \"20:00\"", "to \"%.20s\" is no time of day",
                          to);
    if (from && to && first >= 0 && first == last && first != 0)
        ebb__checker_fail(c, path, 0, "00:00 to 00:00 is the whole day", "has no length");
    if (zone && ebb_tz_load(zone, &tz, &err))
        ebb__checker_fail(c, ebb__path_join(place, path, "tz"), 0, err.hint[0] ? err.hint : NULL, "%s", err.message);
    ebb_tz_free(tz);
}

static void check_quiet(struct ebb__checker *c, const struct ebb_value *list)
{
    char path[40];
    size_t count = ebb_value_get_count(list);

    if (ebb_value_get_kind(list) != EBB_VALUE_LIST)
        return;
    if (count > EBB_POLICY_QUIET_MAX)
        ebb__checker_fail(c, "guard.quiet", 0, NULL, "more than %d", EBB_POLICY_QUIET_MAX);
    for (size_t i = 0; i < count; i++) {
        const struct ebb_value *q = ebb_value_get_at(list, i);

        snprintf(path, sizeof path, "guard.quiet[%zu]", i + 1);
        ebb__schema_check(c, path, 0, q, QUIET, N(QUIET));
        check_window(c, path, q);
    }
}

static void check_share(struct ebb__checker *c, const struct ebb_value *deletes)
{
    const struct ebb_value *share = ebb_value_get(deletes, "max_share");
    double n = ebb_value_get_float(share, 1);

    if (!(n > 0 && n <= 1))
        ebb__checker_fail(c, "guard.deletes.max_share", 0, NULL, "not above 0 and at most 1");
}

static void check_part(struct ebb__checker *c, const struct ebb_value *guard, const char *key, const char *path,
                       const struct ebb__rule *rules, size_t count)
{
    const struct ebb_value *part = ebb_value_get(guard, key);

    if (ebb_value_get_kind(part) == EBB_VALUE_MAP)
        ebb__schema_check(c, path, 0, part, rules, count);
}

void ebb__guard_check(struct ebb__checker *c, const struct ebb_value *guard)
{
    ebb__schema_check(c, "guard", 0, guard, GUARD, N(GUARD));
    check_quiet(c, ebb_value_get(guard, "quiet"));
    check_part(c, guard, "deletes", "guard.deletes", LIMITS, N(LIMITS));
    check_share(c, ebb_value_get(guard, "deletes"));
    check_part(c, guard, "rewrites", "guard.rewrites", LIMITS, N(LIMITS) - 1);
    check_part(c, guard, "fleet", "guard.fleet", FLEET, N(FLEET));
    check_part(c, guard, "backoff", "guard.backoff", BACKOFF, N(BACKOFF));
}

int ebb_guard_check_site(const char *where, const struct ebb_value *guard, struct ebb_err *err)
{
    struct ebb__checker c = {.file = where, .code = "config", .error = EBB_ECONFIG};

    if (ebb_value_get_kind(guard) != EBB_VALUE_MAP)
        return ebb_err_set(err, EBB_ECONFIG, "%s: guard: a table with named keys is wanted", where);
    ebb__guard_check(&c, guard);
    if (c.has_failed && err)
        *err = c.first;
    return c.has_failed ? -(int)EBB_ECONFIG : 0;
}
