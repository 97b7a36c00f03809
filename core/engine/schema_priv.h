/* SPDX-License-Identifier: Apache-2.0
 *
 * Closed schemas for plain data: every key has a rule, unknown keys are errors with a suggestion. The checker collects
 * diagnostics with the place in the source.
 */
#ifndef EBB_ENGINE_SCHEMA_PRIV_H
#define EBB_ENGINE_SCHEMA_PRIV_H

#include "engine/diagnostic.h"
#include "engine/places_priv.h"
#include "engine/value.h"

enum ebb__type {
    EBB__TYPE_ANY,
    EBB__TYPE_TEXT,
    EBB__TYPE_BOOL,
    EBB__TYPE_INTEGER,
    EBB__TYPE_NUMBER,
    EBB__TYPE_DURATION, /* text such as "5d" */
    EBB__TYPE_SIZE,     /* text such as "1GiB", or a whole number */
    EBB__TYPE_TEXTS,    /* list of texts; one text counts as a list of one */
    EBB__TYPE_TEXT_MAP, /* map of texts */
    EBB__TYPE_LIST,     /* list of maps */
    EBB__TYPE_MAP,
    EBB__TYPE_FUNCTION,
    EBB__TYPE_INSTANT /* whole number: ms */
};

struct ebb__rule {
    const char *key;
    enum ebb__type type;
    bool is_required;
    const char *param; /* a parameter of one of these types may stand here ("duration", "integer,number"); NULL: none */
    const char *choices; /* texts that are allowed, separated by '|'; NULL: any */
    double min, max;     /* numbers and counts; both 0: no bound */
};

/* The rules of one table of keys, as the API names it ("policy.guard.quiet[]"). */
struct ebb__rule_set {
    const char *path;
    const struct ebb__rule *rules;
    size_t count;
};
/* All of them, ended by path NULL: of policy and target, of parameters, of guards, of triggers, of actions. */
extern const struct ebb__rule_set EBB__POLICY_RULES[], EBB__PARAM_RULES[], EBB__GUARD_RULES[], EBB__TRIGGER_RULES[],
    EBB__ACTION_RULES[];

struct ebb__checker {
    const char *file;
    const struct ebb__places *places; /* or NULL */
    const struct ebb_value *params;   /* definitions, for references; or NULL */
    struct ebb_diagnostics *diags;    /* or NULL */
    const char *code;                 /* of values that don't fit; NULL: "schema.value" */
    struct ebb_str source;            /* for the line of a place; empty: none */
    enum ebb_error error;
    bool has_failed;
    struct ebb_err first; /* the first error */
};

/* Report an error at a path; line > 0 overrides the place found for the path. hint may be NULL. The code is
 * the checker's, or the one given. */
void ebb__checker_fail(struct ebb__checker *c, const char *path, int line, const char *hint, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void ebb__checker_fail_as(struct ebb__checker *c, const char *path, int line, const char *code, const char *hint,
                          const char *format, ...) __attribute__((format(printf, 6, 7)));
/* Check a map against its rules. path names it ("guard"), line may be 0. */
void ebb__schema_check(struct ebb__checker *c, const char *path, int line, const struct ebb_value *map,
                       const struct ebb__rule *rules, size_t count);
/* The name of the parameter that a value refers to, or NULL when it is no reference. */
const char *ebb__param_of(const struct ebb_value *value);
/* "guard" and "quiet": "guard.quiet", cut when it is too long. Gives out. */
#define EBB__PATH_MAX 200
const char *ebb__path_join(char out[EBB__PATH_MAX], const char *path, const char *key);
/* "a" or "an". */
const char *ebb__article(const char *noun);
/* Whether a word is among "a|b|c" (separator given). */
bool ebb__is_choice(const char *choices, char separator, const char *word);

#endif
