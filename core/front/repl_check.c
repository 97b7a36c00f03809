/* SPDX-License-Identifier: Apache-2.0
 *
 * :reload :test :cover :bench :gas: are the policies good, and what do they cost?
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "engine/evaluator.h"
#include "front/print.h"
#include "front/repl_priv.h"
#include "front/test.h"

#define BENCH_DEFAULT 1000
#define BENCH_MAX 10000000

static int run_reload(struct ebb_repl *repl, const struct ebb__repl_words *words, struct ebb_err *err)
{
    (void)words;
    return ebb__repl_reload(repl, err);
}

static int test(struct ebb_repl *repl, const char *filter, struct ebb_value **report, struct ebb_err *err)
{
    const char *dir = ebb_workspace_config(repl->cli->ws)->policies;
    struct ebb_test_options o;
    struct ebb_strs paths;
    int rc;

    if (!dir)
        return ebb_err_set(err, EBB_EUSAGE, ":test: there is no folder of policies; start with --bundle DIR");
    memset(&o, 0, sizeof o);
    ebb_strs_init(&paths);
    rc = ebb_strs_add(&paths, dir, err);
    o.paths = &paths;
    o.filter = filter;
    o.is_silent = true;
    o.cancelled = repl->cli->cancelled;
    if (!rc)
        rc = ebb_test_run(&o, report, err);
    ebb_strs_fini(&paths);
    return rc;
}

static int run_test(struct ebb_repl *repl, const struct ebb__repl_words *words, struct ebb_err *err)
{
    struct ebb_value *report = NULL;
    int rc = test(repl, words->count > 1 ? words->items[1] : NULL, &report, err);

    if (!rc)
        ebb_test_print(repl->cli, report);
    ebb_value_free(report);
    return rc;
}

/* How often a check was seen with a result. */
static void say_seen(struct ebb_buf *out, const struct ebb_value *check)
{
    static const char *const RESULTS[] = {"true", "false", "unknown"};
    bool always = ebb_value_bool_of(check, "always_known", false);

    for (size_t i = 0; i < 3; i++) {
        ebb_buf_printf(out, "  %s ", RESULTS[i]);
        if (i == 2 && always)
            ebb_buf_puts(out, "–");
        else
            ebb__repl_say_count(out, ebb_value_int_of(check, RESULTS[i], 0));
    }
}

static void say_cover(struct ebb_buf *out, const struct ebb_value *policy)
{
    const struct ebb_value *checks = ebb_value_get(policy, "checks"), *lines = ebb_value_get(policy, "lines");
    const struct ebb_value *missed = ebb_value_get(lines, "missed");

    ebb_print_text(out, ebb_value_text_of(policy, "policy"));
    ebb_buf_printf(out, "  %" PRId64 " of %" PRId64 " lines\n", ebb_value_int_of(lines, "executed", 0),
                   ebb_value_int_of(lines, "executable", 0));
    for (size_t i = 0; i < ebb_value_get_count(checks); i++) {
        struct ebb_str key = ebb_value_get_key(checks, i);
        size_t start = out->len;

        ebb_buf_puts(out, "  ");
        ebb_text_escape(out, key.p, key.n);
        ebb_print_pad(out, start, 32);
        say_seen(out, ebb_value_get_at(checks, i));
        ebb_buf_putc(out, '\n');
    }
    for (size_t i = 0; i < ebb_value_get_count(missed) && i < 20; i++)
        ebb_buf_printf(out, "%s%" PRId64,
                       i ? ", " : "  lines never run: ", ebb_value_get_int(ebb_value_get_at(missed, i), 0));
    ebb_buf_puts(out, ebb_value_get_count(missed) > 20 ? ", …\n" : ebb_value_get_count(missed) ? "\n" : "");
}

static int run_cover(struct ebb_repl *repl, const struct ebb__repl_words *words, struct ebb_err *err)
{
    const struct ebb_value *policies;
    struct ebb_value *report = NULL;
    int rc = test(repl, NULL, &report, err);

    (void)words;
    policies = ebb_value_get(report, "policies");
    for (size_t i = 0; !rc && i < ebb_value_get_count(policies); i++)
        say_cover(ebb__repl_out(repl), ebb_value_get_at(policies, i));
    ebb_value_free(report);
    return rc;
}

/* ---- bench ---- */

static double cpu_us(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static int evaluate(struct ebb_repl *repl, const struct ebb_policy *policy, long n, long *done, struct ebb_err *err)
{
    struct ebb_evaluator *evaluator = NULL;
    struct ebb_decide_input input;
    int rc = ebb__repl_decide_input(repl, policy, &input, err);

    input.without_record = true;
    if (!rc)
        rc = ebb_evaluator_new(&evaluator, err);
    for (*done = 0; !rc && *done < n && !atomic_load(repl->cli->cancelled); ++*done) {
        struct ebb_decision *decision = NULL;

        rc = ebb_evaluator_decide(evaluator, policy, &input, &decision, err);
        ebb_decision_free(decision);
    }
    ebb_evaluator_free(evaluator);
    return rc;
}

static int run_bench(struct ebb_repl *repl, const struct ebb__repl_words *words, struct ebb_err *err)
{
    long n = words->count > 2 ? strtol(words->items[2], NULL, 10) : BENCH_DEFAULT, done = 0;
    const struct ebb_policy *policy;
    const struct ebb__repl_table *table;
    double started;
    int rc = ebb__repl_table(repl, &table, err);

    if (!rc && (n < 1 || n > BENCH_MAX))
        rc = ebb_err_set(err, EBB_EUSAGE, ":bench: from 1 to %d evaluations", BENCH_MAX);
    if (!rc)
        rc = ebb__repl_policy(repl, words->items[1], &policy, err);
    started = cpu_us();
    if (!rc)
        rc = evaluate(repl, policy, n, &done, err);
    if (!rc && done)
        ebb_buf_printf(ebb__repl_out(repl), "%ld evaluation%s, %.1f us each\n", done, done == 1 ? "" : "s",
                       (cpu_us() - started) / (double)done);
    return rc;
}

static int run_gas(struct ebb_repl *repl, const struct ebb__repl_words *words, struct ebb_err *err)
{
    struct ebb_buf *out = ebb__repl_out(repl);

    (void)words;
    if (repl->gas < 0)
        return ebb_err_set(err, EBB_EUSAGE, ":gas: nothing was evaluated yet");
    ebb__repl_say_gas(out, repl->gas);
    return 0;
}

const struct ebb__repl_command EBB__REPL_CHECK[] = {
    {"reload", "check", "", "read the policies again; a wrong one replaces nothing", 0, 0, EBB__REPL_OTHER, run_reload},
    {"test", "check", "[REGEX]", "run the specs beside the policies", 0, 1, EBB__REPL_OTHER, run_test},
    {"cover", "check", "", "what the specs have seen of each check, and lines never run", 0, 0, EBB__REPL_OTHER,
     run_cover},
    {"bench", "check", "POLICY [n]", "evaluate n times and tell the cost of one", 1, 2, EBB__REPL_POLICY, run_bench},
    {"gas", "check", "", "what the last evaluation used of its gas", 0, 0, EBB__REPL_OTHER, run_gas},
    {NULL, NULL, NULL, NULL, 0, 0, EBB__REPL_OTHER, NULL},
};
