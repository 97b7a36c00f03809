/* SPDX-License-Identifier: Apache-2.0
 *
 * What spark-sql prints: rows on standard output, one a line, and the reason of a failure somewhere in its log.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "service/engine_priv.h"

#define LINE_MAX_BYTES ((size_t)1 << 20)
#define COLUMNS_MAX 64

/* spark-sql knows quotes and comments when it looks for the end of a statement, but not back-ticks; and joins lines
 * that end in a backslash. Inside of '…' all is well: the quoting writes neither raw quotes nor line ends there. */
int ebb__engine_check_cli(const char *statement, struct ebb_err *err)
{
    bool in_text = false, in_name = false;

    for (const char *p = statement; *p; p++) {
        if (in_text) {
            if (*p == '\\' && p[1])
                p++;
            else if (*p == '\'')
                in_text = false;
        } else if (*p == '`') {
            in_name = !in_name;
        } else if (!in_name) {
            in_text = *p == '\'';
        } else if (strchr(";'\"\\\r\n", *p) || (*p == '-' && p[1] == '-') || (*p == '/' && p[1] == '*')) {
            return ebb_err_set(err, EBB_ESQL, "spark-sql can't be told a name that holds %s",
                               *p == '-'   ? "--"
                               : *p == '/' ? "/*"
                                           : "a quote, ';', a backslash or a line end");
        }
    }
    return 0;
}

static size_t split(char *line, const char *parts[COLUMNS_MAX])
{
    size_t n = 0;

    for (char *at = line; at && n < COLUMNS_MAX; n++) {
        char *tab = strchr(at, '\t');

        parts[n] = at;
        if (tab)
            *tab++ = '\0';
        at = tab;
    }
    return n;
}

/* Which of the names is the column; SIZE_MAX none. A name of it alone is a header of one column, whatever rows hold. */
static size_t find_column(char *line, const char *column, size_t *count)
{
    const char *names[COLUMNS_MAX];

    *count = split(line, names);
    for (size_t i = 0; i < *count; i++)
        if (!strcmp(names[i], column))
            return i;
    return SIZE_MAX;
}

struct output {
    const char *column;
    ebb_engine_row_cb *cb;
    void *data;
    size_t at, count; /* of the column; count 0: not seen yet */
    int64_t line_number;
};

static int take_row(struct output *o, char *line, size_t n, struct ebb_err *err)
{
    const char *parts[COLUMNS_MAX];
    size_t count;

    if (o->count == 1) /* a tab is part of the value */
        return o->cb(o->data, (struct ebb_str){line, n}, err);
    count = split(line, parts);
    if (count != o->count)
        return ebb_err_set(err, EBB_EENGINE, "spark: line %lld of its output has %zu columns, not %zu",
                           (long long)o->line_number, count, o->count);
    return o->cb(o->data, ebb_str_of(parts[o->at]), err);
}

static int take_line(struct output *o, char *line, size_t n, struct ebb_err *err)
{
    o->line_number++;
    if (memchr(line, '\0', n))
        return ebb_err_set(err, EBB_EENGINE, "spark: line %lld of its output holds a NUL", (long long)o->line_number);
    if (o->count)
        return take_row(o, line, n, err);
    o->at = find_column(line, o->column, &o->count);
    if (o->at == SIZE_MAX)
        o->count = 0; /* something that was said before */
    return 0;
}

static int read_lines(FILE *f, struct output *o, struct ebb_err *err)
{
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;
    int rc = 0;

    while (!rc && (n = getline(&line, &cap, f)) > 0) {
        if ((size_t)n > LINE_MAX_BYTES || line[n - 1] != '\n')
            rc = ebb_err_set(err, EBB_EENGINE, "spark: its output is cut, or has a line beyond all measure");
        else
            line[n - 1] = '\0';
        if (!rc)
            rc = take_line(o, line, (size_t)n - 1, err);
    }
    free(line);
    return rc;
}

int ebb__engine_read_output(const char *file, const char *column, ebb_engine_row_cb *cb, void *data,
                            struct ebb_err *err)
{
    struct output o = {column, cb, data, 0, 0, 0};
    FILE *f = fopen(file, "re");
    int rc;

    if (!f)
        return ebb_err_errno(err, errno, "%s", file);
    rc = read_lines(f, &o, err);
    fclose(f);
    if (!rc && !o.count)
        rc = ebb_err_set(err, EBB_EENGINE, "spark: its output has no column %s", column);
    return rc;
}

/* ---- why it failed ---- */

static bool tells(const char *line)
{
    static const char *const WORDS[] = {"Exception", "Error", "error", "[PARSE", "denied", "not found", "No such"};

    if (line[0] == ' ' || line[0] == '\t' || strncmp(line, "at ", 3) == 0)
        return false;
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++)
        if (strstr(line, WORDS[i]))
            return true;
    return false;
}

/* The first of the lines that tell of an error; of causes the last, which is the deepest. */
void ebb__engine_find_reason(const char *file, struct ebb_buf *out)
{
    FILE *f = fopen(file, "re");
    char line[2048];
    bool is_start = true;

    if (!f)
        return;
    while (fgets(line, sizeof line, f)) {
        size_t n = strcspn(line, "\r\n");
        bool is_whole = line[n] != '\0', begins = is_start;
        bool cause;

        line[n] = '\0';
        is_start = is_whole;
        cause = !strncmp(line, "Caused by: ", 11);
        if (!begins || !tells(line) || (out->len && !cause))
            continue;
        if (!out->len || cause) {
            ebb_buf_reset(out);
            ebb_buf_puts(out, line + (cause ? 11 : 0));
        }
    }
    fclose(f);
}
