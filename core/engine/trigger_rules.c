/* SPDX-License-Identifier: Apache-2.0
 *
 * The schema of triggers.
 */
#include <stdio.h>

#include "engine/header_priv.h"
#include "engine/policy_priv.h"

#define ZONE                                                                                                           \
    {                                                                                                                  \
        "tz", EBB__TYPE_TEXT, false, "timezone,string", NULL, 0, 0                                                     \
    }
#define SPREAD                                                                                                         \
    {                                                                                                                  \
        "spread", EBB__TYPE_DURATION, false, "duration", NULL, 0, 0                                                    \
    }
#define CATCH_UP                                                                                                       \
    {                                                                                                                  \
        "catch_up", EBB__TYPE_TEXT, false, NULL, "one|none|all", 0, 0                                                  \
    }
#define CATCH_UP_MAX                                                                                                   \
    {                                                                                                                  \
        "max", EBB__TYPE_INTEGER, false, NULL, NULL, 1, 1000                                                           \
    }
#define LATE_BY                                                                                                        \
    {                                                                                                                  \
        "late_by", EBB__TYPE_DURATION, false, "duration", NULL, 0, 0                                                   \
    }

static const struct ebb__rule CALENDAR[] = {
    {"text", EBB__TYPE_TEXT, true, "string", NULL, 0, 0}, ZONE, SPREAD, CATCH_UP, CATCH_UP_MAX, LATE_BY,
};
static const struct ebb__rule EVERY[] = {
    {"text", EBB__TYPE_DURATION, true, "duration", NULL, 0, 0},
    {"anchor", EBB__TYPE_TEXT, true, NULL, "start_of_day|epoch|last_start|last_end", 0, 0},
    ZONE,
    SPREAD,
    CATCH_UP,
    CATCH_UP_MAX,
    LATE_BY,
};
static const struct ebb__rule COUNT[] = {
    {"text", EBB__TYPE_TEXT, true, NULL, NULL, 0, 0},
    {"n", EBB__TYPE_INTEGER, true, "integer", NULL, 1, 1e15},
    {"since", EBB__TYPE_TEXT, false, NULL, "last_run|last_success", 0, 0},
    LATE_BY,
};
static const struct ebb__rule EVENT[] = {
    {"text", EBB__TYPE_TEXT, true, NULL, NULL, 0, 0},
    {"where", EBB__TYPE_FUNCTION, false, NULL, NULL, 0, 0},
    {"debounce", EBB__TYPE_DURATION, false, "duration", NULL, 0, 0},
    {"max_hold", EBB__TYPE_DURATION, false, "duration", NULL, 0, 0},
    LATE_BY,
};

#define N(rules) (sizeof(rules) / sizeof *(rules))
const struct ebb__rule_set EBB__TRIGGER_RULES[] = {
    {"time.calendar", CALENDAR, N(CALENDAR)},
    {"time.cron", CALENDAR, N(CALENDAR)},
    {"time.every", EVERY, N(EVERY)},
    {"on.count", COUNT, N(COUNT)},
    {"on.event", EVENT, N(EVENT)},
    {NULL, NULL, 0},
};

static bool is_event_type(const char *type)
{
    size_t n = strlen(type);

    return n && n <= 64 && type[0] >= 'a' && type[0] <= 'z' &&
           strspn(type, "abcdefghijklmnopqrstuvwxyz0123456789._-") == n;
}

/* A calendar of the text in a zone, or NULL after a report. The zone goes to *tz and outlives the calendar. */
static struct ebb_calendar *parse_calendar(struct ebb__checker *c, const char *path, const char *kind, const char *text,
                                           const char *zone, struct ebb_tz **tz)
{
    struct ebb_calendar *calendar = NULL;
    struct ebb_err err;
    char place[EBB__PATH_MAX];
    int rc = ebb_tz_load(zone, tz, &err);

    if (rc) {
        ebb__checker_fail(c, ebb__path_join(place, path, "tz"), 0, err.hint[0] ? err.hint : NULL, "%s", err.message);
        return NULL;
    }
    rc = !strcmp(kind, "time.calendar") ? ebb_calendar_parse(text, *tz, &calendar, &err)
                                        : ebb_cron_parse(text, *tz, &calendar, &err);
    if (rc)
        ebb__checker_fail(c, ebb__path_join(place, path, "[1]"), 0, err.hint[0] ? err.hint : NULL, "%s", err.message);
    return calendar;
}

static int64_t duration_of(const struct ebb_value *map, const char *key)
{
    const char *text = ebb_value_text_of(map, key);
    int64_t ms;

    return text && !ebb_duration_parse(text, &ms, NULL) ? ms : 0;
}

static void check_calendar(struct ebb__checker *c, const char *path, const char *kind, const struct ebb_value *args)
{
    const char *text = ebb_value_text_of(args, "text"), *zone = ebb_value_text_of(args, "tz");
    struct ebb_tz *tz = NULL;
    struct ebb_calendar *calendar;

    if (!text)
        return;
    calendar = parse_calendar(c, path, kind, text, zone ? zone : "UTC", &tz);
    ebb_calendar_free(calendar);
    ebb_tz_free(tz);
}

static void check_every(struct ebb__checker *c, const char *path, const struct ebb_value *args)
{
    const char *anchor = ebb_value_text_of(args, "anchor"), *zone = ebb_value_text_of(args, "tz");
    int64_t step = duration_of(args, "text");
    struct ebb_tz *tz = NULL;
    struct ebb_err err;
    char place[EBB__PATH_MAX];

    if (ebb_value_text_of(args, "text") && step < 60000)
        ebb__checker_fail(c, ebb__path_join(place, path, "[1]"), 0, NULL, "the step is shorter than a minute");
    if (anchor && strcmp(anchor, "start_of_day") && ebb_value_get(args, "tz"))
        ebb__checker_fail(c, ebb__path_join(place, path, "tz"), 0, NULL, "tz goes with anchor = \"start_of_day\" only");
    else if (zone && ebb_tz_load(zone, &tz, &err))
        ebb__checker_fail(c, ebb__path_join(place, path, "tz"), 0, err.hint[0] ? err.hint : NULL, "%s", err.message);
    ebb_tz_free(tz);
}

static void check_event(struct ebb__checker *c, const char *path, const struct ebb_value *args)
{
    char place[EBB__PATH_MAX];
    const char *type = ebb_value_text_of(args, "text");
    int64_t debounce = duration_of(args, "debounce"), hold = duration_of(args, "max_hold");

    if (type && !is_event_type(type))
        ebb__checker_fail(c, ebb__path_join(place, path, "[1]"), 0,
                          "a type is like snapshot.committed or commit.failed", "\"%.60s\" is no event type", type);
    if (hold && debounce > hold)
        ebb__checker_fail(c, ebb__path_join(place, path, "max_hold"), 0, NULL, "max_hold is shorter than debounce");
}

static void check_one(struct ebb__checker *c, const char *path, const struct ebb_value *made)
{
    const char *kind = ebb_value_text_of(made, EBB__MADE_KIND);
    const struct ebb_value *args = ebb_value_get(made, "args");

    for (size_t i = 0; kind && EBB__TRIGGER_RULES[i].path; i++) {
        if (strcmp(EBB__TRIGGER_RULES[i].path, kind))
            continue;
        ebb__schema_check(c, path, 0, args, EBB__TRIGGER_RULES[i].rules, EBB__TRIGGER_RULES[i].count);
        if (i < 2)
            check_calendar(c, path, kind, args);
        else if (i == 2)
            check_every(c, path, args);
        else
            check_event(c, path, args);
        if (ebb_value_get(args, "max") &&
            strcmp(ebb_value_text_of(args, "catch_up") ? ebb_value_text_of(args, "catch_up") : "", "all"))
            ebb__checker_fail(c, path, 0, NULL, "max goes with catch_up = \"all\" only");
        return;
    }
    ebb__checker_fail_as(c, path, 0, "schema.type", "time.calendar, time.cron, time.every, on.count or on.event",
                         "not a trigger");
}

void ebb__triggers_check(struct ebb__checker *c, const struct ebb_value *triggers)
{
    size_t count = ebb_value_get_count(triggers);
    char path[40];

    if (count > EBB_POLICY_TRIGGERS_MAX)
        ebb__checker_fail(c, "triggers", 0, NULL, "more than %d", EBB_POLICY_TRIGGERS_MAX);
    for (size_t i = 0; i < count && i < EBB_POLICY_TRIGGERS_MAX; i++) {
        snprintf(path, sizeof path, "triggers[%zu]", i + 1);
        check_one(c, path, ebb_value_get_at(triggers, i));
    }
}
