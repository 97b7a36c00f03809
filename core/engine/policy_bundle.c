/* SPDX-License-Identifier: Apache-2.0
 *
 * The sources of a policy as data, and back.
 */
#include <stdlib.h>

#include "engine/policy_priv.h"

int ebb_policy_sources(const struct ebb_policy *policy, struct ebb_value **out, struct ebb_err *err)
{
    struct ebb_value *v = ebb_value_new_map(NULL), *libs;
    int rc;

    *out = NULL;
    ebb_value_put_str(v, "file", policy->file);
    ebb_value_put_strn(v, "source", policy->source, policy->source_bytes);
    libs = ebb_value_put_map(v, "libs");
    for (size_t i = 0; i < policy->bundle.count; i++)
        ebb_value_put_strn(libs, policy->bundle.libs[i].name, policy->bundle.libs[i].source,
                           policy->bundle.libs[i].source_bytes);
    rc = ebb_value_check(v, "bundle", err);
    if (rc)
        ebb_value_free(v);
    else
        *out = v;
    return rc;
}

static int corrupt(const char *what, struct ebb_err *err)
{
    return ebb_err_set(err, EBB_ECORRUPT, "bundle: %s", what);
}

/* A copy with a NUL at its end. */
static int take_text(const struct ebb_value *v, char **out, size_t *n, struct ebb_err *err)
{
    struct ebb_str text = ebb_value_get_bytes(v);

    *out = NULL;
    if (ebb_value_get_kind(v) != EBB_VALUE_STRING || text.n > EBB_POLICY_SOURCE_MAX_BYTES)
        return corrupt("a source is missing, or too long", err);
    *out = malloc(text.n + 1);
    if (!*out)
        return ebb_err_nomem(err);
    memcpy(*out, text.p, text.n);
    (*out)[text.n] = '\0';
    *n = text.n;
    return 0;
}

static bool is_lib_name(struct ebb_str name)
{
    return name.n > 0 && name.n < 64 && strspn(name.p, "abcdefghijklmnopqrstuvwxyz0123456789_") == name.n;
}

static int take_libs(struct ebb__bundle *bundle, const struct ebb_value *libs, struct ebb_err *err)
{
    size_t count = ebb_value_get_count(libs);
    int rc = 0;

    if (libs && ebb_value_get_kind(libs) != EBB_VALUE_MAP)
        rc = corrupt("the libraries are no map", err);
    else if (count > EBB_POLICY_LIBS_MAX)
        rc = corrupt("too many libraries", err);
    for (size_t i = 0; !rc && i < count; i++) {
        struct ebb__lib *lib = &bundle->libs[i];
        struct ebb_str name = ebb_value_get_key(libs, i);

        if (!is_lib_name(name))
            rc = corrupt("the name of a library", err);
        if (!rc)
            rc = take_text(ebb_value_get_at(libs, i), &lib->source, &lib->source_bytes, err);
        if (rc)
            break;
        bundle->count = i + 1;
        lib->name = strndup(name.p, name.n);
        rc = lib->name ? 0 : ebb_err_nomem(err);
    }
    bundle->is_closed = true;
    return rc;
}

int ebb_policy_load_sources(const struct ebb_value *sources, struct ebb_policy **out, struct ebb_err *err)
{
    const char *file = ebb_value_text_of(sources, "file");
    struct ebb__bundle bundle;
    char *source = NULL;
    size_t n = 0;
    int rc = file ? ebb__bundle_init(&bundle, file, err) : corrupt("no file is named", err);

    *out = NULL;
    if (!file || rc)
        return rc;
    rc = take_libs(&bundle, ebb_value_get(sources, "libs"), err);
    if (!rc)
        rc = take_text(ebb_value_get(sources, "source"), &source, &n, err);
    if (!rc)
        rc = ebb__policy_load(file, source, n, &bundle, out, NULL, err);
    ebb__bundle_fini(&bundle);
    return rc;
}
