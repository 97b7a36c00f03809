/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "engine/policy_priv.h"

#define NAME_MAX_BYTES 63
#define MANIFEST_MAX_BYTES ((size_t)16 * 1024 * 1024)

static bool is_given_name(const char *name)
{
    return strchr(name, ':') && strlen(name) <= NAME_MAX_BYTES;
}

/* The manifest again, with these names. */
static int rename_copy(const struct ebb_value *manifest, const char *name, const char *was, struct ebb_value **out,
                       struct ebb_err *err)
{
    *out = ebb_value_new_map(NULL);
    for (size_t i = 0; i < ebb_value_get_count(manifest); i++)
        if (strcmp(ebb_value_get_key(manifest, i).p, "was") != 0)
            ebb_value_put_copy(*out, ebb_value_get_key(manifest, i).p, ebb_value_get_at(manifest, i));
    ebb_value_put_str(*out, "name", name);
    ebb_value_put_str(*out, "was", was);
    return ebb_value_check(*out, "policy", err);
}

int ebb_policy_set_name(struct ebb_policy *policy, const char *name, const char *was, struct ebb_err *err)
{
    struct ebb_value *manifest = NULL;
    struct ebb_buf json;
    int rc;

    if (!is_given_name(name) || (was && !is_given_name(was)))
        return ebb_err_set(err, EBB_EUSAGE, "policy name %s: a text with ':' and at most %d bytes is wanted", name,
                           NAME_MAX_BYTES);
    ebb_buf_init(&json, MANIFEST_MAX_BYTES);
    rc = rename_copy(policy->manifest, name, was, &manifest, err);
    if (!rc)
        rc = ebb_value_to_json(manifest, &json, err);
    if (rc || json.bad) {
        rc = rc ? rc : ebb_err_nomem(err);
        goto out;
    }
    free(policy->manifest_json);
    policy->manifest_json = ebb_buf_take(&json);
    ebb_value_free(policy->manifest);
    policy->manifest = manifest;
    manifest = NULL;
    ebb__policy_note_params(policy);
    rc = policy->manifest_json ? 0 : ebb_err_nomem(err);
out:
    ebb_buf_fini(&json);
    ebb_value_free(manifest);
    return rc;
}
