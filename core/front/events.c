/* SPDX-License-Identifier: Apache-2.0
 *
 * ebb events: what was told from outside.
 */
#include "base/text.h"
#include "base/time.h"
#include "front/commands.h"
#include "front/print.h"
#include "io/store_events.h"

static const struct ebb_option OPTIONS[] = {
    {"table", 0, "GLOB", NULL, false, "only of these tables ('*' is any run of characters)"},
    {"type", 0, "TYPE", NULL, false, "only of this type, as commit.failed"},
    {"source", 0, "TEXT", NULL, false, "only what this source told"},
    {"since", 0, "D|INSTANT", NULL, false, "only from this long ago on, as 7d, or since an instant with zone"},
    EBB_OPTIONS_END,
};

static void put_time(struct ebb_jsonw *w, const char *key, int64_t ms)
{
    struct ebb_buf text;

    ebb_buf_init(&text, 64);
    ebb_time_iso(&text, ms);
    ebb_jsonw_kstr(w, key, ebb_buf_cstr(&text));
    ebb_buf_fini(&text);
}

static void write_json(struct ebb_cli *cli, const struct ebb_event *e)
{
    struct ebb_jsonw w;

    ebb_jsonw_init(&w, &cli->out);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kint(&w, "seq", e->seq);
    ebb_jsonw_kstr(&w, "source", e->source);
    ebb_jsonw_kstr(&w, "id", e->id);
    ebb_jsonw_kstr(&w, "type", e->type);
    if (e->table[0])
        ebb_jsonw_kstr(&w, "table", e->table);
    put_time(&w, "at", e->at_ms);
    put_time(&w, "received", e->received_ms);
    ebb_jsonw_key(&w, "data");
    ebb_jsonw_raw(&w, e->json, strlen(e->json));
    ebb_jsonw_end(&w, '}');
    ebb_buf_putc(&cli->out, '\n');
}

static void put_text(struct ebb_buf *out, const char *text)
{
    if (*text)
        ebb_print_text(out, text);
    else
        ebb_buf_putc(out, '-');
}

static void write_people(struct ebb_cli *cli, const struct ebb_event *e)
{
    struct ebb_buf *out = &cli->out;
    size_t start = out->len;

    ebb_print_time(out, e->at_ms / 1000 * 1000);
    ebb_print_pad(out, start, 22);
    put_text(out, e->type);
    ebb_print_pad(out, start, 44);
    put_text(out, e->table);
    ebb_buf_puts(out, "  from ");
    put_text(out, e->source);
    ebb_buf_puts(out, "  id ");
    put_text(out, e->id);
    if (strcmp(e->json, "{}") != 0) {
        ebb_buf_puts(out, "  ");
        ebb_print_text(out, e->json);
    }
    ebb_buf_putc(out, '\n');
}

static int on_event(void *data, const struct ebb_event *e, struct ebb_err *err)
{
    struct ebb_cli *cli = data;

    if (cli->is_json)
        write_json(cli, e);
    else
        write_people(cli, e);
    return ebb_cli_emit(cli, err);
}

static int run_events(struct ebb_cli *cli, struct ebb_err *err)
{
    struct ebb_event_filter filter = {
        .table = ebb_args_get(&cli->args, "table"),
        .type = ebb_args_get(&cli->args, "type"),
        .source = ebb_args_get(&cli->args, "source"),
    };
    int rc = ebb_cli_open(cli, false, err);

    if (!rc)
        rc = ebb_args_since(&cli->args, "since", ebb_cli_now(cli), &filter.since_ms, err);
    return rc ? rc : ebb_store_list_events(ebb_cli_site(cli)->store, &filter, on_event, cli, err);
}

static const struct ebb_example EXAMPLES[] = {
    {"ebb events --table 'lake.prod.*' --since 1d", "what was told of some tables, in the order in which it came"},
    {"ebb events --type commit.failed --json | jq -r .table | sort | uniq -c", "where commits fail"},
    {NULL, NULL},
};

const struct ebb_command ebb_command_events = {
    .name = "events",
    .args = "",
    .summary = "what was told from outside, in the order in which it came",
    .options = OPTIONS,
    .examples = EXAMPLES,
    .run = run_events,
};
