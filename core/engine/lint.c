/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/lint.h"

#include <stdio.h>
#include <stdlib.h>

#include "engine/diagnose_priv.h"
#include "engine/lint_priv.h"

static void report(struct ebb_diagnostics *diags, const char *file, struct ebb_str source, int line, int column,
                   const char *code, const char *hint, const char *message)
{
    struct ebb__finding f = {.file = file, .source = source, .line = line, .column = column, .code = code};

    f.message = message;
    f.hint = hint;
    ebb__diagnose(diags, &f);
}

void ebb__lint_warn(struct ebb__lint *lint, const struct ebb__token *at, const char *code, const char *hint,
                    const char *format, ...)
{
    char message[512];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    report(lint->diags, lint->file, lint->tokens.source, at->line, ebb__column_of(lint->tokens.source, at->offset),
           code, hint, message);
}

static int lint_source(const struct ebb_policy *policy, const char *file, struct ebb_str source,
                       struct ebb_diagnostics *diags, struct ebb_err *err)
{
    struct ebb__lint *lint = calloc(1, sizeof *lint);
    int rc;

    if (!lint)
        return ebb_err_nomem(err);
    lint->file = file;
    lint->policy = policy;
    lint->diags = diags;
    rc = ebb__tokens_init(&lint->tokens, source, err);
    if (!rc) {
        ebb__lint_walk(lint);
        ebb__tokens_fini(&lint->tokens);
        ebb__diagnose_style(diags, file, source);
    }
    free(lint);
    return rc;
}

/* ---- parameters ---- */

/* Whether a source names a parameter: as a field, or in a text; params[…] and pairs(params) name all. */
static bool names_param(const struct ebb__tokens *tokens, struct ebb_str name)
{
    for (size_t i = 0; i < tokens->count; i++) {
        const struct ebb__token *t = &tokens->items[i];

        if (t->kind == EBB__TOKEN_TEXT && ebb_str_is_equal(t->text, name))
            return true;
        if (t->kind != EBB__TOKEN_NAME || i == 0)
            continue;
        if (ebb_str_is_equal(t->text, name) && ebb__token_is(&tokens->items[i - 1], "."))
            return true;
        if (ebb__token_is(t, "params") && ebb__token_is(&tokens->items[i - 1], ".") &&
            (ebb__token_is(ebb__token_at(tokens, i + 1), "[") || ebb__token_is(ebb__token_at(tokens, i + 1), ")")))
            return true;
    }
    return false;
}

static int is_used(const struct ebb_policy *policy, struct ebb_str name, bool *used, struct ebb_err *err)
{
    struct ebb__tokens tokens;
    int rc = ebb__tokens_init(&tokens, (struct ebb_str){policy->source, policy->source_bytes}, err);

    *used = !rc && names_param(&tokens, name);
    ebb__tokens_fini(&tokens);
    for (size_t i = 0; !rc && !*used && i < policy->bundle.count; i++) {
        const struct ebb__lib *lib = &policy->bundle.libs[i];

        rc = ebb__tokens_init(&tokens, (struct ebb_str){lib->source, lib->source_bytes}, err);
        *used = !rc && names_param(&tokens, name);
        ebb__tokens_fini(&tokens);
    }
    return rc;
}

static int lint_params(const struct ebb_policy *policy, struct ebb_diagnostics *diags, struct ebb_err *err)
{
    const struct ebb_value *params = ebb_value_get(policy->manifest, "params");
    struct ebb_str source = {policy->source, policy->source_bytes};
    struct ebb__places places;
    int rc = 0;

    ebb__places_init(&places, source);
    for (size_t i = 0; !rc && i < ebb_value_get_count(params); i++) {
        struct ebb_str name = ebb_value_get_key(params, i);
        char path[128], message[192];
        int line, column;
        bool used;

        rc = is_used(policy, name, &used, err);
        if (rc || used)
            continue;
        snprintf(path, sizeof path, "params.%.80s", name.p);
        snprintf(message, sizeof message, "%s: nothing reads this parameter", path);
        ebb__places_find(&places, path, &line, &column);
        report(diags, policy->file, source, line, column, "lint.unused_param", "read it as ctx.params.NAME, or drop it",
               message);
    }
    ebb__places_fini(&places);
    return rc;
}

void ebb_lint_same_name(const struct ebb_policy *policy, const char *other, struct ebb_diagnostics *diags)
{
    struct ebb__finding f = {.file = policy->file, .is_error = true, .code = "policy.duplicate_name"};
    struct ebb__places places;
    char message[512];

    f.source = (struct ebb_str){policy->source, policy->source_bytes};
    f.message = message;
    f.hint = "schedules and records are kept by name: give each policy its own";
    snprintf(message, sizeof message, "name: %s is that of %.400s too", ebb_policy_get_name(policy), other);
    ebb__places_init(&places, f.source);
    ebb__places_find(&places, "name", &f.line, &f.column);
    ebb__places_fini(&places);
    ebb__diagnose(diags, &f);
}

int ebb_lint_policy(const struct ebb_policy *policy, struct ebb_diagnostics *diags, struct ebb_err *err)
{
    int rc = lint_source(policy, policy->file, (struct ebb_str){policy->source, policy->source_bytes}, diags, err);

    for (size_t i = 0; !rc && i < policy->bundle.count; i++) {
        const struct ebb__lib *lib = &policy->bundle.libs[i];
        char file[4096];

        snprintf(file, sizeof file, "%s/lib/%s.lua", policy->bundle.dir, lib->name);
        rc = lint_source(NULL, file, (struct ebb_str){lib->source, lib->source_bytes}, diags, err);
    }
    if (!rc)
        rc = lint_params(policy, diags, err);
    return rc ? rc : ebb__lint_schedule(policy, diags, err);
}
