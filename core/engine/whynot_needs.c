/* SPDX-License-Identifier: Apache-2.0
 *
 * Operands of a recorded check as numbers, and what it lacks in words.
 */
#include <stdio.h>

#include "base/time.h"
#include "engine/eval_priv.h"
#include "engine/number_priv.h"
#include "engine/whynot_priv.h"

static bool is_now(const struct ebb_value *value)
{
    const char *text = ebb_value_get_str(value);

    return text && !strcmp(text, "now");
}

static struct ebb__operand number_of(const struct ebb_value *value)
{
    struct ebb__operand x = {.is_int = ebb_value_get_kind(value) == EBB_VALUE_INT};

    x.is_known = x.is_int || ebb_value_get_kind(value) == EBB_VALUE_FLOAT;
    x.whole = ebb_value_get_int(value, 0);
    x.real = ebb_value_get_float(value, 0);
    return x;
}

static struct ebb__operand instant_of(const struct ebb_value *value, int64_t now_ms)
{
    struct ebb__operand x = {.is_int = true, .is_instant = true, .whole = now_ms};

    x.is_known =
        is_now(value) || (ebb_value_get_str(value) && !ebb_time_parse(ebb_value_get_str(value), NULL, &x.whole, NULL));
    x.real = (double)x.whole;
    return x;
}

/* Instants stand in a record only beside the instant of the decision. */
void ebb__operands_of(const struct ebb_value *check, int64_t now_ms, struct ebb__operand out[2])
{
    static const char *const KEYS[] = {"a", "b"};
    bool has_now = is_now(ebb_value_get(check, "a")) || is_now(ebb_value_get(check, "b"));

    for (size_t i = 0; i < 2; i++) {
        const struct ebb_value *value = ebb_value_get(check, KEYS[i]);

        out[i] = has_now ? instant_of(value, now_ms) : number_of(value);
    }
}

/* The type of a parameter that has this value, or NULL. */
static const char *measure_of(const struct ebb__why *y, int64_t n)
{
    const struct ebb_value *definitions = ebb_value_get(ebb_policy_get_manifest(y->policy), "params");
    const struct ebb_value *params = ebb_value_get(y->record, "params");

    for (size_t i = 0; i < ebb_value_get_count(params); i++) {
        struct ebb_str key = ebb_value_get_key(params, i);
        const char *type = ebb_value_text_of(ebb_value_getn(definitions, key.p, key.n), "type");
        const struct ebb_value *value = ebb_value_get_at(params, i);

        if (type && (!strcmp(type, "duration") || !strcmp(type, "bytes")) &&
            ebb_value_get_kind(value) == EBB_VALUE_INT && ebb_value_get_int(value, 0) == n)
            return type;
    }
    return NULL;
}

/* "463", "13h", "1.5 GiB"; long durations are in whole seconds. */
static void put_amount(struct ebb_buf *out, int64_t n, const char *measure)
{
    if (measure && !strcmp(measure, "duration"))
        ebb_duration_format(out, n > 60000 ? n / 1000 * 1000 : n);
    else if (measure && n >= 1024)
        ebb_text_size(out, (uint64_t)n);
    else
        ebb_buf_printf(out, "%lld%s", (long long)n, measure ? " B" : "");
}

static void put_real(struct ebb_buf *out, double n)
{
    ebb__number_printf(out, "%.6g", n);
}

/* By how much a must grow (positive) or shrink for the comparison to hold; 0: can't be said. */
static int64_t lack_of(int64_t a, const char *op, int64_t b)
{
    int64_t gap;
    bool is_strict = op[1] != '=';

    if (__builtin_sub_overflow(b, a, &gap) || gap == INT64_MAX || gap <= INT64_MIN + 1)
        return 0;
    if (op[0] == '>')
        return gap + is_strict;
    if (op[0] == '<')
        return gap - is_strict;
    return !strcmp(op, "==") ? gap : 0;
}

static bool needs_whole(const struct ebb__why *y, const struct ebb__operand x[2], const char *op, int slope,
                        struct ebb_buf *out)
{
    int64_t lack = lack_of(x[0].whole, op, x[1].whole);
    const char *measure = measure_of(y, x[1].whole);
    bool is_less = lack < 0;

    if (!lack)
        return false;
    if (!measure)
        measure = measure_of(y, x[0].whole);
    if (slope || x[0].is_instant)
        measure = "duration";
    if (slope ? (slope < 0) != is_less : x[0].is_instant)
        return false; /* what it waits for has passed */
    put_amount(out, is_less ? -lack : lack, measure);
    ebb_buf_puts(out, is_less && !x[0].is_instant ? " less" : " more");
    return true;
}

static bool needs_number(const struct ebb__why *y, const struct ebb_value *check, const char *op, int slope,
                         struct ebb_buf *out)
{
    struct ebb__operand x[2];
    double gap;

    ebb__operands_of(check, y->probes[0].at_ms, x);
    if (!x[0].is_known || !x[1].is_known)
        return false;
    if (x[0].is_int && x[1].is_int)
        return needs_whole(y, x, op, slope, out);
    gap = x[1].real - x[0].real;
    if (!strcmp(op, "~="))
        return false;
    put_real(out, gap < 0 ? -gap : gap);
    ebb_buf_puts(out, gap < 0 ? " less" : " more");
    return true;
}

bool ebb__why_needs(const struct ebb__why *y, size_t i, char out[120])
{
    const struct ebb_value *check = ebb_value_get_at(y->checks, i);
    struct ebb_buf text = {.data = out, .cap = 120, .max = 119};
    const char *op = ebb_value_text_of(check, "op"), *r = ebb_value_text_of(check, "r");

    out[0] = '\0';
    if (!op || !r || !strcmp(r, ebb__truth_name(EBB__TRUE)) || !strcmp(op, "unknown"))
        return false;
    if (!strcmp(op, "exists") || !strcmp(r, ebb__truth_name(EBB__UNKNOWN))) {
        ebb_buf_puts(&text, "a value");
        return true;
    }
    if (op[0] != '<' && op[0] != '>' && strcmp(op, "=="))
        return false;
    return needs_number(y, check, op, y->slopes[i], &text);
}
