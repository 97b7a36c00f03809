/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/location.h"
#include "engine/number_priv.h"
#include "engine/policy_priv.h"

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

static int wrong(const struct ebb_value *written, const char *type, struct ebb_err *err)
{
    const char *text = ebb_value_get_str(written);

    if (text)
        return ebb_err_set(err, EBB_ECONFIG, "\"%.60s\" is not %s %s", text, ebb__article(type), type);
    return ebb_err_set(err, EBB_ECONFIG, "%s %s is due, not %s %s", ebb__article(type), type,
                       ebb__article(ebb_value_kind_name(ebb_value_get_kind(written))),
                       ebb_value_kind_name(ebb_value_get_kind(written)));
}

static bool parse_integer(const char *text, int64_t *out)
{
    char *end;
    const char *digits = text + (text[0] == '-');

    if (!digits[0] || strspn(digits, "0123456789") != strlen(digits) || strlen(digits) > 18)
        return false;
    *out = strtoll(text, &end, 10);
    return *end == '\0';
}

static int parse_measure(const char *type, const struct ebb_value *written, bool from_property, int64_t *out,
                         struct ebb_err *err)
{
    const char *text = ebb_value_get_str(written);
    uint64_t bytes = 0;
    int rc;

    if (!text || (from_property && parse_integer(text, out))) {
        if (!text && ebb_value_get_kind(written) != EBB_VALUE_INT)
            return wrong(written, type, err);
        *out = text ? *out : ebb_value_get_int(written, 0);
        return *out < 0 ? ebb_err_set(err, EBB_ECONFIG, "a %s can't be negative", type) : 0;
    }
    if (!strcmp(type, "duration"))
        rc = ebb_duration_parse(text, out, err);
    else {
        rc = ebb_size_parse(text, &bytes, err);
        *out = (int64_t)bytes;
    }
    if (rc)
        return rc == -(int)EBB_ENOMEM ? rc : ebb_err_as(err, EBB_ECONFIG, NULL);
    return bytes > INT64_MAX ? ebb_err_set(err, EBB_ECONFIG, "too large") : 0;
}

static int put_integer(const struct ebb_value *written, bool from_property, struct ebb_value *out, const char *key,
                       struct ebb_err *err)
{
    int64_t n = ebb_value_get_int(written, 0);
    const char *text = ebb_value_get_str(written);

    if (ebb_value_get_kind(written) != EBB_VALUE_INT && !(from_property && text && parse_integer(text, &n)))
        return wrong(written, "integer", err);
    ebb_value_put_int(out, key, n);
    return 0;
}

static int put_number(const struct ebb_value *written, bool from_property, struct ebb_value *out, const char *key,
                      struct ebb_err *err)
{
    enum ebb_value_kind kind = ebb_value_get_kind(written);
    double n = ebb_value_get_float(written, 0);

    if (kind == EBB_VALUE_INT) {
        ebb_value_put_copy(out, key, written);
        return 0;
    }
    if (kind != EBB_VALUE_FLOAT && !(from_property && ebb__number_parse(ebb_value_get_bytes(written), &n)))
        return wrong(written, "number", err);
    if (!isfinite(n))
        return wrong(written, "number", err);
    ebb_value_put_float(out, key, n);
    return 0;
}

static int put_boolean(const struct ebb_value *written, bool from_property, struct ebb_value *out, const char *key,
                       struct ebb_err *err)
{
    const char *text = from_property ? ebb_value_get_str(written) : NULL;
    bool truth = ebb_value_get_bool(written, false);

    if (text && !strcmp(text, "true"))
        truth = true;
    else if ((!text || strcmp(text, "false")) && ebb_value_get_kind(written) != EBB_VALUE_BOOL)
        return wrong(written, "boolean", err);
    ebb_value_put_bool(out, key, truth);
    return 0;
}

static int put_text(const char *type, const struct ebb_value *written, struct ebb_value *out, const char *key,
                    struct ebb_err *err)
{
    const char *text = ebb_value_get_str(written);
    struct ebb_tz *tz = NULL;
    struct ebb_location location;
    int rc = 0;

    if (!text || strlen(text) != ebb_value_get_bytes(written).n)
        return wrong(written, type, err);
    if (!strcmp(type, "timezone"))
        rc = ebb_tz_load(text, &tz, err);
    else if (!strcmp(type, "location"))
        rc = ebb_location_split(text, strlen(text), &location, err);
    ebb_tz_free(tz);
    if (rc)
        return rc == -(int)EBB_ENOMEM ? rc : ebb_err_as(err, EBB_ECONFIG, NULL);
    ebb_value_put_str(out, key, text);
    return 0;
}

int ebb__param_parse(const char *type, const struct ebb_value *written, bool from_property, struct ebb_value *out,
                     const char *key, struct ebb_err *err)
{
    int64_t n = 0;
    int rc;

    if (!strcmp(type, "integer"))
        return put_integer(written, from_property, out, key, err);
    if (!strcmp(type, "number"))
        return put_number(written, from_property, out, key, err);
    if (!strcmp(type, "boolean"))
        return put_boolean(written, from_property, out, key, err);
    if (strcmp(type, "duration") && strcmp(type, "bytes"))
        return put_text(type, written, out, key, err);
    rc = parse_measure(type, written, from_property, &n, err);
    if (!rc)
        ebb_value_put_int(out, key, n);
    return rc;
}

static int compare(const struct ebb_value *a, const struct ebb_value *b)
{
    double x = ebb_value_get_float(a, 0), y = ebb_value_get_float(b, 0);
    int64_t n = ebb_value_get_int(a, 0), m = ebb_value_get_int(b, 0);

    if (ebb_value_get_kind(a) == EBB_VALUE_INT && ebb_value_get_kind(b) == EBB_VALUE_INT)
        return n < m ? -1 : n > m;
    return x < y ? -1 : x > y;
}

/* Compare with one bound of the definition; sign 1: minimum, -1: maximum. */
static int check_bound(const struct ebb_value *definition, const struct ebb_value *typed, const char *key, int sign,
                       struct ebb_err *err)
{
    const struct ebb_value *written = ebb_value_get(definition, key);
    struct ebb_value *bound;
    int rc;

    if (!written)
        return 0;
    bound = ebb_value_new_map(NULL);
    rc = ebb__param_parse(ebb_value_text_of(definition, "type"), written, false, bound, key, err);
    if (!rc)
        rc = ebb_value_check(bound, "parameter", err);
    if (!rc && compare(typed, ebb_value_get(bound, key)) * sign < 0) {
        if (ebb_value_get_str(written))
            rc = ebb_err_set(err, EBB_ECONFIG, "%s the %s %s", sign > 0 ? "below" : "above",
                             sign > 0 ? "minimum" : "maximum", ebb_value_get_str(written));
        else
            rc = ebb_err_set(err, EBB_ECONFIG, "%s the %s %g", sign > 0 ? "below" : "above",
                             sign > 0 ? "minimum" : "maximum", ebb_value_get_float(written, 0));
    }
    ebb_value_free(bound);
    return rc;
}

int ebb__param_bounds(const struct ebb_value *definition, const struct ebb_value *typed, struct ebb_err *err)
{
    int rc = check_bound(definition, typed, "min", 1, err);

    return rc ? rc : check_bound(definition, typed, "max", -1, err);
}

static const struct ebb__rule RULES[] = {
    {"type", EBB__TYPE_TEXT, true, NULL, EBB__PARAM_TYPES, 0, 0},
    {"default", EBB__TYPE_ANY, false, NULL, NULL, 0, 0},
    {"min", EBB__TYPE_ANY, false, NULL, NULL, 0, 0},
    {"max", EBB__TYPE_ANY, false, NULL, NULL, 0, 0},
    {"property", EBB__TYPE_TEXT, false, NULL, NULL, 0, 0},
    {"doc", EBB__TYPE_TEXT, false, NULL, NULL, 0, 0},
};

const struct ebb__rule_set EBB__PARAM_RULES[] = {
    {"policy.params.*", RULES, sizeof RULES / sizeof *RULES},
    {NULL, NULL, 0},
};

/* The values of a definition must be of its type, and the default within the bounds. */
static void check_values(struct ebb__checker *c, const char *path, const struct ebb_value *definition)
{
    static const char *const KEYS[] = {"min", "max", "default"};
    const char *type = ebb_value_text_of(definition, "type");
    struct ebb_value *typed = ebb_value_new_map(NULL);
    struct ebb_err err;
    char where[EBB__PATH_MAX];

    for (size_t i = 0; i < 3; i++) {
        const struct ebb_value *written = ebb_value_get(definition, KEYS[i]);

        ebb__path_join(where, path, KEYS[i]);
        if (!written)
            continue;
        if (i < 2 && !ebb__is_choice("duration|bytes|integer|number", '|', type))
            ebb__checker_fail(c, where, 0, NULL, "a %s has no bounds", type);
        else if (ebb__param_parse(type, written, false, typed, KEYS[i], &err))
            ebb__checker_fail(c, where, 0, NULL, "%s", err.message);
        else if (i == 2 && ebb__param_bounds(definition, ebb_value_get(typed, KEYS[i]), &err) &&
                 err.error == EBB_ECONFIG)
            ebb__checker_fail(c, where, 0, NULL, "%s", err.message);
    }
    if (ebb_value_get(typed, "max") && ebb__param_bounds(definition, ebb_value_get(typed, "min"), &err))
        ebb__checker_fail(c, ebb__path_join(where, path, "min"), 0, NULL, "above the maximum");
    ebb_value_free(typed);
}

static bool is_param_name(const char *name)
{
    size_t n = strlen(name);

    return n && n < 64 && strspn(name, LETTERS) == n && !strchr("0123456789_", name[0]);
}

void ebb__params_check(struct ebb__checker *c, const struct ebb_value *params)
{
    size_t count = ebb_value_get_count(params);
    bool failed = c->has_failed;

    if (count > EBB_POLICY_PARAMS_MAX)
        ebb__checker_fail(c, "params", 0, NULL, "more than %d", EBB_POLICY_PARAMS_MAX);
    for (size_t i = 0; i < count && i < EBB_POLICY_PARAMS_MAX; i++) {
        const struct ebb_value *definition = ebb_value_get_at(params, i);
        const char *name = ebb_value_get_key(params, i).p;
        char path[120];

        snprintf(path, sizeof path, "params.%.80s", name);
        if (!is_param_name(name))
            ebb__checker_fail(c, path, 0, NULL, "a name is made of letters, digits and _");
        failed = failed || c->has_failed;
        c->has_failed = false;
        ebb__schema_check(c, path, 0, definition, RULES, sizeof RULES / sizeof *RULES);
        if (!c->has_failed)
            check_values(c, path, definition);
        c->has_failed = failed = failed || c->has_failed;
    }
}
