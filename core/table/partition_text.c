/* SPDX-License-Identifier: Apache-2.0 */
#include "table/partition_priv.h"

#include <inttypes.h>

#include "base/text.h"
#include "base/time.h"

#define DAY_SECONDS ((int64_t)24 * 3600)

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* What java.net.URLEncoder makes of UTF-8 bytes. */
static void put_encoded(struct ebb_buf *out, struct ebb_str text)
{
    static const char HEX[] = "0123456789ABCDEF";

    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];

        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
            (c && strchr(".-*_", c) != NULL)) {
            ebb_buf_putc(out, (char)c);
        } else if (c == ' ') {
            ebb_buf_putc(out, '+');
        } else {
            ebb_buf_putc(out, '%');
            ebb_buf_putc(out, HEX[c >> 4]);
            ebb_buf_putc(out, HEX[c & 15]);
        }
    }
}

static void put_date(struct ebb_buf *out, int64_t days)
{
    struct ebb_civil c;

    ebb_civil_of_days(days, &c);
    ebb_buf_printf(out, "%04" PRId64 "-%02d-%02d", c.year, c.month, c.day);
}

/* Seconds and the fraction only where they are not zero; a fraction has 3, 6 or 9 digits. */
static void put_time(struct ebb_buf *out, int64_t seconds, int64_t nanos)
{
    ebb_buf_printf(out, "%02d:%02d", (int)(seconds / 3600), (int)(seconds / 60 % 60));
    if (seconds % 60 || nanos)
        ebb_buf_printf(out, ":%02d", (int)(seconds % 60));
    if (nanos && nanos % 1000000 == 0)
        ebb_buf_printf(out, ".%03d", (int)(nanos / 1000000));
    else if (nanos && nanos % 1000 == 0)
        ebb_buf_printf(out, ".%06d", (int)(nanos / 1000));
    else if (nanos)
        ebb_buf_printf(out, ".%09d", (int)nanos);
}

static void put_timestamp(struct ebb_buf *out, const struct ebb__partition_field *f, int64_t number)
{
    int64_t unit = f->per_second == 9 ? 1000000000 : 1000000;
    int64_t seconds = floor_div(number, unit), days = floor_div(seconds, DAY_SECONDS);

    put_date(out, days);
    ebb_buf_putc(out, 'T');
    put_time(out, seconds - days * DAY_SECONDS, (number - seconds * unit) * (1000000000 / unit));
    if (f->has_zone)
        ebb_buf_putc(out, 'Z');
}

static void put_month(struct ebb_buf *out, int64_t months)
{
    int64_t years = floor_div(months, 12);

    ebb_buf_printf(out, "%04" PRId64 "-%02d", 1970 + years, (int)(months - years * 12) + 1);
}

static void put_hour(struct ebb_buf *out, int64_t hours)
{
    int64_t days = floor_div(hours, 24);

    put_date(out, days);
    ebb_buf_printf(out, "-%02d", (int)(hours - days * 24));
}

static void put_uuid(struct ebb_buf *out, struct ebb_str bytes)
{
    for (size_t i = 0; i < 16; i++)
        ebb_buf_printf(out, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", (unsigned char)bytes.p[i]);
}

static bool put_bytes(struct ebb_buf *out, const struct ebb__partition_field *f, struct ebb_str bytes)
{
    switch (f->kind) {
    case EBB__PARTITION_BOOLEAN:
        if (bytes.n == 1)
            ebb_buf_puts(out, bytes.p[0] ? "true" : "false");
        return bytes.n == 1;
    case EBB__PARTITION_FLOAT:
    case EBB__PARTITION_DOUBLE:
        return ebb__partition_put_float(out, bytes, f->kind == EBB__PARTITION_FLOAT);
    case EBB__PARTITION_DECIMAL:
        return ebb__partition_put_decimal(out, bytes, f->scale);
    case EBB__PARTITION_UUID:
        if (bytes.n == 16)
            put_uuid(out, bytes);
        return bytes.n == 16;
    case EBB__PARTITION_BINARY:
        ebb_text_base64(out, bytes.p, bytes.n);
        return true;
    default:
        ebb_buf_add_str(out, bytes);
        return true;
    }
}

static bool put_number(struct ebb_buf *out, const struct ebb__partition_field *f, int64_t number)
{
    switch (f->kind) {
    case EBB__PARTITION_YEAR:
        ebb_buf_printf(out, "%04" PRId64, number < INT32_MAX ? number + 1970 : number);
        return true;
    case EBB__PARTITION_MONTH:
        put_month(out, number);
        return true;
    case EBB__PARTITION_DATE:
        put_date(out, number);
        return true;
    case EBB__PARTITION_HOUR:
        put_hour(out, number);
        return true;
    case EBB__PARTITION_TIME:
        if (number >= 0 && number < DAY_SECONDS * 1000000)
            put_time(out, number / 1000000, number % 1000000 * 1000);
        return number >= 0 && number < DAY_SECONDS * 1000000;
    case EBB__PARTITION_TIMESTAMP:
        put_timestamp(out, f, number);
        return true;
    default:
        ebb_buf_printf(out, "%" PRId64, number);
        return true;
    }
}

bool ebb__partition_put(struct ebb_buf *out, const struct ebb__partition_field *f, const struct ebb_avro_value *value)
{
    struct ebb_buf text;
    bool ok = true;

    ebb_buf_init(&text, EBB__PARTITION_TEXT_MAX);
    if (!value->is_set || f->kind == EBB__PARTITION_NULL)
        ebb_buf_puts(&text, "null");
    else if (ebb__partition_storage(f->kind) == EBB_AVRO_LONG)
        ok = put_number(&text, f, value->number);
    else
        ok = put_bytes(&text, f, value->bytes);
    put_encoded(out, ebb_str_of(f->name));
    ebb_buf_putc(out, '=');
    put_encoded(out, ebb_buf_str(&text));
    ok = ok && !text.bad && !out->bad;
    ebb_buf_fini(&text);
    return ok;
}
