/* SPDX-License-Identifier: Apache-2.0
 *
 * :decide :why :whynot :plan :diff: decisions by hand, and what they would do.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/time.h"
#include "engine/whynot.h"
#include "front/decision_print.h"
#include "front/decision_tree.h"
#include "front/print.h"
#include "front/repl_priv.h"
#include "front/whynot_print.h"

/* Decide with the policy named, or the one meant; *record is its record. */
static int decide(struct ebb_repl *repl, const struct ebb__repl_words *words, struct ebb_decision **out,
                  struct ebb_value **record, struct ebb_err *err)
{
    const struct ebb__repl_table *table;
    const struct ebb_policy *policy;
    const char *json;
    int rc = ebb__repl_table(repl, &table, err);

    *out = NULL;
    *record = NULL;
    if (!rc)
        rc = ebb__repl_policy(repl, words->count > 1 ? words->items[1] : NULL, &policy, err);
    if (!rc)
        rc = ebb_session_decide(repl->session, table->index, ebb_policy_get_name(policy), out, err);
    if (rc)
        return rc;
    json = ebb_decision_get_record(*out);
    rc = ebb__repl_keep(repl, ebb_policy_get_name(policy), table->index, json, err);
    if (!rc)
        rc = ebb_value_of_json("decision", json, strlen(json), NULL, record, err);
    if (!rc)
        repl->gas = ebb_value_int_of(*record, "gas", -1);
    return rc;
}

static const struct ebb_value *find_check(const struct ebb_value *record, const char *name)
{
    const struct ebb_value *checks = ebb_value_get(record, "checks");

    for (size_t i = 0; i < ebb_value_get_count(checks); i++) {
        const char *n = ebb_value_text_of(ebb_value_get_at(checks, i), "n");

        if (n && !strcmp(n, name) && !ebb_value_get(ebb_value_get_at(checks, i), "key"))
            return ebb_value_get_at(checks, i);
    }
    return NULL;
}

static const char *truth_of(const struct ebb_value *record, const struct ebb_value *node)
{
    const char *name = ebb_value_get_str(node);
    const char *r = ebb_value_text_of(name ? find_check(record, name) : node, "r");

    return r ? r : "unknown";
}

static const struct ebb_value *parts_of(const struct ebb_value *node, const char **op)
{
    static const char *const OPS[] = {"all", "any", "none"};

    for (size_t i = 0; i < 3; i++)
        if (ebb_value_get(node, OPS[i])) {
            *op = OPS[i];
            return ebb_value_get(node, OPS[i]);
        }
    *op = "all";
    return NULL;
}

/* Whether a part made its combination what it is: of a true `any` the true parts, of an `all` that is not true those
 * that are not true, of `none` the true ones when it is not true. */
static bool is_decisive(const char *op, bool holds, const char *part)
{
    if (!strcmp(op, "any"))
        return !holds || !strcmp(part, "true");
    if (!strcmp(op, "all"))
        return holds || strcmp(part, "true") != 0;
    return holds || strcmp(part, "false") != 0;
}

/* Append what decided as text and its checks as rows; depth is that of the record, which is bounded. */
static void say_decisive(struct ebb_buf *text, struct ebb_value *rows, const struct ebb_value *record,
                         const struct ebb_value *node)
{
    const char *name = ebb_value_get_str(node), *op;
    const struct ebb_value *parts = parts_of(node, &op);
    bool holds = !strcmp(truth_of(record, node), "true");
    size_t count = 0;

    if (name) {
        ebb_print_text(text, name);
        ebb_value_add_copy(rows, find_check(record, name));
        return;
    }
    for (size_t i = 0; i < ebb_value_get_count(parts); i++)
        count += is_decisive(op, holds, truth_of(record, ebb_value_get_at(parts, i)));
    if (count != 1 || !strcmp(op, "none"))
        ebb_buf_printf(text, "%s{", op);
    for (size_t i = 0, n = 0; i < ebb_value_get_count(parts); i++) {
        if (!is_decisive(op, holds, truth_of(record, ebb_value_get_at(parts, i))))
            continue;
        ebb_buf_puts(text, n++ ? ", " : "");
        say_decisive(text, rows, record, ebb_value_get_at(parts, i));
    }
    if (count != 1 || !strcmp(op, "none"))
        ebb_buf_putc(text, '}');
}

static struct ebb_value *find_decisive(struct ebb_buf *text, const struct ebb_value *record)
{
    struct ebb_value *rows = ebb_value_new_list(NULL);

    if (ebb_value_get(record, "expr"))
        say_decisive(text, rows, record, ebb_value_get(record, "expr"));
    return rows;
}

/* ---- decide ---- */

/* "SKIP   worth_a_job false: 0 >= 1" */
static void say_failing(struct ebb_buf *out, const struct ebb_value *rows)
{
    for (size_t i = 0; i < ebb_value_get_count(rows); i++) {
        const struct ebb_value *row = ebb_value_get_at(rows, i);

        ebb_buf_puts(out, i ? ", " : "   ");
        ebb_print_text(out, ebb_value_text_of(row, "n"));
        ebb_buf_putc(out, ' ');
        ebb_print_text(out, ebb_value_text_of(row, "r"));
        if (ebb_value_get(row, "op"))
            ebb_buf_puts(out, ": ");
        ebb_decision_print_comparison(out, row);
    }
}

static void say_held_by(struct ebb_buf *out, const struct ebb_value *record)
{
    const struct ebb_value *guards = ebb_value_get(record, "guards");
    const char *by = ebb_value_text_of(record, "by");

    for (size_t i = 0; by && i < ebb_value_get_count(guards); i++) {
        const struct ebb_value *g = ebb_value_get_at(guards, i);
        const char *name = ebb_value_text_of(g, "n");

        if (!name || strcmp(name, by) || !ebb_value_text_of(g, "why"))
            continue;
        ebb_buf_puts(out, ": ");
        ebb_print_text(out, ebb_value_text_of(g, "why"));
    }
}

static void say_notes(struct ebb_buf *out, const struct ebb_value *record)
{
    const struct ebb_value *notes = ebb_value_get(record, "notes");

    for (size_t i = 0; i < ebb_value_get_count(notes); i++) {
        ebb_buf_puts(out, " note ");
        ebb_print_text(out, ebb_value_get_str(ebb_value_get_at(notes, i)));
        ebb_buf_putc(out, '\n');
    }
}

static int run_decide(struct ebb_repl *repl, const struct ebb__repl_words *words, struct ebb_err *err)
{
    struct ebb_buf *out = ebb__repl_out(repl), text;
    struct ebb_decision *decision = NULL;
    struct ebb_value *record = NULL, *rows = NULL;
    enum ebb_verdict verdict;
    int rc = decide(repl, words, &decision, &record, err);

    ebb_buf_init(&text, 65536);
    if (!rc) {
        verdict = ebb_decision_get_verdict(decision);
        ebb__repl_say_verdict(out, decision);
        if (ebb_value_text_of(record, "why")) {
            ebb_buf_puts(out, "   ");
            ebb_print_text(out, ebb_value_text_of(record, "why"));
        }
        rows = find_decisive(&text, record);
        if (verdict == EBB_VERDICT_SKIP)
            say_failing(out, rows);
        if (strcmp(ebb_decision_get_by(decision), "policy"))
            say_held_by(out, record);
        ebb_buf_putc(out, '\n');
        if (ebb_decision_get_action(decision)) {
            ebb_buf_puts(out, " ");
            ebb_console_write(out, NULL, ebb_decision_get_action(decision));
            ebb_buf_putc(out, '\n');
        }
        rc = ebb_decision_print_ranked(out, record, err);
        say_notes(out, record);
    }
    ebb_buf_fini(&text);
    ebb_value_free(rows);
    ebb_value_free(record);
    ebb_decision_free(decision);
    return rc;
}

/* ---- why ---- */

/* The latest decision of the policy, made now when there is none. */
static int find_latest(struct ebb_repl *repl, const struct ebb__repl_words *words, struct ebb_value **record,
                       struct ebb_err *err)
{
    const struct ebb__repl_table *table;
    const struct ebb_policy *policy;
    struct ebb_decision *decision = NULL;
    const char *json = NULL;
    int rc = ebb__repl_table(repl, &table, err);

    if (!rc)
        rc = ebb__repl_policy(repl, words->count > 1 ? words->items[1] : NULL, &policy, err);
    if (!rc)
        json = ebb__repl_latest(repl, ebb_policy_get_name(policy), table->index);
    if (!rc && json)
        return ebb_value_of_json("decision", json, strlen(json), NULL, record, err);
    if (!rc)
        rc = decide(repl, words, &decision, record, err);
    ebb_decision_free(decision);
    return rc;
}

static void say_why(struct ebb_repl *repl, const struct ebb_value *record, const struct ebb_str reason)
{
    const char *verdict = ebb_value_text_of(record, "verdict"), *by = ebb_value_text_of(record, "by");
    const char *now = ebb_value_text_of(record, "now");
    bool by_guard = by && strcmp(by, "policy") != 0;
    struct ebb_buf *out = ebb__repl_out(repl);
    int64_t at;

    ebb__repl_say_word(out, verdict ? verdict : "");
    if (by_guard) {
        ebb_buf_puts(out, " by ");
        ebb_print_text(out, by);
        say_held_by(out, record);
    }
    if (reason.n) {
        ebb_buf_puts(out, by_guard ? "; the policy: " : " because ");
        ebb_buf_add_str(out, reason);
    }
    if (now && !ebb_time_parse(now, NULL, &at, NULL) && at != ebb_session_now(repl->session)) {
        ebb_buf_puts(out, "   (decided at ");
        ebb_print_text(out, now);
        ebb_buf_putc(out, ')');
    }
    ebb_buf_putc(out, '\n');
}

static int run_why(struct ebb_repl *repl, const struct ebb__repl_words *words, struct ebb_err *err)
{
    struct ebb_value *record = NULL, *rows = NULL;
    struct ebb_buf text;
    int rc = find_latest(repl, words, &record, err);

    ebb_buf_init(&text, 65536);
    if (!rc) {
        rows = find_decisive(&text, record);
        say_why(repl, record, ebb_buf_str(&text));
        for (size_t i = 0; i < ebb_value_get_count(rows); i++)
            ebb_decision_print_check(repl->cli, ebb_value_get_at(rows, i));
    }
    ebb_buf_fini(&text);
    ebb_value_free(rows);
    ebb_value_free(record);
    return rc;
}

/* ---- whynot ---- */

static int run_whynot(struct ebb_repl *repl, const struct ebb__repl_words *words, struct ebb_err *err)
{
    const struct ebb__repl_table *table;
    const struct ebb_policy *policy;
    struct ebb_decide_input input = {.trigger = NULL};
    struct ebb_value *answer = NULL;
    int rc = ebb__repl_table(repl, &table, err);

    if (!rc)
        rc = ebb__repl_policy(repl, words->count > 1 ? words->items[1] : NULL, &policy, err);
    if (!rc)
        rc = ebb__repl_decide_input(repl, policy, &input, err);
    input.trigger = NULL; /* as when its time comes: a run by hand would not wait */
    if (!rc)
        rc = ebb_whynot(NULL, policy, &input, &answer, err);
    if (!rc)
        ebb_whynot_print(repl->cli, policy, answer);
    ebb_value_free(answer);
    return rc;
}

/* ---- plan, diff ---- */

/* The options of `ebb plan` that stand for an action. */
static int plan_options(const struct ebb_value *action, struct ebb_strs *out, struct ebb_err *err)
{
    static const char *const TEXTS[][2] = {{"location", "--location"}, {"prefix_mismatch", "--prefix-mismatch"}};
    struct ebb_buf older;
    int rc;

    ebb_buf_init(&older, 128);
    ebb_buf_puts(&older, "--older-than=");
    ebb_time_iso(&older, ebb_value_int_of(action, "older_than", 0));
    rc = ebb_strs_add(out, ebb_buf_cstr(&older), err);
    ebb_buf_fini(&older);
    for (size_t i = 0; !rc && i < 2; i++)
        if (ebb_value_text_of(action, TEXTS[i][0])) {
            rc = ebb_strs_add(out, TEXTS[i][1], err);
            if (!rc)
                rc = ebb_strs_add(out, ebb_value_text_of(action, TEXTS[i][0]), err);
        }
    return rc;
}

static int check_plannable(const struct ebb__repl_table *table, const struct ebb_decision *decision,
                           struct ebb_err *err)
{
    const struct ebb_value *action = ebb_decision_get_action(decision);
    const char *type = ebb_value_text_of(action, "type");

    if (table->is_fixture)
        return ebb_err_set(err, EBB_EUSAGE, ":plan: %s is a fixture: it has no files that could be listed",
                           table->opened);
    if (ebb_decision_get_verdict(decision) != EBB_VERDICT_RUN)
        return ebb_err_set(err, EBB_EUSAGE, ":plan: the policy would not run now: %s by %s",
                           ebb_verdict_name(ebb_decision_get_verdict(decision)), ebb_decision_get_by(decision));
    if (!type || strcmp(type, "remove_orphan_files"))
        return ebb_err_set(err, EBB_EUNSUPPORTED, ":plan: only remove_orphan_files is planned here, not %s",
                           type ? type : "this");
    return 0;
}

/* Reads the table and lists its location through the normal planner; nothing is changed but the plan's record. */
static int plan(struct ebb_repl *repl, const struct ebb__repl_table *table, const struct ebb_value *action,
                const char *file, struct ebb_err *err)
{
    const char *args[32];
    struct ebb_strs list;
    size_t count = 0;
    int rc;

    ebb_strs_init(&list);
    rc = ebb_strs_add(&list, "plan", err);
    if (!rc)
        rc = plan_options(action, &list, err);
    if (!rc && file)
        rc = ebb_strs_add(&list, "--output", err);
    if (!rc && file)
        rc = ebb_strs_add(&list, file, err);
    if (!rc)
        rc = ebb_strs_add(&list, "--", err);
    if (!rc)
        rc = ebb_strs_add(&list, table->opened, err);
    while (!rc && count < list.count && count < sizeof args / sizeof args[0]) {
        args[count] = list.items[count];
        count++;
    }
    if (!rc)
        rc = ebb__repl_program(repl, args, count, err);
    ebb_strs_fini(&list);
    return rc;
}

static int run_plan(struct ebb_repl *repl, const struct ebb__repl_words *words, struct ebb_err *err)
{
    struct ebb__repl_words own = *words;
    struct ebb_decision *decision = NULL;
    const struct ebb__repl_table *table;
    struct ebb_value *record = NULL;
    const char *file = NULL;
    int rc = ebb__repl_table(repl, &table, err);

    if (own.count >= 3 && !strcmp(own.items[own.count - 2], "-o")) {
        file = own.items[own.count - 1];
        own.count -= 2;
    }
    if (!rc && own.count > 2)
        rc = ebb_err_set(err, EBB_EUSAGE, ":plan: write :plan POLICY [-o FILE]");
    if (!rc)
        rc = decide(repl, &own, &decision, &record, err);
    if (!rc)
        rc = check_plannable(table, decision, err);
    if (!rc)
        rc = plan(repl, table, ebb_decision_get_action(decision), file, err);
    ebb_value_free(record);
    ebb_decision_free(decision);
    return rc;
}

static int run_diff(struct ebb_repl *repl, const struct ebb__repl_words *words, struct ebb_err *err)
{
    const char *args[] = {"diff", words->items[1], words->items[2]};

    return ebb__repl_program(repl, args, 3, err);
}

const struct ebb__repl_command EBB__REPL_DECIDE[] = {
    {"decide", "decide", "[POLICY]", "one decision now; nothing starts", 0, 1, EBB__REPL_POLICY, run_decide},
    {"why", "decide", "POLICY", "the checks that made the latest decision what it is", 0, 1, EBB__REPL_POLICY, run_why},
    {"whynot", "decide", "POLICY", "what keeps it from running, what is missing, and when each turns", 0, 1,
     EBB__REPL_POLICY, run_whynot},
    {"plan", "decide", "POLICY [-o FILE]", "list the table's files and plan what the decision wants; removes nothing",
     0, 3, EBB__REPL_POLICY, run_plan},
    {"diff", "decide", "PLAN PLAN", "what changed from one plan to another", 2, 2, EBB__REPL_FILE, run_diff},
    {NULL, NULL, NULL, NULL, 0, 0, EBB__REPL_OTHER, NULL},
};
