/* SPDX-License-Identifier: Apache-2.0
 *
 * :now :at :step :next :run-until: the clock of the interactive session.
 */
#include <stdlib.h>

#include "base/time.h"
#include "front/print.h"
#include "front/repl_priv.h"
#include "service/preview.h"

#define NEXT_MAX 1000
#define YEAR_MS ((int64_t)366 * 24 * 3600 * 1000)
/* A long step is taken in parts, between which an interruption is seen. */
#define PART_MS ((int64_t)24 * 3600 * 1000)

static int run_now(struct ebb_repl *repl, const struct ebb__repl_words *words, struct ebb_err *err)
{
    int64_t now = ebb_session_now(repl->session);

    (void)words;
    (void)err;
    ebb__repl_say_now(repl, now);
    return 0;
}

static int read_instant(const char *text, int64_t *out, struct ebb_err *err)
{
    int rc = ebb_time_parse(text, NULL, out, err);

    if (rc)
        ebb_err_hint(err, "write it as in 2026-03-29T00:00:00Z");
    return rc;
}

static int run_at(struct ebb_repl *repl, const struct ebb__repl_words *words, struct ebb_err *err)
{
    int64_t at;
    int rc = read_instant(words->items[1], &at, err);

    if (!rc)
        rc = ebb_session_at(repl->session, at, err);
    if (!rc) {
        ebb__repl_forget(repl);
        ebb__repl_say_now(repl, at);
    }
    return rc;
}

/* Step on to an instant, part by part. */
static int step_to(struct ebb_repl *repl, int64_t until, struct ebb_err *err)
{
    int64_t before = ebb_session_now(repl->session), now = before;
    int rc = 0;

    repl->day = before / 86400000;
    repl->decided = 0;
    while (!rc && now < until && !atomic_load(repl->cli->cancelled)) {
        rc = ebb_session_step(repl->session, until - now < PART_MS ? until - now : PART_MS, err);
        now = ebb_session_now(repl->session);
    }
    repl->day = -1;
    if (!rc)
        ebb__repl_say_now(repl, before);
    return rc;
}

static int run_step(struct ebb_repl *repl, const struct ebb__repl_words *words, struct ebb_err *err)
{
    int64_t by, now = ebb_session_now(repl->session);
    int rc = ebb_duration_parse(words->items[1], &by, err);

    if (!rc && by > 10 * YEAR_MS)
        rc = ebb_err_set(err, EBB_EUSAGE, ":step: at most ten years at once");
    return rc ? rc : step_to(repl, now + by, err);
}

static int run_until(struct ebb_repl *repl, const struct ebb__repl_words *words, struct ebb_err *err)
{
    int64_t until, now = ebb_session_now(repl->session);
    int rc = read_instant(words->items[1], &until, err);

    if (!rc && until < now)
        rc = ebb_err_set(err, EBB_EUSAGE, ":run-until: that instant has passed; :at sets the clock back");
    if (!rc && until - now > 10 * YEAR_MS)
        rc = ebb_err_set(err, EBB_EUSAGE, ":run-until: at most ten years at once");
    return rc ? rc : step_to(repl, until, err);
}

/* ---- next ---- */

static int on_fire(void *data, const struct ebb_fire *fire, struct ebb_err *err)
{
    struct ebb_repl *repl = data;
    struct ebb_buf *out = ebb__repl_out(repl);
    size_t start = out->len;

    (void)err;
    ebb_buf_putc(out, ' ');
    ebb_fire_wall(fire, out);
    ebb_print_pad(out, start, 28);
    ebb_print_time(out, fire->fires_ms);
    ebb_print_pad(out, start, 54);
    ebb_fire_note(fire, out);
    while (out->len > start && out->data[out->len - 1] == ' ')
        out->len--;
    ebb_buf_putc(out, '\n');
    return atomic_load(repl->cli->cancelled) ? -(int)EBB_ECANCELLED : 0;
}

static int say_next(struct ebb_repl *repl, const struct ebb_policy *policy, size_t n, struct ebb_err *err)
{
    const struct ebb__repl_table *table;
    const struct ebb_schedule *schedule;
    struct ebb_schedule_input in;
    struct ebb_buf *out = ebb__repl_out(repl);
    size_t start, before;
    int rc = ebb__repl_table(repl, &table, err);

    if (!rc)
        rc = ebb_session_schedule(repl->session, table->index, ebb_policy_get_name(policy), &in, &schedule, err);
    if (rc)
        return rc;
    start = out->len;
    ebb_buf_puts(out, " nominal");
    ebb_print_pad(out, start, 28);
    ebb_buf_puts(out, "fires");
    ebb_print_pad(out, start, 54);
    ebb_buf_puts(out, "note\n");
    before = out->len;
    rc = ebb_preview(&in, ebb_session_now(repl->session), n, on_fire, repl, err);
    if (!rc && out->len == before)
        ebb_buf_puts(out, " no time trigger: it waits for events\n");
    return rc;
}

/* :next [n] [POLICY], in either order. */
static int run_next(struct ebb_repl *repl, const struct ebb__repl_words *words, struct ebb_err *err)
{
    const char *name = NULL;
    const struct ebb_policy *policy;
    long n = 5;
    int rc;

    for (size_t i = 1; i < words->count; i++) {
        char *end;
        long number = strtol(words->items[i], &end, 10);

        if (*end)
            name = words->items[i];
        else
            n = number;
    }
    if (n < 1 || n > NEXT_MAX)
        return ebb_err_set(err, EBB_EUSAGE, ":next: from 1 to %d fires", NEXT_MAX);
    rc = ebb__repl_policy(repl, name, &policy, err);
    return rc ? rc : say_next(repl, policy, (size_t)n, err);
}

const struct ebb__repl_command EBB__REPL_TIME[] = {
    {"now", "time", "", "the instant at which all decisions are made", 0, 0, EBB__REPL_OTHER, run_now},
    {"at", "time", "INSTANT", "set the clock; nothing fires for what lies between, schedules begin here", 1, 1,
     EBB__REPL_OTHER, run_at},
    {"step", "time", "DURATION", "move the clock on and decide all that falls due on the way", 1, 1, EBB__REPL_OTHER,
     run_step},
    {"next", "time", "[n] [POLICY]", "coming fires of time triggers, with the reason of every shift", 0, 2,
     EBB__REPL_POLICY, run_next},
    {"run-until", "time", "INSTANT", "move the clock on to an instant and decide all that falls due on the way", 1, 1,
     EBB__REPL_OTHER, run_until},
    {NULL, NULL, NULL, NULL, 0, 0, EBB__REPL_OTHER, NULL},
};
