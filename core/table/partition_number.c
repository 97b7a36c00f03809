/* SPDX-License-Identifier: Apache-2.0
 *
 * Decimals and floating point numbers as Java writes them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "table/partition_priv.h"

#define DECIMAL_BYTES 16

/* The unscaled number, big endian in two's complement, as decimal digits. false: it is longer than a decimal can be. */
static bool unscaled_of(struct ebb_str bytes, char digits[48], bool *is_negative)
{
    unsigned char number[DECIMAL_BYTES] = {0};
    size_t n = 0, at = 47;

    if (!bytes.n || bytes.n > DECIMAL_BYTES)
        return false;
    *is_negative = (bytes.p[0] & 0x80) != 0;
    n = bytes.n;
    memcpy(number, bytes.p, n);
    for (size_t i = n, carry = 1; *is_negative && i-- > 0;) {
        unsigned byte = (unsigned)(unsigned char)~number[i] + (unsigned)carry;

        number[i] = (unsigned char)byte;
        carry = byte >> 8;
    }
    digits[at] = '\0';
    do {
        unsigned rest = 0;

        for (size_t i = 0; i < n; i++) {
            unsigned part = rest << 8 | number[i];

            number[i] = (unsigned char)(part / 10);
            rest = part % 10;
        }
        digits[--at] = (char)('0' + rest);
        while (n && !number[0])
            memmove(number, number + 1, --n);
    } while (n);
    memmove(digits, digits + at, 48 - at);
    return true;
}

/* As java.math.BigDecimal.toString. */
bool ebb__partition_put_decimal(struct ebb_buf *out, struct ebb_str bytes, int scale)
{
    char digits[48];
    bool is_negative;
    int n;

    if (!unscaled_of(bytes, digits, &is_negative))
        return false;
    n = (int)strlen(digits);
    if (is_negative)
        ebb_buf_putc(out, '-');
    if (n - 1 - scale < -6) {
        ebb_buf_printf(out, "%c%s%sE%d", digits[0], n > 1 ? "." : "", digits + 1, n - 1 - scale);
    } else if (scale == 0) {
        ebb_buf_puts(out, digits);
    } else if (n > scale) {
        ebb_buf_printf(out, "%.*s.%s", n - scale, digits, digits + n - scale);
    } else {
        ebb_buf_puts(out, "0.");
        for (int i = n; i < scale; i++)
            ebb_buf_putc(out, '0');
        ebb_buf_puts(out, digits);
    }
    return true;
}

/* Digits and exponent of d.ddd × 10^exponent: the shortest that read back the same. */
static int shortest(double x, bool is_float, char digits[24])
{
    char text[48];
    size_t n = 0;
    const char *p;

    for (int precision = 0; precision < 17; precision++) {
        snprintf(text, sizeof text, "%.*e", precision, x);
        if (is_float ? strtof(text, NULL) == (float)x : !(strtod(text, NULL) < x) && !(strtod(text, NULL) > x))
            break;
    }
    for (p = text; *p && *p != 'e'; p++)
        if (*p >= '0' && *p <= '9') /* not the decimal point, whatever the locale's is */
            digits[n++] = *p;
    while (n > 1 && digits[n - 1] == '0')
        n--;
    digits[n] = '\0';
    return *p ? (int)strtol(p + 1, NULL, 10) : 0;
}

/* As Double.toString: plain from 10^-3 up to 10^7, else with an exponent; always a digit behind the point. */
static void put_digits(struct ebb_buf *out, const char *digits, int exponent)
{
    int n = (int)strlen(digits);

    if (exponent < -3 || exponent >= 7) {
        ebb_buf_printf(out, "%c.%sE%d", digits[0], n > 1 ? digits + 1 : "0", exponent);
    } else if (exponent < 0) {
        ebb_buf_puts(out, "0.");
        for (int i = -1; i > exponent; i--)
            ebb_buf_putc(out, '0');
        ebb_buf_puts(out, digits);
    } else {
        for (int i = 0; i <= exponent; i++)
            ebb_buf_putc(out, i < n ? digits[i] : '0');
        ebb_buf_printf(out, ".%s", n > exponent + 1 ? digits + exponent + 1 : "0");
    }
}

/* A column that was float once may be double now: the length tells. */
static bool read_float(struct ebb_str bytes, double *out, bool *is_float)
{
    uint64_t bits = 0;
    uint32_t half;
    float f;

    if (bytes.n != 4 && bytes.n != 8)
        return false;
    for (size_t i = bytes.n; i-- > 0;)
        bits = bits << 8 | (unsigned char)bytes.p[i];
    half = (uint32_t)bits;
    memcpy(&f, &half, sizeof f);
    memcpy(out, &bits, sizeof *out);
    if (bytes.n == 4)
        *out = (double)f;
    *is_float = *is_float && bytes.n == 4;
    return true;
}

bool ebb__partition_put_float(struct ebb_buf *out, struct ebb_str bytes, bool is_float)
{
    char digits[24];
    double x;
    int exponent;

    if (!read_float(bytes, &x, &is_float))
        return false;
    if (isnan(x)) {
        ebb_buf_puts(out, "NaN");
        return true;
    }
    if (signbit(x))
        ebb_buf_putc(out, '-');
    if (isinf(x)) {
        ebb_buf_puts(out, "Infinity");
        return true;
    }
    exponent = shortest(fabs(x), is_float, digits);
    put_digits(out, digits, exponent);
    return true;
}
