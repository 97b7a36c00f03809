/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>

/* Length of the well-formed UTF-8 sequence at p (1..4), or 0. RFC 3629 section 4. */
static size_t utf8_length(const unsigned char *p, size_t n)
{
    unsigned char c = p[0];
    unsigned char low = 0x80, high = 0xBF;
    size_t need;

    if (c < 0x80)
        return 1;
    if (c >= 0xC2 && c <= 0xDF)
        need = 2;
    else if (c >= 0xE0 && c <= 0xEF)
        need = 3;
    else if (c >= 0xF0 && c <= 0xF4)
        need = 4;
    else
        return 0;
    if (n < need)
        return 0;
    if (c == 0xE0)
        low = 0xA0;
    else if (c == 0xED)
        high = 0x9F;
    else if (c == 0xF0)
        low = 0x90;
    else if (c == 0xF4)
        high = 0x8F;
    if (p[1] < low || p[1] > high)
        return 0;
    for (size_t i = 2; i < need; i++)
        if ((p[i] & 0xC0) != 0x80)
            return 0;
    return need;
}

/* How many bytes at p are plain ASCII, in steps of eight. */
static size_t ascii_length(const unsigned char *p, size_t n)
{
    size_t i = 0;
    uint64_t word;

    for (; n - i >= sizeof word; i += sizeof word) {
        memcpy(&word, p + i, sizeof word);
        if (word & UINT64_C(0x8080808080808080))
            break;
    }
    return i;
}

bool ebb_text_is_utf8(const char *bytes, size_t n)
{
    const unsigned char *p = (const unsigned char *)bytes;

    for (size_t i = ascii_length(p, n); i < n;) {
        size_t step = utf8_length(p + i, n - i);

        if (!step)
            return false;
        i += step;
    }
    return true;
}

static bool is_control(const unsigned char *p, size_t length)
{
    return p[0] < 0x20 || p[0] == 0x7F || (length == 2 && p[0] == 0xC2 && p[1] < 0xA0);
}

/* What turns the direction of writing or ends a line: U+061C, U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069. */
static bool is_misleading(const unsigned char *p, size_t length)
{
    if (length == 2)
        return p[0] == 0xD8 && p[1] == 0x9C;
    if (length != 3 || p[0] != 0xE2)
        return false;
    if (p[1] == 0x81)
        return p[2] >= 0xA6 && p[2] <= 0xA9;
    return p[1] == 0x80 && (p[2] == 0x8E || p[2] == 0x8F || (p[2] >= 0xA8 && p[2] <= 0xAE));
}

void ebb_text_escape(struct ebb_buf *out, const char *bytes, size_t n)
{
    const unsigned char *p = (const unsigned char *)bytes;

    for (size_t i = 0; i < n;) {
        size_t step = utf8_length(p + i, n - i);
        size_t count = step ? step : 1;

        if (!step || is_control(p + i, step) || is_misleading(p + i, step))
            for (size_t k = 0; k < count; k++)
                ebb_buf_printf(out, "\\x%02x", p[i + k]);
        else if (p[i] == '\\')
            ebb_buf_puts(out, "\\\\");
        else
            ebb_buf_append(out, p + i, count);
        i += count;
    }
}

static const char BASE64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void ebb_text_base64(struct ebb_buf *out, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;

    for (size_t i = 0; i < n; i += 3) {
        unsigned v = (unsigned)p[i] << 16;
        size_t have = n - i < 3 ? n - i : 3;
        char four[4];

        if (have > 1)
            v |= (unsigned)p[i + 1] << 8;
        if (have > 2)
            v |= p[i + 2];
        four[0] = BASE64[v >> 18 & 63];
        four[1] = BASE64[v >> 12 & 63];
        four[2] = have > 1 ? BASE64[v >> 6 & 63] : '=';
        four[3] = have > 2 ? BASE64[v & 63] : '=';
        ebb_buf_append(out, four, 4);
    }
}

static int base64_value(char c)
{
    const char *at = c ? strchr(BASE64, c) : NULL;

    return at ? (int)(at - BASE64) : -1;
}

bool ebb_text_unbase64(struct ebb_buf *out, const char *text, size_t n)
{
    if (n % 4)
        return false;
    for (size_t i = 0; i < n; i += 4) {
        int a = base64_value(text[i]), b = base64_value(text[i + 1]);
        int c = base64_value(text[i + 2]), d = base64_value(text[i + 3]);
        bool last = i + 4 == n;
        int keep = last && text[i + 3] == '=' ? (text[i + 2] == '=' ? 1 : 2) : 3;
        unsigned char three[3];

        if (a < 0 || b < 0 || (keep > 1 && c < 0) || (keep > 2 && d < 0))
            return false;
        if ((keep == 1 && (b & 15)) || (keep == 2 && (c & 3)))
            return false;
        three[0] = (unsigned char)(a << 2 | b >> 4);
        three[1] = (unsigned char)((b & 15) << 4 | (keep > 1 ? c >> 2 : 0));
        three[2] = (unsigned char)(keep > 2 ? (c & 3) << 6 | d : 0);
        ebb_buf_append(out, three, (size_t)keep);
    }
    return true;
}

void ebb_text_hex(struct ebb_buf *out, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;

    for (size_t i = 0; i < n; i++)
        ebb_buf_printf(out, "%02x", p[i]);
}

void ebb_text_size(struct ebb_buf *out, uint64_t bytes)
{
    static const char *const UNITS[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes;
    size_t unit = 0;

    /* What would be printed as 1024.0 is 1.0 of the next unit. */
    while (value >= (unit ? 1023.95 : 1024) && unit < 6) {
        value /= 1024;
        unit++;
    }
    if (unit == 0)
        ebb_buf_printf(out, "%" PRIu64 " B", bytes);
    else
        ebb_buf_printf(out, "%.1f %s", value, UNITS[unit]);
}

#define NEAREST_MAX 48

static size_t edit_distance(const char *a, size_t an, const char *b, size_t bn)
{
    size_t row[NEAREST_MAX + 1];

    for (size_t j = 0; j <= bn; j++)
        row[j] = j;
    for (size_t i = 1; i <= an; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= bn; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);

            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[bn];
}

const char *ebb_text_nearest(const char *word, const char *const *candidates, size_t count)
{
    size_t n = strlen(word);
    size_t limit = n > 8 ? 3 : 2;
    const char *best = NULL;

    if (n > NEAREST_MAX)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(candidates[i]);
        size_t d;

        if (length > NEAREST_MAX)
            continue;
        d = edit_distance(word, n, candidates[i], length);
        if (d <= limit && d < length) {
            best = candidates[i];
            limit = d ? d - 1 : 0;
            if (!d)
                break;
        }
    }
    return best;
}

void ebb_jsonw_init(struct ebb_jsonw *w, struct ebb_buf *out)
{
    memset(w, 0, sizeof *w);
    w->out = out;
}

static void separate(struct ebb_jsonw *w)
{
    if (w->after_key)
        w->after_key = false;
    else if (w->depth > 0) {
        if (w->has_items[w->depth - 1])
            ebb_buf_putc(w->out, ',');
        w->has_items[w->depth - 1] = true;
    }
}

void ebb_jsonw_begin(struct ebb_jsonw *w, char open)
{
    separate(w);
    ebb_buf_putc(w->out, open);
    if (w->depth == EBB_JSONW_DEPTH) {
        w->out->bad = true;
        return;
    }
    w->has_items[w->depth++] = false;
}

void ebb_jsonw_end(struct ebb_jsonw *w, char close)
{
    if (w->depth > 0)
        w->depth--;
    ebb_buf_putc(w->out, close);
}

/* Bytes at the start that need no escape. */
static size_t plain_length(const unsigned char *p, size_t n)
{
    size_t i = 0;

    while (i < n && p[i] >= 0x20 && p[i] < 0x7f && p[i] != '"' && p[i] != '\\')
        i++;
    return i;
}

static void quoted(struct ebb_buf *out, const char *bytes, size_t n)
{
    const unsigned char *p = (const unsigned char *)bytes;

    ebb_buf_putc(out, '"');
    for (size_t i = 0; i < n;) {
        size_t plain = plain_length(p + i, n - i), step = plain ? plain : utf8_length(p + i, n - i);

        if (plain)
            ebb_buf_append(out, p + i, plain);
        else if (!step)
            ebb_buf_puts(out, "\xEF\xBF\xBD");
        else if (p[i] == '"' || p[i] == '\\')
            ebb_buf_printf(out, "\\%c", p[i]);
        else if (p[i] == '\n')
            ebb_buf_puts(out, "\\n");
        else if (is_control(p + i, step))
            ebb_buf_printf(out, "\\u%04x", step == 1 ? p[i] : p[i + 1]);
        else
            ebb_buf_append(out, p + i, step);
        i += step ? step : 1;
    }
    ebb_buf_putc(out, '"');
}

void ebb_jsonw_key(struct ebb_jsonw *w, const char *key)
{
    separate(w);
    quoted(w->out, key, strlen(key));
    ebb_buf_putc(w->out, ':');
    w->after_key = true;
}

void ebb_jsonw_strn(struct ebb_jsonw *w, const char *bytes, size_t n)
{
    separate(w);
    quoted(w->out, bytes, n);
}

void ebb_jsonw_str(struct ebb_jsonw *w, const char *text)
{
    if (text)
        ebb_jsonw_strn(w, text, strlen(text));
    else
        ebb_jsonw_null(w);
}

static void put_digits(struct ebb_buf *out, bool is_negative, uint64_t value)
{
    char digits[24];
    size_t at = sizeof digits;

    do
        digits[--at] = (char)('0' + value % 10);
    while (value /= 10);
    if (is_negative)
        digits[--at] = '-';
    ebb_buf_append(out, digits + at, sizeof digits - at);
}

void ebb_jsonw_int(struct ebb_jsonw *w, int64_t value)
{
    separate(w);
    put_digits(w->out, value < 0, value < 0 ? 0u - (uint64_t)value : (uint64_t)value);
}

void ebb_jsonw_uint(struct ebb_jsonw *w, uint64_t value)
{
    separate(w);
    put_digits(w->out, false, value);
}

void ebb_jsonw_bool(struct ebb_jsonw *w, bool value)
{
    separate(w);
    ebb_buf_puts(w->out, value ? "true" : "false");
}

void ebb_jsonw_null(struct ebb_jsonw *w)
{
    separate(w);
    ebb_buf_puts(w->out, "null");
}

void ebb_jsonw_raw(struct ebb_jsonw *w, const char *json, size_t n)
{
    separate(w);
    ebb_buf_append(w->out, json, n);
}

void ebb_jsonw_path(struct ebb_jsonw *w, const char *key, const char *bytes, size_t n)
{
    char name[64];

    if (ebb_text_is_utf8(bytes, n)) {
        ebb_jsonw_key(w, key);
        ebb_jsonw_strn(w, bytes, n);
        return;
    }
    snprintf(name, sizeof name, "%s_b64", key);
    ebb_jsonw_key(w, name);
    separate(w);
    ebb_buf_putc(w->out, '"');
    ebb_text_base64(w->out, bytes, n);
    ebb_buf_putc(w->out, '"');
}

void ebb_jsonw_kstr(struct ebb_jsonw *w, const char *key, const char *text)
{
    ebb_jsonw_key(w, key);
    ebb_jsonw_str(w, text);
}

void ebb_jsonw_kint(struct ebb_jsonw *w, const char *key, int64_t value)
{
    ebb_jsonw_key(w, key);
    ebb_jsonw_int(w, value);
}

void ebb_jsonw_kbool(struct ebb_jsonw *w, const char *key, bool value)
{
    ebb_jsonw_key(w, key);
    ebb_jsonw_bool(w, value);
}

bool ebb_text_count(const char *text, int64_t *out)
{
    int64_t n = 0;

    for (const char *p = text; p && *p; p++)
        if (*p < '0' || *p > '9' || __builtin_mul_overflow(n, (int64_t)10, &n) ||
            __builtin_add_overflow(n, (int64_t)(*p - '0'), &n))
            return false;
    if (!text || !*text)
        return false;
    *out = n;
    return true;
}
