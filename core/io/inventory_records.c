/* SPDX-License-Identifier: Apache-2.0 */
#include "io/inventory_priv.h"

#include <inttypes.h>
#include <stdio.h>

void ebb__records_init(struct ebb__records *r, const char *name, bool is_csv, bool strips_cr, ebb__records_cb *cb,
                       void *data)
{
    memset(r, 0, sizeof *r);
    r->name = name;
    r->is_csv = is_csv;
    r->strips_cr = strips_cr;
    r->cb = cb;
    r->data = data;
    r->line = r->next_line = 1;
    ebb_buf_init(&r->bytes, EBB__RECORD_MAX_BYTES);
}

void ebb__records_fini(struct ebb__records *r)
{
    ebb_buf_fini(&r->bytes);
}

int ebb__records_fail(const struct ebb__records *r, struct ebb_err *err, const char *format, ...)
{
    char text[EBB_ERR_MESSAGE_MAX];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return ebb_err_set(err, EBB_EINVENTORY, "%s: line %" PRId64 ": %s", r->name, r->line, text);
}

static int add(struct ebb__records *r, const char *p, size_t n, struct ebb_err *err)
{
    ebb_buf_append(&r->bytes, p, n);
    if (!r->bytes.bad)
        return 0;
    if (n > r->bytes.max - r->bytes.len)
        return ebb__records_fail(r, err, "longer than %zu bytes", EBB__RECORD_MAX_BYTES);
    return ebb_err_nomem(err);
}

static int end_cell(struct ebb__records *r, struct ebb_err *err)
{
    if (r->count == EBB__RECORD_MAX_CELLS)
        return ebb__records_fail(r, err, "more than %d columns", EBB__RECORD_MAX_CELLS);
    r->ends[r->count++] = r->bytes.len;
    r->state = EBB__CELL_START;
    return 0;
}

static int end_record(struct ebb__records *r, struct ebb_err *err)
{
    struct ebb_str cells[EBB__RECORD_MAX_CELLS];
    size_t from = 0;
    int rc;

    if (r->strips_cr && r->bytes.len && r->bytes.data[r->bytes.len - 1] == '\r')
        r->bytes.len--;
    rc = end_cell(r, err);
    if (rc)
        return rc;
    for (size_t i = 0; i < r->count; i++) {
        cells[i] = (struct ebb_str){r->bytes.data ? r->bytes.data + from : "", r->ends[i] - from};
        from = r->ends[i];
    }
    rc = r->cb(r->data, r, cells, r->count, err);
    r->line = r->next_line;
    r->count = 0;
    ebb_buf_reset(&r->bytes);
    return rc;
}

static int end_line(struct ebb__records *r, struct ebb_err *err)
{
    r->next_line++;
    return end_record(r, err);
}

/* Bytes up to the next one that means something outside quotes. */
static size_t plain_length(const struct ebb__records *r, const char *p, size_t n)
{
    size_t i = 0;

    if (!r->is_csv) {
        while (i < n && p[i] != '\t' && p[i] != '\n')
            i++;
        return i;
    }
    while (i < n && p[i] != ',' && p[i] != '\n' && p[i] != '"' && p[i] != '\r')
        i++;
    return i;
}

static size_t quoted_length(struct ebb__records *r, const char *p, size_t n)
{
    size_t i = 0;

    for (; i < n && p[i] != '"'; i++)
        r->next_line += p[i] == '\n';
    return i;
}

/* One byte that means something, or the byte after one. */
static int special(struct ebb__records *r, char c, struct ebb_err *err)
{
    int rc = 0;

    if (r->state == EBB__CELL_AFTER_QUOTE_CR && c != '\n')
        return ebb__records_fail(r, err, "text after a closing quote");
    if (r->state == EBB__CELL_AFTER_CR && c != '\n') { /* a CR by itself is part of the cell */
        rc = add(r, "\r", 1, err);
        r->state = EBB__CELL_PLAIN;
    }
    if (rc)
        return rc;
    if (c == '\n')
        return end_line(r, err);
    if (c == (r->is_csv ? ',' : '\t'))
        return end_cell(r, err);
    if (c == '"' && r->state == EBB__CELL_START)
        r->state = EBB__CELL_QUOTED;
    else if (c == '"')
        return ebb__records_fail(r, err, "a quote in a cell that does not begin with one");
    else if (c == '\r')
        r->state = EBB__CELL_AFTER_CR;
    else
        return add(r, &c, 1, err);
    return 0;
}

static int after_quote(struct ebb__records *r, char c, struct ebb_err *err)
{
    if (c == '"') {
        r->state = EBB__CELL_QUOTED;
        return add(r, &c, 1, err);
    }
    if (c == ',')
        return end_cell(r, err);
    if (c == '\n')
        return end_line(r, err);
    if (c == '\r') {
        r->state = EBB__CELL_AFTER_QUOTE_CR;
        return 0;
    }
    return ebb__records_fail(r, err, "text after a closing quote");
}

static int step(struct ebb__records *r, const char **p, size_t *n, struct ebb_err *err)
{
    size_t span = 0;
    int rc;

    if (r->state == EBB__CELL_QUOTED)
        span = quoted_length(r, *p, *n);
    else if (r->state == EBB__CELL_START || r->state == EBB__CELL_PLAIN)
        span = plain_length(r, *p, *n);
    if (span) {
        rc = add(r, *p, span, err);
        r->state = r->state == EBB__CELL_QUOTED ? EBB__CELL_QUOTED : EBB__CELL_PLAIN;
    } else {
        span = 1;
        if (r->state == EBB__CELL_QUOTED) {
            r->state = EBB__CELL_AFTER_QUOTE;
            rc = 0;
        } else {
            rc = r->state == EBB__CELL_AFTER_QUOTE ? after_quote(r, **p, err) : special(r, **p, err);
        }
    }
    *p += span;
    *n -= span;
    return rc;
}

int ebb__records_feed(struct ebb__records *r, const char *p, size_t n, struct ebb_err *err)
{
    int rc = 0;

    while (!rc && n)
        rc = step(r, &p, &n, err);
    return rc;
}

int ebb__records_end(struct ebb__records *r, struct ebb_err *err)
{
    if (r->state == EBB__CELL_QUOTED)
        return ebb__records_fail(r, err, "the file ends inside quotes");
    if (r->state == EBB__CELL_START && !r->count)
        return 0;
    r->is_unterminated = true;
    return end_record(r, err);
}
