/* SPDX-License-Identifier: Apache-2.0
 *
 * What a decision went by, against what the record of another holds.
 */
#include "service/backtest_priv.h"

#include "service/bundles.h"

#define NAMES_MAX 256

static bool is_always_there(const char *path)
{
    return !strcmp(path, "ctx.now") || !strncmp(path, "ctx.params", 10) || !strncmp(path, "ctx.trigger", 11);
}

/* Whether a path is one that was read, or lies below one. */
static bool was_read(const struct ebb_value *reads, const char *path)
{
    for (size_t i = 0; i < ebb_value_get_count(reads); i++) {
        const char *known = ebb_value_get_str(ebb_value_get_at(reads, i));
        size_t n = known ? strlen(known) : 0;

        if (known && !strncmp(path, known, n) && (!path[n] || path[n] == '.' || path[n] == '['))
            return true;
    }
    return false;
}

/* Whether the record holds the value of a path of the table: one of its own, not a list that may be cut down. */
static bool is_there(const struct ebb_value *before, const char *path)
{
    const struct ebb_value *v = ebb_value_get(ebb_value_get(ebb_value_get(before, "inputs"), "facts"), "table");

    if (strncmp(path, "t.", 2) != 0)
        return false;
    for (path += 2; *path; path += path[0] == '.') {
        size_t n = strcspn(path, ".");

        v = ebb_value_getn(v, path, n);
        path += n;
    }
    return v && ebb_value_get_kind(v) < EBB_VALUE_LIST;
}

static void check_reads(const struct ebb_value *before, const struct ebb_value *after, struct ebb_buf *why)
{
    const struct ebb_value *old = ebb_value_get(before, "reads"), *now = ebb_value_get(after, "reads");

    for (size_t i = 0; i < ebb_value_get_count(now); i++) {
        const char *path = ebb_value_get_str(ebb_value_get_at(now, i));

        if (!path || is_always_there(path) || was_read(old, path) || is_there(before, path))
            continue;
        ebb_buf_puts(why, why->len ? ", " : "reads what was not recorded: ");
        ebb_buf_puts(why, path);
    }
}

/* ---- what is looked at besides the script: properties of parameters and target, flags of quiet windows ---- */

struct names {
    const char *items[NAMES_MAX];
    size_t count;
};

static void add_name(struct names *n, const char *name)
{
    if (name && n->count < NAMES_MAX)
        n->items[n->count++] = name;
}

static bool has_name(const struct names *n, const char *name)
{
    for (size_t i = 0; i < n->count; i++)
        if (!strcmp(n->items[i], name))
            return true;
    return false;
}

static void gather_properties(const struct ebb_policy *policy, struct names *out)
{
    const struct ebb_value *manifest = policy ? ebb_policy_get_manifest(policy) : NULL;
    const struct ebb_value *params = ebb_value_get(manifest, "params");

    out->count = 0;
    for (size_t i = 0; i < ebb_value_get_count(params); i++)
        add_name(out, ebb_value_text_of(ebb_value_get_at(params, i), "property"));
    add_name(out, ebb_value_text_of(ebb_value_get(ebb_value_get(manifest, "target"), "where"), "property"));
}

static void gather_flags(const struct ebb_policy *policy, struct names *out)
{
    const struct ebb_value *guard = policy ? ebb_value_get(ebb_policy_get_manifest(policy), "guard") : NULL;
    const struct ebb_value *quiet = ebb_value_get(guard, "quiet");

    out->count = 0;
    for (size_t i = 0; i < ebb_value_get_count(quiet); i++)
        add_name(out, ebb_value_text_of(ebb_value_get_at(quiet, i), "only_if"));
}

/* A name that neither stands in the record nor was asked for by the old policy is not known to be missing. */
static void check_names(const struct names *now, const struct names *old, const struct ebb_value *recorded,
                        const char *what, struct ebb_buf *why)
{
    for (size_t i = 0; i < now->count; i++)
        if (!has_name(old, now->items[i]) && !ebb_value_get(recorded, now->items[i]))
            ebb_buf_printf(why, "%s%s %s", why->len ? ", " : "goes by what was not recorded: ", what, now->items[i]);
}

int ebb__backtest_comparable(struct ebb_store *store, const struct ebb_policy *policy, const struct ebb_value *before,
                             const struct ebb_value *after, struct ebb_buf *why, struct ebb_err *err)
{
    const struct ebb_value *facts = ebb_value_get(ebb_value_get(before, "inputs"), "facts");
    const char *bundle = ebb_value_text_of(before, "bundle");
    struct ebb_policy *old = NULL;
    struct names mine, theirs;
    int rc = 0;

    check_reads(before, after, why);
    if (bundle && strcmp(bundle, ebb_policy_get_bundle(policy)) != 0)
        rc = ebb_bundles_get(store, bundle, &old, err);
    else
        return 0;
    if (rc == -(int)EBB_ENOMEM || rc == -(int)EBB_ESTORE)
        return rc;
    gather_properties(policy, &mine);
    gather_properties(old, &theirs);
    check_names(&mine, &theirs, ebb_value_get(ebb_value_get(facts, "table"), "properties"), "property", why);
    gather_flags(policy, &mine);
    gather_flags(old, &theirs);
    check_names(&mine, &theirs, ebb_value_get(facts, "flags"), "flag", why);
    ebb_policy_free(old);
    return ebb_buf_check(why, "reasons", err);
}
