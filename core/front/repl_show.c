/* SPDX-License-Identifier: Apache-2.0
 *
 * What the interactive session shows: pages, instants, decisions in a line.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/time.h"
#include "base/tz.h"
#include "front/decision_print.h"
#include "front/print.h"
#include "front/repl_priv.h"

#define PIPE_ROWS 400
#define HOUR_MS 3600000

struct ebb_buf *ebb__repl_out(struct ebb_repl *repl)
{
    return &repl->cli->out;
}

void ebb__repl_say_count(struct ebb_buf *out, int64_t n)
{
    struct ebb_buf digits;

    ebb_buf_init(&digits, 64);
    ebb_print_count(&digits, n);
    for (size_t i = 0; i < digits.len; i++)
        ebb_buf_putc(out, digits.data[i] == ',' ? ' ' : digits.data[i]);
    ebb_buf_fini(&digits);
}

/* ---- pages ---- */

void ebb__repl_size(const struct ebb_repl *repl, int *rows, int *columns)
{
    struct winsize size;

    *rows = PIPE_ROWS;
    *columns = 0;
    if (!repl->is_terminal || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
        return;
    *rows = size.ws_row > 12 ? size.ws_row - 2 : 10;
    *columns = size.ws_col > 20 ? size.ws_col : 0;
}

/* Bytes of the line that fit into so many columns; escape sequences of colours take none. */
static size_t fit(const char *line, size_t n, int columns)
{
    int used = 0;
    size_t i = 0;

    while (columns && i < n) {
        if (line[i] == '\033') {
            while (i < n && line[i] != 'm')
                i++;
            i += i < n;
            continue;
        }
        if (++used == columns && n - i > 1)
            return i;
        i++;
        while (i < n && ((unsigned char)line[i] & 0xC0) == 0x80)
            i++;
    }
    return n;
}

static bool is_error(const char *line, size_t n)
{
    return ebb_str_has_prefix((struct ebb_str){line, n}, EBB_STR("error: ")) ||
           ebb_str_has_prefix((struct ebb_str){line, n}, EBB_STR("  hint: "));
}

/* Append one page of the text to page; gives how much of it that was. */
static size_t make_page(const char *text, size_t n, int rows, int columns, struct ebb_buf *page, bool *cut)
{
    size_t at = 0;

    for (int row = 0; row < rows && at < n; row++) {
        const char *end = memchr(text + at, '\n', n - at);
        size_t length = end ? (size_t)(end - text) - at : n - at;
        size_t shown = is_error(text + at, length) ? length : fit(text + at, length, columns);

        ebb_buf_append(page, text + at, shown);
        if (shown < length) {
            ebb_buf_puts(page, "…");
            *cut = true;
        }
        ebb_buf_putc(page, '\n');
        at += length + (end != NULL);
    }
    return at;
}

static size_t count_lines(const char *text, size_t n)
{
    size_t lines = 0;

    for (size_t i = 0; i < n; i++)
        lines += text[i] == '\n';
    return lines;
}

int ebb__repl_flush(struct ebb_repl *repl, struct ebb_err *err)
{
    struct ebb_buf *out = ebb__repl_out(repl);
    int rows, columns, rc = ebb_buf_check(out, "output", err);
    bool cut = false;
    struct ebb_buf page;
    size_t shown;

    if (rc == -(int)EBB_ENOMEM)
        return rc;
    ebb_buf_init(&page, SIZE_MAX / 4);
    ebb__repl_size(repl, &rows, &columns);
    columns = repl->shows_whole ? 0 : columns;
    repl->shows_whole = false;
    shown = make_page(out->data ? out->data : "", out->len, rows, columns, &page, &cut);
    if (shown < out->len || cut) {
        ebb_buf_reset(&repl->more);
        ebb_buf_append(&repl->more, out->data + (shown < out->len ? shown : 0),
                       out->len - (shown < out->len ? shown : 0));
    }
    if (shown < out->len)
        ebb_buf_printf(&page, "… %zu more lines: :more\n", count_lines(out->data + shown, out->len - shown));
    else if (cut)
        ebb_buf_puts(&page, "… lines were cut: :more shows them whole\n");
    rc = ebb_buf_check(&page, "output", err);
    ebb_buf_reset(out);
    ebb_buf_add_str(out, ebb_buf_str(&page));
    ebb_buf_fini(&page);
    return rc ? rc : ebb_cli_flush(repl->cli, err);
}

/* ---- instants ---- */

/* The zone of the table's owner, or of a trigger of the policy spoken of; NULL without one. */
static const char *find_zone(struct ebb_repl *repl)
{
    const struct ebb_policy *policy = ebb__repl_policy_meant(repl);
    const struct ebb_value *facts = NULL, *triggers;
    const char *zone = NULL;

    if (repl->current != EBB__REPL_NONE && !ebb__repl_facts(repl, NULL, &facts, NULL))
        zone = ebb_value_text_of(ebb_value_get(ebb_value_get(facts, "table"), "properties"), "owner.timezone");
    triggers = policy && !zone ? ebb_value_get(ebb_policy_get_manifest(policy), "triggers") : NULL;
    for (size_t i = 0; !zone && i < ebb_value_get_count(triggers); i++)
        zone = ebb_value_text_of(ebb_value_get_at(triggers, i), "tz");
    return zone;
}

/* The clocks changed since `before`, within the last hours. */
static void say_change(struct ebb_buf *out, const struct ebb_tz *tz, int64_t at_s, int64_t before_s)
{
    int32_t now = ebb_tz_offset(tz, at_s), then;
    int64_t at[2];
    struct ebb_civil civil;

    if (before_s < at_s - 3 * 3600)
        return;
    then = ebb_tz_offset(tz, before_s);
    if (now > then) {
        int64_t low = before_s, high = at_s;

        while (high - low > 1)
            *(ebb_tz_offset(tz, low + (high - low) / 2) == then ? &low : &high) = low + (high - low) / 2;
        if (ebb_tz_instants(tz, high + then, at))
            return;
        ebb_civil_of_days(0, &civil);
        ebb_tz_civil(tz, high - 1, &civil);
        ebb_buf_printf(out, ": the hour from %02d:%02d ", (civil.hour + (civil.minute == 59)) % 24,
                       civil.minute == 59 ? 0 : civil.minute + 1);
        ebb_tz_civil(tz, high, &civil);
        ebb_buf_printf(out, "to %02d:%02d did not exist", civil.hour, civil.minute);
    } else if (now < then) {
        ebb_buf_puts(out, ": an hour came twice");
    }
}

void ebb__repl_say_wall(struct ebb_repl *repl, int64_t at_ms, int64_t before_ms)
{
    static const char *const DAYS[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    struct ebb_buf *out = ebb__repl_out(repl);
    const char *zone = find_zone(repl);
    struct ebb_civil c;
    struct ebb_tz *tz;

    if (!zone || ebb_tz_load(zone, &tz, NULL))
        return;
    ebb_tz_civil(tz, at_ms / 1000, &c);
    ebb_buf_printf(out, "  (%s %02d:%02d", DAYS[c.weekday % 7], c.hour, c.minute);
    ebb_buf_puts(out, " ");
    ebb_print_text(out, zone);
    say_change(out, tz, at_ms / 1000, before_ms / 1000);
    ebb_buf_putc(out, ')');
    ebb_tz_free(tz);
}

void ebb__repl_say_now(struct ebb_repl *repl, int64_t before_ms)
{
    struct ebb_buf *out = ebb__repl_out(repl);
    int64_t now = ebb_session_now(repl->session);

    ebb_buf_puts(out, "now ");
    ebb_print_time(out, now);
    ebb__repl_say_wall(repl, now, before_ms);
    ebb_buf_puts(out, "   overlay\n");
}

/* ---- decisions ---- */

void ebb__repl_say_word(struct ebb_buf *out, const char *text)
{
    for (; *text; text++)
        ebb_buf_putc(out, *text >= 'a' && *text <= 'z' ? (char)(*text - 'a' + 'A') : *text);
}

void ebb__repl_say_verdict(struct ebb_buf *out, const struct ebb_decision *d)
{
    enum ebb_verdict verdict = ebb_decision_get_verdict(d);
    const struct ebb_value *action = ebb_decision_get_action(d);

    ebb__repl_say_word(out, ebb_verdict_name(verdict));
    if (verdict == EBB_VERDICT_DEFER && ebb_decision_get_until_ms(d)) {
        ebb_buf_puts(out, " until ");
        ebb_print_time(out, ebb_decision_get_until_ms(d));
    } else if (verdict == EBB_VERDICT_DEFER) {
        ebb_buf_puts(out, " until the running job ends");
    } else if (action) {
        ebb_buf_putc(out, ' ');
        ebb_print_text(out, ebb_value_text_of(action, "type"));
    }
    if (strcmp(ebb_decision_get_by(d), "policy")) {
        ebb_buf_puts(out, "  by ");
        ebb_print_text(out, ebb_decision_get_by(d));
    }
}

static void say_reason(struct ebb_buf *out, const struct ebb_decision *d)
{
    struct ebb_value *record = NULL;
    const char *json = ebb_decision_get_record(d), *why;

    if (!json || ebb_value_of_json("decision", json, strlen(json), NULL, &record, NULL))
        return;
    why = ebb_value_text_of(record, "why");
    if (why) {
        ebb_buf_puts(out, "  ");
        ebb_print_text(out, why);
    }
    if (ebb_decision_get_verdict(d) == EBB_VERDICT_RUN) {
        ebb_buf_puts(out, "  (mode ");
        ebb_print_text(out, ebb_value_text_of(record, "mode"));
        ebb_buf_puts(out, ": recorded, not started)");
    }
    ebb_value_free(record);
}

static struct ebb__repl_told *find_told(const struct ebb_repl *repl, const char *policy, size_t table)
{
    for (size_t i = 0; i < repl->told_count; i++)
        if (repl->told[i].table == table && !strcmp(repl->told[i].policy, policy))
            return &repl->told[i];
    return NULL;
}

const char *ebb__repl_latest(const struct ebb_repl *repl, const char *policy, size_t table)
{
    const struct ebb__repl_told *told = find_told(repl, policy, table);

    return told ? told->record : NULL;
}

int ebb__repl_keep(struct ebb_repl *repl, const char *policy, size_t table, const char *record, struct ebb_err *err)
{
    struct ebb__repl_told *told = find_told(repl, policy, table), *all;
    char *copy = strdup(record);

    if (!copy)
        return ebb_err_nomem(err);
    if (!told) {
        all = realloc(repl->told, (repl->told_count + 1) * sizeof *all);
        if (!all) {
            free(copy);
            return ebb_err_nomem(err);
        }
        repl->told = all;
        told = &all[repl->told_count++];
        memset(told, 0, sizeof *told);
        told->table = table;
        snprintf(told->policy, sizeof told->policy, "%s", policy);
    }
    free(told->record);
    told->record = copy;
    return 0;
}

void ebb__repl_forget(struct ebb_repl *repl)
{
    for (size_t i = 0; i < repl->told_count; i++)
        free(repl->told[i].record);
    free(repl->told);
    repl->told = NULL;
    repl->told_count = 0;
}

void ebb__repl_say_decision(struct ebb_repl *repl, const struct ebb_session_decision *decision)
{
    struct ebb_buf *out = ebb__repl_out(repl), iso;

    repl->decided++;
    ebb_buf_init(&iso, 64);
    ebb_print_time(&iso, decision->at_ms);
    if (decision->at_ms / 86400000 == repl->day && iso.len > 11)
        ebb_buf_puts(out, iso.data + 11);
    else
        ebb_buf_puts(out, ebb_buf_cstr(&iso));
    ebb_buf_fini(&iso);
    ebb_buf_putc(out, ' ');
    if (repl->table_count > 1) {
        for (size_t i = 0; i < repl->table_count; i++)
            if (repl->tables[i].index == decision->table)
                ebb_print_text(out, repl->tables[i].label);
        ebb_buf_puts(out, ": ");
    }
    ebb_print_text(out, decision->policy);
    ebb_buf_puts(out, "  ");
    if (decision->decision) {
        ebb__repl_say_verdict(out, decision->decision);
        say_reason(out, decision->decision);
        if (ebb_decision_get_record(decision->decision))
            ebb__repl_keep(repl, decision->policy, decision->table, ebb_decision_get_record(decision->decision), NULL);
    } else {
        ebb_buf_puts(out, decision->dropped ? "DROPPED: " : "ERROR");
        ebb_print_text(out, decision->dropped);
    }
    if (decision->error) {
        ebb_buf_puts(out, "  ");
        ebb_print_text(out, decision->error->message);
    }
    ebb_buf_putc(out, '\n');
}
