/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "engine/settings_priv.h"

static bool is_text(const struct ebb_value *map, const char *key, const char *text)
{
    const char *value = ebb_value_text_of(map, key);

    return value && !strcmp(value, text);
}

static enum ebb_trigger_kind kind_of(const struct ebb_value *m)
{
    if (is_text(m, "kind", "time.calendar"))
        return EBB_TRIGGER_CALENDAR;
    if (is_text(m, "kind", "time.cron"))
        return EBB_TRIGGER_CRON;
    if (is_text(m, "kind", "time.every"))
        return EBB_TRIGGER_EVERY;
    return is_text(m, "kind", "on.count") ? EBB_TRIGGER_COUNT : EBB_TRIGGER_EVENT;
}

static enum ebb_anchor anchor_of(const struct ebb_value *m)
{
    if (is_text(m, "anchor", "start_of_day"))
        return EBB_ANCHOR_START_OF_DAY;
    if (is_text(m, "anchor", "last_start"))
        return EBB_ANCHOR_LAST_START;
    return is_text(m, "anchor", "last_end") ? EBB_ANCHOR_LAST_END : EBB_ANCHOR_EPOCH;
}

static int make_calendar(struct ebb_settings *s, struct ebb_trigger *t, struct ebb_calendar **out, struct ebb_err *err)
{
    const struct ebb_tz *tz;
    int rc = ebb__settings_zone(s, t->tz, &tz, err);

    if (rc)
        return rc;
    if (t->kind == EBB_TRIGGER_CALENDAR)
        return ebb_calendar_parse(t->text, tz, out, err);
    if (t->kind == EBB_TRIGGER_CRON)
        return ebb_cron_parse(t->text, tz, out, err);
    if (t->step_ms < 60000)
        return ebb_err_set(err, EBB_ECONFIG, "every: the step is shorter than a minute");
    if (t->anchor > EBB_ANCHOR_START_OF_DAY)
        return 0;
    return ebb_every_new(t->step_ms, t->anchor == EBB_ANCHOR_START_OF_DAY, tz, out, err);
}

static int make_time(struct ebb_settings *s, const struct ebb_value *m, struct ebb_trigger *t,
                     struct ebb_calendar **out, struct ebb_err *err)
{
    const char *tz = ebb__settings_text(s, m, "tz");
    int rc;

    t->tz = tz ? tz : "UTC";
    t->step_ms = t->kind == EBB_TRIGGER_EVERY ? ebb__settings_duration(s, m, "text", 0) : 0;
    t->anchor = anchor_of(m);
    t->spread_ms = ebb__settings_duration(s, m, "spread", 0);
    t->catch_up = is_text(m, "catch_up", "none")  ? EBB_CATCH_UP_NONE
                  : is_text(m, "catch_up", "all") ? EBB_CATCH_UP_ALL
                                                  : EBB_CATCH_UP_ONE;
    t->catch_up_max = ebb_value_int_of(m, "max", 100);
    rc = make_calendar(s, t, out, err);
    t->calendar = *out;
    return rc;
}

static int make_trigger(struct ebb_settings *s, size_t i, const struct ebb_value *m, struct ebb_err *err)
{
    struct ebb_trigger *t = &s->triggers[i];

    t->kind = kind_of(m);
    t->text = ebb__settings_text(s, m, "text");
    t->tz = "UTC";
    t->line = s->policy->trigger_lines[i];
    t->late_by_ms = ebb__settings_duration(s, m, "late_by", -1);
    if (!t->text && t->kind != EBB_TRIGGER_EVERY)
        return ebb_err_set(err, EBB_ECONFIG, "trigger %zu: its parameter has no value", i + 1);
    if (!t->text)
        t->text = "";
    if (t->kind <= EBB_TRIGGER_EVERY)
        return make_time(s, m, t, &s->calendars[i], err);
    t->n = ebb_value_get_int(ebb__settings_value(s, m, "n"), 1);
    t->since = is_text(m, "since", "last_success") ? EBB_SINCE_LAST_SUCCESS : EBB_SINCE_LAST_RUN;
    t->has_where = ebb_value_get(m, "where") != NULL;
    t->debounce_ms = ebb__settings_duration(s, m, "debounce", 0);
    t->max_hold_ms = ebb__settings_duration(s, m, "max_hold", 0);
    return 0;
}

int ebb__settings_triggers(struct ebb_settings *s, struct ebb_err *err)
{
    const struct ebb_value *list = ebb_value_get(s->policy->manifest, "triggers");
    size_t count = ebb_value_get_count(list);
    int rc = 0;

    for (size_t i = 0; i < count && i < EBB_POLICY_TRIGGERS_MAX && !rc; i++) {
        s->trigger_count = i + 1;
        rc = make_trigger(s, i, ebb_value_get_at(list, i), err);
    }
    return rc;
}
