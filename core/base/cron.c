/* SPDX-License-Identifier: Apache-2.0 */
#include "base/calendar_priv.h"

#include <stdlib.h>

static const char *const MONTHS[] = {"January", "February", "March",     "April",   "May",      "June",
                                     "July",    "August",   "September", "October", "November", "December"};
static const char *const WEEKDAYS[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};

enum { CRON_MINUTE, CRON_HOUR, CRON_DAY, CRON_MONTH, CRON_WEEKDAY, CRON_FIELDS };

static const struct ebb_field FIELDS[CRON_FIELDS] = {
    {"minute", 0, 59, NULL, 0, 0, 0, "-", true, true},     {"hour", 0, 23, NULL, 0, 0, 0, "-", true, true},
    {"day", 1, 31, NULL, 0, 0, 0, "-", true, true},        {"month", 1, 12, MONTHS, 12, 1, 0, "-", true, true},
    {"weekday", 0, 7, WEEKDAYS, 7, 0, 7, "-", true, true},
};

static bool is_field_end(char c)
{
    return !c || c == ' ' || c == '\t';
}

static int parse_fields(struct ebb_field_text *t, uint64_t masks[CRON_FIELDS], struct ebb_calendar *c)
{
    for (int i = 0; i < CRON_FIELDS; i++) {
        bool starred;
        int rc;

        ebb__field_skip_spaces(t);
        if (!*t->p)
            return ebb__field_refuse(t, "the field for the %s is missing", FIELDS[i].name);
        starred = *t->p == '*';
        if (i == CRON_HOUR)
            c->any_hour = starred && is_field_end(t->p[1]);
        else if (i == CRON_DAY)
            c->any_day = starred;
        else if (i == CRON_WEEKDAY)
            c->any_weekday = starred;
        rc = ebb__field_mask(t, &FIELDS[i], &masks[i]);
        if (rc)
            return rc;
        if (!is_field_end(*t->p))
            return ebb__field_refuse(t, "something follows the %s", FIELDS[i].name);
    }
    ebb__field_skip_spaces(t);
    return *t->p ? ebb__field_refuse(t, "more than five fields") : 0;
}

int ebb_cron_parse(const char *text, const struct ebb_tz *tz, struct ebb_calendar **out, struct ebb_err *err)
{
    struct ebb_field_text t = {"cron", text, text, err};
    uint64_t masks[CRON_FIELDS] = {0};
    struct ebb_calendar *c = calloc(1, sizeof *c);
    int rc;

    *out = NULL;
    if (!c)
        return ebb_err_nomem(err);
    c->kind = EBB_CALENDAR_CRON;
    c->tz = tz;
    rc = parse_fields(&t, masks, c);
    if (rc)
        goto out;
    c->minutes = masks[CRON_MINUTE];
    c->hours = (uint32_t)masks[CRON_HOUR];
    c->days = (uint32_t)masks[CRON_DAY];
    c->months = (uint16_t)masks[CRON_MONTH];
    c->weekdays = (uint8_t)masks[CRON_WEEKDAY];
    rc = ebb__calendar_check(c, &t);
    if (rc)
        goto out;
    *out = c;
    c = NULL;
out:
    free(c);
    if (rc == -EBB_ESCHEDULE)
        ebb_err_hint(err, "write five fields: minute hour day month weekday, such as \"0 2 * * 0\"");
    return rc;
}
