/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <lauxlib.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/diagnose_priv.h"
#include "engine/header_priv.h"
#include "engine/policy_priv.h"

struct loading {
    struct ebb_policy *policy;
    struct ebb_value *raw;
    struct ebb_err err; /* of the conversion */
    int rc;
};

/* Body of the header phase. */
static int load_header(lua_State *L)
{
    struct loading *load = lua_touserdata(L, 1);
    struct ebb__value_rules rules = {ebb_value_limits_script(), "policy", ebb__header_copy, NULL, false};

    rules.limits.text_bytes = EBB_POLICY_SOURCE_MAX_BYTES;
    rules.data = &rules;
    ebb__header_push(L, (struct ebb_str){load->policy->source, load->policy->source_bytes});
    load->rc = ebb__value_of_lua(L, -1, &rules, &load->raw, &load->err);
    return 0;
}

static struct ebb_str source_of(const struct ebb_policy *policy)
{
    return (struct ebb_str){policy->source, policy->source_bytes};
}

static int run_header(struct ebb_policy *policy, struct loading *load, struct ebb_diagnostics *diags,
                      struct ebb_err *err)
{
    struct ebb__sandbox sb;
    struct ebb_err local;
    int line = 0, rc;

    rc = ebb__sandbox_open(&sb, EBB__PHASE_HEADER, NULL, ebb__open_policy, &local);
    if (rc)
        goto out;
    sb.bundle = &policy->bundle;
    rc = ebb__sandbox_run(&sb, load_header, load, policy->file, &line, &local);
    ebb__sandbox_close(&sb);
    if (!rc && load->rc) {
        local = load->err;
        rc = local.error == EBB_EPOLICY_RESULT ? ebb_err_as(&local, EBB_EPOLICY_SCHEMA, policy->file) : load->rc;
    }
out:
    if (rc) {
        ebb__diagnose_header(diags, policy->file, source_of(policy), &policy->bundle, line, &local);
        if (err)
            *err = local;
    }
    return rc;
}

static int check(struct ebb_policy *policy, const struct ebb_value *raw, struct ebb_diagnostics *diags,
                 struct ebb_err *err)
{
    struct ebb__places places;
    struct ebb__checker c = {
        .file = policy->file, .source = source_of(policy), .diags = diags, .error = EBB_EPOLICY_SCHEMA};

    ebb__places_init(&places, source_of(policy));
    c.places = &places;
    ebb__policy_check(&c, raw);
    ebb__places_fini(&places);
    if (!c.has_failed)
        return 0;
    if (err)
        *err = c.first;
    return -(int)EBB_EPOLICY_SCHEMA;
}

void ebb__policy_note_params(struct ebb_policy *policy)
{
    const struct ebb_value *params = ebb_value_get(policy->manifest, "params");
    size_t count = ebb_value_get_count(params);

    for (size_t i = 0; i < count && i < EBB_POLICY_PARAMS_MAX; i++)
        policy->params[i].name = ebb_value_get_key(params, i).p;
    policy->params_shape = (struct ebb__shape){"ctx.params", policy->params, count, false};
}

static void note_shapes(struct ebb_policy *policy, const struct ebb_value *raw)
{
    const struct ebb_value *triggers = ebb_value_get(raw, "triggers");

    ebb__policy_note_params(policy);
    for (size_t i = 0; i < ebb_value_get_count(triggers) && i < EBB_POLICY_TRIGGERS_MAX; i++)
        policy->trigger_lines[i] = (int)ebb_value_int_of(ebb_value_get_at(triggers, i), "line", 0);
}

/* pcall, also one of a library, hides what was read before an error. */
static int scan_movers(struct ebb_policy *policy, struct ebb_err *err)
{
    int rc = ebb__movers_scan(&policy->movers, source_of(policy), err);

    for (size_t i = 0; i < policy->bundle.count; i++)
        if (memmem(policy->bundle.libs[i].source, policy->bundle.libs[i].source_bytes, "pcall", 5))
            policy->movers.is_clear = false;
    return rc;
}

static int finish(struct ebb_policy *policy, const struct ebb_value *raw, struct ebb_err *err)
{
    struct ebb_settings *settings = NULL;
    struct ebb_buf json;
    int rc = ebb__manifest_make(raw, &policy->manifest, err);

    if (rc)
        return rc;
    note_shapes(policy, raw);
    ebb_buf_init(&json, (size_t)16 * 1024 * 1024);
    rc = ebb_value_to_json(policy->manifest, &json, err);
    if (!rc) {
        policy->manifest_json = ebb_buf_take(&json);
        rc = policy->manifest_json ? 0 : ebb_err_nomem(err);
    }
    ebb_buf_fini(&json);
    ebb__bundle_hash(&policy->bundle, source_of(policy), policy->hash);
    policy->bundle.is_closed = true;
    if (!rc)
        rc = scan_movers(policy, err);
    if (!rc)
        rc = ebb_settings_new(policy, NULL, NULL, &settings, err);
    ebb_settings_free(settings);
    return rc == -(int)EBB_ECONFIG ? ebb_err_as(err, EBB_EPOLICY_SCHEMA, policy->file) : rc;
}

/* "<file>: <name>: guard.quiet: why": at the place of what it names. */
static void report_settings(const struct ebb_policy *policy, struct ebb_diagnostics *diags, const struct ebb_err *err)
{
    struct ebb__finding f = {.file = policy->file, .is_error = true, .code = "schema.value", .hint = err->hint};
    const char *name = ebb_value_text_of(policy->manifest, "name");
    struct ebb__places places;
    char path[128];

    f.source = source_of(policy);
    f.message = ebb__diagnose_bare(err->message, policy->file, 0);
    f.message = ebb__diagnose_bare(f.message, name ? name : "", 0);
    snprintf(path, sizeof path, "%.*s", (int)strcspn(f.message, ":"), f.message);
    if (!strcmp(path, "guard.quiet"))
        f.code = "lint.always_quiet";
    ebb__places_init(&places, f.source);
    ebb__places_find(&places, path, &f.line, &f.column);
    ebb__places_fini(&places);
    ebb__diagnose(diags, &f);
}

static int load_source(struct ebb_policy *policy, struct ebb_diagnostics *diags, struct ebb_err *err)
{
    struct loading load = {.policy = policy};
    struct ebb_err local;
    int rc = ebb__diagnose_source(diags, policy->file, source_of(policy), err);

    if (!rc)
        rc = run_header(policy, &load, diags, err);
    if (!rc)
        rc = check(policy, load.raw, diags, err);
    if (rc)
        goto out;
    rc = finish(policy, load.raw, &local);
    if (rc) {
        report_settings(policy, diags, &local);
        if (err)
            *err = local;
    }
out:
    ebb_value_free(load.raw);
    return rc;
}

int ebb__policy_load(const char *file, char *source, size_t n, struct ebb__bundle *libs, struct ebb_policy **out,
                     struct ebb_diagnostics *diags, struct ebb_err *err)
{
    struct ebb_policy *policy = calloc(1, sizeof *policy);
    int rc;

    *out = NULL;
    if (!policy || !source) {
        free(policy);
        free(source);
        if (libs)
            ebb__bundle_fini(libs);
        return ebb_err_nomem(err);
    }
    policy->source = source;
    policy->source_bytes = n;
    policy->file = strdup(file);
    rc = policy->file ? 0 : ebb_err_nomem(err);
    if (libs) {
        policy->bundle = *libs;
        memset(libs, 0, sizeof *libs);
    } else if (!rc)
        rc = ebb__bundle_init(&policy->bundle, file, err);
    if (!rc)
        rc = load_source(policy, diags, err);
    if (rc)
        ebb_policy_free(policy);
    else
        *out = policy;
    return rc;
}

int ebb_policy_load_text(const char *file, const char *source, size_t n, struct ebb_policy **out,
                         struct ebb_diagnostics *diags, struct ebb_err *err)
{
    char *copy = n <= EBB_POLICY_SOURCE_MAX_BYTES ? malloc(n + 1) : NULL;

    *out = NULL;
    if (n > EBB_POLICY_SOURCE_MAX_BYTES)
        return ebb__diagnose_source(diags, file, (struct ebb_str){source, n}, err);
    if (copy) {
        memcpy(copy, source, n);
        copy[n] = '\0';
    }
    return ebb__policy_load(file, copy, n, NULL, out, diags, err);
}

int ebb_policy_load(const char *file, struct ebb_policy **out, struct ebb_diagnostics *diags, struct ebb_err *err)
{
    char *source;
    size_t n;
    struct ebb_err local;
    int rc = ebb__source_read(AT_FDCWD, file, file, 0, &source, &n, &local);

    *out = NULL;
    if (!rc)
        return ebb__policy_load(file, source, n, NULL, out, diags, err);
    ebb__diagnose_unread(diags, file, &local);
    if (err)
        *err = local;
    return rc;
}

void ebb_policy_free(struct ebb_policy *policy)
{
    if (!policy)
        return;
    ebb_value_free(policy->manifest);
    free(policy->manifest_json);
    ebb__movers_fini(&policy->movers);
    ebb__bundle_fini(&policy->bundle);
    free(policy->source);
    free(policy->file);
    free(policy);
}

const char *ebb_policy_get_file(const struct ebb_policy *policy)
{
    return policy->file;
}

const char *ebb_policy_get_name(const struct ebb_policy *policy)
{
    return ebb_value_text_of(policy->manifest, "name");
}

const char *ebb_policy_get_bundle(const struct ebb_policy *policy)
{
    return policy->hash;
}

const struct ebb_value *ebb_policy_get_manifest(const struct ebb_policy *policy)
{
    return policy->manifest;
}

const char *ebb_policy_get_manifest_json(const struct ebb_policy *policy)
{
    return policy->manifest_json;
}

const char *ebb_policy_get_was(const struct ebb_policy *policy)
{
    return ebb_value_text_of(policy->manifest, "was");
}
