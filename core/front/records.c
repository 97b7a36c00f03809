/* SPDX-License-Identifier: Apache-2.0
 *
 * ebb runs, ebb plans, ebb decisions: lists of what is recorded.
 */
#include "base/time.h"
#include "engine/value.h"
#include "front/commands.h"
#include "front/print.h"

static const struct ebb_option OPTIONS[] = {
    {"table", 0, "GLOB", NULL, false, "only of these tables ('*' is any run of characters)"},
    {"policy", 0, "NAME", NULL, false, "only what this policy caused"},
    {"since", 0, "D|INSTANT", NULL, false, "only from this long ago on, as 7d, or since an instant with zone"},
    EBB_OPTIONS_END,
};

/* ---- JSON: the stored record, with what the store itself knows ---- */

static void put_time(struct ebb_value *map, const char *key, int64_t ms)
{
    struct ebb_buf text;

    ebb_buf_init(&text, 64);
    ebb_time_iso(&text, ms);
    if (ms > 0 && !ebb_value_get(map, key))
        ebb_value_put_str(map, key, ebb_buf_cstr(&text));
    ebb_buf_fini(&text);
}

static void put_known(struct ebb_value *map, enum ebb_record_kind kind, const struct ebb_record *r)
{
    static const char *const IDS[] = {"plan", "run"};

    if (kind == EBB_RECORD_DECISION)
        return;
    if (!ebb_value_get(map, "id"))
        ebb_value_put_str(map, "id", r->id);
    if (!ebb_value_get(map, IDS[kind]) && kind == EBB_RECORD_PLAN)
        ebb_value_put_str(map, "plan", r->id);
    ebb_value_put_str(map, "status", r->status);
    if (!ebb_value_get(map, "table"))
        ebb_value_put_str(map, "table", r->table);
    if (r->policy[0])
        ebb_value_put_str(map, "policy", r->policy);
    if (kind == EBB_RECORD_PLAN && r->parent[0])
        ebb_value_put_str(map, "decision", r->parent);
    put_time(map, kind == EBB_RECORD_PLAN ? "created" : "started", r->at_ms);
    put_time(map, "ended", r->end_ms);
}

static int write_json(struct ebb_cli *cli, enum ebb_record_kind kind, const struct ebb_record *r, struct ebb_err *err)
{
    struct ebb_value *map = NULL;
    int rc = ebb_value_of_json(r->id, r->json, strlen(r->json), NULL, &map, err);

    if (!rc) {
        put_known(map, kind, r);
        rc = ebb_value_to_json(map, &cli->out, err);
    }
    ebb_buf_putc(&cli->out, '\n');
    ebb_value_free(map);
    return rc;
}

/* ---- for people ---- */

static enum ebb_print_colour colour_of(const char *status)
{
    static const char *const GOOD[] = {"ready",  "done",  "run",  "applied", "restored",
                                       "purged", "empty", "skip", "observed"};
    static const char *const BAD[] = {"held", "failed", "partial", "refused", "error"};

    for (size_t i = 0; i < sizeof GOOD / sizeof GOOD[0]; i++)
        if (!strcmp(status, GOOD[i]))
            return EBB_PRINT_GREEN;
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++)
        if (!strcmp(status, BAD[i]))
            return EBB_PRINT_RED;
    return EBB_PRINT_YELLOW;
}

static void print_details(struct ebb_buf *out, enum ebb_record_kind kind, const struct ebb_record *r)
{
    struct ebb_value *map = NULL;

    if (r->policy[0]) {
        ebb_buf_puts(out, "  policy ");
        ebb_print_text(out, r->policy);
    }
    if (ebb_value_of_json(r->id, r->json, strlen(r->json), NULL, &map, NULL))
        return;
    if (kind == EBB_RECORD_PLAN && ebb_value_get(map, "candidates")) {
        ebb_buf_puts(out, "  ");
        ebb_print_files(out, ebb_value_int_of(map, "candidates", 0),
                        (uint64_t)ebb_value_int_of(map, "candidate_bytes", 0));
    }
    if (kind == EBB_RECORD_RUN && ebb_value_get(map, "moved")) {
        ebb_buf_puts(out, "  ");
        ebb_print_count(out, ebb_value_int_of(map, "moved", 0));
        ebb_buf_puts(out, " moved");
        if (ebb_value_int_of(map, "deleted", 0)) {
            ebb_buf_puts(out, ", ");
            ebb_print_count(out, ebb_value_int_of(map, "deleted", 0));
            ebb_buf_puts(out, " deleted");
        }
        if (ebb_value_int_of(map, "returned", 0)) {
            ebb_buf_puts(out, ", ");
            ebb_print_count(out, ebb_value_int_of(map, "returned", 0));
            ebb_buf_puts(out, " returned");
        }
    }
    ebb_value_free(map);
}

static void write_people(struct ebb_cli *cli, enum ebb_record_kind kind, const struct ebb_record *r)
{
    struct ebb_buf *out = &cli->out;
    size_t start = out->len;

    ebb_print_text(out, r->id);
    ebb_buf_puts(out, "  ");
    ebb_print_time(out, r->at_ms / 1000 * 1000);
    ebb_print_pad(out, start, 52);
    ebb_print_word(cli, colour_of(r->status), r->status);
    for (size_t n = strlen(r->status); n < 12; n++)
        ebb_buf_putc(out, ' ');
    ebb_print_text(out, r->table);
    print_details(out, kind, r);
    ebb_buf_putc(out, '\n');
}

struct list {
    struct ebb_cli *cli;
    enum ebb_record_kind kind;
};

static int on_record(void *data, const struct ebb_record *record, struct ebb_err *err)
{
    struct list *l = data;
    int rc = 0;

    if (l->cli->is_json)
        rc = write_json(l->cli, l->kind, record, err);
    else
        write_people(l->cli, l->kind, record);
    return rc ? rc : ebb_cli_emit(l->cli, err);
}

static int list(struct ebb_cli *cli, enum ebb_record_kind kind, struct ebb_err *err)
{
    struct ebb_record_filter filter;
    struct list l = {cli, kind};
    int rc;

    memset(&filter, 0, sizeof filter);
    filter.table = ebb_args_get(&cli->args, "table");
    filter.policy = ebb_args_get(&cli->args, "policy");
    rc = ebb_cli_open(cli, false, err);
    if (!rc)
        rc = ebb_args_since(&cli->args, "since", ebb_cli_now(cli), &filter.since_ms, err);
    return rc ? rc : ebb_store_list(ebb_cli_site(cli)->store, kind, &filter, on_record, &l, err);
}

static int run_runs(struct ebb_cli *cli, struct ebb_err *err)
{
    return list(cli, EBB_RECORD_RUN, err);
}

static int run_plans(struct ebb_cli *cli, struct ebb_err *err)
{
    return list(cli, EBB_RECORD_PLAN, err);
}

static int run_decisions(struct ebb_cli *cli, struct ebb_err *err)
{
    return list(cli, EBB_RECORD_DECISION, err);
}

static const struct ebb_example RUN_EXAMPLES[] = {
    {"ebb runs --since 7d", "what was done in the last week"},
    {"ebb runs --json | jq -r 'select(.status == \"partial\").id'", "runs that need a look"},
    {NULL, NULL},
};

static const struct ebb_example PLAN_EXAMPLES[] = {
    {"ebb plans --table 'lake.prod.*'", "plans of some tables, oldest first"},
    {NULL, NULL},
};

static const struct ebb_example DECISION_EXAMPLES[] = {
    {"ebb decisions --policy orphans-weekly --since 30d --json", "as recorded"},
    {NULL, NULL},
};

const struct ebb_command ebb_command_runs = {
    .name = "runs",
    .args = "",
    .summary = "what was done, oldest first",
    .options = OPTIONS,
    .examples = RUN_EXAMPLES,
    .run = run_runs,
};

const struct ebb_command ebb_command_plans = {
    .name = "plans",
    .args = "",
    .summary = "plans that were made, oldest first",
    .options = OPTIONS,
    .examples = PLAN_EXAMPLES,
    .run = run_plans,
};

const struct ebb_command ebb_command_decisions = {
    .name = "decisions",
    .args = "",
    .summary = "what policies decided, oldest first",
    .options = OPTIONS,
    .examples = DECISION_EXAMPLES,
    .run = run_decisions,
};
