/* SPDX-License-Identifier: Apache-2.0
 *
 * ebb next
 */
#include "front/commands.h"
#include "front/print.h"
#include "service/preview.h"

#define FIRES_MAX 100000

static const struct ebb_option OPTIONS[] = {
    {"count", 'n', "N", NULL, false, "how many fires (10)"},
    EBB_OPTIONS_END,
};

static const struct ebb_example EXAMPLES[] = {
    {"ebb next", "what comes next, of all bound policies"},
    {"ebb next policies/orphans.lua -n 4", "the times of a file, before it is bound to anything"},
    {"ebb next orphans-weekly lake.prod.events --at 2026-03-28T00:00:00Z", "on a table, over a clock change"},
    {NULL, NULL},
};

static void write_time(struct ebb_jsonw *w, const char *key, bool is_known, int64_t ms)
{
    char text[64];
    struct ebb_buf b = {.data = text, .cap = sizeof text, .max = sizeof text - 1};

    if (is_known)
        ebb_time_iso(&b, ms);
    ebb_jsonw_kstr(w, key, is_known ? ebb_buf_cstr(&b) : NULL);
}

static void write_fire(struct ebb_jsonw *w, const struct ebb_coming_fire *f)
{
    ebb_jsonw_begin(w, '{');
    ebb_jsonw_kstr(w, "policy", f->policy);
    ebb_jsonw_kstr(w, "table", f->table);
    ebb_jsonw_kint(w, "trigger", (int64_t)f->fire.trigger + 1);
    write_time(w, "nominal", f->fire.has_nominal, f->fire.nominal_ms);
    ebb_jsonw_kstr(w, "local", f->fire.local);
    write_time(w, "fires", true, f->fire.fires_ms);
    ebb_print_strs_json(w, "why", &f->fire.why);
    ebb_jsonw_end(w, '}');
}

static void write_json(struct ebb_cli *cli, const struct ebb_coming *list)
{
    struct ebb_jsonw w;

    ebb_jsonw_init(&w, &cli->out);
    ebb_jsonw_begin(&w, '[');
    for (size_t i = 0; i < list->count; i++)
        write_fire(&w, &list->items[i]);
    ebb_jsonw_end(&w, ']');
    ebb_buf_putc(&cli->out, '\n');
}

/* ---- for people ---- */

static const char *zone_of(const struct ebb_coming_fire *f)
{
    return f->fire.local + 17;
}

static bool is_same(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

/* What all rows have in common stands above them. */
struct layout {
    bool one_zone, one_pair;
    size_t fires, note; /* columns */
};

static void lay_out(const struct ebb_coming *list, struct layout *l)
{
    const struct ebb_coming_fire *first = &list->items[0];

    *l = (struct layout){true, true, 24, 46};
    for (size_t i = 1; i < list->count; i++) {
        l->one_zone = l->one_zone && is_same(zone_of(first), zone_of(&list->items[i]));
        l->one_pair =
            l->one_pair && is_same(first->policy, list->items[i].policy) && is_same(first->table, list->items[i].table);
    }
    if (l->one_zone && strlen(zone_of(first)) + 13 > l->fires)
        l->fires = strlen(zone_of(first)) + 13;
    for (size_t i = 0; !l->one_zone && i < list->count; i++)
        if (strlen(zone_of(&list->items[i])) + 24 > l->fires)
            l->fires = strlen(zone_of(&list->items[i])) + 24;
    l->note = l->fires + 22;
}

static void print_pair(struct ebb_buf *out, const struct ebb_coming_fire *f)
{
    ebb_print_text(out, f->policy);
    if (f->table) {
        ebb_buf_puts(out, " on ");
        ebb_print_text(out, f->table);
    }
}

static void print_head(struct ebb_buf *out, const struct ebb_coming *list, const struct layout *l)
{
    size_t start;

    if (l->one_pair) {
        print_pair(out, &list->items[0]);
        ebb_buf_putc(out, '\n');
    }
    start = out->len;
    ebb_buf_puts(out, " nominal");
    if (l->one_zone)
        ebb_buf_printf(out, " (%s)", zone_of(&list->items[0]));
    ebb_print_pad(out, start, l->fires);
    ebb_buf_puts(out, "fires");
    ebb_print_pad(out, start, l->note);
    ebb_buf_puts(out, "note\n");
}

static void print_fire(struct ebb_buf *out, const struct ebb_coming_fire *f, const struct layout *l)
{
    size_t start = out->len, note;

    ebb_buf_putc(out, ' ');
    ebb_fire_wall(&f->fire, out);
    if (!l->one_zone)
        ebb_buf_printf(out, " %s", zone_of(f));
    ebb_print_pad(out, start, l->fires);
    ebb_print_time(out, f->fire.fires_ms);
    note = out->len;
    ebb_print_pad(out, start, l->note);
    if (!l->one_pair) {
        print_pair(out, f);
        if (f->fire.why.count)
            ebb_buf_puts(out, ": ");
    } else if (!f->fire.why.count)
        out->len = note;
    ebb_fire_note(&f->fire, out);
    ebb_buf_putc(out, '\n');
}

static void print_list(struct ebb_cli *cli, const struct ebb_coming *list)
{
    struct layout l;

    if (!list->count) {
        ebb_buf_puts(&cli->out, "no time trigger fires\n");
        return;
    }
    lay_out(list, &l);
    print_head(&cli->out, list, &l);
    for (size_t i = 0; i < list->count; i++)
        print_fire(&cli->out, &list->items[i], &l);
    if (list->leaves_spread)
        ebb_buf_puts(&cli->out, "without spread: that depends on the table\n");
}

static bool is_file(const char *policy)
{
    size_t n = strlen(policy);

    return strchr(policy, '/') || (n > 4 && !strcmp(policy + n - 4, ".lua"));
}

static int run_next(struct ebb_cli *cli, struct ebb_err *err)
{
    struct ebb_preview_options o = {.policy = ebb_args_word(&cli->args, 0), .table = ebb_args_word(&cli->args, 1)};
    struct ebb_coming list = {0};
    int64_t n = 10;
    int rc = ebb_args_int(&cli->args, "count", 1, &n, err);

    if (!rc && n > FIRES_MAX)
        rc = ebb_err_set(err, EBB_EUSAGE, "-n: at most %d", FIRES_MAX);
    if (!rc) /* a policy by itself needs no state */
        rc = ebb_cli_start(cli, o.policy && !o.table && is_file(o.policy), err);
    o.n = (size_t)n;
    if (!rc)
        rc = ebb_preview_pass(cli->ws, &o, &list, err);
    if (!rc && cli->is_json)
        write_json(cli, &list);
    else if (!rc)
        print_list(cli, &list);
    ebb_coming_fini(&list);
    return rc;
}

const struct ebb_command ebb_command_next = {
    .name = "next",
    .args = "[POLICY [TABLE]]",
    .summary = "coming fire times with the reason of every shift",
    .about =
        "The first N fires of time triggers after now (--at: after that time), of all bound policies, those made over "
        "the Gravitino interface too (object:NAME), of one on each of its tables, or on TABLE, which may also be a "
        "captured fixture (fixture.json). POLICY is a name, or a file, "
        "which is looked at by itself unless TABLE is given: without spread, which depends on the table. Runs are "
        "taken to end when they start. Nothing is decided.",
    .arg_min = 0,
    .arg_max = 2,
    .shared = EBB_TAKES_MAP | EBB_TAKES_AT,
    .options = OPTIONS,
    .examples = EXAMPLES,
    .run = run_next,
};
