/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of the API: arguments of actions, operators and names of checks, what belongs to the data part.
 */
#include <stdio.h>

#include "engine/lint_priv.h"

/* ---- calls ---- */

const char *ebb__lint_call_of(const struct ebb__lint *lint, size_t i)
{
    size_t name = ebb__lint_is(lint, i - 1, "(") ? i - 2 : i - 1;
    const struct ebb_api_entry *entry;

    if (name < 2 || name > i || !ebb__lint_is(lint, name - 1, ".") || !ebb__lint_is(lint, name - 2, "action") ||
        ebb__lint_local(lint, EBB_STR("action")))
        return NULL;
    entry = ebb__api_find("action", ebb__lint_at(lint, name)->text);
    return entry ? entry->name : NULL;
}

void ebb__lint_key(struct ebb__lint *lint, size_t i, const char *call)
{
    struct ebb_str name = ebb__lint_at(lint, i)->text;
    const char *near = call ? ebb__api_nearest(call, name) : NULL;
    char hint[160] = "";

    if (!call || ebb__api_find(call, name))
        return;
    if (near)
        snprintf(hint, sizeof hint, "did you mean %s?", near);
    ebb__lint_warn(lint, ebb__lint_at(lint, i), "lint.unknown_argument", hint, "%s: %.*s: unknown", call, (int)name.n,
                   name.p);
}

/* The index of argument n (from 0) of the call whose '(' is at i, or 0. */
static size_t argument_at(const struct ebb__lint *lint, size_t i, int n)
{
    int depth = 0;

    for (; ebb__lint_at(lint, i)->kind != EBB__TOKEN_END; i++) {
        if (ebb__lint_is(lint, i, "function"))
            return 0;
        if (ebb__lint_is(lint, i, "(") || ebb__lint_is(lint, i, "{") || ebb__lint_is(lint, i, "["))
            depth++;
        else if (ebb__lint_is(lint, i, ")") || ebb__lint_is(lint, i, "}") || ebb__lint_is(lint, i, "]"))
            depth--;
        if (depth == 0)
            return 0;
        if (depth == 1 && ebb__lint_is(lint, i, ",") && --n == 0)
            return i + 1;
    }
    return 0;
}

static void check_operator(struct ebb__lint *lint, size_t i)
{
    static const char OPS[] = "==|~=|<|<=|>|>=|in|matches|exists|unknown";
    size_t op = argument_at(lint, i + 1, ebb__lint_is(lint, i, "check") ? 2 : 3);
    char word[16];

    if (!op || ebb__lint_at(lint, op)->kind != EBB__TOKEN_TEXT ||
        (!ebb__lint_is(lint, op + 1, ",") && !ebb__lint_is(lint, op + 1, ")")))
        return;
    snprintf(word, sizeof word, "%.*s", ebb__lint_at(lint, op)->text.n < 15 ? (int)ebb__lint_at(lint, op)->text.n : 15,
             ebb__lint_at(lint, op)->text.p);
    if (!word[0] || !ebb__is_choice(OPS, '|', word))
        ebb__lint_warn(lint, ebb__lint_at(lint, op), "lint.check_operator", "== ~= < <= > >= in matches exists unknown",
                       "\"%s\" is no operator of a check", word);
}

void ebb__lint_phase(struct ebb__lint *lint, size_t i, const struct ebb_api_entry *entry)
{
    const struct ebb_api_entry *inner =
        ebb__lint_is(lint, i + 1, ".") ? ebb__api_find(entry->name, ebb__lint_at(lint, i + 2)->text) : NULL;
    const char *name = inner ? inner->name : entry->name;
    bool in_decide = false;

    for (size_t k = 0; k < lint->nest_count && k < EBB__LINT_NEST_MAX; k++)
        in_decide = in_decide || (lint->nest[k].kind == 'B' && !strcmp(lint->nest[k].word, "decide"));
    if (in_decide && !strcmp((inner ? inner : entry)->phase, "header"))
        ebb__lint_warn(lint, ebb__lint_at(lint, i), "lint.wrong_phase", NULL,
                       "%s: only for the data part, not inside decide", name);
}

/* ---- checks of one name ---- */

static bool is_open(const struct ebb__lint *lint, int serial)
{
    for (size_t i = 0; i < lint->nest_count && i < EBB__LINT_NEST_MAX; i++)
        if (lint->nest[i].serial == serial)
            return true;
    return false;
}

static int block_serial(const struct ebb__lint *lint)
{
    for (size_t i = lint->nest_count; i-- > 0;)
        if (i < EBB__LINT_NEST_MAX && lint->nest[i].kind == 'B')
            return lint->nest[i].serial;
    return 0;
}

void ebb__lint_check(struct ebb__lint *lint, size_t i)
{
    struct ebb__named_check new = {ebb__lint_at(lint, i + 2)->text, ebb__lint_at(lint, i)->text, block_serial(lint),
                                   ebb__lint_at(lint, i)->line};

    check_operator(lint, i);
    if (ebb__lint_at(lint, i + 2)->kind != EBB__TOKEN_TEXT || !ebb__lint_is(lint, i + 3, ",") ||
        lint->check_count == EBB__LINT_CHECKS_MAX)
        return;
    for (size_t k = 0; k < lint->check_count; k++) {
        const struct ebb__named_check *old = &lint->checks[k];

        if (!ebb_str_is_equal(old->name, new.name) || !ebb_str_is_equal(old->function, new.function) ||
            !is_open(lint, old->serial))
            continue;
        ebb__lint_warn(lint, ebb__lint_at(lint, i + 2), "lint.duplicate_check", "give each check its own name",
                       "\"%.*s\" is the name of the check in line %d too", new.name.n < 64 ? (int)new.name.n : 64,
                       new.name.p, old->line);
        return;
    }
    lint->checks[lint->check_count++] = new;
}
