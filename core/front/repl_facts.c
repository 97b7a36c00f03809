/* SPDX-License-Identifier: Apache-2.0
 *
 * :stats :parts :history :events: what is known of the table.
 */
#include <stdlib.h>

#include "base/time.h"
#include "front/print.h"
#include "front/repl_priv.h"

#define ROWS 20
#define ROWS_MAX 100000

static void say_stat(struct ebb_buf *out, const struct ebb_value *stats, const char *key, const char *name)
{
    const struct ebb_value *v = ebb_value_get(stats, key);
    int64_t n = ebb_value_get_int(v, 0);

    ebb_buf_printf(out, " %s ", name);
    if (!v)
        ebb_buf_puts(out, "unknown");
    else if (!strcmp(key, "bytes") && n >= 0)
        ebb_text_size(out, (uint64_t)n);
    else if (!strcmp(key, "longest_write"))
        ebb_duration_format(out, n);
    else
        ebb__repl_say_count(out, n);
    ebb_buf_puts(out, "  ");
}

int ebb__repl_stats(struct ebb_repl *repl, const struct ebb__repl_words *words, struct ebb_err *err)
{
    static const char *const NAMES[][2] = {{"data_files", "data files"},     {"bytes", "bytes"},
                                           {"delete_files", "delete files"}, {"manifests", "manifests"},
                                           {"snapshots", "snapshots"},       {"longest_write", "longest write"}};
    const struct ebb_value *facts, *stats;
    struct ebb_buf *out = ebb__repl_out(repl);
    int rc = ebb__repl_facts(repl, NULL, &facts, err);

    (void)words;
    if (rc)
        return rc;
    stats = ebb_value_get(ebb_value_get(facts, "table"), "stats");
    ebb_buf_puts(out, " as of ");
    if (ebb_value_get(stats, "as_of"))
        ebb_print_time(out, ebb_value_int_of(stats, "as_of", 0));
    else
        ebb_buf_puts(out, "an unknown time");
    if (ebb_value_get(stats, "snapshot_id"))
        ebb_buf_printf(out, " (snapshot %lld)", (long long)ebb_value_int_of(stats, "snapshot_id", 0));
    ebb_buf_puts(out, "\n");
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++)
        say_stat(out, stats, NAMES[i][0], NAMES[i][1]);
    while (out->len && out->data[out->len - 1] == ' ')
        out->len--;
    ebb_buf_putc(out, '\n');
    if (ebb_value_get(stats, "orphans")) {
        ebb_buf_puts(out, " orphans of the last listing: ");
        ebb_console_write(out, NULL, ebb_value_get(stats, "orphans"));
        ebb_buf_putc(out, '\n');
    }
    return 0;
}

static int read_rows(const struct ebb__repl_words *words, size_t *out, struct ebb_err *err)
{
    char *end;
    long n = words->count > 1 ? strtol(words->items[1], &end, 10) : ROWS;

    if (words->count > 1 && (*end || n < 1 || n > ROWS_MAX))
        return ebb_err_set(err, EBB_EUSAGE, ":%s: from 1 to %d rows", words->items[0], ROWS_MAX);
    *out = (size_t)n;
    return 0;
}

static void say_part(struct ebb_buf *out, const struct ebb_value *p)
{
    size_t start = out->len;

    ebb_buf_putc(out, ' ');
    ebb_print_text(out, ebb_value_text_of(p, "key"));
    ebb_print_pad(out, start, 32);
    ebb_print_files(out, ebb_value_int_of(p, "files", 0), (uint64_t)ebb_value_int_of(p, "bytes", 0));
    if (ebb_value_int_of(p, "delete_files", 0)) {
        ebb_buf_puts(out, ", deletes ");
        ebb__repl_say_count(out, ebb_value_int_of(p, "delete_files", 0));
    }
    if (ebb_value_get(p, "last_write")) {
        ebb_print_pad(out, start, 64);
        ebb_buf_puts(out, "last write ");
        ebb_print_time(out, ebb_value_int_of(p, "last_write", 0));
    }
    ebb_buf_putc(out, '\n');
}

static int by_key(const void *a, const void *b)
{
    return ebb_str_compare(ebb_value_get_bytes(ebb_value_get(*(const struct ebb_value *const *)a, "key")),
                           ebb_value_get_bytes(ebb_value_get(*(const struct ebb_value *const *)b, "key")));
}

int ebb__repl_parts(struct ebb_repl *repl, const struct ebb__repl_words *words, struct ebb_err *err)
{
    const struct ebb_value *facts, *parts, **sorted;
    struct ebb_buf *out = ebb__repl_out(repl);
    size_t rows = 0, count;
    int rc = read_rows(words, &rows, err);

    if (!rc)
        rc = ebb__repl_facts(repl, NULL, &facts, err);
    if (rc)
        return rc;
    parts = ebb_value_get(ebb_value_get(facts, "table"), "partitions");
    count = ebb_value_get_count(parts);
    sorted = calloc(count + 1, sizeof *sorted);
    if (!sorted)
        return ebb_err_nomem(err);
    for (size_t i = 0; i < count; i++)
        sorted[i] = ebb_value_get_at(parts, i);
    qsort(sorted, count, sizeof *sorted, by_key);
    for (size_t i = 0; i < count && i < rows; i++)
        say_part(out, sorted[i]);
    free(sorted);
    if (!parts)
        ebb_buf_puts(out, " unknown: the manifests were not read\n");
    else if (count > rows)
        ebb_buf_printf(out, " and %zu more: :parts %zu\n", count - rows, count);
    return 0;
}

/* ---- history and events ---- */

struct moment {
    int64_t at;
    const struct ebb_value *value;
    bool is_run;
};

static int by_time(const void *a, const void *b)
{
    const struct moment *x = a, *y = b;

    return x->at != y->at ? (x->at < y->at ? 1 : -1) : (int)x->is_run - (int)y->is_run;
}

static void say_moment(struct ebb_buf *out, const struct moment *m)
{
    ebb_buf_putc(out, ' ');
    ebb_print_time(out, m->at);
    if (m->is_run) {
        ebb_buf_puts(out, "  run ");
        ebb_print_text(out, ebb_value_text_of(m->value, "id"));
        ebb_buf_puts(out, "  ");
        ebb_print_text(out, ebb_value_text_of(m->value, "outcome"));
    } else {
        ebb_buf_printf(out, "  snapshot %lld  ", (long long)ebb_value_int_of(m->value, "id", 0));
        ebb_print_text(out, ebb_value_text_of(m->value, "operation"));
    }
    ebb_buf_putc(out, '\n');
}

static void gather(struct moment *all, size_t *count, const struct ebb_value *list, const char *key, bool is_run)
{
    for (size_t i = 0; i < ebb_value_get_count(list); i++) {
        const struct ebb_value *v = ebb_value_get_at(list, i);

        all[(*count)++] = (struct moment){ebb_value_int_of(v, key, 0), v, is_run};
    }
}

/* Snapshots, and the runs of the policy spoken of, the newest first. */
int ebb__repl_history(struct ebb_repl *repl, const struct ebb__repl_words *words, struct ebb_err *err)
{
    const struct ebb_policy *meant = ebb__repl_policy_meant(repl);
    const struct ebb_value *facts, *snapshots, *runs;
    struct moment *all;
    size_t rows = 0, count = 0;
    int rc = read_rows(words, &rows, err);

    if (!rc)
        rc = ebb__repl_facts(repl, meant ? ebb_policy_get_name(meant) : NULL, &facts, err);
    if (rc)
        return rc;
    snapshots = ebb_value_get(ebb_value_get(facts, "table"), "snapshots");
    runs = meant ? ebb_value_get(facts, "runs") : NULL;
    all = calloc(ebb_value_get_count(snapshots) + ebb_value_get_count(runs) + 1, sizeof *all);
    if (!all)
        return ebb_err_nomem(err);
    gather(all, &count, snapshots, "at", false);
    gather(all, &count, runs, "started", true);
    qsort(all, count, sizeof *all, by_time);
    for (size_t i = 0; i < count && i < rows; i++)
        say_moment(ebb__repl_out(repl), &all[i]);
    free(all);
    if (!count)
        ebb_buf_puts(ebb__repl_out(repl), " nothing is known\n");
    return 0;
}

static void say_event(struct ebb_buf *out, const struct ebb_value *event)
{
    static const char *const SHOWN[] = {"at", "id", "type"};

    ebb_buf_putc(out, ' ');
    ebb_print_time(out, ebb_value_int_of(event, "at", 0));
    for (size_t i = 1; i < 3; i++) {
        ebb_buf_puts(out, "  ");
        ebb_print_text(out, ebb_value_text_of(event, SHOWN[i]));
    }
    for (size_t i = 0; i < ebb_value_get_count(event); i++) {
        struct ebb_str key = ebb_value_get_key(event, i);
        bool shown = false;

        for (size_t k = 0; k < 3; k++)
            shown = shown || ebb_str_is_equal(key, ebb_str_of(SHOWN[k]));
        if (shown)
            continue;
        ebb_buf_puts(out, "  ");
        ebb_text_escape(out, key.p, key.n);
        ebb_buf_putc(out, '=');
        ebb_console_write(out, NULL, ebb_value_get_at(event, i));
    }
    ebb_buf_putc(out, '\n');
}

int ebb__repl_events(struct ebb_repl *repl, const struct ebb__repl_words *words, struct ebb_err *err)
{
    const struct ebb_value *facts, *events;
    struct moment *all;
    size_t rows = 0, count = 0;
    int rc = read_rows(words, &rows, err);

    if (!rc)
        rc = ebb__repl_facts(repl, NULL, &facts, err);
    if (rc)
        return rc;
    events = ebb_value_get(facts, "events");
    all = calloc(ebb_value_get_count(events) + 1, sizeof *all);
    if (!all)
        return ebb_err_nomem(err);
    gather(all, &count, events, "at", false);
    qsort(all, count, sizeof *all, by_time);
    for (size_t i = 0; i < count && i < rows; i++)
        say_event(ebb__repl_out(repl), all[i].value);
    free(all);
    if (!count)
        ebb_buf_puts(ebb__repl_out(repl), " no events\n");
    return 0;
}
