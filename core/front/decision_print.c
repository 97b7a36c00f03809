/* SPDX-License-Identifier: Apache-2.0 */
#include "front/decision_print.h"

#include "front/decision_tree.h"
#include "front/print.h"

#define CHECK_COLUMN 34

void ebb_decision_print_value(struct ebb_buf *out, const struct ebb_value *value)
{
    struct ebb_jsonw w;
    struct ebb_buf json;

    if (ebb_value_get_str(value)) {
        ebb_print_text(out, ebb_value_get_str(value));
        return;
    }
    ebb_buf_init(&json, (size_t)1 << 20);
    ebb_jsonw_init(&w, &json);
    ebb_value_write(value, &w);
    ebb_print_text(out, ebb_buf_cstr(&json));
    ebb_buf_fini(&json);
}

/* A number of the unit as people write it; anything else as it is. */
static void print_operand(struct ebb_buf *out, const struct ebb_value *value, const char *unit)
{
    int64_t n = ebb_value_get_int(value, -1);

    if (ebb_value_get_kind(value) == EBB_VALUE_NIL)
        ebb_buf_puts(out, "nil");
    else if (unit && ebb_value_get_kind(value) == EBB_VALUE_INT && n >= 0 && !strcmp(unit, "ms"))
        ebb_print_span(out, n);
    else if (unit && ebb_value_get_kind(value) == EBB_VALUE_INT && n >= 0 && !strcmp(unit, "bytes"))
        ebb_text_size(out, (uint64_t)n);
    else
        ebb_decision_print_value(out, value);
}

void ebb_decision_print_comparison(struct ebb_buf *out, const struct ebb_value *row)
{
    const char *op = ebb_value_text_of(row, "op"), *unit = ebb_value_text_of(row, "u");

    if (!op)
        return;
    print_operand(out, ebb_value_get(row, "a"), unit);
    ebb_buf_putc(out, ' ');
    ebb_print_text(out, op);
    if (!ebb_value_get(row, "b"))
        return;
    ebb_buf_putc(out, ' ');
    print_operand(out, ebb_value_get(row, "b"), unit);
}

static enum ebb_print_colour colour_of(const char *word)
{
    if (!strcmp(word, "true") || !strcmp(word, "run") || !strcmp(word, "skip"))
        return EBB_PRINT_GREEN;
    return !strcmp(word, "unknown") || !strcmp(word, "defer") ? EBB_PRINT_YELLOW : EBB_PRINT_RED;
}

void ebb_decision_print_outcome(struct ebb_cli *cli, const struct ebb_value *record)
{
    static const char *const LOUD[][2] = {
        {"run", "RUN"}, {"skip", "SKIP"}, {"defer", "DEFER"}, {"refused", "REFUSED"}, {"error", "ERROR"}};
    const char *verdict = ebb_value_text_of(record, "verdict");
    const char *action = ebb_value_text_of(ebb_value_get(record, "action"), "type");

    for (size_t i = 0; verdict && i < sizeof LOUD / sizeof LOUD[0]; i++)
        if (!strcmp(verdict, LOUD[i][0]))
            ebb_print_word(cli, colour_of(verdict), LOUD[i][1]);
    if (ebb_value_text_of(record, "until")) {
        ebb_buf_puts(&cli->out, " until ");
        ebb_print_text(&cli->out, ebb_value_text_of(record, "until"));
    }
    if (action && verdict && (!strcmp(verdict, "run") || !strcmp(verdict, "refused"))) {
        ebb_buf_putc(&cli->out, ' ');
        ebb_print_text(&cli->out, action);
    }
}

void ebb_decision_print_verdict(struct ebb_cli *cli, const struct ebb_value *record)
{
    const char *why = ebb_value_text_of(record, "why");

    ebb_decision_print_outcome(cli, record);
    if (why) {
        ebb_buf_puts(&cli->out, "  ");
        ebb_print_text(&cli->out, why);
    }
}

static void print_result(struct ebb_cli *cli, const struct ebb_value *row)
{
    const char *result = ebb_value_text_of(row, "r");

    result = result ? result : "unknown";
    ebb_print_word(cli, !strcmp(result, "false") ? EBB_PRINT_YELLOW : colour_of(result), result);
}

void ebb_decision_print_check(struct ebb_cli *cli, const struct ebb_value *row)
{
    struct ebb_buf *out = &cli->out;
    size_t start = out->len;

    ebb_buf_puts(out, "    ");
    ebb_print_text(out, ebb_value_text_of(row, "n"));
    if (ebb_value_get(row, "key")) {
        ebb_buf_puts(out, " of ");
        ebb_decision_print_value(out, ebb_value_get(row, "key"));
    }
    ebb_print_pad(out, start, CHECK_COLUMN);
    print_result(cli, row);
    if (ebb_value_get(row, "op"))
        ebb_buf_puts(out, "  ");
    ebb_decision_print_comparison(out, row);
    ebb_buf_putc(out, '\n');
}

/* Like a check: "guard.quiet    false    until 2026-04-01T17:00:00Z". */
static void print_guards(struct ebb_cli *cli, const struct ebb_value *record)
{
    const struct ebb_value *list = ebb_value_get(record, "guards");

    for (size_t i = 0; i < ebb_value_get_count(list); i++) {
        const struct ebb_value *row = ebb_value_get_at(list, i);
        const char *result = ebb_value_text_of(row, "r"), *why = ebb_value_text_of(row, "why");
        const char *until = ebb_value_text_of(row, "until");

        ebb_decision_print_row(cli, 1, ebb_value_text_of(row, "n"), result ? result : "unknown",
                               why || until ? "" : NULL);
        ebb_print_text(&cli->out, why);
        if (until) {
            ebb_buf_puts(&cli->out, why ? "  until " : "until ");
            ebb_print_text(&cli->out, until);
        }
        ebb_buf_putc(&cli->out, '\n');
    }
}

static void print_notes(struct ebb_buf *out, const struct ebb_value *record)
{
    const struct ebb_value *notes = ebb_value_get(record, "notes");
    int64_t dropped = ebb_value_int_of(record, "dropped_notes", 0);

    for (size_t i = 0; i < ebb_value_get_count(notes); i++) {
        ebb_print_name(out, i ? "" : "notes");
        ebb_decision_print_value(out, ebb_value_get_at(notes, i));
        ebb_buf_putc(out, '\n');
    }
    if (dropped)
        ebb_print_count_field(out, "notes left out", dropped);
}

static void print_inputs(struct ebb_cli *cli, const struct ebb_value *record)
{
    struct ebb_buf *out = &cli->out;
    const char *id = ebb_value_text_of(record, "id");

    if (!id || !ebb_value_get(record, "bundle"))
        return;
    ebb_print_name(out, "inputs");
    if (ebb_value_get(record, "inputs")) {
        ebb_buf_puts(out, "recorded; to make the decision again: ");
        ebb_print_program(cli, out);
        ebb_buf_puts(out, " replay ");
        ebb_print_text(out, id);
    } else
        ebb_buf_puts(out, "not recorded: the decision can't be made again");
    ebb_buf_putc(out, '\n');
}

static void print_member(struct ebb_buf *out, const struct ebb_value *record, const char *key)
{
    const struct ebb_value *value = ebb_value_get(record, key);

    if (!value)
        return;
    ebb_print_name(out, key);
    ebb_decision_print_value(out, value);
    ebb_buf_putc(out, '\n');
}

/* Its kind, then its arguments; a cutoff is an instant. */
static void print_action(struct ebb_buf *out, const struct ebb_value *action)
{
    if (!action)
        return;
    ebb_print_field(out, "action", ebb_value_text_of(action, "type"));
    for (size_t i = 0; i < ebb_value_get_count(action); i++) {
        struct ebb_str key = ebb_value_get_key(action, i);

        if (ebb_str_is_equal(key, EBB_STR("type")))
            continue;
        ebb_print_name(out, "");
        ebb_text_escape(out, key.p, key.n);
        ebb_buf_puts(out, " = ");
        if (ebb_str_is_equal(key, EBB_STR("older_than")) && ebb_value_get_int(ebb_value_get_at(action, i), 0) > 0)
            ebb_print_time(out, ebb_value_get_int(ebb_value_get_at(action, i), 0));
        else
            ebb_decision_print_value(out, ebb_value_get_at(action, i));
        ebb_buf_putc(out, '\n');
    }
}

static void print_verdict(struct ebb_cli *cli, const struct ebb_value *record)
{
    const char *verdict = ebb_value_text_of(record, "verdict"), *by = ebb_value_text_of(record, "by");

    ebb_print_name(&cli->out, "verdict");
    ebb_print_word(cli, colour_of(verdict ? verdict : ""), verdict ? verdict : "none");
    if (by) {
        ebb_buf_puts(&cli->out, " by ");
        ebb_print_text(&cli->out, by);
    }
    ebb_buf_putc(&cli->out, '\n');
}

void ebb_decision_print(struct ebb_cli *cli, const struct ebb_value *record)
{
    static const char *const BEFORE[] = {"policy", "table", "mode", "now"};
    static const char *const AFTER[] = {"until", "why", "error"};
    struct ebb_buf *out = &cli->out;

    ebb_buf_puts(out, "decision ");
    ebb_print_text(out, ebb_value_text_of(record, "id"));
    ebb_buf_putc(out, '\n');
    for (size_t i = 0; i < sizeof BEFORE / sizeof BEFORE[0]; i++)
        print_member(out, record, BEFORE[i]);
    if (ebb_value_text_of(ebb_value_get(record, "trigger"), "kind"))
        ebb_print_field(out, "trigger", ebb_value_text_of(ebb_value_get(record, "trigger"), "kind"));
    print_verdict(cli, record);
    for (size_t i = 0; i < sizeof AFTER / sizeof AFTER[0]; i++)
        print_member(out, record, AFTER[i]);
    print_action(out, ebb_value_get(record, "action"));
    print_notes(out, record);
    print_inputs(cli, record);
    ebb_decision_print_tree(cli, record, ebb_value_get(record, "checks"), 0);
    print_guards(cli, record);
    if (ebb_decision_print_ranked(out, record, NULL))
        ebb_buf_puts(out, "the ranking can't be shown: out of memory\n");
}
