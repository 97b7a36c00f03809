/* SPDX-License-Identifier: Apache-2.0 */
#include "io/inventory_priv.h"

#define PATH_MAX_BYTES ((size_t)128 * 1024)

static bool is_needed(const struct ebb__rows *rows, enum ebb__column column)
{
    return column == EBB__COLUMN_PATH || column == EBB__COLUMN_SIZE || column == EBB__COLUMN_MTIME ||
           (rows->is_s3 && column == EBB__COLUMN_BUCKET);
}

/* ---- header ---- */

static int take_column(struct ebb__rows *rows, struct ebb_str name, int index, struct ebb_err *err)
{
    for (int c = 0; c < EBB__COLUMN_COUNT; c++) {
        const char *known = ebb__inventory_rows_column_name(rows, (enum ebb__column)c);

        if (!known || !ebb_str_is_equal(name, ebb_str_of(known)))
            continue;
        if (rows->at[c] >= 0)
            return ebb__inventory_rows_cell_fail(rows, (enum ebb__column)c, "twice in the header", err);
        rows->at[c] = index;
    }
    return 0;
}

static int check_columns(const struct ebb__rows *rows, struct ebb_err *err)
{
    for (int c = 0; c < EBB__COLUMN_COUNT; c++)
        if (is_needed(rows, (enum ebb__column)c) && rows->at[c] < 0)
            return ebb__inventory_rows_cell_fail(rows, (enum ebb__column)c, "missing in the header", err);
    return 0;
}

static int take_header(struct ebb__rows *rows, const struct ebb_str *cells, size_t count, struct ebb_err *err)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < count; i++)
        rc = take_column(rows, cells[i], (int)i, err);
    rows->column_count = count;
    if (!rc)
        rc = check_columns(rows, err);
    if (rc)
        ebb_err_hint(err, rows->is_s3 ? "let the inventory list Size and LastModifiedDate"
                                      : "the first line names the columns: path, size and mtime in any order");
    return rc;
}

/* ---- rows ---- */

static int take_row(struct ebb__rows *rows, const struct ebb_str *cells, size_t count, struct ebb_err *err)
{
    struct ebb_inventory_row row = {.size_bytes = -1};
    bool shown;
    int rc;

    if (count != rows->column_count)
        return ebb__records_fail(&rows->records, err, "%zu columns where %zu are named", count, rows->column_count);
    rc = ebb__inventory_rows_is_shown(rows, cells, &shown, err);
    if (rc || !shown)
        return rc;
    rc = ebb__inventory_rows_read_row(rows, cells, &row, err);
    if (rc)
        return rc;
    if (rows->records.is_unterminated && !rows->is_whole) { /* its last cell may have been cut */
        row.size_bytes = -1;
        row.mtime_ms = 0;
    }
    return rows->cb(rows->data, &row, err);
}

static int take_record(void *data, const struct ebb__records *records, const struct ebb_str *cells, size_t count,
                       struct ebb_err *err)
{
    struct ebb__rows *rows = data;

    (void)records;
    return rows->column_count ? take_row(rows, cells, count, err) : take_header(rows, cells, count, err);
}

static void init(struct ebb__rows *rows, const char *name, ebb_inventory_cb *cb, void *data)
{
    memset(rows, 0, sizeof *rows);
    rows->name = name;
    rows->cb = cb;
    rows->data = data;
    ebb_buf_init(&rows->head, EBB__RECORD_MAX_BYTES);
    ebb_buf_init(&rows->path, PATH_MAX_BYTES);
    for (int c = 0; c < EBB__COLUMN_COUNT; c++)
        rows->at[c] = -1;
}

void ebb__inventory_rows_init(struct ebb__rows *rows, const char *name, bool is_whole, ebb_inventory_cb *cb, void *data)
{
    init(rows, name, cb, data);
    rows->is_whole = is_whole;
}

static int split_schema(struct ebb__rows *rows, struct ebb_str schema, struct ebb_err *err)
{
    struct ebb_str cells[EBB__RECORD_MAX_CELLS];
    size_t count = 0, i = 0;

    while (i <= schema.n && count < EBB__RECORD_MAX_CELLS) {
        size_t start = i, end;

        while (i < schema.n && schema.p[i] != ',')
            i++;
        end = i++;
        while (start < end && schema.p[start] == ' ')
            start++;
        while (end > start && schema.p[end - 1] == ' ')
            end--;
        cells[count++] = (struct ebb_str){schema.p + start, end - start};
    }
    return take_header(rows, cells, count, err);
}

int ebb__inventory_rows_init_s3(struct ebb__rows *rows, const char *name, struct ebb_str schema, ebb_inventory_cb *cb,
                                void *data, struct ebb_err *err)
{
    init(rows, name, cb, data);
    rows->is_s3 = rows->is_whole = rows->has_records = true;
    ebb__records_init(&rows->records, name, true, false, take_record, rows);
    return split_schema(rows, schema, err);
}

void ebb__inventory_rows_fini(struct ebb__rows *rows)
{
    if (rows->has_records)
        ebb__records_fini(&rows->records);
    ebb_buf_fini(&rows->path);
    ebb_buf_fini(&rows->head);
}

/* The first line is here: a tab in it means TSV. A byte order mark is dropped. */
static int start(struct ebb__rows *rows, struct ebb_err *err)
{
    struct ebb_str head = ebb_buf_str(&rows->head);
    bool is_csv, ends_with_crlf;

    if (ebb_str_has_prefix(head, EBB_STR("\xef\xbb\xbf"))) {
        head.p += 3;
        head.n -= 3;
    }
    if (!head.n || head.p[0] == '\n')
        return ebb_err_set(err, EBB_EINVENTORY, "%s: line 1: no header", rows->name);
    is_csv = !memchr(head.p, '\t', head.n);
    ends_with_crlf = head.n >= 2 && head.p[head.n - 2] == '\r' && head.p[head.n - 1] == '\n';
    ebb__records_init(&rows->records, rows->name, is_csv, !is_csv && ends_with_crlf, take_record, rows);
    rows->has_records = true;
    return ebb__records_feed(&rows->records, head.p, head.n, err);
}

int ebb__inventory_rows_feed(struct ebb__rows *rows, const char *p, size_t n, struct ebb_err *err)
{
    const char *end;
    size_t first;
    int rc;

    if (rows->has_records)
        return ebb__records_feed(&rows->records, p, n, err);
    end = n ? memchr(p, '\n', n) : NULL;
    first = end ? (size_t)(end - p) + 1 : n;
    ebb_buf_append(&rows->head, p, first);
    if (rows->head.bad)
        return ebb_err_set(err, EBB_EINVENTORY, "%s: line 1: no header within %zu bytes", rows->name,
                           EBB__RECORD_MAX_BYTES);
    if (!end)
        return 0;
    rc = start(rows, err);
    return rc ? rc : ebb__records_feed(&rows->records, p + first, n - first, err);
}

int ebb__inventory_rows_end(struct ebb__rows *rows, struct ebb_err *err)
{
    int rc = rows->has_records ? 0 : start(rows, err);

    return rc ? rc : ebb__records_end(&rows->records, err);
}
