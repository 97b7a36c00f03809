/* SPDX-License-Identifier: Apache-2.0
 *
 * The closed schema of policy { … }: top level and target.
 */
#include "engine/header_priv.h"
#include "engine/policy_priv.h"

#define DOC_MAX_BYTES 1024
#define GLOB_MAX_BYTES 256

static const struct ebb__rule POLICY[] = {
    {"api", EBB__TYPE_INTEGER, true, NULL, NULL, 1, 1}, {"name", EBB__TYPE_TEXT, true, NULL, NULL, 0, 0},
    {"owner", EBB__TYPE_TEXT, false, NULL, NULL, 0, 0}, {"doc", EBB__TYPE_TEXT, false, NULL, NULL, 0, 0},
    {"was", EBB__TYPE_TEXT, false, NULL, NULL, 0, 0},   {"target", EBB__TYPE_MAP, false, NULL, NULL, 0, 0},
    {"params", EBB__TYPE_MAP, false, NULL, NULL, 0, 0}, {"triggers", EBB__TYPE_LIST, false, NULL, NULL, 0, 0},
    {"guard", EBB__TYPE_MAP, false, NULL, NULL, 0, 0},  {"decide", EBB__TYPE_FUNCTION, true, NULL, NULL, 0, 0},
};

static const struct ebb__rule TARGET[] = {
    {"tables", EBB__TYPE_TEXTS, true, NULL, NULL, 0, 0},
    {"exclude", EBB__TYPE_TEXTS, false, NULL, NULL, 0, 0},
    {"where", EBB__TYPE_MAP, false, NULL, NULL, 0, 0},
};

static const struct ebb__rule WHERE[] = {
    {"property", EBB__TYPE_TEXT, true, NULL, NULL, 0, 0}, {"is", EBB__TYPE_TEXT, false, NULL, NULL, 0, 0},
    {"is_not", EBB__TYPE_TEXT, false, NULL, NULL, 0, 0},  {"matches", EBB__TYPE_TEXT, false, NULL, NULL, 0, 0},
    {"exists", EBB__TYPE_BOOL, false, NULL, NULL, 0, 0},
};

#define COUNT(rules) (sizeof(rules) / sizeof *(rules))

const struct ebb__rule_set EBB__POLICY_RULES[] = {
    {"policy", POLICY, COUNT(POLICY)},
    {"policy.target", TARGET, COUNT(TARGET)},
    {"policy.target.where", WHERE, COUNT(WHERE)},
    {NULL, NULL, 0},
};

bool ebb_policy_is_name(const char *name)
{
    size_t n = strlen(name);

    return n && n <= 63 && name[0] >= 'a' && name[0] <= 'z' &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == n;
}

static void check_name(struct ebb__checker *c, const struct ebb_value *raw, const char *key)
{
    const char *name = ebb_value_text_of(raw, key);

    if (name && !ebb_policy_is_name(name))
        ebb__checker_fail(c, key, 0, NULL, "a name is [a-z][a-z0-9-]*, at most 63 bytes");
}

static void check_length(struct ebb__checker *c, const struct ebb_value *raw, const char *key)
{
    if (ebb_value_get_bytes(ebb_value_get(raw, key)).n > DOC_MAX_BYTES)
        ebb__checker_fail(c, key, 0, NULL, "longer than %d bytes", DOC_MAX_BYTES);
}

static bool is_glob(const char *glob)
{
    size_t n = strlen(glob);

    return n && n <= GLOB_MAX_BYTES && glob[0] != '.' && glob[n - 1] != '.' && !strstr(glob, "..");
}

static void check_globs(struct ebb__checker *c, const char *path, const struct ebb_value *globs)
{
    const char *one = ebb_value_get_str(globs);

    if (one && !is_glob(one))
        ebb__checker_fail(c, path, 0, NULL, "\"%.60s\" is no table pattern", one);
    for (size_t i = 0; i < ebb_value_get_count(globs); i++) {
        const char *glob = ebb_value_get_str(ebb_value_get_at(globs, i));

        if (glob && !is_glob(glob))
            ebb__checker_fail(c, path, 0, NULL, "\"%.60s\" is no table pattern", glob);
    }
}

static void check_target(struct ebb__checker *c, const struct ebb_value *target)
{
    const struct ebb_value *where = ebb_value_get(target, "where");

    ebb__schema_check(c, "target", 0, target, TARGET, COUNT(TARGET));
    check_globs(c, "target.tables", ebb_value_get(target, "tables"));
    check_globs(c, "target.exclude", ebb_value_get(target, "exclude"));
    if (!where)
        return;
    ebb__schema_check(c, "target.where", 0, where, WHERE, COUNT(WHERE));
    if (ebb_value_get_count(where) < 2 && ebb_value_get(where, "property"))
        ebb__checker_fail(c, "target.where", 0, NULL, "one of is, is_not, matches, exists is due");
}

void ebb__policy_check(struct ebb__checker *c, const struct ebb_value *raw)
{
    const struct ebb_value *params = ebb_value_get(raw, "params");

    c->params = params;
    ebb__schema_check(c, "", 0, raw, POLICY, COUNT(POLICY));
    check_name(c, raw, "name");
    check_name(c, raw, "was");
    check_length(c, raw, "doc");
    check_length(c, raw, "owner");
    if (ebb_value_get_kind(params) == EBB_VALUE_MAP)
        ebb__params_check(c, params);
    if (ebb_value_get_kind(ebb_value_get(raw, "target")) == EBB_VALUE_MAP)
        check_target(c, ebb_value_get(raw, "target"));
    if (ebb_value_get_kind(ebb_value_get(raw, "guard")) == EBB_VALUE_MAP)
        ebb__guard_check(c, ebb_value_get(raw, "guard"));
    if (ebb_value_get_kind(ebb_value_get(raw, "triggers")) == EBB_VALUE_LIST)
        ebb__triggers_check(c, ebb_value_get(raw, "triggers"));
}
