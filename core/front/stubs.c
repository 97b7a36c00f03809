/* SPDX-License-Identifier: Apache-2.0
 *
 * Definitions of the policy API for lua-language-server.
 */
#include "engine/api.h"
#include "front/api_print.h"

static const char HEAD[] =
    "---@meta\n"
    "-- SPDX-License-Identifier: Apache-2.0\n"
    "-- Made by ebb from its table of the policy API: what a policy can use, for lua-language-server.\n\n"
    "---@alias ebb.instant integer milliseconds since 1970, UTC\n"
    "---@alias ebb.duration integer milliseconds\n"
    "---@alias ebb.bytes integer\n"
    "---@alias ebb.id integer 64 bits: never divide it with /\n"
    "---@alias ebb.since \"last_run\"|\"last_success\"|string|integer an instant, or a duration back from now\n"
    "---@alias ebb.op \"==\"|\"~=\"|\"<\"|\"<=\"|\">\"|\">=\"|\"in\"|\"matches\"|\"exists\"|\"unknown\"\n"
    "---@alias ebb.projection string|fun(item: any): any the name of a field, or a function\n\n"
    "---@class ebb.action an action, frozen\n"
    "---@class ebb.result what decide returns\n"
    "---@class ebb.param a parameter that stands for its value\n"
    "---@class ebb.trigger_rule a trigger\n";

/* Where a list of parameters or results ends its next part: at a comma outside of brackets and quotes, or its end. */
static size_t part_length(const char *p, size_t n)
{
    int depth = 0;
    bool quoted = false;

    for (size_t i = 0; i < n; i++) {
        if (p[i] == '"')
            quoted = !quoted;
        if (quoted)
            continue;
        depth += p[i] == '(' || p[i] == '{' || p[i] == '<' || p[i] == '[';
        depth -= p[i] == ')' || p[i] == '}' || p[i] == '>' || p[i] == ']';
        if (p[i] == ',' && depth == 0)
            return i;
    }
    return n;
}

/* Length of "(…)" at the begin of a type. */
static size_t parens_length(const char *type)
{
    int depth = 0;

    for (size_t i = 0; type[i]; i++) {
        depth += type[i] == '(';
        depth -= type[i] == ')';
        if (depth == 0)
            return i + 1;
    }
    return strlen(type);
}

static struct ebb_str next_part(const char **p, const char *end)
{
    struct ebb_str part;

    while (*p < end && (**p == ' ' || **p == ','))
        ++*p;
    part = (struct ebb_str){*p, part_length(*p, (size_t)(end - *p))};
    *p += part.n;
    return part;
}

static size_t name_length(struct ebb_str part)
{
    const char *colon = memchr(part.p, ':', part.n);

    return colon ? (size_t)(colon - part.p) : part.n;
}

static void put_function(struct ebb_buf *out, const struct ebb_api_entry *e)
{
    size_t n = parens_length(e->type);
    const char *first = e->type + 1, *last = e->type + n - 1, *results = e->type + n;
    const char *p = first, *end = results + strlen(results);
    const char *comma = "";

    ebb_buf_printf(out, "\n---%s%s\n", e->doc, strcmp(e->phase, "header") ? "" : " For the data part.");
    while (p < last) {
        struct ebb_str part = next_part(&p, last);
        size_t name = name_length(part);

        ebb_buf_printf(out, "---@param %.*s %.*s\n", (int)name, part.p, (int)(part.n - name - 2), part.p + name + 2);
    }
    for (p = results + (results[0] == ':'); p < end;) {
        struct ebb_str part = next_part(&p, end);

        ebb_buf_printf(out, "---@return %.*s\n", (int)part.n, part.p);
    }
    ebb_buf_printf(out, "function %s(", e->name);
    for (p = first; p < last; comma = ", ") {
        struct ebb_str part = next_part(&p, last);
        size_t name = name_length(part);

        ebb_buf_printf(out, "%s%.*s", comma, (int)(name - (part.p[name - 1] == '?')), part.p);
    }
    ebb_buf_puts(out, ") end\n");
}

/* The rest of a name directly below a path of n bytes, or NULL. */
static const char *member_of(const struct ebb_api_entry *e, const char *path, size_t n)
{
    const char *rest = e->name + n + 1;

    return !strncmp(e->name, path, n) && e->name[n] == '.' && !strchr(rest, '.') ? rest : NULL;
}

/* Fields, methods or keys directly below a path. */
static void put_members(struct ebb_buf *out, const char *path, size_t n, bool keys)
{
    size_t count;
    const struct ebb_api_entry *e = ebb_api_get(&count);

    for (size_t i = 0; i < count; i++) {
        const char *member = member_of(&e[i], path, n);

        if (member && keys == !strcmp(e[i].kind, "key"))
            ebb_buf_printf(out, "---@field %s %s%s %s\n", member, strcmp(e[i].kind, "method") ? "" : "fun", e[i].type,
                           e[i].doc);
    }
}

/* "policy.guard.quiet[].from" is a key of the class ebb.policy.guard.quiet. */
static void put_key_class(struct ebb_buf *out, const struct ebb_api_entry *entries, size_t i)
{
    size_t n = (size_t)(strrchr(entries[i].name, '.') - entries[i].name), name = n;

    for (size_t k = 0; k < i; k++)
        if (!strcmp(entries[k].kind, "key") && member_of(&entries[k], entries[i].name, n))
            return;
    while (name && (entries[i].name[name - 1] == '*' || entries[i].name[name - 1] == ']' ||
                    entries[i].name[name - 1] == '[' || entries[i].name[name - 1] == '.'))
        name--;
    ebb_buf_printf(out, "\n---@class ebb.%.*s\n", (int)name, entries[i].name);
    put_members(out, entries[i].name, n, true);
}

static void put_class(struct ebb_buf *out, const struct ebb_api_entry *entries, size_t count, size_t i)
{
    const struct ebb_api_entry *e = &entries[i];
    bool is_class = !strcmp(e->kind, "class") || !strcmp(e->kind, "open");
    size_t n = strlen(e->name);

    for (size_t k = 0; !is_class && !strcmp(e->kind, "field") && k < count; k++)
        is_class = member_of(&entries[k], e->name, n) != NULL;
    if (!strcmp(e->kind, "key"))
        put_key_class(out, entries, i);
    if (!is_class)
        return;
    ebb_buf_printf(out, "\n---@class %.*s %s\n", (int)strcspn(e->type, "?"), e->type, e->doc);
    put_members(out, e->name, n, false);
    if (!strcmp(e->kind, "open"))
        ebb_buf_puts(out, "---@field [string] any\n");
}

static void put_global(struct ebb_buf *out, const struct ebb_api_entry *e)
{
    if (!strcmp(e->kind, "function"))
        put_function(out, e);
    else if (!strcmp(e->kind, "library"))
        ebb_buf_printf(out, "\n---%s\n%s = {}\n", e->doc, e->name);
    else if (!strcmp(e->kind, "field") && !strncmp(e->name, "math.", 5))
        ebb_buf_printf(out, "\n---%s\n---@type %s\n%s = nil\n", e->doc, e->type, e->name);
}

void ebb_api_print_stubs(struct ebb_buf *out)
{
    size_t count;
    const struct ebb_api_entry *entries = ebb_api_get(&count);

    ebb_buf_puts(out, HEAD);
    for (size_t i = 0; i < count; i++)
        put_class(out, entries, count, i);
    for (size_t i = 0; i < count; i++)
        put_global(out, &entries[i]);
}
