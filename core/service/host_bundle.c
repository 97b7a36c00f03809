/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "service/host_priv.h"
#include "service/pass.h"

static int take(struct ebb_host_bundle *bundle, const char *file, struct ebb_err *err)
{
    struct ebb_policy *policy = NULL;
    int rc = ebb_policy_load(file, &policy, NULL, err);

    for (size_t i = 0; !rc && i < bundle->count; i++)
        if (!strcmp(ebb_policy_get_name(bundle->policies[i]), ebb_policy_get_name(policy)))
            rc = ebb_err_set(err, EBB_EPOLICY_SCHEMA, "%s: another file has a policy named %s", file,
                             ebb_policy_get_name(policy));
    if (rc)
        ebb_policy_free(policy);
    else
        bundle->policies[bundle->count++] = policy;
    return rc;
}

static int load(const char *path, struct ebb_host_bundle **out, struct ebb_err *err)
{
    struct ebb_host_bundle *bundle = calloc(1, sizeof *bundle);
    struct ebb_strs files;
    int rc;

    ebb_strs_init(&files);
    rc = bundle ? ebb_policy_files(path, &files, err) : ebb_err_nomem(err);
    if (!rc) {
        bundle->policies = calloc(files.count + 1, sizeof *bundle->policies);
        rc = bundle->policies ? 0 : ebb_err_nomem(err);
    }
    if (bundle)
        atomic_init(&bundle->holds, 1);
    for (size_t i = 0; !rc && i < files.count; i++)
        rc = take(bundle, files.items[i], err);
    ebb_strs_fini(&files);
    if (rc)
        ebb_host_bundle_free(bundle);
    else
        *out = bundle;
    return rc;
}

int ebb_host_bundle_load(const char *path, struct ebb_host_bundle **out, struct ebb_host_error *err)
{
    struct ebb_err why;

    memset(&why, 0, sizeof why);
    *out = NULL;
    return ebb__host_tell(load(path, out, &why), &why, err);
}

struct ebb_host_bundle *ebb__host_bundle_hold(struct ebb_host_bundle *bundle)
{
    atomic_fetch_add(&bundle->holds, 1);
    return bundle;
}

void ebb_host_bundle_free(struct ebb_host_bundle *bundle)
{
    if (!bundle || atomic_fetch_sub(&bundle->holds, 1) > 1)
        return;
    for (size_t i = 0; i < bundle->count; i++)
        ebb_policy_free(bundle->policies[i]);
    free(bundle->policies);
    free(bundle);
}

int ebb__host_bundle_find(const struct ebb_host_bundle *bundle, const char *name, const struct ebb_policy **out,
                          struct ebb_err *err)
{
    for (size_t i = 0; i < bundle->count; i++)
        if (name && !strcmp(ebb_policy_get_name(bundle->policies[i]), name)) {
            *out = bundle->policies[i];
            return 0;
        }
    return ebb_err_set(err, EBB_ENOT_FOUND, "%.100s: the bundle has no policy of this name", name ? name : "");
}

size_t ebb_host_bundle_count(const struct ebb_host_bundle *bundle)
{
    return bundle->count;
}

const char *ebb_host_bundle_name(const struct ebb_host_bundle *bundle, size_t index)
{
    return index < bundle->count ? ebb_policy_get_name(bundle->policies[index]) : NULL;
}

const char *ebb_host_bundle_manifest(const struct ebb_host_bundle *bundle, size_t index)
{
    return index < bundle->count ? ebb_policy_get_manifest_json(bundle->policies[index]) : NULL;
}

const char *ebb_host_bundle_hash(const struct ebb_host_bundle *bundle, size_t index)
{
    return index < bundle->count ? ebb_policy_get_bundle(bundle->policies[index]) : NULL;
}

int ebb__host_json(const char *text, const char *what, struct ebb_value **out, struct ebb_err *err)
{
    int rc;

    *out = NULL;
    if (!text)
        return 0;
    rc = ebb_value_of_json(what, text, strlen(text), NULL, out, err);
    if (rc || ebb_value_get_kind(*out) == EBB_VALUE_MAP)
        return rc;
    ebb_value_free(*out);
    *out = NULL;
    return ebb_err_set(err, EBB_EUSAGE, "%s: a JSON object is due", what);
}

int ebb_host_facts_parse(const char *json, size_t n, struct ebb_host_facts **out, struct ebb_host_error *err)
{
    struct ebb_host_facts *facts = calloc(1, sizeof *facts);
    struct ebb_err why;
    int rc;

    memset(&why, 0, sizeof why);
    *out = NULL;
    rc = facts ? ebb_value_of_json("facts", json, n, NULL, &facts->value, &why) : ebb_err_nomem(&why);
    if (!rc && ebb_value_get_kind(ebb_value_get(facts->value, "table")) != EBB_VALUE_MAP)
        rc = ebb_err_set(&why, EBB_EUSAGE, "facts: an object with \"table\" is due");
    if (rc)
        ebb_host_facts_free(facts);
    else
        *out = facts;
    return ebb__host_tell(rc, &why, err);
}

void ebb_host_facts_free(struct ebb_host_facts *facts)
{
    if (!facts)
        return;
    ebb_value_free(facts->value);
    free(facts);
}
