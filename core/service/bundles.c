/* SPDX-License-Identifier: Apache-2.0 */
#include "service/bundles.h"

#define SCOPE "bundle"
#define BUNDLE_MAX_BYTES ((size_t)16 << 20)

static int read_bundle(struct ebb_store *store, const char *hash, struct ebb_buf *json, bool *found,
                       struct ebb_err *err)
{
    ebb_buf_init(json, BUNDLE_MAX_BYTES);
    return ebb_store_get_value(store, SCOPE, hash, json, found, err);
}

int ebb_bundles_put(struct ebb_store *store, const struct ebb_policy *policy, struct ebb_err *err)
{
    const char *hash = ebb_policy_get_bundle(policy);
    struct ebb_value *sources = NULL;
    struct ebb_buf json;
    bool found = false;
    int rc = read_bundle(store, hash, &json, &found, err);

    if (rc || found)
        goto out;
    rc = ebb_policy_sources(policy, &sources, err);
    if (!rc)
        rc = ebb_value_to_json(sources, &json, err);
    if (!rc)
        rc = ebb_store_put_value(store, SCOPE, hash, ebb_buf_cstr(&json), err);
out:
    ebb_value_free(sources);
    ebb_buf_fini(&json);
    return rc;
}

int ebb_bundles_get(struct ebb_store *store, const char *hash, struct ebb_policy **out, struct ebb_err *err)
{
    struct ebb_value *sources = NULL;
    struct ebb_buf json;
    bool found = false;
    int rc = read_bundle(store, hash, &json, &found, err);

    *out = NULL;
    if (!rc && !found)
        rc = ebb_err_set(err, EBB_ENOT_FOUND, "bundle %.80s: is not in the store", hash);
    if (!rc)
        rc = ebb_value_of_json("bundle", json.data ? json.data : "", json.len, NULL, &sources, err);
    if (!rc)
        rc = ebb_policy_load_sources(sources, out, err);
    if (!rc && strcmp(ebb_policy_get_bundle(*out), hash) != 0) {
        ebb_policy_free(*out);
        *out = NULL;
        rc = ebb_err_set(err, EBB_ECORRUPT, "bundle %.80s: what the store keeps under this hash has another", hash);
    }
    ebb_value_free(sources);
    ebb_buf_fini(&json);
    return rc;
}
