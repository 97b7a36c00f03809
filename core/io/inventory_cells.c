/* SPDX-License-Identifier: Apache-2.0 */
#include "io/inventory_priv.h"

#include "base/time.h"

static const char *const LIST_NAMES[EBB__COLUMN_COUNT] = {"path", "size", "mtime", "id", NULL, NULL, NULL};
static const char *const S3_NAMES[EBB__COLUMN_COUNT] = {"Key",    "Size",     "LastModifiedDate", "ETag",
                                                        "Bucket", "IsLatest", "IsDeleteMarker"};

const char *ebb__inventory_rows_column_name(const struct ebb__rows *rows, enum ebb__column column)
{
    return rows->is_s3 ? S3_NAMES[column] : LIST_NAMES[column];
}

int ebb__inventory_rows_cell_fail(const struct ebb__rows *rows, enum ebb__column column, const char *why,
                                  struct ebb_err *err)
{
    return ebb__records_fail(&rows->records, err, "column %s: %s", ebb__inventory_rows_column_name(rows, column), why);
}

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
    return read_digits(cell, out)
               ? ebb__inventory_rows_cell_fail(rows, EBB__COLUMN_SIZE, "not a whole number of bytes", err)
               : 0;
}

/* Milliseconds before 1973 or after 5138 are seconds or microseconds that were taken for milliseconds. */
static int check_epoch(const struct ebb__rows *rows, int64_t ms, struct ebb_err *err)
{
    if (ms != 0 && (ms < INT64_C(100000000000) || ms >= INT64_C(100000000000000)))
        return ebb__inventory_rows_cell_fail(
            rows, EBB__COLUMN_MTIME, "not plausible as milliseconds since 1970 (seconds or microseconds?)", err);
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
        return ebb__inventory_rows_cell_fail(rows, EBB__COLUMN_MTIME, "not a time", err);
    memcpy(text, cell.p, cell.n);
    text[cell.n] = '\0';
    if (ebb_time_parse(text, NULL, out, &why))
        return ebb__inventory_rows_cell_fail(rows, EBB__COLUMN_MTIME, why.message, err);
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
    return ebb__inventory_rows_cell_fail(rows, column, "neither true nor false", err);
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
        return ebb__inventory_rows_cell_fail(rows, EBB__COLUMN_PATH, "not a full URI", err);
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
            return ebb__inventory_rows_cell_fail(rows, EBB__COLUMN_PATH,
                                                 "a percent sign without two hexadecimal digits", err);
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
        return ebb__inventory_rows_cell_fail(rows, EBB__COLUMN_BUCKET, "not the name of a bucket", err);
    if (!key.n)
        return ebb__inventory_rows_cell_fail(rows, EBB__COLUMN_PATH, "empty", err);
    ebb_buf_reset(&rows->path);
    ebb_buf_puts(&rows->path, "s3://");
    ebb_buf_add_str(&rows->path, bucket);
    ebb_buf_putc(&rows->path, '/');
    rc = decode_key(rows, key, err);
    *out = ebb_buf_str(&rows->path);
    return rc ? rc : ebb_buf_check(&rows->path, "key of an S3 Inventory", err);
}

int ebb__inventory_rows_is_shown(const struct ebb__rows *rows, const struct ebb_str *cells, bool *out,
                                 struct ebb_err *err)
{
    bool latest, deleted;
    int rc = read_bool(rows, EBB__COLUMN_LATEST, cells, true, &latest, err);

    if (!rc)
        rc = read_bool(rows, EBB__COLUMN_DELETED, cells, false, &deleted, err);
    if (!rc)
        *out = latest && !deleted;
    return rc;
}

int ebb__inventory_rows_read_row(struct ebb__rows *rows, const struct ebb_str *cells, struct ebb_inventory_row *row,
                                 struct ebb_err *err)
{
    int rc = rows->is_s3 ? read_key(rows, cells, &row->path, err) : read_path(rows, cells, &row->path, err);

    if (!rc && memchr(row->path.p, '\0', row->path.n))
        rc = ebb__inventory_rows_cell_fail(rows, EBB__COLUMN_PATH, "it holds a NUL byte", err);
    if (!rc)
        rc = read_size(rows, cells[rows->at[EBB__COLUMN_SIZE]], &row->size_bytes, err);
    if (!rc)
        rc = read_mtime(rows, cells[rows->at[EBB__COLUMN_MTIME]], &row->mtime_ms, err);
    if (rows->at[EBB__COLUMN_ID] >= 0)
        row->id = cells[rows->at[EBB__COLUMN_ID]];
    return rc;
}
