/* SPDX-License-Identifier: Apache-2.0
 *
 * ebb stats
 */
#include "base/time.h"
#include "front/commands.h"
#include "front/print.h"
#include "service/facts.h"

static const struct ebb_example EXAMPLES[] = {
    {"ebb stats lake.prod.events", "what policies see as t.stats"},
    {"ebb stats lake.prod.events --json | jq .partitions", "the partitions, one object each"},
    {NULL, NULL},
};

/* ---- people ---- */

static bool has(const struct ebb_value *stats, const char *key)
{
    return ebb_value_get_kind(ebb_value_get(stats, key)) == EBB_VALUE_INT;
}

static void print_number(struct ebb_buf *out, const struct ebb_value *stats, const char *key, const char *name)
{
    if (has(stats, key))
        ebb_print_count_field(out, name, ebb_value_int_of(stats, key, 0));
    else
        ebb_print_field(out, name, "unknown");
}

static void print_size(struct ebb_buf *out, const struct ebb_value *stats, const char *key, const char *name)
{
    ebb_print_name(out, name);
    if (has(stats, key))
        ebb_text_size(out, (uint64_t)ebb_value_int_of(stats, key, 0));
    else
        ebb_buf_puts(out, "unknown");
    ebb_buf_putc(out, '\n');
}

static void print_longest(struct ebb_buf *out, const struct ebb_value *stats)
{
    const char *source = ebb_value_text_of(stats, "longest_write_source");

    ebb_print_name(out, "longest write");
    if (has(stats, "longest_write")) {
        ebb_duration_format(out, ebb_value_int_of(stats, "longest_write", 0));
        if (source) {
            ebb_buf_puts(out, ", by ");
            ebb_print_text(out, source);
        }
    } else {
        ebb_buf_puts(out, "unknown");
    }
    ebb_buf_putc(out, '\n');
}

static void print_orphans(struct ebb_buf *out, const struct ebb_value *stats)
{
    const struct ebb_value *orphans = ebb_value_get(stats, "orphans");

    ebb_print_name(out, "orphans");
    if (orphans) {
        ebb_print_files(out, ebb_value_int_of(orphans, "files", 0), (uint64_t)ebb_value_int_of(orphans, "bytes", 0));
        ebb_buf_puts(out, ", listed ");
        ebb_print_time(out, ebb_value_int_of(orphans, "at", 0));
    } else {
        ebb_buf_puts(out, "never listed");
    }
    ebb_buf_putc(out, '\n');
}

static void print_people(struct ebb_cli *cli, const char *table, const struct ebb_value *t)
{
    const struct ebb_value *stats = ebb_value_get(t, "stats"), *partitions = ebb_value_get(t, "partitions");
    struct ebb_buf *out = &cli->out;

    ebb_print_field(out, "table", table);
    print_number(out, stats, "data_files", "data files");
    print_number(out, stats, "small_files", "small files");
    print_size(out, stats, "bytes", "size");
    print_number(out, stats, "delete_files", "delete files");
    print_number(out, stats, "delete_records", "deletes");
    print_number(out, stats, "manifests", "manifests");
    print_number(out, stats, "snapshots", "snapshots");
    if (partitions)
        ebb_print_count_field(out, "partitions", (int64_t)ebb_value_get_count(partitions));
    else
        ebb_print_field(out, "partitions", "unknown");
    print_longest(out, stats);
    print_orphans(out, stats);
}

/* ---- machines ---- */

static void print_json(struct ebb_cli *cli, const char *table, const struct ebb_value *t)
{
    const struct ebb_value *stats = ebb_value_get(t, "stats"), *partitions = ebb_value_get(t, "partitions");
    struct ebb_jsonw w;

    ebb_jsonw_init(&w, &cli->out);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kstr(&w, "table", table);
    for (size_t i = 0; i < ebb_value_get_count(stats); i++) {
        ebb_jsonw_key(&w, ebb_value_get_key(stats, i).p);
        ebb_value_write(ebb_value_get_at(stats, i), &w);
    }
    if (partitions) {
        ebb_jsonw_key(&w, "partitions");
        ebb_value_write(partitions, &w);
    }
    ebb_jsonw_end(&w, '}');
    ebb_buf_putc(&cli->out, '\n');
}

static int read_facts(struct ebb_cli *cli, const char *name, struct ebb_value **out, struct ebb_err *err)
{
    struct ebb_facts_options o = {.overlaps = -1, .manifests = EBB_FACTS_MANIFESTS};
    struct ebb_table *t = NULL;
    int rc;

    if (ebb_facts_is_fixture(name))
        return ebb_facts_load(name, NULL, ebb_cli_now(cli), out, err);
    rc = ebb_table_open(ebb_cli_site(cli), name, &t, err);
    if (!rc)
        rc = ebb_facts_new(ebb_cli_site(cli), t, &o, ebb_cli_now(cli), out, err);
    ebb_table_free(t);
    return rc;
}

static int run_stats(struct ebb_cli *cli, struct ebb_err *err)
{
    const char *name = ebb_args_word(&cli->args, 0);
    struct ebb_value *facts = NULL;
    int rc = ebb_cli_start(cli, false, err);

    if (!rc)
        rc = read_facts(cli, name, &facts, err);
    if (!rc && cli->is_json)
        print_json(cli, name, ebb_value_get(facts, "table"));
    else if (!rc)
        print_people(cli, name, ebb_value_get(facts, "table"));
    ebb_value_free(facts);
    return rc;
}

const struct ebb_command ebb_command_stats = {
    .name = "stats",
    .args = "TABLE",
    .summary = "files, sizes, deletes, partitions and writers of a table",
    .about = "Read off the manifests of the current snapshot. Small files are data files below 75 % of "
             "write.target-file-size-bytes (512 MiB where the table does not say). What can't be read whole is "
             "unknown. TABLE may also be a captured fixture (fixture.json).",
    .arg_min = 1,
    .arg_max = 1,
    .shared = EBB_TAKES_MAP | EBB_TAKES_AT,
    .examples = EXAMPLES,
    .run = run_stats,
};
