/* SPDX-License-Identifier: Apache-2.0
 *
 * What rank {…} made of its items.
 */
#include <stdio.h>
#include <stdlib.h>

#include "front/decision_print.h"
#include "front/decision_tree.h"
#include "front/print.h"

#define KEY_COLUMN 26
#define ROWS_MAX 200

static bool is_taken(const struct ebb_value *record, const struct ebb_value *row)
{
    const struct ebb_value *keys = ebb_value_get(ebb_value_get(record, "action"), "partitions");

    for (size_t i = 0; i < ebb_value_get_count(keys); i++)
        if (ebb_value_is_equal(ebb_value_get_at(keys, i), ebb_value_get(row, "key")))
            return true;
    return false;
}

static int by_score(const void *a, const void *b)
{
    const struct ebb_value *x = *(const struct ebb_value *const *)a, *y = *(const struct ebb_value *const *)b;
    double p = ebb_value_get_float(ebb_value_get(x, "score"), 0), q = ebb_value_get_float(ebb_value_get(y, "score"), 0);

    return p < q ? 1 : p > q ? -1 : 0;
}

static bool is_number(const struct ebb_value *v)
{
    return ebb_value_get_kind(v) == EBB_VALUE_INT || ebb_value_get_kind(v) == EBB_VALUE_FLOAT;
}

/* As wide as its name, at least five characters. */
static int width_of(struct ebb_str name)
{
    return name.n < 5 ? 5 : name.n > 20 ? 20 : (int)name.n;
}

static void print_head(struct ebb_buf *out, const struct ebb_value *parts)
{
    size_t start = out->len;

    ebb_buf_puts(out, " key");
    ebb_print_pad(out, start, KEY_COLUMN - 1);
    ebb_buf_puts(out, "  score");
    for (size_t i = 0; i < ebb_value_get_count(parts); i++) {
        struct ebb_str name = ebb_value_get_key(parts, i);
        char shown[24];

        snprintf(shown, sizeof shown, "%.20s", name.p);
        if (!is_number(ebb_value_get_at(parts, i)))
            continue;
        ebb_buf_printf(out, "  %*s", width_of(name), "");
        out->len -= strlen(shown) < (size_t)width_of(name) ? strlen(shown) : (size_t)width_of(name);
        ebb_print_text(out, shown);
    }
    ebb_buf_puts(out, "  taken\n");
}

static void print_row(struct ebb_buf *out, const struct ebb_value *record, const struct ebb_value *row,
                      const struct ebb_value *shape)
{
    const struct ebb_value *parts = ebb_value_get(row, "parts");
    size_t start = out->len;

    ebb_buf_putc(out, ' ');
    ebb_decision_print_value(out, ebb_value_get(row, "key"));
    ebb_print_pad(out, start, KEY_COLUMN - 1);
    ebb_buf_printf(out, "%7.1f", ebb_value_get_float(ebb_value_get(row, "score"), 0));
    for (size_t i = 0; i < ebb_value_get_count(shape); i++) {
        struct ebb_str name = ebb_value_get_key(shape, i);

        if (is_number(ebb_value_get_at(shape, i)))
            ebb_buf_printf(out, "  %*.2f", width_of(name),
                           ebb_value_get_float(ebb_value_getn(parts, name.p, name.n), 0));
    }
    ebb_buf_puts(out, is_taken(record, row) ? "  yes" : "  no");
    if (!is_taken(record, row) && ebb_value_text_of(row, "why")) {
        ebb_buf_puts(out, "   ");
        ebb_print_text(out, ebb_value_text_of(row, "why"));
    }
    ebb_buf_putc(out, '\n');
}

/* "settled: 4m >= 45m is false" */
static void print_left_out(struct ebb_buf *out, const struct ebb_value *row)
{
    size_t start = out->len;

    ebb_buf_putc(out, ' ');
    ebb_decision_print_value(out, ebb_value_get(row, "key"));
    ebb_print_pad(out, start, KEY_COLUMN - 1);
    ebb_buf_puts(out, "      –  no   ");
    ebb_print_text(out, ebb_value_text_of(row, "n"));
    ebb_buf_puts(out, ": ");
    ebb_decision_print_comparison(out, row);
    ebb_buf_puts(out, " is ");
    ebb_print_text(out, ebb_value_text_of(row, "r"));
    ebb_buf_putc(out, '\n');
}

static void print_kept_out(struct ebb_buf *out, const struct ebb_value *record)
{
    const struct ebb_value *checks = ebb_value_get(record, "checks");
    size_t n = 0;

    for (size_t i = 0; i < ebb_value_get_count(checks) && n < ROWS_MAX; i++) {
        const struct ebb_value *row = ebb_value_get_at(checks, i);
        const char *result = ebb_value_text_of(row, "r");

        if (!ebb_value_get(row, "key") || !result || !strcmp(result, "true"))
            continue;
        print_left_out(out, row);
        n++;
    }
}

int ebb_decision_print_ranked(struct ebb_buf *out, const struct ebb_value *record, struct ebb_err *err)
{
    const struct ebb_value *list = ebb_value_get(record, "ranked"), **rows, *shape;
    size_t count = ebb_value_get_count(list);

    if (count) {
        rows = calloc(count, sizeof *rows);
        if (!rows)
            return ebb_err_nomem(err);
        for (size_t i = 0; i < count; i++)
            rows[i] = ebb_value_get_at(list, i);
        qsort(rows, count, sizeof *rows, by_score);
        shape = ebb_value_get(rows[0], "parts");
        print_head(out, shape);
        for (size_t i = 0; i < count && i < ROWS_MAX; i++)
            print_row(out, record, rows[i], shape);
        free(rows);
    }
    print_kept_out(out, record);
    return 0;
}
