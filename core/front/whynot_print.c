/* SPDX-License-Identifier: Apache-2.0 */
#include "front/whynot_print.h"

#include "base/tz.h"
#include "front/decision_print.h"
#include "front/decision_tree.h"
#include "front/print.h"

#define WORD_COLUMN 30
#define WRAP_COLUMN 110

static int64_t now_of(const struct ebb_value *record)
{
    const char *text = ebb_value_text_of(record, "now");
    int64_t now = 0;

    if (text)
        ebb_time_parse(text, NULL, &now, NULL);
    return now;
}

/* ---- wall time ---- */

static const char *zone_of(const struct ebb_policy *policy, const struct ebb_value *params)
{
    const struct ebb_value *defined = ebb_value_get(ebb_policy_get_manifest(policy), "params");

    for (size_t i = 0; i < ebb_value_get_count(defined); i++) {
        const char *type = ebb_value_text_of(ebb_value_get_at(defined, i), "type");

        if (type && !strcmp(type, "timezone"))
            return ebb_value_text_of(params, ebb_value_get_key(defined, i).p);
    }
    return NULL;
}

void ebb_print_wall(struct ebb_buf *out, const struct ebb_policy *policy, const struct ebb_value *params, int64_t at_ms)
{
    static const char *const DAYS[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    const char *zone = zone_of(policy, params);
    struct ebb_tz *tz = NULL;
    struct ebb_civil c;

    if (!zone || ebb_tz_load(zone, &tz, NULL))
        return;
    ebb_tz_civil(tz, at_ms / 1000, &c);
    ebb_buf_printf(out, "%s %02d:%02d ", DAYS[c.weekday % 7], c.hour, c.minute);
    ebb_print_text(out, zone);
    ebb_tz_free(tz);
}

/* ---- parts ---- */

static void print_name(struct ebb_buf *out, const char *name)
{
    size_t start = out->len;

    ebb_buf_putc(out, ' ');
    ebb_buf_puts(out, name);
    ebb_print_pad(out, start, WORD_COLUMN);
}

/* "orphans-on-event on prod.events.clicks: not now. DEFER until 2026-04-01T00:00:00Z (in 71h)" */
static void print_head(struct ebb_cli *cli, const struct ebb_value *record)
{
    const char *verdict = ebb_value_text_of(record, "verdict"), *by = ebb_value_text_of(record, "by");
    const char *until = ebb_value_text_of(record, "until");
    struct ebb_buf *out = &cli->out;
    int64_t at, now = now_of(record);

    ebb_print_text(out, ebb_value_text_of(record, "policy"));
    ebb_buf_puts(out, " on ");
    ebb_print_text(out, ebb_value_text_of(record, "table"));
    ebb_buf_puts(out, verdict && !strcmp(verdict, "run") ? ": runs now. " : ": not now. ");
    ebb_decision_print_outcome(cli, record);
    if (until && !ebb_time_parse(until, NULL, &at, NULL) && at > now) {
        ebb_buf_puts(out, " (in ");
        ebb_print_span(out, at - now);
        ebb_buf_putc(out, ')');
    }
    if (by && strcmp(by, "policy") != 0) {
        ebb_buf_puts(out, " by ");
        ebb_print_text(out, by);
    }
    if (ebb_value_text_of(record, "why")) {
        ebb_buf_puts(out, "  ");
        ebb_print_text(out, ebb_value_text_of(record, "why"));
    }
    ebb_buf_putc(out, '\n');
}

static bool is_true(const struct ebb_value *guard)
{
    const char *result = ebb_value_text_of(guard, "r");

    return result && !strcmp(result, "true");
}

static const char *short_name(const struct ebb_value *guard)
{
    const char *name = ebb_value_text_of(guard, "n");

    if (!name)
        return "";
    return strncmp(name, "guard.", 6) ? name : name + 6;
}

/* "all pass  (mode: observe)" */
static void print_passing(struct ebb_buf *out, const struct ebb_value *guards)
{
    size_t shown = 0;

    ebb_buf_puts(out, "all pass");
    for (size_t i = 0; i < ebb_value_get_count(guards); i++) {
        const struct ebb_value *g = ebb_value_get_at(guards, i);

        if (!ebb_value_text_of(g, "why"))
            continue;
        ebb_buf_puts(out, shown++ ? "; " : "  (");
        ebb_print_text(out, short_name(g));
        ebb_buf_puts(out, ": ");
        ebb_print_text(out, ebb_value_text_of(g, "why"));
    }
    ebb_buf_puts(out, shown ? ")\n" : "\n");
}

static void print_failing(struct ebb_cli *cli, const struct ebb_policy *policy, const struct ebb_value *params,
                          const struct ebb_value *g, int64_t now)
{
    const char *result = ebb_value_text_of(g, "r"), *why = ebb_value_text_of(g, "why");
    int64_t until = ebb_value_int_of(g, "until", 0);
    struct ebb_buf *out = &cli->out;

    ebb_decision_print_row(cli, 3, short_name(g), result ? result : "unknown", "");
    ebb_print_text(out, why);
    if (until > now) {
        size_t at;

        ebb_buf_puts(out, why ? "  until " : "until ");
        ebb_print_time(out, until);
        ebb_buf_puts(out, " (in ");
        ebb_print_span(out, until - now);
        at = out->len;
        ebb_buf_puts(out, ", ");
        ebb_print_wall(out, policy, params, until);
        if (out->len == at + 2)
            out->len = at;
        ebb_buf_putc(out, ')');
    }
    ebb_buf_putc(out, '\n');
}

static void print_guards(struct ebb_cli *cli, const struct ebb_policy *policy, const struct ebb_value *record,
                         const struct ebb_value *guards)
{
    size_t failing = 0;

    for (size_t i = 0; i < ebb_value_get_count(guards); i++)
        failing += !is_true(ebb_value_get_at(guards, i));
    print_name(&cli->out, "guards");
    if (!failing) {
        print_passing(&cli->out, guards);
        return;
    }
    ebb_buf_printf(&cli->out, "%zu of %zu hold\n", failing, ebb_value_get_count(guards));
    for (size_t i = 0; i < ebb_value_get_count(guards); i++)
        if (!is_true(ebb_value_get_at(guards, i)))
            print_failing(cli, policy, ebb_value_get(record, "params"), ebb_value_get_at(guards, i), now_of(record));
}

static void print_earliest(struct ebb_buf *out, const struct ebb_policy *policy, const struct ebb_value *whynot)
{
    const struct ebb_value *earliest = ebb_value_get(whynot, "earliest"), *record = ebb_value_get(whynot, "record");
    size_t start;

    print_name(out, "earliest possible");
    if (!earliest) {
        ebb_buf_puts(out, "not by the clock alone: something else must change\n");
        return;
    }
    ebb_print_time(out, ebb_value_get_int(earliest, 0));
    start = out->len;
    ebb_buf_puts(out, " (");
    ebb_print_wall(out, policy, ebb_value_get(record, "params"), ebb_value_get_int(earliest, 0));
    if (out->len == start + 2)
        out->len = start;
    else
        ebb_buf_putc(out, ')');
    ebb_buf_putc(out, '\n');
}

/* Paths without the "ctx." that all of them would have. */
static void print_reads(struct ebb_buf *out, const struct ebb_value *reads)
{
    size_t line = out->len;

    print_name(out, "read");
    for (size_t i = 0; i < ebb_value_get_count(reads); i++) {
        const char *path = ebb_value_get_str(ebb_value_get_at(reads, i));

        if (!path)
            continue;
        path = strncmp(path, "ctx.", 4) ? path : path + 4;
        if (i)
            ebb_buf_puts(out, ", ");
        if (i && out->len - line + strlen(path) > WRAP_COLUMN) {
            out->len--;
            ebb_buf_putc(out, '\n');
            line = out->len;
            print_name(out, "");
        }
        ebb_print_text(out, path);
    }
    ebb_buf_putc(out, '\n');
}

void ebb_whynot_print(struct ebb_cli *cli, const struct ebb_policy *policy, const struct ebb_value *whynot)
{
    const struct ebb_value *record = ebb_value_get(whynot, "record");

    print_head(cli, record);
    ebb_decision_print_tree(cli, record, ebb_value_get(whynot, "checks"), now_of(record));
    print_guards(cli, policy, record, ebb_value_get(whynot, "guards"));
    print_earliest(&cli->out, policy, whynot);
    print_reads(&cli->out, ebb_value_get(whynot, "reads"));
}
