/* SPDX-License-Identifier: Apache-2.0 */
#include "format/json_priv.h"

#include "base/text.h"

#include <stdio.h>

enum state { TOP, DONE, OBJECT_FIRST, OBJECT_VALUE, OBJECT_NEXT, ARRAY_FIRST, ARRAY_NEXT };

void ebb_json_init(struct ebb_json *j, const char *name, const void *bytes, size_t n)
{
    memset(j, 0, sizeof *j);
    j->name = name;
    j->start = n ? bytes : "";
    j->p = j->start;
    j->end = j->start + n;
    j->kind = EBB_JSON_END;
    j->state[0] = TOP;
    ebb_buf_init(&j->scratch, n);
}

void ebb_json_fini(struct ebb_json *j)
{
    ebb__json_keys_fini(&j->keys);
    ebb_buf_fini(&j->scratch);
    j->failed = true;
}

int ebb_json_fail(struct ebb_json *j, struct ebb_err *err, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    j->failed = true;
    return ebb_err_set(err, EBB_ECORRUPT, "%s: offset %zu: %s", j->name, j->token_at, text);
}

static int fail_cut(struct ebb_json *j, struct ebb_err *err)
{
    j->is_cut = true;
    j->token_at = (size_t)(j->end - j->start);
    return ebb_json_fail(j, err, j->end == j->start ? "the document is empty" : "the document ends too early");
}

static int fail_memory(struct ebb_json *j, struct ebb_err *err)
{
    j->failed = true;
    return ebb_err_nomem(err);
}

static int fail_byte(struct ebb_json *j, const char *want, struct ebb_err *err)
{
    unsigned char c;

    if (j->p == j->end)
        return fail_cut(j, err);
    j->token_at = (size_t)(j->p - j->start);
    c = (unsigned char)*j->p;
    if (j->p == j->start && j->end - j->p >= 3 && !memcmp(j->p, "\xEF\xBB\xBF", 3))
        return ebb_json_fail(j, err, "want %s, found a byte order mark", want);
    if (c > 0x20 && c < 0x7F)
        return ebb_json_fail(j, err, "want %s, found '%c'", want, c);
    return ebb_json_fail(j, err, "want %s, found the byte 0x%02x", want, c);
}

static void skip_space(struct ebb_json *j)
{
    const char *p = j->p;

    while (p < j->end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
        p++;
    j->p = p;
}

#define ONES 0x0101010101010101u
#define HIGHS (ONES * 0x80)

static uint64_t zero_bytes(uint64_t word)
{
    return (word - ONES) & ~word & HIGHS;
}

/* The first quote, backslash or control character from p on, or end. *has_high: a byte of 0x80 or more was passed. */
static const char *skip_plain(const char *p, const char *end, bool *has_high)
{
    uint64_t word, high = 0;

    while (end - p >= 8) {
        memcpy(&word, p, sizeof word);
        if (zero_bytes(word ^ (ONES * '"')) || zero_bytes(word ^ (ONES * '\\')) ||
            ((word - ONES * 0x20) & ~word & HIGHS))
            break;
        high |= word & HIGHS;
        p += 8;
    }
    for (; p < end; p++) {
        unsigned char c = (unsigned char)*p;

        if (c == '"' || c == '\\' || c < 0x20)
            break;
        high |= c & 0x80u;
    }
    *has_high |= high != 0;
    return p;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Four hex digits at j->p. */
static int read_hex4(struct ebb_json *j, unsigned *out, struct ebb_err *err)
{
    *out = 0;
    for (int i = 0; i < 4; i++) {
        int digit = j->p < j->end ? hex_value(*j->p) : -1;

        if (digit < 0)
            return fail_byte(j, "a hex digit", err);
        *out = *out << 4 | (unsigned)digit;
        j->p++;
    }
    return 0;
}

static void put_utf8(struct ebb_buf *out, unsigned c)
{
    if (c < 0x80) {
        ebb_buf_putc(out, (char)c);
    } else if (c < 0x800) {
        ebb_buf_putc(out, (char)(0xC0 | c >> 6));
        ebb_buf_putc(out, (char)(0x80 | (c & 63)));
    } else if (c < 0x10000) {
        ebb_buf_putc(out, (char)(0xE0 | c >> 12));
        ebb_buf_putc(out, (char)(0x80 | (c >> 6 & 63)));
        ebb_buf_putc(out, (char)(0x80 | (c & 63)));
    } else {
        ebb_buf_putc(out, (char)(0xF0 | c >> 18));
        ebb_buf_putc(out, (char)(0x80 | (c >> 12 & 63)));
        ebb_buf_putc(out, (char)(0x80 | (c >> 6 & 63)));
        ebb_buf_putc(out, (char)(0x80 | (c & 63)));
    }
}

static int read_unicode(struct ebb_json *j, struct ebb_err *err)
{
    unsigned c, low = 0;
    int rc = read_hex4(j, &c, err);

    if (rc)
        return rc;
    if (c >= 0xDC00 && c <= 0xDFFF)
        return ebb_json_fail(j, err, "lone surrogate \\u%04x", c);
    if (c >= 0xD800 && c <= 0xDBFF) {
        if (j->p == j->end || (*j->p == '\\' && j->end - j->p < 2))
            return fail_cut(j, err);
        if (j->p[0] != '\\' || j->p[1] != 'u')
            return ebb_json_fail(j, err, "lone surrogate \\u%04x", c);
        j->p += 2;
        rc = read_hex4(j, &low, err);
        if (rc)
            return rc;
        if (low < 0xDC00 || low > 0xDFFF)
            return ebb_json_fail(j, err, "lone surrogate \\u%04x", c);
        c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
    }
    put_utf8(&j->scratch, c);
    return 0;
}

/* One escape; j->p is behind the backslash. */
static int read_escape(struct ebb_json *j, struct ebb_err *err)
{
    static const char NAMES[] = "\"\\/bfnrt", VALUES[] = "\"\\/\b\f\n\r\t";
    const char *at;

    if (j->p == j->end)
        return fail_cut(j, err);
    if (*j->p == 'u') {
        j->p++;
        return read_unicode(j, err);
    }
    at = memchr(NAMES, *j->p, sizeof NAMES - 1);
    if (!at)
        return fail_byte(j, "an escape", err);
    ebb_buf_putc(&j->scratch, VALUES[at - NAMES]);
    j->p++;
    return 0;
}

/* A string with escapes: begin is its first byte, j->p the first backslash. Leaves j->p at the closing quote. */
static int unescape(struct ebb_json *j, const char *begin, bool *has_high, struct ebb_err *err)
{
    int rc;

    ebb_buf_reset(&j->scratch);
    for (;;) {
        ebb_buf_append(&j->scratch, begin, (size_t)(j->p - begin));
        if (j->p == j->end || *j->p != '\\')
            break;
        j->p++;
        rc = read_escape(j, err);
        if (rc)
            return rc;
        begin = j->p;
        j->p = skip_plain(begin, j->end, has_high);
    }
    if (j->scratch.bad)
        return fail_memory(j, err);
    j->text = ebb_buf_str(&j->scratch);
    return 0;
}

/* j->p is at the opening quote. */
static int read_string(struct ebb_json *j, struct ebb_err *err)
{
    const char *begin = j->p + 1;
    bool has_high = false;
    int rc;

    j->p = skip_plain(begin, j->end, &has_high);
    j->text.p = begin;
    j->text.n = (size_t)(j->p - begin);
    if (j->p < j->end && *j->p == '\\') {
        rc = unescape(j, begin, &has_high, err);
        if (rc)
            return rc;
    }
    if (j->p == j->end || *j->p != '"')
        return fail_byte(j, "a character of a string", err);
    j->p++;
    if (has_high && !ebb_text_is_utf8(j->text.p, j->text.n))
        return ebb_json_fail(j, err, "a string is not UTF-8");
    return 0;
}

static const char *skip_digits(const char *p, const char *end)
{
    while (p < end && *p >= '0' && *p <= '9')
        p++;
    return p;
}

static bool parse_int(struct ebb_str text, int64_t *out)
{
    bool is_negative = text.p[0] == '-';
    int64_t value = 0;

    for (size_t i = is_negative; i < text.n; i++) {
        int digit = text.p[i] - '0';

        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, is_negative ? -digit : digit, &value))
            return false;
    }
    *out = value;
    return true;
}

/* Digits at *p, at least one. */
static int need_digits(struct ebb_json *j, struct ebb_err *err)
{
    const char *p = skip_digits(j->p, j->end);

    if (p == j->p)
        return fail_byte(j, "a digit", err);
    j->p = p;
    return 0;
}

static bool is_at(const struct ebb_json *j, const char *set)
{
    return j->p < j->end && *j->p && strchr(set, *j->p);
}

static int skip_number(struct ebb_json *j, bool *is_int, struct ebb_err *err)
{
    int rc = 0;

    if (*j->p == '-')
        j->p++;
    if (is_at(j, "0"))
        j->p++;
    else
        rc = need_digits(j, err);
    if (!rc && is_at(j, ".")) {
        *is_int = false;
        j->p++;
        rc = need_digits(j, err);
    }
    if (!rc && is_at(j, "eE")) {
        *is_int = false;
        j->p++;
        if (is_at(j, "+-"))
            j->p++;
        rc = need_digits(j, err);
    }
    return rc;
}

static int read_number(struct ebb_json *j, struct ebb_err *err)
{
    const char *begin = j->p;
    bool is_int = true;
    int rc = skip_number(j, &is_int, err);

    if (rc)
        return rc;
    if (j->p == j->end && j->depth)
        return fail_cut(j, err); /* more digits may have followed */
    j->text.p = begin;
    j->text.n = (size_t)(j->p - begin);
    j->kind = is_int && parse_int(j->text, &j->number) ? EBB_JSON_INT : EBB_JSON_FLOAT;
    return 0;
}

static int read_word(struct ebb_json *j, const char *word, enum ebb_json_kind kind, struct ebb_err *err)
{
    for (; *word; word++, j->p++)
        if (j->p == j->end || *j->p != *word)
            return fail_byte(j, "a value", err);
    j->kind = kind;
    return 0;
}

static int open_container(struct ebb_json *j, enum ebb_json_kind kind, enum state state, struct ebb_err *err)
{
    if (j->depth == EBB_JSON_DEPTH)
        return ebb_json_fail(j, err, "nested deeper than %d levels", EBB_JSON_DEPTH);
    j->depth++;
    j->state[j->depth] = (unsigned char)state;
    j->key_base[j->depth] = j->keys.count;
    j->kind = kind;
    j->p++;
    return 0;
}

static int close_container(struct ebb_json *j, enum ebb_json_kind kind)
{
    ebb__json_keys_drop(&j->keys, j->key_base[j->depth]);
    j->depth--;
    j->kind = kind;
    j->p++;
    return 0;
}

static enum state after_value(enum state state)
{
    if (state == TOP)
        return DONE;
    return state == OBJECT_VALUE ? OBJECT_NEXT : ARRAY_NEXT;
}

static int read_value(struct ebb_json *j, struct ebb_err *err)
{
    j->token_at = (size_t)(j->p - j->start);
    if (j->p == j->end)
        return fail_cut(j, err);
    j->state[j->depth] = (unsigned char)after_value((enum state)j->state[j->depth]);
    switch (*j->p) {
    case '{':
        return open_container(j, EBB_JSON_OBJECT, OBJECT_FIRST, err);
    case '[':
        return open_container(j, EBB_JSON_ARRAY, ARRAY_FIRST, err);
    case '"':
        j->kind = EBB_JSON_STRING;
        return read_string(j, err);
    case 't':
        return read_word(j, "true", EBB_JSON_TRUE, err);
    case 'f':
        return read_word(j, "false", EBB_JSON_FALSE, err);
    case 'n':
        return read_word(j, "null", EBB_JSON_NULL, err);
    default:
        if (*j->p != '-' && (*j->p < '0' || *j->p > '9'))
            return fail_byte(j, "a value", err);
        return read_number(j, err);
    }
}

static int add_key(struct ebb_json *j, struct ebb_err *err)
{
    switch (ebb__json_keys_add(&j->keys, j->key_base[j->depth], j->depth, j->text)) {
    case EBB__JSON_NEW_KEY:
        return 0;
    case EBB__JSON_REPEATED_KEY:
        return ebb_json_fail(j, err, "the key \"%.*s\" is repeated", (int)(j->text.n < 200 ? j->text.n : 200),
                             j->text.p);
    case EBB__JSON_TOO_MANY_KEYS:
        return ebb_json_fail(j, err, "more than %zu keys", EBB_JSON_MAX_KEYS);
    default:
        return fail_memory(j, err);
    }
}

static int read_key(struct ebb_json *j, struct ebb_err *err)
{
    int rc;

    j->token_at = (size_t)(j->p - j->start);
    if (j->p == j->end || *j->p != '"')
        return fail_byte(j, "a key", err);
    rc = read_string(j, err);
    if (!rc)
        rc = add_key(j, err);
    if (rc)
        return rc;
    skip_space(j);
    if (j->p == j->end || *j->p != ':')
        return fail_byte(j, "':'", err);
    j->p++;
    j->kind = EBB_JSON_KEY;
    j->state[j->depth] = OBJECT_VALUE;
    return 0;
}

static int read_end(struct ebb_json *j, struct ebb_err *err)
{
    if (j->p < j->end)
        return fail_byte(j, "the end of the document", err);
    j->kind = EBB_JSON_END;
    return 0;
}

/* Behind a value: j->p is at the comma or at the closing bracket. */
static int read_next(struct ebb_json *j, bool is_object, struct ebb_err *err)
{
    if (is_at(j, is_object ? "}" : "]"))
        return close_container(j, is_object ? EBB_JSON_OBJECT_END : EBB_JSON_ARRAY_END);
    if (!is_at(j, ","))
        return fail_byte(j, is_object ? "',' or '}'" : "',' or ']'", err);
    j->p++;
    skip_space(j);
    return is_object ? read_key(j, err) : read_value(j, err);
}

int ebb_json_next(struct ebb_json *j, struct ebb_err *err)
{
    if (j->failed)
        return ebb_err_set(err, EBB_ECORRUPT, "%s: reading went on after an error", j->name);
    skip_space(j);
    j->token_at = (size_t)(j->p - j->start);
    switch ((enum state)j->state[j->depth]) {
    case DONE:
        return read_end(j, err);
    case OBJECT_FIRST:
        if (is_at(j, "}"))
            return close_container(j, EBB_JSON_OBJECT_END);
        return read_key(j, err);
    case OBJECT_NEXT:
        return read_next(j, true, err);
    case ARRAY_FIRST:
        if (is_at(j, "]"))
            return close_container(j, EBB_JSON_ARRAY_END);
        return read_value(j, err);
    case ARRAY_NEXT:
        return read_next(j, false, err);
    default:
        return read_value(j, err);
    }
}
