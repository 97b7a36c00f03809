/* SPDX-License-Identifier: Apache-2.0 */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/number_priv.h"

/* The "C" locale object is a constant of the C library: taking it allocates nothing and it need not be freed. */
static locale_t enter(void)
{
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

bool ebb__number_format(double number, char text[EBB__NUMBER_MAX])
{
    locale_t before;

    if (!isfinite(number)) {
        snprintf(text, EBB__NUMBER_MAX, "%s", isnan(number) ? "nan" : number > 0 ? "inf" : "-inf");
        return false;
    }
    before = enter();
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, EBB__NUMBER_MAX, "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            break;
    }
    uselocale(before);
    if (strspn(text, "-0123456789") == strlen(text))
        strncat(text, ".0", EBB__NUMBER_MAX - strlen(text) - 1);
    return true;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
void ebb__number_printf(struct ebb_buf *out, const char *format, double number)
{
    locale_t before = enter();
    int n = snprintf(NULL, 0, format, number);
    char *to = n < 0 ? NULL : ebb_buf_reserve(out, (size_t)n);

    if (to) {
        snprintf(to, (size_t)n + 1, format, number);
        out->len += (size_t)n;
    }
    uselocale(before);
}
#pragma GCC diagnostic pop

bool ebb__number_parse(struct ebb_str text, double *out)
{
    char copy[400];
    char *end;
    locale_t before;

    if (!text.n || text.n >= sizeof copy || strspn(text.p, " \t\n\r\v\f"))
        return false;
    memcpy(copy, text.p, text.n);
    copy[text.n] = '\0';
    if (strlen(copy) != text.n || strspn(copy, "+-.0123456789eE") != text.n)
        return false;
    before = enter();
    *out = strtod(copy, &end);
    uselocale(before);
    return *end == '\0';
}
