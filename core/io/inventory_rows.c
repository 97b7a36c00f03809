/* SPDX-License-Identifier: Apache-2.0 */
#include "io/inventory_priv.h"

#include "base/time.h"

#define PATH_MAX_BYTES ((size_t)128 * 1024)

static const char *const LIST_NAMES[EBB__COLUMN_COUNT] = {"path", "size", "mtime", "id", NULL, NULL, NULL};
static const char *const S3_NAMES[EBB__COLUMN_COUNT] = {"Key",    "Size",     "LastModifiedDate", "ETag",
                                                        "Bucket", "IsLatest", "IsDeleteMarker"};

static const char *column_name(const struct ebb__rows *rows, enum ebb__column column)
{
    return rows->is_s3 ? S3_NAMES[column] : LIST_NAMES[column];
}

static bool is_needed(const struct ebb__rows *rows, enum ebb__column column)
{
    return column == EBB__COLUMN_PATH || column == EBB__COLUMN_SIZE || column == EBB__COLUMN_MTIME ||
           (rows->is_s3 && column == EBB__COLUMN_BUCKET);
}

static int cell_fail(const struct ebb__rows *rows, enum ebb__column column, const char *why, struct ebb_err *err)
{
    return ebb__records_fail(&rows->records, err, "column %s: %s", column_name(rows, column), why);
}

/* ---- header ---- */

static int take_column(struct ebb__rows *rows, struct ebb_str name, int index, struct ebb_err *err)
{
    for (int c = 0; c < EBB__COLUMN_COUNT; c++) {
        const char *known = column_name(rows, (enum ebb__column)c);

        if (!known || !ebb_str_is_equal(name, ebb_str_of(known)))
            continue;
        if (rows->at[c] >= 0)
            return cell_fail(rows, (enum ebb__column)c, "twice in the header", err);
        rows->at[c] = index;
    }
    return 0;
}

static int check_columns(const struct ebb__rows *rows, struct ebb_err *err)
{
    for (int c = 0; c < EBB__COLUMN_COUNT; c++)
        if (is_needed(rows, (enum ebb__column)c) && rows->at[c] < 0)
            return cell_fail(rows, (enum ebb__column)c, "missing in the header", err);
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

/* ---- cells ---- */

static int read_digits(struct ebb_str s, int64_t *out)
{
    int64_t value = 0;

    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9' || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, s.p[i] - '0', &value))
            return -1;
    }
    *out = value;
    return s.n ? 0 : -1;
}

static int read_size(const struct ebb__rows *rows, struct ebb_str cell, int64_t *out, struct ebb_err *err)
{
    *out = -1;
    if (!cell.n)
        return 0;
    return read_digits(cell, out) ? cell_fail(rows, EBB__COLUMN_SIZE, "not a whole number of bytes", err) : 0;
}

/* Milliseconds before 1973 or after 5138 are seconds or microseconds that were taken for milliseconds. */
static int check_epoch(const struct ebb__rows *rows, int64_t ms, struct ebb_err *err)
{
    if (ms != 0 && (ms < INT64_C(100000000000) || ms >= INT64_C(100000000000000)))
        return cell_fail(rows, EBB__COLUMN_MTIME, "not plausible as milliseconds since 1970 (seconds or microseconds?)",
                         err);
    return 0;
}

static int read_mtime(const struct ebb__rows *rows, struct ebb_str cell, int64_t *out, struct ebb_err *err)
{
    struct ebb_err why = {0};
    char text[64];

    *out = 0;
    if (!cell.n)
        return 0;
    if (!read_digits(cell, out))
        return check_epoch(rows, *out, err);
    if (cell.n >= sizeof text || memchr(cell.p, '\0', cell.n))
        return cell_fail(rows, EBB__COLUMN_MTIME, "not a time", err);
    memcpy(text, cell.p, cell.n);
    text[cell.n] = '\0';
    if (ebb_time_parse(text, NULL, out, &why))
        return cell_fail(rows, EBB__COLUMN_MTIME, why.message, err);
    return 0;
}

static int read_bool(const struct ebb__rows *rows, enum ebb__column column, const struct ebb_str *cells, bool missing,
                     bool *out, struct ebb_err *err)
{
    struct ebb_str cell;

    *out = missing;
    if (rows->at[column] < 0)
        return 0;
    cell = cells[rows->at[column]];
    *out = ebb_str_is_equal(cell, EBB_STR("true"));
    if (*out || ebb_str_is_equal(cell, EBB_STR("false")))
        return 0;
    return cell_fail(rows, column, "neither true nor false", err);
}

static bool has_scheme(struct ebb_str s)
{
    size_t i = 0;

    if (!s.n || !((s.p[0] | 0x20) >= 'a' && (s.p[0] | 0x20) <= 'z'))
        return false;
    while (i < s.n && (((s.p[i] | 0x20) >= 'a' && (s.p[i] | 0x20) <= 'z') || (s.p[i] >= '0' && s.p[i] <= '9') ||
                       s.p[i] == '+' || s.p[i] == '-' || s.p[i] == '.'))
        i++;
    return i < s.n && s.p[i] == ':';
}

static int read_path(struct ebb__rows *rows, const struct ebb_str *cells, struct ebb_str *out, struct ebb_err *err)
{
    *out = cells[rows->at[EBB__COLUMN_PATH]];
    if (!out->n || (out->p[0] != '/' && !has_scheme(*out)))
        return cell_fail(rows, EBB__COLUMN_PATH, "not a full URI", err);
    return 0;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Undo the URL encoding of an S3 Inventory key: %XX, and '+' for a space. */
static int decode_key(struct ebb__rows *rows, struct ebb_str key, struct ebb_err *err)
{
    for (size_t i = 0; i < key.n; i++) {
        int high, low;

        if (key.p[i] != '%') {
            ebb_buf_putc(&rows->path, key.p[i] == '+' ? ' ' : key.p[i]);
            continue;
        }
        high = i + 2 < key.n ? hex_value(key.p[i + 1]) : -1;
        low = i + 2 < key.n ? hex_value(key.p[i + 2]) : -1;
        if (high < 0 || low < 0)
            return cell_fail(rows, EBB__COLUMN_PATH, "a percent sign without two hexadecimal digits", err);
        ebb_buf_putc(&rows->path, (char)(high * 16 + low));
        i += 2;
    }
    return 0;
}

static int read_key(struct ebb__rows *rows, const struct ebb_str *cells, struct ebb_str *out, struct ebb_err *err)
{
    struct ebb_str bucket = cells[rows->at[EBB__COLUMN_BUCKET]];
    struct ebb_str key = cells[rows->at[EBB__COLUMN_PATH]];
    int rc;

    if (!bucket.n || memchr(bucket.p, '/', bucket.n))
        return cell_fail(rows, EBB__COLUMN_BUCKET, "not the name of a bucket", err);
    if (!key.n)
        return cell_fail(rows, EBB__COLUMN_PATH, "empty", err);
    ebb_buf_reset(&rows->path);
    ebb_buf_puts(&rows->path, "s3://");
    ebb_buf_add_str(&rows->path, bucket);
    ebb_buf_putc(&rows->path, '/');
    rc = decode_key(rows, key, err);
    *out = ebb_buf_str(&rows->path);
    return rc ? rc : ebb_buf_check(&rows->path, "key of an S3 Inventory", err);
}

/* ---- rows ---- */

/* Old versions and delete markers are no objects that a listing of the bucket would show. */
static int is_shown(const struct ebb__rows *rows, const struct ebb_str *cells, bool *out, struct ebb_err *err)
{
    bool latest, deleted;
    int rc = read_bool(rows, EBB__COLUMN_LATEST, cells, true, &latest, err);

    if (!rc)
        rc = read_bool(rows, EBB__COLUMN_DELETED, cells, false, &deleted, err);
    if (!rc)
        *out = latest && !deleted;
    return rc;
}

static int read_row(struct ebb__rows *rows, const struct ebb_str *cells, struct ebb_inventory_row *row,
                    struct ebb_err *err)
{
    int rc = rows->is_s3 ? read_key(rows, cells, &row->path, err) : read_path(rows, cells, &row->path, err);

    if (!rc && memchr(row->path.p, '\0', row->path.n))
        rc = cell_fail(rows, EBB__COLUMN_PATH, "it holds a NUL byte", err);
    if (!rc)
        rc = read_size(rows, cells[rows->at[EBB__COLUMN_SIZE]], &row->size_bytes, err);
    if (!rc)
        rc = read_mtime(rows, cells[rows->at[EBB__COLUMN_MTIME]], &row->mtime_ms, err);
    if (rows->at[EBB__COLUMN_ID] >= 0)
        row->id = cells[rows->at[EBB__COLUMN_ID]];
    return rc;
}

static int take_row(struct ebb__rows *rows, const struct ebb_str *cells, size_t count, struct ebb_err *err)
{
    struct ebb_inventory_row row = {.size_bytes = -1};
    bool shown;
    int rc;

    if (count != rows->column_count)
        return ebb__records_fail(&rows->records, err, "%zu columns where %zu are named", count, rows->column_count);
    rc = is_shown(rows, cells, &shown, err);
    if (rc || !shown)
        return rc;
    rc = read_row(rows, cells, &row, err);
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

void ebb__rows_init(struct ebb__rows *rows, const char *name, bool is_whole, ebb_inventory_cb *cb, void *data)
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

int ebb__rows_init_s3(struct ebb__rows *rows, const char *name, struct ebb_str schema, ebb_inventory_cb *cb, void *data,
                      struct ebb_err *err)
{
    init(rows, name, cb, data);
    rows->is_s3 = rows->is_whole = rows->has_records = true;
    ebb__records_init(&rows->records, name, true, false, take_record, rows);
    return split_schema(rows, schema, err);
}

void ebb__rows_fini(struct ebb__rows *rows)
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

int ebb__rows_feed(struct ebb__rows *rows, const char *p, size_t n, struct ebb_err *err)
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

int ebb__rows_end(struct ebb__rows *rows, struct ebb_err *err)
{
    int rc = rows->has_records ? 0 : start(rows, err);

    return rc ? rc : ebb__records_end(&rows->records, err);
}
