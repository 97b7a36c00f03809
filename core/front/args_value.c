/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/time.h"
#include "front/args.h"

/* The error of another parser, with the option's name before it. */
static int name_it(const char *name, struct ebb_err *err, int rc)
{
    char prefix[64];

    snprintf(prefix, sizeof prefix, "--%s", name);
    return rc ? ebb_err_as(err, (enum ebb_error) - rc, prefix) : 0;
}

int ebb_args_int(const struct ebb_args *args, const char *name, int64_t min, int64_t *out, struct ebb_err *err)
{
    const char *text = ebb_args_get(args, name);
    char *end = NULL;
    long long value;

    if (!text)
        return 0;
    errno = 0;
    value = strtoll(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || errno || value < min)
        return ebb_err_set(err, EBB_EUSAGE, "--%s %s: a whole number from %lld on is wanted", name, text,
                           (long long)min);
    *out = value;
    return 0;
}

int ebb_args_share(const struct ebb_args *args, const char *name, double *out, struct ebb_err *err)
{
    const char *text = ebb_args_get(args, name);
    char *end = NULL;
    double value;

    if (!text)
        return 0;
    if (strspn(text, "0123456789.%") != strlen(text))
        value = -1;
    else
        value = strtod(text, &end);
    if (end && end != text && !strcmp(end, "%"))
        value /= 100;
    else if (!end || end == text || *end)
        value = -1;
    if (!(value > 0 && value <= 1))
        return ebb_err_set(err, EBB_EUSAGE, "--%s %s: a share is wanted, as 0.4 or 40%%: more than 0, at most 1", name,
                           text);
    *out = value;
    return 0;
}

int ebb_args_duration(const struct ebb_args *args, const char *name, int64_t *out_ms, struct ebb_err *err)
{
    const char *text = ebb_args_get(args, name);

    return text ? name_it(name, err, ebb_duration_parse(text, out_ms, err)) : 0;
}

int ebb_args_since(const struct ebb_args *args, const char *name, int64_t now_ms, int64_t *out_ms, struct ebb_err *err)
{
    const char *text = ebb_args_get(args, name);
    int64_t age_ms;

    if (!text)
        return 0;
    if (!ebb_duration_parse(text, &age_ms, NULL)) {
        *out_ms = now_ms - age_ms;
        return 0;
    }
    return ebb_time_parse(text, NULL, out_ms, err) ? name_it(name, err, -(int)EBB_ETIME) : 0;
}

int ebb_args_size(const struct ebb_args *args, const char *name, uint64_t *out_bytes, struct ebb_err *err)
{
    const char *text = ebb_args_get(args, name);
    int rc = text ? name_it(name, err, ebb_size_parse(text, out_bytes, err)) : 0;

    if (!rc && text && !*out_bytes)
        rc = ebb_err_set(err, EBB_EUSAGE, "--%s %s: a size from 1B on is wanted", name, text);
    return rc;
}

int ebb_args_choice(const struct ebb_args *args, const char *name, int otherwise)
{
    const char *text = ebb_args_get(args, name);
    size_t n = text ? strlen(text) : 0;
    const char *at = NULL;
    int index = 0;

    for (size_t i = 0; text && i < args->count; i++)
        if (!strcmp(args->items[i].option->name, name))
            at = args->items[i].option->choices;
    while (at && (strncmp(at, text, n) || (at[n] != '|' && at[n]))) {
        at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL;
        index++;
    }
    return at ? index : otherwise;
}
