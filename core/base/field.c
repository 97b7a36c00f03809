/* SPDX-License-Identifier: Apache-2.0 */
#include "base/calendar_priv.h"

#include <stdio.h>
#include <strings.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t word_length(const char *p)
{
    size_t n = 0;

    while ((p[n] >= 'a' && p[n] <= 'z') || (p[n] >= 'A' && p[n] <= 'Z'))
        n++;
    return n;
}

int ebb__field_refuse(const struct ebb_field_text *t, const char *format, ...)
{
    char why[200];
    va_list args;

    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    return ebb_err_set(t->err, EBB_ESCHEDULE, "%s \"%.200s\": position %zu: %s", t->kind, t->text,
                       (size_t)(t->p - t->text) + 1, why);
}

void ebb__field_skip_spaces(struct ebb_field_text *t)
{
    while (*t->p == ' ' || *t->p == '\t')
        t->p++;
}

bool ebb__field_take(struct ebb_field_text *t, const char *word)
{
    size_t n = strlen(word);

    if (strncasecmp(t->p, word, n) != 0)
        return false;
    t->p += n;
    return true;
}

static int take_name(struct ebb_field_text *t, const struct ebb_field *f, int *out)
{
    size_t length = word_length(t->p);

    for (int i = 0; i < f->name_count; i++) {
        size_t full = strlen(f->names[i]);

        if ((length == 3 || length == full) && strncasecmp(t->p, f->names[i], length) == 0) {
            t->p += length;
            *out = f->name_base + i;
            return 0;
        }
    }
    return ebb__field_refuse(t, "no %s is called \"%.*s\"", f->name, (int)(length < 32 ? length : 32), t->p);
}

static int take_number(struct ebb_field_text *t, const char *name, int min, int max, int *out)
{
    int value = 0, digits = 0;

    if (!is_digit(*t->p))
        return ebb__field_refuse(t, "a %s is missing", name);
    while (is_digit(t->p[digits]) && digits < 5)
        value = value * 10 + (t->p[digits++] - '0');
    if (value < min || value > max || digits > 4)
        return ebb__field_refuse(t, "the %s is not within %d to %d", name, min, max);
    t->p += digits;
    *out = value;
    return 0;
}

static int take_value(struct ebb_field_text *t, const struct ebb_field *f, int *out)
{
    if (f->names && (word_length(t->p) || !f->has_numbers))
        return take_name(t, f, out);
    return take_number(t, f->name, f->min, f->max, out);
}

static int take_range_end(struct ebb_field_text *t, const struct ebb_field *f, struct ebb_field_item *out)
{
    const char *start = t->p;
    int rc = take_value(t, f, &out->to);

    if (rc)
        return rc;
    if (out->to < out->from)
        out->to += f->period;
    if (out->to >= out->from)
        return 0;
    t->p = start;
    return ebb__field_refuse(t, "the range runs backwards");
}

int ebb__field_item(struct ebb_field_text *t, const struct ebb_field *f, struct ebb_field_item *out)
{
    int top = f->period ? f->min + f->period - 1 : f->max;
    bool single = false;
    int rc = 0;

    out->step = 1;
    out->from = f->min;
    out->to = top;
    if (!ebb__field_take(t, "*")) {
        rc = take_value(t, f, &out->from);
        single = !rc && !ebb__field_take(t, f->range);
        if (!rc && !single)
            rc = take_range_end(t, f, out);
    }
    if (rc)
        return rc;
    if (single)
        out->to = out->from;
    if (!f->has_step || !ebb__field_take(t, "/"))
        return 0;
    if (single && out->from < top)
        out->to = top;
    return take_number(t, "step", 1, f->max, &out->step);
}

int ebb__field_mask(struct ebb_field_text *t, const struct ebb_field *f, uint64_t *out)
{
    struct ebb_field_item item;
    int rc;

    *out = 0;
    do {
        rc = ebb__field_item(t, f, &item);
        if (rc)
            return rc;
        for (int v = item.from; v <= item.to; v += item.step)
            *out |= UINT64_C(1) << (f->period ? v % f->period : v);
    } while (ebb__field_take(t, ","));
    return 0;
}
