/* SPDX-License-Identifier: Apache-2.0 */
#include "base/time.h"

#include <inttypes.h>

struct unit {
    const char *name;
    int64_t ms;
};

/* Large to small, the order in which a duration must name them. */
static const struct unit UNITS[] = {{"w", 604800000}, {"d", 86400000}, {"h", 3600000},
                                    {"m", 60000},     {"s", 1000},     {"ms", 1}};
enum { UNIT_COUNT = sizeof UNITS / sizeof UNITS[0], UNIT_DAY = 1, FRACTION_MAX = 15 };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Read digits into *out; false when there are none or the value overflows. */
static bool take_digits(const char **p, uint64_t *out)
{
    uint64_t value = 0;
    const char *start = *p;

    for (; is_digit(**p); (*p)++)
        if (__builtin_mul_overflow(value, (uint64_t)10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(**p - '0'), &value))
            return false;
    *out = value;
    return *p != start;
}

/* Index of the unit whose name is the whole run of letters at *p, or UNIT_COUNT. */
static size_t take_unit(const char **p)
{
    const char *start = *p;
    size_t length, i;

    while (is_letter(**p))
        (*p)++;
    length = (size_t)(*p - start);
    for (i = 0; i < UNIT_COUNT; i++)
        if (strlen(UNITS[i].name) == length && memcmp(UNITS[i].name, start, length) == 0)
            break;
    return i;
}

static int refuse_duration(const char *text, const char *why, struct ebb_err *err)
{
    (void)ebb_err_set(err, EBB_ETIME, "duration \"%.64s\": %s", text, why);
    ebb_err_hint(err, "write it like \"5d\", \"36h\" or \"1h30m\"; units are w d h m s ms");
    return -EBB_ETIME;
}

int ebb_duration_parse(const char *text, int64_t *out_ms, struct ebb_err *err)
{
    const char *p = text;
    size_t next_unit = 0;
    int64_t total = 0;

    *out_ms = 0;
    if (!*p)
        return refuse_duration(text, "empty", err);
    while (*p) {
        uint64_t value;
        int64_t part;
        size_t unit;

        if (!is_digit(*p))
            return refuse_duration(text, "a number is missing", err);
        if (!take_digits(&p, &value))
            return refuse_duration(text, "too long", err);
        unit = take_unit(&p);
        if (unit == UNIT_COUNT)
            return refuse_duration(text, "a unit is missing or unknown", err);
        if (unit < next_unit)
            return refuse_duration(text, "each unit may stand once, large before small", err);
        next_unit = unit + 1;
        if (__builtin_mul_overflow(value, UNITS[unit].ms, &part) || __builtin_add_overflow(total, part, &total))
            return refuse_duration(text, "too long", err);
    }
    *out_ms = total;
    return 0;
}

void ebb_duration_format(struct ebb_buf *out, int64_t ms)
{
    uint64_t left = ms < 0 ? 0 - (uint64_t)ms : (uint64_t)ms;

    if (ms < 0)
        ebb_buf_putc(out, '-');
    if (!left)
        ebb_buf_puts(out, "0s");
    for (size_t i = UNIT_DAY; i < UNIT_COUNT; i++) {
        uint64_t unit_ms = (uint64_t)UNITS[i].ms;

        if (left >= unit_ms)
            ebb_buf_printf(out, "%" PRIu64 "%s", left / unit_ms, UNITS[i].name);
        left %= unit_ms;
    }
}

static int refuse_size(const char *text, const char *why, struct ebb_err *err)
{
    (void)ebb_err_set(err, EBB_EUSAGE, "size \"%.64s\": %s", text, why);
    ebb_err_hint(err, "write it like \"512MiB\" or \"1.5GB\"; units are B, kB MB GB TB PB, KiB MiB GiB TiB PiB");
    return -EBB_EUSAGE;
}

/* "B", "kB" (powers of 1000) or "KiB" (powers of 1024): base and power; false when unknown. */
static bool find_size_unit(const char *name, uint64_t *base, int *power)
{
    static const char *const NAMES[2][6] = {{"B", "kB", "MB", "GB", "TB", "PB"},
                                            {"B", "KiB", "MiB", "GiB", "TiB", "PiB"}};

    for (int family = 0; family < 2; family++)
        for (int i = 0; i < 6; i++)
            if (strcmp(NAMES[family][i], name) == 0) {
                *base = family ? 1024 : 1000;
                *power = i;
                return true;
            }
    return false;
}

/* Read "1.5": the whole part, and the fraction as digits / scale. */
static const char *parse_decimal(const char **p, uint64_t *whole, uint64_t *digits, uint64_t *scale)
{
    const char *dot;

    if (!is_digit(**p))
        return "a number is missing";
    if (!take_digits(p, whole))
        return "too large";
    if (**p != '.')
        return NULL;
    dot = (*p)++;
    if (!is_digit(**p))
        return "digits are missing after the point";
    if (!take_digits(p, digits) || *p - dot - 1 > FRACTION_MAX)
        return "too many digits after the point";
    for (const char *q = dot + 1; q < *p; q++)
        *scale *= 10;
    return NULL;
}

int ebb_size_parse(const char *text, uint64_t *out_bytes, struct ebb_err *err)
{
    const char *p = text, *why;
    uint64_t value = 0, digits = 0, scale = 1, base = 1;
    int power = 0;

    *out_bytes = 0;
    why = parse_decimal(&p, &value, &digits, &scale);
    if (why)
        return refuse_size(text, why, err);
    if (*p == ' ')
        p++;
    if (!find_size_unit(p, &base, &power))
        return refuse_size(text, "a unit is missing or unknown", err);
    for (int i = 0; i < power; i++) {
        digits *= base;
        if (__builtin_mul_overflow(value, base, &value) || __builtin_add_overflow(value, digits / scale, &value))
            return refuse_size(text, "too large", err);
        digits %= scale;
    }
    if (digits)
        return refuse_size(text, "is not a whole number of bytes", err);
    *out_bytes = value;
    return 0;
}
