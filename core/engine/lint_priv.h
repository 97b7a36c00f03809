/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside of lint: one source, its tokens, and what is known of the names in it.
 */
#ifndef EBB_ENGINE_LINT_PRIV_H
#define EBB_ENGINE_LINT_PRIV_H

#include "engine/api.h"
#include "engine/diagnostic.h"
#include "engine/policy_priv.h"
#include "engine/tokens_priv.h"

#define EBB__LINT_NEST_MAX 250
#define EBB__LINT_LOCALS_MAX 1500
#define EBB__LINT_CHECKS_MAX 500

/* A local variable. path: what it holds of the API ("t", "ctx.params"), or NULL. */
struct ebb__local {
    struct ebb_str name;
    const char *path;
    bool has_holes; /* a table without a length */
};

/* What is open: a bracket ('(', '[', '{'), a block, 'B', or the head of a loop before its block, 'H'. */
struct ebb__nest {
    char kind;
    const char *word; /* of a block: "function", "decide", "then", "else", "do", "loop", "repeat" */
    size_t pending;   /* of the head of a loop: its names are the pending ones from here on */
    size_t locals;    /* how many there were */
    int serial;
    const char *keys;  /* of a '{': the call whose arguments it holds ("action.expire_snapshots"), or NULL */
    bool has_returned; /* nothing after this is reached */
    bool chain_returned, has_else;
};

struct ebb__named_check {
    struct ebb_str name, function;
    int serial; /* of its block */
    int line;
};

struct ebb__lint {
    const char *file;
    const struct ebb_policy *policy; /* NULL: a library */
    struct ebb__tokens tokens;
    struct ebb_diagnostics *diags;
    struct ebb__local locals[EBB__LINT_LOCALS_MAX];
    size_t local_count;
    struct ebb__nest nest[EBB__LINT_NEST_MAX];
    size_t nest_count;
    struct ebb__named_check checks[EBB__LINT_CHECKS_MAX];
    size_t check_count;
    int serial;
    size_t pending[64]; /* names of a for that begin with its block */
    size_t pending_count;
    size_t chain_end;       /* index behind the last chain of fields */
    const char *chain_type; /* its type, or NULL */
};

static inline const struct ebb__token *ebb__lint_at(const struct ebb__lint *lint, size_t i)
{
    return ebb__token_at(&lint->tokens, i);
}

static inline bool ebb__lint_is(const struct ebb__lint *lint, size_t i, const char *text)
{
    return ebb__token_is(ebb__lint_at(lint, i), text);
}

/* The local variable of a name, or NULL. */
const struct ebb__local *ebb__lint_local(const struct ebb__lint *lint, struct ebb_str name);

/* Report a finding at a token. */
void ebb__lint_warn(struct ebb__lint *lint, const struct ebb__token *at, const char *code, const char *hint,
                    const char *format, ...) __attribute__((format(printf, 5, 6)));

/* The entry of a name of n bytes below a path ("" the globals), or NULL. */
const struct ebb_api_entry *ebb__api_find(const char *path, struct ebb_str name);
/* Whether there are entries below a path. */
bool ebb__api_has_members(const char *path);
/* The path below which the members of what an entry is are found: its own name, or that of its class; NULL none. */
const char *ebb__api_members(const struct ebb_api_entry *entry);
/* The name below a path that is nearest to another, or NULL; no longer than 120 bytes. */
const char *ebb__api_nearest(const char *path, struct ebb_str name);

/* Walk over the tokens: names, blocks (lint_walk.c). */
void ebb__lint_walk(struct ebb__lint *lint);
/* A name at an index that is no field, key or label (lint_names.c). */
void ebb__lint_name(struct ebb__lint *lint, size_t i);
/* What the expression at an index is of the API when it is a plain chain of fields: a path, or NULL. *end is behind it.
 */
const char *ebb__lint_path_at(const struct ebb__lint *lint, size_t i, size_t *end);
/* Whether the constructor whose '{' is at an index has keys or nil among its items. */
bool ebb__lint_has_holes(const struct ebb__lint *lint, size_t i);
/* A global at an index: one of the data part inside decide raises an error there. */
void ebb__lint_phase(struct ebb__lint *lint, size_t i, const struct ebb_api_entry *entry);
/* The call of the API whose only argument is the '{' at an index ("action.expire_snapshots"), or NULL. */
const char *ebb__lint_call_of(const struct ebb__lint *lint, size_t i);
/* A key at an index of the arguments of such a call. */
void ebb__lint_key(struct ebb__lint *lint, size_t i, const char *call);
/* An operator at an index: '/' and '#'. */
void ebb__lint_sign(struct ebb__lint *lint, size_t i);
/* A call of check or check_each at an index. */
void ebb__lint_check(struct ebb__lint *lint, size_t i);
/* Triggers, guards (lint_schedule.c) and parameters (lint.c). */
int ebb__lint_schedule(const struct ebb_policy *policy, struct ebb_diagnostics *diags, struct ebb_err *err);

#endif
