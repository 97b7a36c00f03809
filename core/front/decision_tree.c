/* SPDX-License-Identifier: Apache-2.0 */
#include "front/decision_tree.h"

#include <inttypes.h>

#include "front/decision_print.h"
#include "front/print.h"

#define RESULT_COLUMN 30
#define RESULT_WIDTH 9
#define NOTE_COLUMN 65
#define EACH_MAX 64

#define MINUTE_MS ((int64_t)60000)
#define HOUR_MS (60 * MINUTE_MS)
#define DAY_MS (24 * HOUR_MS)

static void put_units(struct ebb_buf *out, int64_t first, const char *unit, int64_t rest, const char *smaller)
{
    ebb_buf_printf(out, "%" PRId64 "%s", first, unit);
    if (rest)
        ebb_buf_printf(out, " %" PRId64 "%s", rest, smaller);
}

void ebb_print_span(struct ebb_buf *out, int64_t ms)
{
    if (ms >= 4 * DAY_MS)
        put_units(out, ms / DAY_MS, "d", ms % DAY_MS / HOUR_MS, "h");
    else if (ms >= HOUR_MS)
        put_units(out, ms / HOUR_MS, "h", ms % HOUR_MS / MINUTE_MS, "m");
    else if (ms >= MINUTE_MS)
        put_units(out, ms / MINUTE_MS, "m", ms % MINUTE_MS / 1000, "s");
    else
        put_units(out, ms / 1000, "s", ms % 1000, "ms");
}

static enum ebb_print_colour colour_of(const char *result)
{
    return !strcmp(result, "true") ? EBB_PRINT_GREEN : EBB_PRINT_YELLOW;
}

void ebb_decision_print_row(struct ebb_cli *cli, size_t indent, const char *name, const char *result, const char *text)
{
    struct ebb_buf *out = &cli->out;
    size_t start = out->len;

    for (size_t i = 0; i < indent; i++)
        ebb_buf_putc(out, ' ');
    ebb_print_text(out, name);
    ebb_print_pad(out, start, RESULT_COLUMN);
    ebb_print_word(cli, colour_of(result), result);
    for (size_t n = strlen(result); text && n < RESULT_WIDTH; n++)
        ebb_buf_putc(out, ' ');
    ebb_print_text(out, text);
}

/* ---- one check ---- */

/* "needs 463 more", "true in 71h" */
static void put_note(struct ebb_buf *text, const struct ebb_value *row, int64_t now_ms)
{
    const char *needs = ebb_value_text_of(row, "needs"), *to = ebb_value_text_of(row, "turns_to");
    int64_t at = ebb_value_int_of(row, "turns_at", now_ms);

    if (to && at > now_ms) {
        ebb_buf_printf(text, "%s in ", to);
        ebb_print_span(text, at - now_ms);
    } else if (needs) {
        ebb_buf_puts(text, "needs ");
        ebb_print_text(text, needs);
    }
}

static void print_check(struct ebb_cli *cli, size_t indent, const struct ebb_value *row, const char *name,
                        int64_t now_ms)
{
    const char *result = ebb_value_text_of(row, "r");
    struct ebb_buf text, note;
    size_t start;

    ebb_buf_init(&text, 65536);
    ebb_buf_init(&note, 65536);
    ebb_decision_print_comparison(&text, row);
    put_note(&note, row, now_ms);
    ebb_decision_print_row(cli, indent, name, result ? result : "unknown", "");
    start = cli->out.len;
    ebb_buf_append(&cli->out, text.data ? text.data : "", text.len);
    if (note.len) {
        ebb_buf_putc(&cli->out, ' ');
        ebb_buf_putc(&cli->out, ' ');
        ebb_print_pad(&cli->out, start, NOTE_COLUMN - RESULT_COLUMN - RESULT_WIDTH);
        ebb_buf_append(&cli->out, note.data, note.len);
    }
    ebb_buf_putc(&cli->out, '\n');
    ebb_buf_fini(&note);
    ebb_buf_fini(&text);
}

/* ---- the tree ---- */

static const struct ebb_value *find_check(const struct ebb_value *checks, const char *name)
{
    for (size_t i = 0; i < ebb_value_get_count(checks); i++) {
        const struct ebb_value *row = ebb_value_get_at(checks, i);
        const char *n = ebb_value_text_of(row, "n");

        if (n && !strcmp(n, name) && !ebb_value_get(row, "key"))
            return row;
    }
    return NULL;
}

struct tree {
    struct ebb_cli *cli;
    const struct ebb_value *checks;
    int64_t now_ms;
};

/* As deep as a value can be. */
static void print_node(const struct tree *t, const struct ebb_value *node, size_t indent)
{
    static const char *const OPS[] = {"all", "any", "none"};
    const char *name = ebb_value_get_str(node), *result = ebb_value_text_of(node, "r");

    if (name) {
        print_check(t->cli, indent, find_check(t->checks, name), name, t->now_ms);
        return;
    }
    for (size_t i = 0; i < sizeof OPS / sizeof OPS[0]; i++) {
        const struct ebb_value *parts = ebb_value_get(node, OPS[i]);

        if (!parts)
            continue;
        ebb_decision_print_row(t->cli, indent, OPS[i], result ? result : "unknown", NULL);
        ebb_buf_putc(&t->cli->out, '\n');
        for (size_t k = 0; k < ebb_value_get_count(parts); k++)
            print_node(t, ebb_value_get_at(parts, k), indent + 2);
    }
}

static bool is_in_tree(const struct ebb_value *node, const char *name)
{
    const char *own = ebb_value_get_str(node);
    bool found = own && !strcmp(own, name);
    enum ebb_value_kind kind = ebb_value_get_kind(node);

    for (size_t i = 0; !found && (kind == EBB_VALUE_LIST || kind == EBB_VALUE_MAP) && i < ebb_value_get_count(node);
         i++)
        if (kind == EBB_VALUE_LIST || !ebb_str_is_equal(ebb_value_get_key(node, i), EBB_STR("r")))
            found = is_in_tree(ebb_value_get_at(node, i), name);
    return found;
}

/* Checks by item: how many of each result. */
static void print_counts(struct ebb_cli *cli, const struct ebb_value *checks, const char *name, size_t indent)
{
    static const char *const RESULTS[] = {"true", "false", "unknown"};
    size_t counts[3] = {0, 0, 0}, shown = 0;
    struct ebb_buf text;

    ebb_buf_init(&text, 1024);
    for (size_t i = 0; i < ebb_value_get_count(checks); i++) {
        const struct ebb_value *row = ebb_value_get_at(checks, i);
        const char *n = ebb_value_text_of(row, "n"), *r = ebb_value_text_of(row, "r");

        for (size_t k = 0; n && r && ebb_value_get(row, "key") && !strcmp(n, name) && k < 3; k++)
            counts[k] += !strcmp(r, RESULTS[k]);
    }
    for (size_t k = 0; k < 3; k++)
        if (counts[k])
            ebb_buf_printf(&text, "%s%zu %s", shown++ ? ", " : "", counts[k], RESULTS[k]);
    ebb_decision_print_row(cli, indent, name, "each", ebb_buf_cstr(&text));
    ebb_buf_putc(&cli->out, '\n');
    ebb_buf_fini(&text);
}

static void print_each(struct ebb_cli *cli, const struct ebb_value *checks, size_t indent)
{
    const char *seen[EACH_MAX];
    size_t count = 0;

    for (size_t i = 0; i < ebb_value_get_count(checks) && count < EACH_MAX; i++) {
        const struct ebb_value *row = ebb_value_get_at(checks, i);
        const char *name = ebb_value_text_of(row, "n");
        bool is_known = !name || !ebb_value_get(row, "key");

        for (size_t k = 0; !is_known && k < count; k++)
            is_known = !strcmp(seen[k], name);
        if (is_known)
            continue;
        seen[count++] = name;
        print_counts(cli, checks, name, indent);
    }
}

void ebb_decision_print_tree(struct ebb_cli *cli, const struct ebb_value *record, const struct ebb_value *checks,
                             int64_t now_ms)
{
    const struct ebb_value *expr = ebb_value_get(record, "expr");
    struct tree t = {cli, checks, now_ms};

    if (expr)
        print_node(&t, expr, 1);
    for (size_t i = 0; i < ebb_value_get_count(checks); i++) {
        const struct ebb_value *row = ebb_value_get_at(checks, i);
        const char *name = ebb_value_text_of(row, "n");

        if (name && !ebb_value_get(row, "key") && !is_in_tree(expr, name))
            print_check(cli, 1, row, name, now_ms);
    }
    print_each(cli, checks, 1);
}
