/* SPDX-License-Identifier: Apache-2.0
 *
 * ebb simulate
 */
#include "service/simulate.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/time.h"
#include "front/commands.h"
#include "front/decision_print.h"
#include "front/print.h"
#include "front/simulate_print.h"

#define SLEEPS_MAX 1000
#define NOMINAL_COLUMN 27
#define SPLAYED_COLUMN 49
#define PAIR_COLUMN 75
#define CHECKS_SHOWN 4

static const struct ebb_option OPTIONS[] = {
    {"until", 0, "+D|INSTANT", NULL, false, "how far: +14d, or an instant with zone"},
    {"policy", 0, "POLICY", NULL, false, "only this policy, by name or file; it need not be bound"},
    {"table", 0, "TABLE", NULL, true, "only this table, or a captured fixture (fixture.json)"},
    {"asleep", 0, "FROM/TO", NULL, true, "nothing runs between these instants, as if the program were down"},
    EBB_OPTIONS_END,
};

static const struct ebb_example EXAMPLES[] = {
    {"ebb simulate --until +14d", "the next two weeks of all that is bound"},
    {"ebb simulate --until +30d --policy policies/compact.lua --table lake.prod.events", "before it is bound"},
    {"ebb simulate --until +7d --policy orphans.lua --table clicks.json --at 2026-03-27T00:00:00Z "
     "--asleep 2026-03-28T20:00:00Z/2026-03-29T09:00:00Z",
     "a night of a clock change that the host sleeps through"},
    {NULL, NULL},
};

struct telling {
    struct ebb_cli *cli;
    struct ebb_buf last; /* what the last line said, but for its time */
    int64_t repeated;    /* how often it was said again, and when last */
    int64_t repeated_ms;
    int64_t lines;
};

/* ---- as JSON ---- */

static void put_member(struct ebb_jsonw *w, const struct ebb_value *record, const char *key)
{
    const struct ebb_value *v = ebb_value_get(record, key);

    if (!v)
        return;
    ebb_jsonw_key(w, key);
    ebb_value_write(v, w);
}

static void put_outcome(struct ebb_jsonw *w, const struct ebb_session_decision *d, const struct ebb_value *record)
{
    static const char *const KEYS[] = {"by", "until", "why", "action", "checks", "guards", "notes"};

    if (record)
        ebb_jsonw_kstr(w, "verdict", ebb_value_text_of(record, "verdict"));
    else
        ebb_jsonw_kstr(w, "verdict", d->error ? "error" : "dropped");
    for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0]; i++)
        put_member(w, record, KEYS[i]);
    if (d->dropped)
        ebb_jsonw_kstr(w, "dropped", d->dropped);
    if (d->error)
        ebb_cli_error_json(w, d->error);
}

static void write_line(struct ebb_cli *cli, const struct ebb_simulation_line *line, const struct ebb_value *record)
{
    const struct ebb_session_decision *d = line->decision;
    struct ebb_jsonw w;

    ebb_jsonw_init(&w, &cli->out);
    ebb_jsonw_begin(&w, '{');
    ebb_print_time_json(&w, "at", d->at_ms);
    ebb_jsonw_kstr(&w, "policy", d->policy);
    ebb_jsonw_kstr(&w, "table", line->table);
    if (d->due) {
        ebb_jsonw_kstr(&w, "trigger", d->due->kind);
        ebb_jsonw_kint(&w, "missed", d->due->missed);
    }
    if (line->has_nominal) {
        ebb_print_time_json(&w, "nominal", line->nominal_ms);
        ebb_print_time_json(&w, "splayed", line->splayed_ms);
    }
    put_outcome(&w, d, record);
    ebb_jsonw_kbool(&w, "estimate", true);
    ebb_jsonw_end(&w, '}');
    ebb_buf_putc(&cli->out, '\n');
}

/* ---- for people ---- */

static void print_checks(struct ebb_buf *out, const struct ebb_value *record)
{
    const struct ebb_value *checks = ebb_value_get(record, "checks");
    size_t shown = 0;

    for (size_t i = 0; i < ebb_value_get_count(checks) && shown < CHECKS_SHOWN; i++) {
        const struct ebb_value *check = ebb_value_get_at(checks, i);
        const char *result = ebb_value_text_of(check, "r");

        if (!result || !strcmp(result, "true") || ebb_value_get(check, "key"))
            continue;
        ebb_buf_puts(out, shown++ ? ", " : "  ");
        ebb_print_text(out, ebb_value_text_of(check, "n"));
        ebb_buf_putc(out, ' ');
        ebb_print_text(out, result);
    }
}

static void print_outcome(struct ebb_cli *cli, const struct ebb_session_decision *d, const struct ebb_value *record)
{
    const char *verdict = ebb_value_text_of(record, "verdict"), *by = ebb_value_text_of(record, "by");
    struct ebb_buf *out = &cli->out;

    if (verdict)
        ebb_decision_print_verdict(cli, record);
    if (verdict && !strcmp(verdict, "skip"))
        print_checks(out, record);
    if (by && strcmp(by, "policy") != 0) {
        ebb_buf_puts(out, "  ");
        ebb_print_text(out, by);
    }
    if (d->error && !verdict) {
        ebb_print_word(cli, EBB_PRINT_RED, "error");
    }
    if (d->error) {
        ebb_buf_puts(out, "  ");
        ebb_print_text(out, d->error->message);
    }
    if (d->dropped) {
        ebb_buf_puts(out, verdict ? "  dropped: " : "dropped: ");
        ebb_print_text(out, d->dropped);
    }
    if (d->due && d->due->missed)
        ebb_buf_printf(out, "  %lld missed", (long long)d->due->missed);
}

static void flush_repeated(struct telling *t)
{
    struct ebb_buf *out = &t->cli->out;

    if (!t->repeated)
        return;
    ebb_buf_printf(out, "   … and %lld more like it, the last ", (long long)t->repeated);
    ebb_print_time(out, t->repeated_ms);
    ebb_buf_putc(out, '\n');
    t->repeated = 0;
}

static void print_head(struct ebb_buf *out)
{
    size_t start = out->len;

    ebb_buf_puts(out, " at");
    ebb_print_pad(out, start, NOMINAL_COLUMN);
    ebb_buf_puts(out, "nominal");
    ebb_print_pad(out, start, SPLAYED_COLUMN);
    ebb_buf_puts(out, "with spread\n");
}

/* What is said but for the times. */
static void print_what(struct telling *t, const struct ebb_simulation_line *line, const struct ebb_value *record)
{
    struct ebb_buf *out = &t->cli->out;

    ebb_print_text(out, line->decision->policy);
    ebb_buf_puts(out, " on ");
    ebb_print_text(out, line->table);
    ebb_buf_puts(out, "  ");
    print_outcome(t->cli, line->decision, record);
    ebb_buf_putc(out, '\n');
}

static void print_times(struct ebb_buf *out, const struct ebb_simulation_line *line)
{
    size_t start = out->len;

    ebb_buf_putc(out, ' ');
    ebb_print_time(out, line->decision->at_ms);
    ebb_print_pad(out, start, NOMINAL_COLUMN);
    if (line->has_nominal)
        ebb_print_time(out, line->nominal_ms);
    ebb_print_pad(out, start, SPLAYED_COLUMN);
    if (line->has_nominal && line->splayed_ms != line->nominal_ms)
        ebb_print_time(out, line->splayed_ms);
    ebb_print_pad(out, start, PAIR_COLUMN);
}

/* A skip that says what the line before it said is only counted. */
static void print_line(struct telling *t, const struct ebb_simulation_line *line, const struct ebb_value *record)
{
    const char *verdict = ebb_value_text_of(record, "verdict");
    struct ebb_buf *out = &t->cli->out;
    size_t start = out->len, n;
    bool is_again;

    print_what(t, line, record);
    n = out->len - start;
    is_again = verdict && !strcmp(verdict, "skip") && t->lines && n == t->last.len &&
               !memcmp(out->data + start, t->last.data, n);
    if (!is_again) {
        ebb_buf_reset(&t->last);
        ebb_buf_append(&t->last, out->data + start, n);
    }
    out->len = start;
    if (is_again) {
        t->repeated++;
        t->repeated_ms = line->decision->at_ms;
        return;
    }
    flush_repeated(t);
    if (!t->lines++)
        print_head(out);
    print_times(out, line);
    ebb_buf_append(out, t->last.data ? t->last.data : "", t->last.len);
}

static int on_line(void *data, const struct ebb_simulation_line *line, struct ebb_err *err)
{
    struct telling *t = data;
    const char *json = line->decision->decision ? ebb_decision_get_record(line->decision->decision) : NULL;
    struct ebb_value *record = NULL;
    int rc = json ? ebb_value_of_json("decision", json, strlen(json), NULL, &record, err) : 0;

    if (rc)
        return rc;
    if (t->cli->is_json)
        write_line(t->cli, line, record);
    else
        print_line(t, line, record);
    ebb_value_free(record);
    return ebb_cli_emit(t->cli, err);
}

/* ---- what came of it ---- */

static int on_sum(void *data, const struct ebb_simulation_sum *sum, struct ebb_err *err)
{
    struct telling *t = data;
    struct ebb_buf *out = &t->cli->out;
    struct ebb_jsonw w;

    if (t->cli->is_json) {
        ebb_jsonw_init(&w, out);
        ebb_jsonw_begin(&w, '{');
        ebb_jsonw_kstr(&w, "kind", "total");
        ebb_simulation_sum_json(&w, sum);
        ebb_jsonw_end(&w, '}');
        ebb_buf_putc(out, '\n');
        return ebb_cli_emit(t->cli, err);
    }
    flush_repeated(t);
    if (!t->lines++)
        ebb_buf_puts(out, "nothing becomes due\n");
    ebb_buf_puts(out, "estimate for ");
    ebb_print_text(out, sum->policy);
    ebb_buf_puts(out, " on ");
    ebb_print_text(out, sum->table);
    ebb_buf_puts(out, ": ");
    ebb_simulation_sum_print(out, sum);
    ebb_buf_putc(out, '\n');
    return ebb_cli_emit(t->cli, err);
}

/* ---- the command ---- */

static int by_start(const void *a, const void *b)
{
    const struct ebb_sleep *x = a, *y = b;

    return x->from_ms < y->from_ms ? -1 : x->from_ms > y->from_ms;
}

static int read_sleeps(struct ebb_cli *cli, struct ebb_sleep **out, size_t *count, struct ebb_err *err)
{
    struct ebb_strs texts;
    int rc;

    ebb_strs_init(&texts);
    rc = ebb_args_all(&cli->args, "asleep", &texts, err);
    *count = 0;
    if (!rc && texts.count > SLEEPS_MAX)
        rc = ebb_err_set(err, EBB_EUSAGE, "--asleep: at most %d", SLEEPS_MAX);
    *out = rc ? NULL : calloc(texts.count + 1, sizeof **out);
    if (!rc && !*out)
        rc = ebb_err_nomem(err);
    for (size_t i = 0; !rc && i < texts.count; i++) {
        rc = ebb_sleep_parse(texts.items[i], &(*out)[i], err);
        *count += !rc;
    }
    if (!rc)
        qsort(*out, *count, sizeof **out, by_start);
    ebb_strs_fini(&texts);
    return rc;
}

static void print_label(struct ebb_cli *cli, int64_t until_ms)
{
    struct ebb_buf *out = &cli->out;

    ebb_buf_puts(out, "simulated from ");
    ebb_print_time(out, ebb_cli_now(cli));
    ebb_buf_puts(out, " to ");
    ebb_print_time(out, until_ms);
    ebb_buf_puts(out, ", each run taken as carried out; what runs do and writers commit is estimated\n");
}

static int simulate(struct ebb_cli *cli, struct ebb_simulation_options *o, struct ebb_err *err)
{
    struct telling t = {.cli = cli};
    int rc = ebb_simulation_read_until(cli, &o->until_ms, err);

    ebb_buf_init(&t.last, (size_t)1 << 20);
    o->policy = ebb_args_get(&cli->args, "policy");
    o->line = on_line;
    o->sum = on_sum;
    o->data = &t;
    if (!rc && !cli->is_json)
        print_label(cli, o->until_ms);
    if (!rc)
        rc = ebb_simulate(cli->ws, o, err);
    flush_repeated(&t);
    ebb_buf_fini(&t.last);
    return rc;
}

static int run_simulate(struct ebb_cli *cli, struct ebb_err *err)
{
    struct ebb_simulation_options o = {0};
    struct ebb_sleep *asleep = NULL;
    struct ebb_strs tables;
    int rc;

    ebb_strs_init(&tables);
    rc = read_sleeps(cli, &asleep, &o.asleep_count, err);
    if (!rc)
        rc = ebb_args_all(&cli->args, "table", &tables, err);
    if (!rc)
        rc = ebb_cli_start(cli, false, err);
    if (!rc)
        ebb_simulation_stop_clock(cli);
    o.asleep = asleep;
    o.tables = &tables;
    if (!rc)
        rc = simulate(cli, &o, err);
    ebb_strs_fini(&tables);
    free(asleep);
    return rc;
}

const struct ebb_command ebb_command_simulate = {
    .name = "simulate",
    .args = "",
    .summary = "the coming days of policies and tables, in a closed loop",
    .about =
        "From now (or --at) on, every occurrence is decided and every run taken as carried out, whatever the mode of "
        "its binding; the next decision sees what the run would have done. Writers go on as in the table's own "
        "history. Effects are estimates by simple models. Nothing is done or recorded.",
    .shared = EBB_TAKES_MAP | EBB_TAKES_AT,
    .options = OPTIONS,
    .examples = EXAMPLES,
    .run = run_simulate,
};
