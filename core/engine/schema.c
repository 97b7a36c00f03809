/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/schema_priv.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/time.h"
#include "engine/diagnose_priv.h"
#include "engine/header_priv.h"

#define RULES_MAX 48
#define ITEMS_MAX 256

static void report(struct ebb__checker *c, const char *path, int line, const char *code, const char *message,
                   const char *hint)
{
    struct ebb__finding d = {.file = c->file, .source = c->source, .code = code, .message = message, .hint = hint};

    d.line = line;
    d.is_error = true;
    if (!line && c->places)
        ebb__places_find(c->places, path, &d.line, &d.column);
    ebb__diagnose(c->diags, &d);
    c->has_failed = true;
    if (c->first.error)
        return;
    if (d.line)
        ebb_err_set(&c->first, c->error, "%s:%d: %s", c->file, d.line, message);
    else
        ebb_err_set(&c->first, c->error, "%s: %s", c->file, message);
    if (hint)
        ebb_err_hint(&c->first, "%s", hint);
}

__attribute__((format(printf, 3, 0))) static void compose(char message[512], const char *path, const char *format,
                                                          va_list args)
{
    int n = path[0] ? snprintf(message, 512, "%.200s: ", path) : 0;

    vsnprintf(message + n, (size_t)(512 - n), format, args);
}

void ebb__checker_fail(struct ebb__checker *c, const char *path, int line, const char *hint, const char *format, ...)
{
    char message[512];
    va_list args;

    va_start(args, format);
    compose(message, path, format, args);
    va_end(args);
    report(c, path, line, c->code ? c->code : "schema.value", message, hint);
}

void ebb__checker_fail_as(struct ebb__checker *c, const char *path, int line, const char *code, const char *hint,
                          const char *format, ...)
{
    char message[512];
    va_list args;

    va_start(args, format);
    compose(message, path, format, args);
    va_end(args);
    report(c, path, line, code, message, hint);
}

const char *ebb__path_join(char out[EBB__PATH_MAX], const char *path, const char *key)
{
    if (!strncmp(path, "triggers[", 9) && !strcmp(key, "text"))
        key = "[1]"; /* as it is written */
    snprintf(out, EBB__PATH_MAX, "%s%s%s", path, path[0] && key[0] != '[' ? "." : "", key);
    return out;
}

bool ebb__is_choice(const char *choices, char separator, const char *word)
{
    size_t n = strlen(word);

    for (const char *p = choices; p; p = strchr(p, separator)) {
        p += *p == separator;
        if (!strncmp(p, word, n) && (p[n] == separator || !p[n]))
            return true;
    }
    return false;
}

const char *ebb__param_of(const struct ebb_value *value)
{
    const char *kind = ebb_value_text_of(value, EBB__MADE_KIND);

    return kind && !strcmp(kind, "param") ? ebb_value_text_of(value, "args") : NULL;
}

static void unknown_key(struct ebb__checker *c, const char *path, int line, const char *key,
                        const struct ebb__rule *rules, size_t count)
{
    const char *names[RULES_MAX];
    char where[EBB__PATH_MAX], hint[128];
    const char *near;

    for (size_t i = 0; i < count && i < RULES_MAX; i++)
        names[i] = rules[i].key;
    near = ebb_text_nearest(key, names, count < RULES_MAX ? count : RULES_MAX);
    ebb__path_join(where, path, key);
    if (!near) {
        ebb__checker_fail_as(c, where, line, "schema.unknown_key", NULL, "unknown key");
        return;
    }
    snprintf(hint, sizeof hint, "did you mean %s?", near);
    ebb__checker_fail_as(c, where, line, "schema.unknown_key", hint, "unknown, did you mean `%s`?", near);
}

static void check_param(struct ebb__checker *c, const char *path, int line, const struct ebb__rule *rule,
                        const char *name)
{
    const struct ebb_value *definition = ebb_value_get(c->params, name);
    const char *type = ebb_value_text_of(definition, "type");

    if (!rule->param)
        ebb__checker_fail_as(c, path, line, "schema.type", NULL, "a parameter can't stand here");
    else if (!definition)
        ebb__checker_fail_as(c, path, line, "schema.parameter", NULL, "there is no parameter \"%s\"", name);
    else if (type && !ebb__is_choice(rule->param, ',', type))
        ebb__checker_fail_as(c, path, line, "schema.parameter", NULL, "parameter \"%s\" is %s %s, not %s %s", name,
                             ebb__article(type), type, ebb__article(rule->param), rule->param);
}

static void check_bounds(struct ebb__checker *c, const char *path, int line, const struct ebb__rule *rule, double n)
{
    if (rule->min == 0 && rule->max == 0)
        return;
    if (!(n >= rule->min && n <= rule->max) && rule->min == rule->max)
        ebb__checker_fail(c, path, line, NULL, "must be %g", rule->min);
    else if (!(n >= rule->min && n <= rule->max))
        ebb__checker_fail(c, path, line, NULL, "not between %g and %g", rule->min, rule->max);
}

static bool has_nul(const struct ebb_value *v)
{
    struct ebb_str s = ebb_value_get_bytes(v);

    return s.n && memchr(s.p, '\0', s.n);
}

static void fail_item(struct ebb__checker *c, const char *path, int line, size_t i, const char *due,
                      const struct ebb_value *item)
{
    const char *kind = ebb_value_kind_name(ebb_value_get_kind(item));
    char at[EBB__PATH_MAX];

    snprintf(at, sizeof at, "%.180s[%zu]", path, i + 1);
    ebb__checker_fail_as(c, at, line, "schema.type", NULL, "%s %s is due, not %s %s", ebb__article(due), due,
                         ebb__article(kind), kind);
}

static void check_texts(struct ebb__checker *c, const char *path, int line, const struct ebb_value *v)
{
    size_t count = ebb_value_get_count(v);

    if (ebb_value_get_kind(v) == EBB_VALUE_STRING)
        return;
    if (ebb_value_get_kind(v) == EBB_VALUE_MAP && count) {
        ebb__checker_fail_as(c, path, line, "schema.type", NULL, "a list of texts is due");
        return;
    }
    if (count > ITEMS_MAX)
        ebb__checker_fail(c, path, line, NULL, "more than %d items", ITEMS_MAX);
    for (size_t i = 0; i < count; i++)
        if (!ebb_value_get_str(ebb_value_get_at(v, i)))
            fail_item(c, path, line, i, "text", ebb_value_get_at(v, i));
        else if (has_nul(ebb_value_get_at(v, i)))
            ebb__checker_fail(c, path, line, NULL, "item %zu holds a NUL byte", i + 1);
}

/* An empty Lua table is a map and serves as an empty list too. */
static void check_maps(struct ebb__checker *c, const char *path, int line, const struct ebb_value *v)
{
    if (ebb_value_get_kind(v) == EBB_VALUE_MAP && ebb_value_get_count(v))
        ebb__checker_fail_as(c, path, line, "schema.type", NULL, "a list is due: { { … }, … }");
    for (size_t i = 0; i < ebb_value_get_count(v); i++)
        if (ebb_value_get_kind(ebb_value_get_at(v, i)) != EBB_VALUE_MAP)
            fail_item(c, path, line, i, "table", ebb_value_get_at(v, i));
}

static const char *example_of(enum ebb__type type)
{
    if (type == EBB__TYPE_DURATION)
        return "write \"36h\", \"5d\" or \"1h30m\"";
    return type == EBB__TYPE_SIZE ? "write \"512MiB\" or \"1GiB\"" : NULL;
}

static void check_measure(struct ebb__checker *c, const char *path, int line, const struct ebb__rule *rule,
                          const struct ebb_value *v)
{
    const char *text = ebb_value_get_str(v);
    struct ebb_err err;
    int64_t ms;
    uint64_t bytes;

    if (!text) {
        ebb__checker_fail_as(c, path, line, "schema.type", NULL, "a size is due");
        return;
    }
    if (rule->type == EBB__TYPE_DURATION ? ebb_duration_parse(text, &ms, &err) : ebb_size_parse(text, &bytes, &err))
        ebb__checker_fail(c, path, line, example_of(rule->type), "%s", err.message);
    else if (rule->type == EBB__TYPE_SIZE && bytes > INT64_MAX)
        ebb__checker_fail(c, path, line, NULL, "too large");
}

static void check_map_texts(struct ebb__checker *c, const char *path, int line, const struct ebb_value *v)
{
    for (size_t i = 0; i < ebb_value_get_count(v); i++)
        if (!ebb_value_get_str(ebb_value_get_at(v, i)))
            ebb__checker_fail_as(c, path, line, "schema.type", NULL, "\"%s\" is not a text", ebb_value_get_key(v, i).p);
}

static const char *wanted(enum ebb__type type)
{
    static const char *const NAMES[] = {"value",    "text",     "boolean",       "whole number", "number",
                                        "duration", "size",     "list of texts", "map of texts", "list of tables",
                                        "table",    "function", "instant (ms)"};

    return NAMES[type];
}

static bool is_kind(enum ebb__type type, const struct ebb_value *v)
{
    enum ebb_value_kind kind = ebb_value_get_kind(v);
    bool is_function = ebb_value_get(v, EBB__FUNCTION_KEY) != NULL;
    bool is_made = ebb_value_get(v, EBB__MADE_KIND) != NULL;

    switch (type) {
    case EBB__TYPE_ANY:
        return !is_function && !is_made;
    case EBB__TYPE_TEXT:
        return kind == EBB_VALUE_STRING;
    case EBB__TYPE_BOOL:
        return kind == EBB_VALUE_BOOL;
    case EBB__TYPE_INTEGER:
    case EBB__TYPE_INSTANT:
        return kind == EBB_VALUE_INT;
    case EBB__TYPE_NUMBER:
        return kind == EBB_VALUE_INT || kind == EBB_VALUE_FLOAT;
    case EBB__TYPE_DURATION:
        return kind == EBB_VALUE_STRING;
    case EBB__TYPE_SIZE:
        return kind == EBB_VALUE_STRING || kind == EBB_VALUE_INT;
    case EBB__TYPE_TEXTS:
        return (kind == EBB_VALUE_STRING || kind >= EBB_VALUE_LIST) && !is_function && !is_made;
    case EBB__TYPE_LIST:
        return kind >= EBB_VALUE_LIST && !is_function && !is_made;
    case EBB__TYPE_FUNCTION:
        return is_function;
    default:
        return kind == EBB_VALUE_MAP && !is_function && !is_made;
    }
}

static void check_kind(struct ebb__checker *c, const char *path, int line, const struct ebb__rule *rule,
                       const struct ebb_value *v)
{
    switch (rule->type) {
    case EBB__TYPE_TEXT:
        if (has_nul(v))
            ebb__checker_fail(c, path, line, NULL, "holds a NUL byte");
        else if (rule->choices && !ebb__is_choice(rule->choices, '|', ebb_value_get_str(v)))
            ebb__checker_fail(c, path, line, NULL, "\"%.40s\" is none of %s", ebb_value_get_str(v), rule->choices);
        break;
    case EBB__TYPE_INTEGER:
    case EBB__TYPE_NUMBER:
    case EBB__TYPE_INSTANT:
        check_bounds(c, path, line, rule, ebb_value_get_float(v, 0));
        break;
    case EBB__TYPE_SIZE:
        if (ebb_value_get_kind(v) == EBB_VALUE_INT) {
            if (ebb_value_get_int(v, 0) < 0)
                ebb__checker_fail(c, path, line, NULL, "negative");
            break;
        }
        check_measure(c, path, line, rule, v);
        break;
    case EBB__TYPE_DURATION:
        check_measure(c, path, line, rule, v);
        break;
    case EBB__TYPE_TEXTS:
        check_texts(c, path, line, v);
        break;
    case EBB__TYPE_TEXT_MAP:
        check_map_texts(c, path, line, v);
        break;
    case EBB__TYPE_LIST:
        check_maps(c, path, line, v);
        break;
    default:
        break;
    }
}

const char *ebb__article(const char *noun)
{
    return noun[0] && strchr("aeio", noun[0]) ? "an" : "a";
}

static void fail_kind(struct ebb__checker *c, const char *path, int line, const struct ebb__rule *rule,
                      const struct ebb_value *v)
{
    const char *due = wanted(rule->type), *made = ebb_value_text_of(v, EBB__MADE_KIND);
    const char *kind = ebb_value_kind_name(ebb_value_get_kind(v));

    if (made || ebb_value_get(v, EBB__FUNCTION_KEY))
        kind = made ? made : "function";
    ebb__checker_fail_as(c, path, line, "schema.type", example_of(rule->type), "%s %s is due, not %s %s",
                         ebb__article(due), due, ebb__article(kind), kind);
}

static void check_value(struct ebb__checker *c, const char *path, int line, const struct ebb__rule *rule,
                        const struct ebb_value *v)
{
    const char *param = ebb__param_of(v);

    if (param)
        check_param(c, path, line, rule, param);
    else if (!is_kind(rule->type, v))
        fail_kind(c, path, line, rule, v);
    else
        check_kind(c, path, line, rule, v);
}

static const struct ebb__rule *find_rule(const struct ebb__rule *rules, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(rules[i].key, key))
            return &rules[i];
    return NULL;
}

void ebb__schema_check(struct ebb__checker *c, const char *path, int line, const struct ebb_value *map,
                       const struct ebb__rule *rules, size_t count)
{
    char where[EBB__PATH_MAX];

    if (ebb_value_get_kind(map) != EBB_VALUE_MAP) {
        ebb__checker_fail_as(c, path, line, "schema.type", NULL, "names are due: { name = value, … }");
        return;
    }
    for (size_t i = 0; i < ebb_value_get_count(map); i++) {
        const char *key = ebb_value_get_key(map, i).p;
        const struct ebb__rule *rule = find_rule(rules, count, key);

        ebb__path_join(where, path, key);
        if (rule)
            check_value(c, where, line, rule, ebb_value_get_at(map, i));
        else
            unknown_key(c, path, line, key, rules, count);
    }
    for (size_t i = 0; i < count; i++)
        if (rules[i].is_required && !ebb_value_get(map, rules[i].key)) {
            ebb__path_join(where, path, rules[i].key);
            ebb__checker_fail_as(c, where, line, "schema.missing", NULL, "missing");
        }
}
