/* SPDX-License-Identifier: Apache-2.0
 *
 * What specs have shown, for people and as JSON.
 */
#include "front/print.h"
#include "front/test.h"

#define NAME_COLUMN 18
#define COUNT_COLUMN 35
#define MISSED_MAX 20

static const char *text_of(const struct ebb_value *map, const char *key)
{
    const char *text = ebb_value_text_of(map, key);

    return text ? text : "";
}

/* What a test belongs to: a policy, or else its spec. */
static const char *owner_of(const struct ebb_value *test)
{
    const char *owner = ebb_value_text_of(test, "policy");

    return owner ? owner : text_of(test, "spec");
}

static size_t count_of(const struct ebb_value *report, const char *owner, const char *status)
{
    const struct ebb_value *tests = ebb_value_get(report, "tests");
    size_t n = 0;

    for (size_t i = 0; i < ebb_value_get_count(tests); i++) {
        const struct ebb_value *test = ebb_value_get_at(tests, i);

        n += !strcmp(text_of(test, "status"), status) && (!owner || !strcmp(owner_of(test), owner));
    }
    return n;
}

size_t ebb_test_count(const struct ebb_value *report, const char *status)
{
    return count_of(report, NULL, status);
}

/* ---- coverage ---- */

struct seen {
    size_t possible, count;
    struct ebb_buf never; /* names, with commas */
};

static void look(const struct ebb_value *checks, const char *outcome, struct seen *out)
{
    bool is_unknown = !strcmp(outcome, "unknown");

    for (size_t i = 0; i < ebb_value_get_count(checks); i++) {
        const struct ebb_value *check = ebb_value_get_at(checks, i);
        struct ebb_str name = ebb_value_get_key(checks, i);

        if (is_unknown && ebb_value_bool_of(check, "always_known", false))
            continue;
        out->possible++;
        if (ebb_value_int_of(check, outcome, 0) > 0) {
            out->count++;
            continue;
        }
        if (out->never.len)
            ebb_buf_puts(&out->never, ", ");
        ebb_text_escape(&out->never, name.p, name.n);
    }
}

/* "checks seen true/false/unknown: 3/3 3/3 1/3  (leftovers_are_ripe never unknown)" */
static void print_checks(struct ebb_buf *out, const struct ebb_value *checks)
{
    static const char *const OUTCOMES[] = {"true", "false", "unknown"};
    struct seen seen[3];
    bool is_first = true;

    ebb_buf_puts(out, "checks seen true/false/unknown:");
    for (size_t i = 0; i < 3; i++) {
        memset(&seen[i], 0, sizeof seen[i]);
        ebb_buf_init(&seen[i].never, 65536);
        look(checks, OUTCOMES[i], &seen[i]);
        ebb_buf_printf(out, " %zu/%zu", seen[i].count, seen[i].possible);
    }
    for (size_t i = 0; i < 3; i++) {
        if (seen[i].never.len) {
            ebb_buf_puts(out, is_first ? "  (" : "; ");
            ebb_buf_add_str(out, ebb_buf_str(&seen[i].never));
            ebb_buf_printf(out, " never %s", OUTCOMES[i]);
            is_first = false;
        }
        ebb_buf_fini(&seen[i].never);
    }
    if (!is_first)
        ebb_buf_putc(out, ')');
}

static void print_lines(struct ebb_buf *out, const struct ebb_value *lines)
{
    const struct ebb_value *missed = ebb_value_get(lines, "missed");
    size_t n = ebb_value_get_count(missed);

    if (!lines)
        return;
    ebb_buf_printf(out, "  lines executed: %lld of %lld", (long long)ebb_value_int_of(lines, "executed", 0),
                   (long long)ebb_value_int_of(lines, "executable", 0));
    for (size_t i = 0; i < n && i < MISSED_MAX; i++)
        ebb_buf_printf(out, "%s%lld", i ? ", " : "  (never ",
                       (long long)ebb_value_get_int(ebb_value_get_at(missed, i), 0));
    if (n)
        ebb_buf_puts(out, n > MISSED_MAX ? ", …)" : ")");
    ebb_buf_putc(out, '\n');
}

/* ---- tests ---- */

static void print_counts(struct ebb_cli *cli, const struct ebb_value *report, const char *owner)
{
    size_t failed = count_of(report, owner, "failed"), skipped = count_of(report, owner, "skipped");

    ebb_buf_printf(&cli->out, "%zu passed", count_of(report, owner, "passed"));
    if (failed) {
        ebb_buf_printf(&cli->out, ", %zu ", failed);
        ebb_print_word(cli, EBB_PRINT_RED, "failed");
    }
    if (skipped)
        ebb_buf_printf(&cli->out, ", %zu skipped", skipped);
}

/* "  FAILED name: message    file:line", further lines of the message below. */
static void print_failure(struct ebb_cli *cli, const struct ebb_value *test)
{
    const char *message = text_of(test, "message");
    struct ebb_buf *out = &cli->out;
    size_t n = strcspn(message, "\n");

    ebb_buf_puts(out, "  ");
    ebb_print_word(cli, EBB_PRINT_RED, "FAILED");
    ebb_buf_putc(out, ' ');
    ebb_print_text(out, text_of(test, "name"));
    ebb_buf_puts(out, ": ");
    ebb_text_escape(out, message, n);
    ebb_buf_puts(out, "    ");
    ebb_print_text(out, text_of(test, "file"));
    if (ebb_value_get(test, "line"))
        ebb_buf_printf(out, ":%lld", (long long)ebb_value_int_of(test, "line", 0));
    ebb_buf_putc(out, '\n');
    while (message[n]) {
        message += n + 1;
        n = strcspn(message, "\n");
        ebb_buf_puts(out, n ? "    " : "");
        ebb_text_escape(out, message, n);
        ebb_buf_puts(out, n || message[n] ? "\n" : "");
    }
}

static void print_owner(struct ebb_cli *cli, const struct ebb_value *report, const char *owner,
                        const struct ebb_value *policy)
{
    const struct ebb_value *tests = ebb_value_get(report, "tests"), *checks = ebb_value_get(policy, "checks");
    struct ebb_buf *out = &cli->out;
    size_t start = out->len;

    ebb_print_text(out, owner);
    ebb_print_pad(out, start, NAME_COLUMN);
    ebb_buf_putc(out, ' ');
    print_counts(cli, report, owner);
    if (ebb_value_get_count(checks)) {
        ebb_print_pad(out, start, COUNT_COLUMN);
        print_checks(out, checks);
    }
    ebb_buf_putc(out, '\n');
    print_lines(out, ebb_value_get(policy, "lines"));
    for (size_t i = 0; i < ebb_value_get_count(tests); i++) {
        const struct ebb_value *test = ebb_value_get_at(tests, i);

        if (!strcmp(text_of(test, "status"), "failed") && !strcmp(owner_of(test), owner))
            print_failure(cli, test);
    }
}

static bool is_policy(const struct ebb_value *policies, const char *owner)
{
    for (size_t i = 0; i < ebb_value_get_count(policies); i++)
        if (!strcmp(text_of(ebb_value_get_at(policies, i), "policy"), owner))
            return true;
    return false;
}

/* Tests that use no policy, by their spec; each spec once. */
static void print_others(struct ebb_cli *cli, const struct ebb_value *report)
{
    const struct ebb_value *tests = ebb_value_get(report, "tests"), *policies = ebb_value_get(report, "policies");

    for (size_t i = 0; i < ebb_value_get_count(tests); i++) {
        const char *owner = owner_of(ebb_value_get_at(tests, i));
        bool is_first = !is_policy(policies, owner);

        for (size_t k = 0; is_first && k < i; k++)
            is_first = strcmp(owner_of(ebb_value_get_at(tests, k)), owner) != 0;
        if (is_first)
            print_owner(cli, report, owner, NULL);
    }
}

void ebb_test_print(struct ebb_cli *cli, const struct ebb_value *report)
{
    const struct ebb_value *policies = ebb_value_get(report, "policies"), *goldens = ebb_value_get(report, "goldens");

    for (size_t i = 0; i < ebb_value_get_count(policies); i++) {
        const struct ebb_value *policy = ebb_value_get_at(policies, i);

        print_owner(cli, report, text_of(policy, "policy"), policy);
    }
    print_others(cli, report);
    for (size_t i = 0; i < ebb_value_get_count(goldens); i++) {
        ebb_buf_puts(&cli->out, "wrote ");
        ebb_print_text(&cli->out, ebb_value_get_str(ebb_value_get_at(goldens, i)));
        ebb_buf_putc(&cli->out, '\n');
    }
}

/* ---- JSON ---- */

static void write_counts(struct ebb_jsonw *w, const struct ebb_value *report, const char *owner)
{
    static const char *const STATUSES[] = {"passed", "failed", "skipped"};

    for (size_t i = 0; i < 3; i++)
        ebb_jsonw_kint(w, STATUSES[i], (int64_t)count_of(report, owner, STATUSES[i]));
}

static void write_member(struct ebb_jsonw *w, const struct ebb_value *map, const char *key)
{
    if (!ebb_value_get(map, key))
        return;
    ebb_jsonw_key(w, key);
    ebb_value_write(ebb_value_get(map, key), w);
}

/* An empty table of Lua has become a map; a list is told as a list. */
static void write_list(struct ebb_jsonw *w, const struct ebb_value *map, const char *key)
{
    const struct ebb_value *list = ebb_value_get(map, key);

    ebb_jsonw_key(w, key);
    ebb_jsonw_begin(w, '[');
    for (size_t i = 0; i < ebb_value_get_count(list); i++)
        ebb_value_write(ebb_value_get_at(list, i), w);
    ebb_jsonw_end(w, ']');
}

static void write_policy(struct ebb_jsonw *w, const struct ebb_value *report, const struct ebb_value *policy)
{
    const struct ebb_value *lines = ebb_value_get(policy, "lines");

    ebb_jsonw_begin(w, '{');
    write_member(w, policy, "policy");
    write_member(w, policy, "file");
    write_counts(w, report, text_of(policy, "policy"));
    write_member(w, policy, "checks");
    if (lines) {
        ebb_jsonw_key(w, "lines");
        ebb_jsonw_begin(w, '{');
        write_member(w, lines, "executable");
        write_member(w, lines, "executed");
        write_list(w, lines, "missed");
        ebb_jsonw_end(w, '}');
    }
    ebb_jsonw_end(w, '}');
}

void ebb_test_json(const struct ebb_value *report, struct ebb_buf *out)
{
    const struct ebb_value *policies = ebb_value_get(report, "policies");
    struct ebb_jsonw w;

    ebb_jsonw_init(&w, out);
    ebb_jsonw_begin(&w, '{');
    write_counts(&w, report, NULL);
    ebb_jsonw_key(&w, "policies");
    ebb_jsonw_begin(&w, '[');
    for (size_t i = 0; i < ebb_value_get_count(policies); i++)
        write_policy(&w, report, ebb_value_get_at(policies, i));
    ebb_jsonw_end(&w, ']');
    write_list(&w, report, "tests");
    write_list(&w, report, "goldens");
    ebb_jsonw_end(&w, '}');
    ebb_buf_putc(out, '\n');
}
