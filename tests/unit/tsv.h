/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the case tables in tests/cases: UTF-8, tab separated, first line = column names, data cells are JSON strings,
 * lists of strings or objects; verdicts are bare words. Strings keep their length, so "\u0000" is a byte like any
 * other.
 */
#ifndef EBB_TESTS_TSV_H
#define EBB_TESTS_TSV_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdbool.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TSV_COLUMNS_MAX 8
#define TSV_TEXT_MAX 1024
#define TSV_LIST_MAX 16

struct tsv_text {
    char bytes[TSV_TEXT_MAX];
    size_t n;
};

typedef void (*tsv_row_cb)(char **cells, int line);

static inline size_t tsv_put_utf8(char *out, unsigned c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xC0 | c >> 6);
        out[1] = (char)(0x80 | (c & 63));
        return 2;
    }
    out[0] = (char)(0xE0 | c >> 12);
    out[1] = (char)(0x80 | (c >> 6 & 63));
    out[2] = (char)(0x80 | (c & 63));
    return 3;
}

/* One escape behind the backslash at *p. */
static inline size_t tsv_escape(const char **p, char *out)
{
    static const char NAMES[] = "bfnrt", VALUES[] = "\b\f\n\r\t";
    const char *at = strchr(NAMES, **p);
    char hex[5];

    if (**p == 'u') {
        assert_true(strlen(*p) > 4);
        memcpy(hex, *p + 1, 4);
        hex[4] = '\0';
        *p += 5;
        return tsv_put_utf8(out, (unsigned)strtoul(hex, NULL, 16));
    }
    out[0] = at ? VALUES[at - NAMES] : **p;
    (*p)++;
    return 1;
}

/* Reads the JSON string at *p and moves behind it. */
static inline void tsv_string_at(const char **p, struct tsv_text *out)
{
    out->n = 0;
    assert_int_equal(**p, '"');
    (*p)++;
    while (**p != '"') {
        assert_true(**p && out->n + 4 < TSV_TEXT_MAX);
        if (**p == '\\') {
            (*p)++;
            out->n += tsv_escape(p, out->bytes + out->n);
        } else {
            out->bytes[out->n++] = *(*p)++;
        }
    }
    (*p)++;
    out->bytes[out->n] = '\0';
}

static inline void tsv_string(const char *cell, struct tsv_text *out)
{
    tsv_string_at(&cell, out);
    assert_int_equal(*cell, '\0');
}

static inline bool tsv_skip(const char **p, const char *set)
{
    bool any = false;

    while (**p && strchr(set, **p)) {
        any = true;
        (*p)++;
    }
    return any;
}

/* Reads a list of strings; returns how many. */
static inline size_t tsv_list(const char *cell, struct tsv_text *out)
{
    size_t n = 0;

    assert_int_equal(*cell, '[');
    cell++;
    while (*cell != ']') {
        assert_true(n < TSV_LIST_MAX);
        tsv_string_at(&cell, &out[n++]);
        tsv_skip(&cell, ", ");
    }
    return n;
}

static inline char *tsv_read_file(const char *name)
{
    char path[1024];
    FILE *file;
    char *text = calloc(1, 1 << 20);

    assert_non_null(text);
    snprintf(path, sizeof path, "%s/tests/cases/%s", EBB_SOURCE_DIR, name);
    file = fopen(path, "rb");
    assert_non_null(file);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    return text;
}

/* Calls cb for each row; every row must have `columns` cells. Returns the number of rows. */
static inline int tsv_each(const char *name, int columns, tsv_row_cb cb)
{
    char *text = tsv_read_file(name);
    char *line = text;
    int rows = 0;

    while (*line) {
        char *cells[TSV_COLUMNS_MAX];
        char *end = strchr(line, '\n');
        int count = 0;

        assert_non_null(end);
        *end = '\0';
        for (char *cell = line; cell; count++) {
            char *tab = strchr(cell, '\t');

            assert_true(count < TSV_COLUMNS_MAX);
            if (tab)
                *tab = '\0';
            cells[count] = cell;
            cell = tab ? tab + 1 : NULL;
        }
        assert_int_equal(count, columns);
        if (line != text)
            cb(cells, ++rows);
        line = end + 1;
    }
    free(text);
    return rows;
}

#endif
