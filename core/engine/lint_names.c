/* SPDX-License-Identifier: Apache-2.0
 *
 * What names stand for: locals, globals of the sandbox, facts.
 */
#include <stdio.h>

#include "engine/lint_priv.h"

const struct ebb__local *ebb__lint_local(const struct ebb__lint *lint, struct ebb_str name)
{
    for (size_t i = lint->local_count; i-- > 0;)
        if (ebb_str_is_equal(lint->locals[i].name, name))
            return &lint->locals[i];
    return NULL;
}

/* ---- chains of fields ---- */

static bool is_param(const struct ebb__lint *lint, struct ebb_str name)
{
    const struct ebb_value *params = lint->policy ? ebb_value_get(lint->policy->manifest, "params") : NULL;

    return !lint->policy || ebb_value_getn(params, name.p, name.n);
}

/* Follow ".name" from i on. *path is where it begins, and what it came to (NULL: something else); *type the type of the
 * last field. Gives the index behind; *bad: the index of a field that *path does not have, or 0. */
static size_t follow(const struct ebb__lint *lint, size_t i, const char **path, const char **type, size_t *bad)
{
    *bad = 0;
    *type = NULL;
    for (; *path && ebb__lint_is(lint, i, ".") && ebb__lint_at(lint, i + 1)->kind == EBB__TOKEN_NAME; i += 2) {
        struct ebb_str name = ebb__lint_at(lint, i + 1)->text;
        const struct ebb_api_entry *entry = ebb__api_find(*path, name);
        bool params = !strcmp(*path, "ctx.params");

        *type = NULL;
        if (params ? !is_param(lint, name) : !entry && ebb__api_has_members(*path)) {
            *bad = i + 1;
            return i;
        }
        *type = entry ? entry->type : NULL;
        *path = entry && !strcmp(entry->kind, "field") ? ebb__api_members(entry) : NULL;
    }
    return i;
}

const char *ebb__lint_path_at(const struct ebb__lint *lint, size_t i, size_t *end)
{
    const struct ebb__local *local =
        ebb__lint_at(lint, i)->kind == EBB__TOKEN_NAME ? ebb__lint_local(lint, ebb__lint_at(lint, i)->text) : NULL;
    const char *path = local ? local->path : NULL, *type;
    size_t bad;

    *end = i + 1;
    if (!path)
        return NULL;
    *end = follow(lint, i + 1, &path, &type, &bad);
    if (bad || ebb__lint_is(lint, *end, "[") || ebb__lint_is(lint, *end, "(") || ebb__lint_is(lint, *end, ":") ||
        ebb__lint_is(lint, *end, "{") || ebb__lint_is(lint, *end, ".") || ebb__lint_is(lint, *end, "or") ||
        ebb__lint_is(lint, *end, "and"))
        return NULL;
    return path;
}

static void unknown_field(struct ebb__lint *lint, size_t bad, const char *path)
{
    const struct ebb_value *params = lint->policy ? ebb_value_get(lint->policy->manifest, "params") : NULL;
    struct ebb_str name = ebb__lint_at(lint, bad)->text;
    const char *near = ebb__api_nearest(path, name), *names[EBB_POLICY_PARAMS_MAX];
    char hint[160] = "", word[64];
    size_t count = ebb_value_get_count(params);

    if (!strcmp(path, "ctx.params") && name.n < sizeof word) {
        for (size_t i = 0; i < count && i < EBB_POLICY_PARAMS_MAX; i++)
            names[i] = ebb_value_get_key(params, i).p;
        snprintf(word, sizeof word, "%.*s", (int)name.n, name.p);
        near = ebb_text_nearest(word, names, count < EBB_POLICY_PARAMS_MAX ? count : EBB_POLICY_PARAMS_MAX);
    }
    if (near)
        snprintf(hint, sizeof hint, "did you mean %s.%s?", path, near);
    ebb__lint_warn(lint, ebb__lint_at(lint, bad), "lint.unknown_field", hint, "%s.%.*s: unknown", path, (int)name.n,
                   name.p);
}

/* A local that holds facts. */
static void fact(struct ebb__lint *lint, size_t i, const char *path)
{
    size_t bad;

    lint->chain_end = follow(lint, i + 1, &path, &lint->chain_type, &bad);
    if (!bad && lint->chain_end > i + 1 && ebb__lint_is(lint, lint->chain_end, "=") &&
        lint->nest[lint->nest_count - 1].kind == 'B')
        ebb__lint_warn(lint, ebb__lint_at(lint, i), "lint.read_only", "keep it in a local of your own",
                       "facts are read only");
    if (!bad)
        return;
    lint->chain_type = NULL;
    unknown_field(lint, bad, path);
}

/* ---- globals ---- */

static void unknown_global(struct ebb__lint *lint, size_t i)
{
    struct ebb_str name = ebb__lint_at(lint, i)->text;
    const char *near = ebb__api_nearest("", name);
    char hint[160] = "";

    if (ebb__lint_is(lint, i + 1, "=")) {
        snprintf(hint, sizeof hint, "write: local %.*s = …", name.n < 60 ? (int)name.n : 60, name.p);
        ebb__lint_warn(lint, ebb__lint_at(lint, i), "lint.unknown_global", hint,
                       "%.*s: can't be set, globals are read only", (int)name.n, name.p);
        return;
    }
    if (near)
        snprintf(hint, sizeof hint, "did you mean %s?", near);
    ebb__lint_warn(lint, ebb__lint_at(lint, i), "lint.unknown_global", hint, "%.*s: the sandbox has no such name",
                   (int)name.n, name.p);
}

/* A global that is there; its member, when it is a library. */
static void member(struct ebb__lint *lint, size_t i, const char *library)
{
    struct ebb_str name = ebb__lint_at(lint, i + 2)->text;
    const char *near = ebb__api_nearest(library, name);
    char hint[160] = "";

    if (!ebb__lint_is(lint, i + 1, ".") || ebb__lint_at(lint, i + 2)->kind != EBB__TOKEN_NAME ||
        !ebb__api_has_members(library) || ebb__api_find(library, name))
        return;
    if (near)
        snprintf(hint, sizeof hint, "did you mean %s.%s?", library, near);
    ebb__lint_warn(lint, ebb__lint_at(lint, i), "lint.unknown_global", hint, "%s.%.*s: the sandbox has no such name",
                   library, (int)name.n, name.p);
}

/* obj:name(…): strings have the functions of str only. */
static void method(struct ebb__lint *lint, size_t i)
{
    static const char *const ABSENT[] = {"gsub", "gmatch", "match", "format", "byte", "reverse", "pack", "unpack"};

    for (size_t k = 0; k < sizeof ABSENT / sizeof *ABSENT; k++)
        if (ebb_str_is_equal(ebb__lint_at(lint, i)->text, ebb_str_of(ABSENT[k])))
            ebb__lint_warn(lint, ebb__lint_at(lint, i), "lint.unknown_global",
                           "plain text functions: find, replace, split, starts, ends, contains; fmt(…) formats",
                           ":%s: strings have no such method here", ABSENT[k]);
}

void ebb__lint_name(struct ebb__lint *lint, size_t i)
{
    const struct ebb__token *t = ebb__lint_at(lint, i);
    const struct ebb__local *local = ebb__lint_local(lint, t->text);
    const struct ebb_api_entry *entry;

    if (i && ebb__lint_is(lint, i - 1, ":")) {
        method(lint, i);
        return;
    }
    if (local) {
        if (local->path)
            fact(lint, i, local->path);
        return;
    }
    entry = ebb__api_find("", t->text);
    if (!entry && !ebb_str_is_equal(t->text, EBB_STR("_ENV"))) {
        unknown_global(lint, i);
        return;
    }
    if (!entry)
        return;
    member(lint, i, entry->name);
    ebb__lint_phase(lint, i, entry);
    if ((ebb__lint_is(lint, i, "check") || ebb__lint_is(lint, i, "check_each")) && ebb__lint_is(lint, i + 1, "("))
        ebb__lint_check(lint, i);
}

/* ---- operators ---- */

static bool is_exact(const char *type)
{
    return type && (!strncmp(type, "ebb.instant", 11) || !strncmp(type, "ebb.id", 6));
}

/* The type of the chain that begins at i, or NULL. */
static const char *type_at(const struct ebb__lint *lint, size_t i)
{
    const struct ebb__local *local =
        ebb__lint_at(lint, i)->kind == EBB__TOKEN_NAME ? ebb__lint_local(lint, ebb__lint_at(lint, i)->text) : NULL;
    const char *path = local ? local->path : NULL, *type = NULL;
    size_t bad;

    if (path)
        follow(lint, i + 1, &path, &type, &bad);
    return type;
}

/* Whether the '/' at i stands in the value of older_than, outside of any call. */
static bool makes_cutoff(const struct ebb__lint *lint, size_t i)
{
    const struct ebb__nest *top =
        lint->nest_count && lint->nest_count <= EBB__LINT_NEST_MAX ? &lint->nest[lint->nest_count - 1] : NULL;
    int depth = 0;

    if (!top || top->kind != '{')
        return false;
    for (size_t k = i; k-- > 0;) {
        if (ebb__lint_is(lint, k, ")") || ebb__lint_is(lint, k, "}") || ebb__lint_is(lint, k, "]"))
            depth++;
        else if (ebb__lint_is(lint, k, "(") || ebb__lint_is(lint, k, "{") || ebb__lint_is(lint, k, "["))
            depth--;
        if (depth < 0 || (depth == 0 && ebb__lint_is(lint, k, ",")))
            return false;
        if (depth == 0 && ebb__lint_is(lint, k, "=") && k)
            return ebb__lint_is(lint, k - 1, "older_than");
    }
    return false;
}

static void divide(struct ebb__lint *lint, size_t i)
{
    bool exact = (lint->chain_end == i && is_exact(lint->chain_type)) || is_exact(type_at(lint, i + 1));

    if (exact || makes_cutoff(lint, i))
        ebb__lint_warn(lint, ebb__lint_at(lint, i), "lint.integer_to_float", "write // for a whole number",
                       "/ makes a float, which can't hold every %s", exact ? "instant or id" : "instant");
}

static void length(struct ebb__lint *lint, size_t i)
{
    const struct ebb__local *local =
        ebb__lint_at(lint, i)->kind == EBB__TOKEN_NAME ? ebb__lint_local(lint, ebb__lint_at(lint, i)->text) : NULL;
    bool plain = !ebb__lint_is(lint, i + 1, ".") && !ebb__lint_is(lint, i + 1, "[") &&
                 !ebb__lint_is(lint, i + 1, "(") && !ebb__lint_is(lint, i + 1, ":");

    if ((local && local->has_holes && plain) || (ebb__lint_is(lint, i, "{") && ebb__lint_has_holes(lint, i)))
        ebb__lint_warn(lint, ebb__lint_at(lint, i - 1), "lint.length_of_holes",
                       "count with ipairs, or keep the items without holes",
                       "# of a table with names or holes is no count of its items");
}

void ebb__lint_sign(struct ebb__lint *lint, size_t i)
{
    if (ebb__lint_is(lint, i, "/"))
        divide(lint, i);
    else if (ebb__lint_is(lint, i, "#"))
        length(lint, i + 1);
}

bool ebb__lint_has_holes(const struct ebb__lint *lint, size_t i)
{
    size_t keys = 0, items = 0, holes = 0;
    int depth = 0;

    for (; ebb__lint_at(lint, i)->kind != EBB__TOKEN_END; i++) {
        bool begins = depth == 1 && (ebb__lint_is(lint, i - 1, "{") || ebb__lint_is(lint, i - 1, ",") ||
                                     ebb__lint_is(lint, i - 1, ";"));

        if (begins && !ebb__lint_is(lint, i, "}")) {
            bool key = ebb__lint_is(lint, i, "[") ||
                       (ebb__lint_at(lint, i)->kind == EBB__TOKEN_NAME && ebb__lint_is(lint, i + 1, "="));

            keys += key;
            items += !key;
            holes += !key && ebb__lint_is(lint, i, "nil");
        }
        if (ebb__lint_is(lint, i, "function"))
            return false;
        if (ebb__lint_is(lint, i, "{") || ebb__lint_is(lint, i, "(") || ebb__lint_is(lint, i, "["))
            depth++;
        else if (ebb__lint_is(lint, i, "}") || ebb__lint_is(lint, i, ")") || ebb__lint_is(lint, i, "]"))
            depth--;
        if (depth == 0)
            break;
    }
    return holes || (keys && !items);
}
