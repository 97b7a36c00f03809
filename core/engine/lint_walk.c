/* SPDX-License-Identifier: Apache-2.0
 *
 * The walk over the tokens of a source: which names are local where, which statements can't be reached. It follows the
 * grammar only as far as that needs.
 */
#include "engine/lint_priv.h"

static struct ebb__nest *top(struct ebb__lint *lint)
{
    return lint->nest_count ? &lint->nest[lint->nest_count - 1] : NULL;
}

static void push(struct ebb__lint *lint, char kind, const char *word)
{
    if (lint->nest_count < EBB__LINT_NEST_MAX)
        lint->nest[lint->nest_count] = (struct ebb__nest){
            kind, word, lint->pending_count, lint->local_count, ++lint->serial, NULL, false, false, false};
    lint->nest_count++;
}

static void pop_bracket(struct ebb__lint *lint)
{
    if (lint->nest_count > 1 && lint->nest_count <= EBB__LINT_NEST_MAX && top(lint)->kind == 'B')
        return;
    lint->nest_count -= lint->nest_count > 1;
}

static void declare(struct ebb__lint *lint, struct ebb_str name, const char *path, bool has_holes)
{
    if (lint->local_count < EBB__LINT_LOCALS_MAX)
        lint->locals[lint->local_count++] = (struct ebb__local){name, path, has_holes};
}

/* Close the innermost block and what was left open in it. Gives it, or NULL when there is none but the file. */
static struct ebb__nest *pop_block(struct ebb__lint *lint)
{
    while (lint->nest_count > EBB__LINT_NEST_MAX || (lint->nest_count > 1 && top(lint)->kind != 'B'))
        lint->nest_count--;
    if (lint->nest_count <= 1)
        return NULL;
    return &lint->nest[--lint->nest_count];
}

static void close_block(struct ebb__lint *lint)
{
    struct ebb__nest *block = pop_block(lint);
    bool ends;

    if (!block)
        return;
    lint->local_count = block->locals < lint->local_count ? block->locals : lint->local_count;
    ends = block->has_returned && (!strcmp(block->word, "do") || (block->has_else && block->chain_returned));
    if (ends && top(lint)->kind == 'B')
        top(lint)->has_returned = true;
}

/* else, elseif */
static void next_branch(struct ebb__lint *lint, bool is_else)
{
    struct ebb__nest *block = pop_block(lint);
    bool returned;

    if (!block)
        return;
    returned = block->has_returned && block->chain_returned;
    lint->local_count = block->locals < lint->local_count ? block->locals : lint->local_count;
    push(lint, 'B', is_else ? "else" : "then");
    if (lint->nest_count > EBB__LINT_NEST_MAX)
        return;
    top(lint)->chain_returned = returned;
    top(lint)->has_else = is_else;
}

/* Parameters from the '(' at i on. typed: the function is decide. */
static size_t open_function(struct ebb__lint *lint, size_t i, bool typed)
{
    static const char *const PATHS[] = {"t", "ctx"};
    size_t k = 0;

    push(lint, 'B', typed ? "decide" : "function");
    for (i++;
         ebb__lint_at(lint, i)->kind == EBB__TOKEN_NAME || ebb__lint_is(lint, i, ",") || ebb__lint_is(lint, i, "...");
         i++)
        if (ebb__lint_at(lint, i)->kind == EBB__TOKEN_NAME)
            declare(lint, ebb__lint_at(lint, i)->text, typed && k < 2 ? PATHS[k] : NULL, false), k++;
    return i;
}

/* At "function": gives the index of the ')' of its parameters. */
static size_t on_function(struct ebb__lint *lint, size_t i)
{
    bool is_decide = i >= 2 && ebb__lint_is(lint, i - 1, "=") && ebb__lint_is(lint, i - 2, "decide");

    if (ebb__lint_at(lint, i + 1)->kind == EBB__TOKEN_NAME) {
        struct ebb_str name = ebb__lint_at(lint, i + 1)->text;

        is_decide = ebb_str_is_equal(name, EBB_STR("decide"));
        if (i && ebb__lint_is(lint, i - 1, "local"))
            declare(lint, name, NULL, false);
        else
            ebb__lint_name(lint, i + 1);
        while (!ebb__lint_is(lint, i + 1, "(") && ebb__lint_at(lint, i + 1)->kind != EBB__TOKEN_END)
            i++;
    }
    return ebb__lint_is(lint, i + 1, "(") ? open_function(lint, i + 1, is_decide) : i;
}

/* At "local": declares the names; gives the index of the last one. */
static size_t on_local(struct ebb__lint *lint, size_t i)
{
    size_t names[64], count = 0, end, value;
    const char *path = NULL;

    if (ebb__lint_is(lint, i + 1, "function"))
        return i;
    for (i++; count < 64 && ebb__lint_at(lint, i)->kind == EBB__TOKEN_NAME;) {
        names[count++] = i++;
        if (ebb__lint_is(lint, i, "<"))
            i += 3;
        if (!ebb__lint_is(lint, i, ","))
            break;
        i++;
    }
    value = ebb__lint_is(lint, i, "=") ? i + 1 : 0;
    if (value && count == 1)
        path = ebb__lint_path_at(lint, value, &end);
    for (size_t k = 0; k < count; k++)
        declare(lint, ebb__lint_at(lint, names[k])->text, path,
                value && count == 1 && ebb__lint_is(lint, value, "{") && ebb__lint_has_holes(lint, value));
    return i - 1;
}

/* At "for": its names begin with the block. */
static size_t on_for(struct ebb__lint *lint, size_t i)
{
    push(lint, 'H', "loop");
    for (i++; ebb__lint_at(lint, i)->kind == EBB__TOKEN_NAME; i += 2) {
        if (lint->pending_count < 64)
            lint->pending[lint->pending_count++] = i;
        if (!ebb__lint_is(lint, i + 1, ","))
            return i;
    }
    return i - 1;
}

static void on_do(struct ebb__lint *lint)
{
    struct ebb__nest *head = lint->nest_count <= EBB__LINT_NEST_MAX ? top(lint) : NULL;

    if (!head || head->kind != 'H') {
        push(lint, 'B', "do");
        return;
    }
    head->kind = 'B';
    for (size_t k = head->pending; k < lint->pending_count; k++)
        declare(lint, ebb__lint_at(lint, lint->pending[k])->text, NULL, false);
    lint->pending_count = head->pending;
}

static size_t on_word(struct ebb__lint *lint, size_t i)
{
    if (ebb__lint_is(lint, i, "function"))
        return on_function(lint, i);
    if (ebb__lint_is(lint, i, "local"))
        return on_local(lint, i);
    if (ebb__lint_is(lint, i, "for"))
        return on_for(lint, i);
    if (ebb__lint_is(lint, i, "do"))
        on_do(lint);
    else if (ebb__lint_is(lint, i, "while"))
        push(lint, 'H', "loop");
    else if (ebb__lint_is(lint, i, "if")) {
        push(lint, 'B', "then");
        if (lint->nest_count <= EBB__LINT_NEST_MAX)
            top(lint)->chain_returned = true;
    } else if (ebb__lint_is(lint, i, "repeat"))
        push(lint, 'B', "repeat");
    else if (ebb__lint_is(lint, i, "elseif") || ebb__lint_is(lint, i, "else"))
        next_branch(lint, ebb__lint_is(lint, i, "else"));
    else if (ebb__lint_is(lint, i, "end"))
        close_block(lint);
    else if (ebb__lint_is(lint, i, "until"))
        pop_block(lint); /* its locals are seen by the condition */
    else if (ebb__lint_is(lint, i, "return") && lint->nest_count <= EBB__LINT_NEST_MAX)
        top(lint)->has_returned = true;
    return i;
}

static bool ends_operand(const struct ebb__token *t)
{
    static const char *const ENDS[] = {")",    "}",      "]",   "...",  ";",     "::",  "then", "do",
                                       "else", "repeat", "end", "true", "false", "nil", "break"};

    if (t->kind == EBB__TOKEN_NAME || t->kind == EBB__TOKEN_NUMBER || t->kind == EBB__TOKEN_TEXT)
        return true;
    for (size_t i = 0; i < sizeof ENDS / sizeof *ENDS; i++)
        if (ebb__token_is(t, ENDS[i]))
            return true;
    return false;
}

/* Whether a statement begins at i. */
static bool begins_statement(struct ebb__lint *lint, size_t i)
{
    static const char *const WORDS[] = {"local", "if", "for", "while", "repeat", "return", "do", "goto", "break"};
    struct ebb__nest *block = top(lint);

    if (lint->nest_count > EBB__LINT_NEST_MAX || block->kind != 'B')
        return false;
    for (size_t k = 0; k < sizeof WORDS / sizeof *WORDS; k++)
        if (ebb__lint_is(lint, i, WORDS[k]))
            return true;
    if (ebb__lint_at(lint, i)->kind != EBB__TOKEN_NAME)
        return false;
    return i == 0 || ends_operand(ebb__lint_at(lint, i - 1));
}

static bool is_result(const struct ebb__lint *lint, size_t i)
{
    return (ebb__lint_is(lint, i, "run") || ebb__lint_is(lint, i, "skip") || ebb__lint_is(lint, i, "defer")) &&
           ebb__lint_is(lint, i + 1, "(");
}

static void on_statement(struct ebb__lint *lint, size_t i)
{
    struct ebb__nest *block = top(lint);

    if (block->has_returned) {
        ebb__lint_warn(lint, ebb__lint_at(lint, i), "lint.unreachable_check", NULL,
                       "never reached: every way here has returned");
        block->has_returned = false;
    }
    if (is_result(lint, i))
        ebb__lint_warn(lint, ebb__lint_at(lint, i), "lint.unreachable_check", "write `return` before it",
                       "%.*s: its result is dropped, decide goes on", (int)ebb__lint_at(lint, i)->text.n,
                       ebb__lint_at(lint, i)->text.p);
}

static void on_bracket(struct ebb__lint *lint, size_t i)
{
    if (ebb__lint_is(lint, i, "(") || ebb__lint_is(lint, i, "[") || ebb__lint_is(lint, i, "{")) {
        push(lint, ebb__lint_at(lint, i)->text.p[0], "");
        if (ebb__lint_is(lint, i, "{") && lint->nest_count <= EBB__LINT_NEST_MAX)
            top(lint)->keys = ebb__lint_call_of(lint, i);
    } else if (ebb__lint_is(lint, i, ")") || ebb__lint_is(lint, i, "]") || ebb__lint_is(lint, i, "}"))
        pop_bracket(lint);
    else if (ebb__lint_is(lint, i, "::") && lint->nest_count <= EBB__LINT_NEST_MAX)
        top(lint)->has_returned = false;
    else
        ebb__lint_sign(lint, i);
}

static bool is_key(struct ebb__lint *lint, size_t i)
{
    return lint->nest_count <= EBB__LINT_NEST_MAX && top(lint)->kind == '{' && ebb__lint_is(lint, i + 1, "=") && i &&
           (ebb__lint_is(lint, i - 1, "{") || ebb__lint_is(lint, i - 1, ",") || ebb__lint_is(lint, i - 1, ";"));
}

/* No field and no label. */
static bool is_plain_name(struct ebb__lint *lint, size_t i)
{
    return !i ||
           !(ebb__lint_is(lint, i - 1, ".") || ebb__lint_is(lint, i - 1, "goto") || ebb__lint_is(lint, i - 1, "::"));
}

void ebb__lint_walk(struct ebb__lint *lint)
{
    push(lint, 'B', "function");
    for (size_t i = 0; i < lint->tokens.count; i++) {
        const struct ebb__token *t = ebb__lint_at(lint, i);

        if (begins_statement(lint, i))
            on_statement(lint, i);
        if (t->kind == EBB__TOKEN_WORD)
            i = on_word(lint, i);
        else if (t->kind == EBB__TOKEN_SIGN)
            on_bracket(lint, i);
        else if (t->kind == EBB__TOKEN_NAME && is_key(lint, i))
            ebb__lint_key(lint, i, top(lint)->keys);
        else if (t->kind == EBB__TOKEN_NAME && is_plain_name(lint, i))
            ebb__lint_name(lint, i);
    }
}
