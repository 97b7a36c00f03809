/* SPDX-License-Identifier: Apache-2.0
 *
 * Fires in words.
 */
#include "service/preview.h"

static void join(struct ebb_buf *out, size_t start, const char *mark)
{
    if (out->len > start)
        ebb_buf_puts(out, mark);
}

void ebb_fire_wall(const struct ebb_fire *fire, struct ebb_buf *out)
{
    static const char *const DAYS[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    int64_t day = (fire->local_s - (fire->local_s % 86400 + 86400) % 86400) / 86400;
    struct ebb_civil date;

    ebb_civil_of_days(day, &date);
    ebb_buf_printf(out, "%s %.16s", DAYS[date.weekday], fire->local);
}

/* What guards did: one phrase. */
static void note_guards(const struct ebb_fire *fire, size_t start, struct ebb_buf *out)
{
    bool is_first = true;

    for (size_t i = 0; i < fire->why.count; i++) {
        const char *why = fire->why.items[i];

        if (strcmp(why, "quiet") && strcmp(why, "blackout") && strcmp(why, "min_interval"))
            continue;
        if (is_first)
            join(out, start, ", ");
        ebb_buf_puts(out, is_first ? "held back by " : " and ");
        ebb_buf_puts(out, !strcmp(why, "quiet") ? "quiet hours" : why);
        is_first = false;
    }
}

void ebb_fire_note(const struct ebb_fire *fire, struct ebb_buf *out)
{
    size_t start = out->len;

    for (size_t i = 0; i < fire->why.count; i++) {
        const char *why = fire->why.items[i];

        if (!strcmp(why, "gap"))
            ebb_buf_printf(out, "%.5s does not exist; uses %s", fire->local + 11, fire->used);
        else if (!strcmp(why, "overlap"))
            ebb_buf_printf(out, "%.5s happens twice; the first one counts", fire->local + 11);
        else if (!strncmp(why, "spread +", 8)) {
            join(out, start, ", ");
            ebb_buf_printf(out, "+ spread %s", why + 8);
        }
    }
    note_guards(fire, start, out);
}
