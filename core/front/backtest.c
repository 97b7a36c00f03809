/* SPDX-License-Identifier: Apache-2.0
 *
 * ebb backtest: what other policies would have decided, and what would come of them.
 */
#include "service/backtest.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/time.h"
#include "front/commands.h"
#include "front/decision_print.h"
#include "front/print.h"
#include "front/simulate_print.h"
#include "service/pass.h"

#define DEFAULT_SINCE_MS ((int64_t)30 * 24 * 3600 * 1000)
#define OLD_COLUMN 24
#define CHECKS_SHOWN 4

static const struct ebb_option OPTIONS[] = {
    {"since", 0, "D|INSTANT", NULL, false, "decisions from this long ago on (30d), or since an instant with zone"},
    {"policy", 0, "NAME", NULL, false, "only this one of the new policies"},
    {"table", 0, "TABLE", NULL, false,
     "only tables whose name this takes ('*' is any run of characters); for --until also a captured fixture"},
    {"until", 0, "+D|INSTANT", NULL, false, "also simulate old and new policies up to then, in a closed loop"},
    EBB_OPTIONS_END,
};

static const struct ebb_example EXAMPLES[] = {
    {"ebb backtest --since 30d ./policies-next", "which verdicts would have been different"},
    {"ebb backtest --policy compact-scored --until +14d ./policies-next", "and what the next two weeks would bring"},
    {"ebb backtest policies/orphans.lua --json", "as JSON lines"},
    {NULL, NULL},
};

struct telling {
    struct ebb_cli *cli;
    struct ebb_backtest *backtest;
    const char *table; /* glob of the sums to tell; NULL: all */
    const char *side;  /* "old", "new" */
    int64_t rows;
};

/* ---- open loop ---- */

static void put_side(struct ebb_jsonw *w, const char *key, const struct ebb_value *record)
{
    static const char *const KEYS[] = {"bundle", "verdict", "by", "until", "action", "checks", "error"};

    if (!record)
        return;
    ebb_jsonw_key(w, key);
    ebb_jsonw_begin(w, '{');
    for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0]; i++)
        if (ebb_value_get(record, KEYS[i])) {
            ebb_jsonw_key(w, KEYS[i]);
            ebb_value_write(ebb_value_get(record, KEYS[i]), w);
        }
    ebb_jsonw_end(w, '}');
}

static void write_row(struct ebb_buf *out, const struct ebb_backtest_row *row)
{
    struct ebb_jsonw w;

    ebb_jsonw_init(&w, out);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kstr(&w, "kind", row->changed ? "changed" : "not comparable");
    ebb_jsonw_kstr(&w, "decision", row->id);
    ebb_print_time_json(&w, "at", row->at_ms);
    ebb_jsonw_kstr(&w, "policy", row->policy);
    ebb_jsonw_kstr(&w, "table", row->table);
    if (row->changed)
        ebb_jsonw_kstr(&w, "changed", row->changed);
    if (row->why)
        ebb_jsonw_kstr(&w, "why", row->why);
    put_side(&w, "before", row->before);
    put_side(&w, "after", row->why ? NULL : row->after);
    ebb_jsonw_end(&w, '}');
    ebb_buf_putc(out, '\n');
}

static const struct ebb_value *find_check(const struct ebb_value *record, const char *name)
{
    const struct ebb_value *checks = ebb_value_get(record, "checks");

    for (size_t i = 0; i < ebb_value_get_count(checks); i++) {
        const char *own = ebb_value_text_of(ebb_value_get_at(checks, i), "n");

        if (own && !strcmp(own, name) && !ebb_value_get(ebb_value_get_at(checks, i), "key"))
            return ebb_value_get_at(checks, i);
    }
    return NULL;
}

/* The checks that came out differently: "writers_are_short: true, now false". */
static void print_turned(struct ebb_buf *out, const struct ebb_backtest_row *row)
{
    const struct ebb_value *checks = ebb_value_get(row->after, "checks");
    size_t shown = 0;

    for (size_t i = 0; i < ebb_value_get_count(checks) && shown < CHECKS_SHOWN; i++) {
        const struct ebb_value *now = ebb_value_get_at(checks, i);
        const char *name = ebb_value_text_of(now, "n"), *r = ebb_value_text_of(now, "r");
        const char *was = name ? ebb_value_text_of(find_check(row->before, name), "r") : NULL;

        if (!name || !r || ebb_value_get(now, "key") || (was && !strcmp(was, r)))
            continue;
        ebb_buf_puts(out, shown++ ? ", " : "\n                      ");
        ebb_print_text(out, name);
        ebb_buf_puts(out, was ? ": " : " (new): ");
        if (was)
            ebb_buf_printf(out, "%s, now ", was);
        ebb_print_text(out, r);
    }
}

/* Of a guard. */
static void say_by(struct ebb_buf *out, const struct ebb_value *record)
{
    const char *by = ebb_value_text_of(record, "by");

    if (!by || !strcmp(by, "policy"))
        return;
    ebb_buf_puts(out, " by ");
    ebb_print_text(out, by);
}

static void print_row(struct telling *t, const struct ebb_backtest_row *row)
{
    struct ebb_buf *out = &t->cli->out;
    size_t start = out->len;

    ebb_buf_putc(out, ' ');
    ebb_print_time(out, row->at_ms - row->at_ms % 1000);
    ebb_print_pad(out, start, 23);
    ebb_print_text(out, row->policy);
    ebb_buf_puts(out, " on ");
    ebb_print_text(out, row->table);
    ebb_buf_puts(out, "  ");
    if (row->changed) {
        ebb_decision_print_verdict(t->cli, row->before);
        say_by(out, row->before);
        ebb_buf_puts(out, "  →  ");
        ebb_decision_print_verdict(t->cli, row->after);
        say_by(out, row->after);
        if (!strcmp(row->changed, "action"))
            ebb_buf_puts(out, "  (another action)");
        print_turned(out, row);
    } else {
        ebb_buf_puts(out, "not comparable: ");
        ebb_print_text(out, row->why);
    }
    ebb_buf_puts(out, "  ");
    ebb_print_text(out, row->id);
    ebb_buf_putc(out, '\n');
}

static int on_row(void *data, const struct ebb_backtest_row *row, struct ebb_err *err)
{
    struct telling *t = data;

    if (t->cli->is_json)
        write_row(&t->cli->out, row);
    else
        print_row(t, row);
    t->rows++;
    return ebb_cli_emit(t->cli, err);
}

static void write_sum(struct ebb_buf *out, const struct ebb_backtest_sum *sum)
{
    struct ebb_jsonw w;

    ebb_jsonw_init(&w, out);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kstr(&w, "kind", "open loop");
    ebb_jsonw_kint(&w, "decisions", sum->decisions);
    ebb_jsonw_kint(&w, "compared", sum->compared);
    ebb_jsonw_kint(&w, "changed", sum->changed);
    ebb_jsonw_kint(&w, "not_comparable", sum->not_comparable);
    ebb_jsonw_kint(&w, "without_policy", sum->without_policy);
    if (sum->first_changed_ms)
        ebb_print_time_json(&w, "inputs_hold_until", sum->first_changed_ms);
    ebb_jsonw_end(&w, '}');
    ebb_buf_putc(out, '\n');
}

static void print_sum(struct ebb_buf *out, const struct ebb_backtest_sum *sum)
{
    ebb_print_count(out, sum->compared);
    ebb_buf_puts(out, sum->compared == 1 ? " decision compared, " : " decisions compared, ");
    ebb_print_count(out, sum->changed);
    ebb_buf_puts(out, " changed, ");
    ebb_print_count(out, sum->not_comparable);
    ebb_buf_puts(out, " not comparable");
    if (sum->without_policy) {
        ebb_buf_puts(out, "; ");
        ebb_print_count(out, sum->without_policy);
        ebb_buf_puts(out, " of policies that are not tested");
    }
    ebb_buf_putc(out, '\n');
    if (!sum->first_changed_ms)
        return;
    ebb_buf_puts(out, "after the first changed verdict (");
    ebb_print_time(out, sum->first_changed_ms);
    ebb_buf_puts(out, ") the recorded inputs are no longer what would have happened\n");
}

static int run_open(struct telling *t, int64_t since_ms, struct ebb_err *err)
{
    struct ebb_cli *cli = t->cli;
    const char *table = ebb_args_get(&cli->args, "table");
    struct ebb_backtest_options o = {since_ms, table && !strchr(table, '/') ? table : NULL, on_row, t};
    struct ebb_backtest_sum sum;
    int rc;

    if (!cli->is_json) {
        ebb_buf_puts(&cli->out, "open loop: recorded inputs since ");
        ebb_print_time(&cli->out, since_ms);
        ebb_buf_puts(&cli->out, ", decided by the new policies\n");
    }
    rc = ebb_backtest_run(t->backtest, cli->ws, &o, &sum, err);
    if (!rc && cli->is_json)
        write_sum(&cli->out, &sum);
    else if (!rc)
        print_sum(&cli->out, &sum);
    return rc;
}

/* ---- closed loop ---- */

static int on_sum(void *data, const struct ebb_simulation_sum *sum, struct ebb_err *err)
{
    struct telling *t = data;
    struct ebb_buf *out = &t->cli->out;
    size_t start = out->len;
    struct ebb_jsonw w;

    if (t->table && !ebb_table_glob_is_match(t->table, sum->table))
        return 0;
    if (t->cli->is_json) {
        ebb_jsonw_init(&w, out);
        ebb_jsonw_begin(&w, '{');
        ebb_jsonw_kstr(&w, "kind", "closed loop");
        ebb_jsonw_kstr(&w, "side", t->side);
        ebb_simulation_sum_json(&w, sum);
        ebb_jsonw_end(&w, '}');
        ebb_buf_putc(out, '\n');
        return ebb_cli_emit(t->cli, err);
    }
    ebb_buf_printf(out, " %s  ", t->side);
    ebb_print_text(out, sum->policy);
    ebb_buf_puts(out, " on ");
    ebb_print_text(out, sum->table);
    ebb_print_pad(out, start, OLD_COLUMN);
    ebb_simulation_sum_print(out, sum);
    ebb_buf_putc(out, '\n');
    return ebb_cli_emit(t->cli, err);
}

static int run_side(struct telling *t, const char *side, const struct ebb_policy *policy, int64_t until_ms,
                    struct ebb_err *err)
{
    const char *table = ebb_args_get(&t->cli->args, "table");
    struct ebb_simulation_options o = {.loaded = policy, .until_ms = until_ms, .sum = on_sum, .data = t};
    bool is_glob = table && strchr(table, '*');
    struct ebb_strs tables;
    int rc = 0;

    ebb_strs_init(&tables);
    if (table && !is_glob)
        rc = ebb_strs_add(&tables, table, err);
    o.tables = &tables;
    t->table = is_glob ? table : NULL;
    t->side = side;
    if (!rc)
        rc = ebb_simulate(t->cli->ws, &o, err);
    ebb_strs_fini(&tables);
    return rc;
}

/* The policy in use and its successor from the same start. */
static int run_pair(struct telling *t, const struct ebb_policy *policy, int64_t until_ms, struct ebb_err *err)
{
    const char *was = ebb_policy_get_was(policy);
    struct ebb_policy *old = NULL;
    int rc = ebb_pass_load_policy(t->cli->ws, ebb_policy_get_name(policy), &old, err);

    if (rc == -(int)EBB_ENOT_FOUND && was)
        rc = ebb_pass_load_policy(t->cli->ws, was, &old, err);
    if (!rc)
        rc = run_side(t, "old", old, until_ms, err);
    else if (rc == -(int)EBB_ENOT_FOUND || rc == -(int)EBB_ECONFIG)
        rc = 0; /* a new one */
    if (!rc)
        rc = run_side(t, "new", policy, until_ms, err);
    ebb_policy_free(old);
    return rc;
}

static int run_closed(struct telling *t, struct ebb_err *err)
{
    struct ebb_cli *cli = t->cli;
    const struct ebb_policy *policy;
    int64_t until_ms;
    int rc = ebb_simulation_read_until(cli, &until_ms, err);

    if (!rc && !cli->is_json) {
        ebb_buf_puts(&cli->out, "closed loop: from ");
        ebb_print_time(&cli->out, ebb_cli_now(cli));
        ebb_buf_puts(&cli->out, " to ");
        ebb_print_time(&cli->out, until_ms);
        ebb_buf_puts(&cli->out, ", each run taken as carried out; all of it is estimated\n");
    }
    for (size_t i = 0; !rc && (policy = ebb_backtest_policy(t->backtest, i)) != NULL; i++)
        rc = run_pair(t, policy, until_ms, err);
    return rc;
}

/* ---- the command ---- */

static int run_backtest(struct ebb_cli *cli, struct ebb_err *err)
{
    struct telling t = {.cli = cli};
    int64_t since_ms = 0;
    int rc = ebb_cli_start(cli, false, err);

    if (!rc) {
        ebb_simulation_stop_clock(cli);
        since_ms = ebb_cli_now(cli) - DEFAULT_SINCE_MS;
        rc = ebb_args_since(&cli->args, "since", ebb_cli_now(cli), &since_ms, err);
    }
    if (!rc)
        rc = ebb_backtest_open(ebb_args_word(&cli->args, 0), ebb_args_get(&cli->args, "policy"), &t.backtest, err);
    if (!rc)
        rc = run_open(&t, since_ms, err);
    if (!rc && ebb_args_has(&cli->args, "until"))
        rc = run_closed(&t, err);
    ebb_backtest_close(t.backtest);
    return rc;
}

const struct ebb_command ebb_command_backtest = {
    .name = "backtest",
    .args = "DIR|FILE",
    .summary = "what other policies would have decided",
    .about =
        "Open loop: each recorded decision is made again, with its recorded inputs, by the policy of the same name "
        "in DIR or FILE; changed verdicts are listed. One that looks at something the record does not hold is not "
        "comparable. Closed loop (--until): old and new policies are simulated from now on, and what their runs "
        "would do is estimated. Nothing is done or recorded.",
    .arg_min = 1,
    .arg_max = 1,
    .shared = EBB_TAKES_MAP | EBB_TAKES_AT,
    .options = OPTIONS,
    .examples = EXAMPLES,
    .run = run_backtest,
};
