/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "engine/policy_priv.h"

bool ebb_policy_has_target(const struct ebb_policy *policy)
{
    return ebb_value_get(policy->manifest, "target") != NULL;
}

static bool is_among(const struct ebb_value *globs, const char *name)
{
    if (ebb_value_get_str(globs))
        return ebb_table_glob_is_match(ebb_value_get_str(globs), name);
    for (size_t i = 0; i < ebb_value_get_count(globs); i++) {
        const char *glob = ebb_value_get_str(ebb_value_get_at(globs, i));

        if (glob && ebb_table_glob_is_match(glob, name))
            return true;
    }
    return false;
}

static bool is_where(const struct ebb_value *where, const struct ebb_value *properties)
{
    const struct ebb_value *property = ebb_value_get(properties, ebb_value_text_of(where, "property"));
    const char *value = ebb_value_get_str(property);
    const char *is = ebb_value_text_of(where, "is"), *is_not = ebb_value_text_of(where, "is_not");
    const char *matches = ebb_value_text_of(where, "matches");

    if (is && (!value || strcmp(is, value)))
        return false;
    if (is_not && value && !strcmp(is_not, value))
        return false;
    if (matches && (!value || !ebb_glob_is_match(ebb_str_of(matches), ebb_value_get_bytes(property))))
        return false;
    return ebb_value_bool_of(where, "exists", value != NULL) == (value != NULL);
}

/* Names of a usual length need no memory, so that running out of it never looks like a table that is not meant. */
#define USUAL_BYTES 1024

bool ebb_policy_may_target(const struct ebb_policy *policy, const char *catalog, const char *namespace_,
                           const char *name)
{
    const struct ebb_value *target = ebb_value_get(policy->manifest, "target");
    char text[USUAL_BYTES];
    bool is_usual = strlen(catalog) + strlen(namespace_) + strlen(name) + 2 < sizeof text, is_good;
    struct ebb_buf label = {.data = text, .cap = sizeof text, .max = sizeof text - 1};

    if (!is_usual)
        ebb_buf_init(&label, 64 * 1024);
    ebb_buf_printf(&label, "%s.%s%s%s", catalog, namespace_, namespace_[0] ? "." : "", name);
    is_good = !label.bad && is_among(ebb_value_get(target, "tables"), ebb_buf_cstr(&label)) &&
              !is_among(ebb_value_get(target, "exclude"), ebb_buf_cstr(&label));
    if (!is_usual)
        ebb_buf_fini(&label);
    return is_good;
}

bool ebb_policy_is_target(const struct ebb_policy *policy, const char *catalog, const char *namespace_,
                          const char *name, const struct ebb_value *properties)
{
    const struct ebb_value *where = ebb_value_get(ebb_value_get(policy->manifest, "target"), "where");

    return ebb_policy_may_target(policy, catalog, namespace_, name) && (!where || is_where(where, properties));
}
