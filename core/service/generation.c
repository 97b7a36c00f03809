/* SPDX-License-Identifier: Apache-2.0 */
#include "service/generation.h"

#include <openssl/evp.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "io/file.h"
#include "service/generation_priv.h"
#include "service/objects.h"
#include "service/pass.h"

#define CONFIG_MAX_BYTES ((size_t)16 << 20)
#define VANISHED_MAX 5 /* at once, without being told so */

struct shared {
    struct ebb_generation generation; /* first: one is the other's address */
    atomic_int refs;
};

static void free_generation(struct ebb_generation *g)
{
    for (size_t i = 0; i < g->policy_count; i++)
        ebb_policy_free(g->policies[i]);
    free(g->policies);
    for (size_t i = 0; i < g->object_binding_count; i++)
        ebb__binding_fini(&g->object_bindings[i]);
    free(g->object_bindings);
    free(g->bound);
    ebb_config_free(g->config);
    free(g);
}

struct ebb_generation *ebb_generation_ref(struct ebb_generation *generation)
{
    if (generation)
        atomic_fetch_add(&((struct shared *)generation)->refs, 1);
    return generation;
}

void ebb_generation_unref(struct ebb_generation *generation)
{
    if (generation && atomic_fetch_sub(&((struct shared *)generation)->refs, 1) == 1)
        free_generation(generation);
}

const struct ebb_policy *ebb_generation_find(const struct ebb_generation *generation, const char *policy)
{
    for (size_t i = 0; i < generation->policy_count; i++)
        if (!strcmp(ebb_policy_get_name(generation->policies[i]), policy))
            return generation->policies[i];
    return NULL;
}

/* ---- loading ---- */

struct load {
    struct ebb_generation *g;
    struct ebb_diagnostics *diags;
    EVP_MD_CTX *hash;
};

/* An error that has no place yet in the diagnostics gets that of a file. */
static int tell(struct load *l, const char *file, const struct ebb_err *why, size_t errors_before)
{
    struct ebb_diagnostic d = {.file = NULL};

    if (!l->diags || l->diags->error_count > errors_before)
        return -(int)why->error;
    d.file = strdup(file);
    d.message = strdup(why->message);
    d.hint = strdup(why->hint);
    d.is_error = true;
    d.code = ebb_error_code(why->error);
    if (d.file && d.message && d.hint)
        ebb_diagnostics_add(l->diags, &d);
    free(d.file);
    free(d.message);
    free(d.hint);
    return -(int)why->error;
}

static void add_hash(struct load *l, const char *what, const char *text, size_t n)
{
    uint64_t size = n;

    EVP_DigestUpdate(l->hash, what, strlen(what) + 1);
    EVP_DigestUpdate(l->hash, &size, sizeof size);
    EVP_DigestUpdate(l->hash, text, n);
}

static int load_config(struct load *l, const char *file, struct ebb_err *err)
{
    struct ebb_buf text;
    int rc;

    if (!file)
        return ebb_config_empty(&l->g->config, err);
    ebb_buf_init(&text, CONFIG_MAX_BYTES);
    rc = ebb_file_read(file, &text, err);
    if (!rc) {
        add_hash(l, "config", ebb_buf_cstr(&text), text.len);
        rc = ebb_config_load(file, &l->g->config, err);
    }
    ebb_buf_fini(&text);
    return rc;
}

static int add_policy(struct load *l, struct ebb_policy *policy, struct ebb_err *err)
{
    struct ebb_generation *g = l->g;
    struct ebb_policy **grown = realloc(g->policies, (g->policy_count + 1) * sizeof(struct ebb_policy *));

    if (!grown) {
        ebb_policy_free(policy);
        return ebb_err_nomem(err);
    }
    g->policies = grown;
    g->policies[g->policy_count++] = policy;
    return 0;
}

static int load_policy(struct load *l, const char *file, struct ebb_err *err)
{
    struct ebb_policy *policy = NULL;
    const struct ebb_policy *same;
    size_t errors = l->diags ? l->diags->error_count : 0;
    int rc = ebb_policy_load(file, &policy, l->diags, err);

    if (rc)
        return tell(l, file, err, errors);
    same = ebb_generation_find(l->g, ebb_policy_get_name(policy));
    if (same) {
        rc = ebb_err_set(err, EBB_EPOLICY_SCHEMA, "%s: name %s is that of %s already", file,
                         ebb_policy_get_name(policy), ebb_policy_get_file(same));
        ebb_policy_free(policy);
        return tell(l, file, err, errors);
    }
    add_hash(l, "policy", ebb_policy_get_bundle(policy), strlen(ebb_policy_get_bundle(policy)));
    return add_policy(l, policy, err);
}

/* All files are looked at, so that all that is wrong is told; the first error counts. */
static int load_folder(struct load *l, struct ebb_err *err)
{
    struct ebb_strs files;
    struct ebb_err why;
    int rc = 0, one;

    if (!l->g->config->policies)
        return 0;
    ebb_strs_init(&files);
    rc = ebb_policy_files(l->g->config->policies, &files, err);
    for (size_t i = 0; i < files.count; i++) {
        memset(&why, 0, sizeof why);
        one = load_policy(l, files.items[i], &why);
        if (!one || rc)
            continue;
        rc = one;
        if (err)
            *err = why;
    }
    ebb_strs_fini(&files);
    return rc;
}

static int add_object(struct load *l, struct ebb_object_binding *object, struct ebb_err *err)
{
    struct ebb_generation *g = l->g;
    const char *name = ebb_policy_get_name(object->policy);
    const char *bundle = ebb_policy_get_bundle(object->policy);
    struct ebb_buf text;
    int rc;

    ebb_buf_init(&text, CONFIG_MAX_BYTES);
    rc = ebb__binding_describe(&object->binding, &text, err);
    if (!rc) {
        add_hash(l, name, ebb_buf_cstr(&text), text.len);
        add_hash(l, "object", bundle, strlen(bundle));
        rc = add_policy(l, object->policy, err);
        object->policy = NULL;
    }
    if (!rc) {
        g->object_bindings[g->object_binding_count++] = object->binding;
        memset(&object->binding, 0, sizeof object->binding);
    }
    ebb_buf_fini(&text);
    return rc;
}

/* A policy of the folder goes before an object of the same name: what an operator wrote into a file is not replaced
 * over the network. */
static int load_objects(struct load *l, struct ebb_store *store, struct ebb_err *err)
{
    struct ebb_object_bindings list = {NULL, 0};
    int rc;

    if (!store)
        return 0;
    rc = ebb_object_bindings_load(store, l->g->config, &list, err);
    if (!rc) {
        l->g->object_bindings = calloc(list.count + 1, sizeof *l->g->object_bindings);
        if (!l->g->object_bindings)
            rc = ebb_err_nomem(err);
    }
    for (size_t i = 0; !rc && i < list.count; i++)
        if (!ebb_generation_find(l->g, ebb_policy_get_name(list.items[i].policy)))
            rc = add_object(l, &list.items[i], err);
    ebb_object_bindings_fini(&list);
    return rc;
}

/* ---- bindings ---- */

static int check_binding(const struct ebb_policy *policy, const struct ebb_binding *binding, struct ebb_err *err)
{
    struct ebb_settings_site site;
    struct ebb_settings *settings = NULL;
    int rc;

    ebb_binding_site(binding, &site);
    rc = ebb_settings_new_bound(policy, &site, NULL, &settings, err);
    ebb_settings_free(settings);
    return rc ? ebb_err_as(err, (enum ebb_error) - rc, binding->policy) : 0;
}

static int bind(struct ebb_generation *g, const struct ebb_binding *binding, bool is_object, struct ebb_err *err)
{
    const struct ebb_policy *policy = ebb_generation_find(g, binding->policy);
    int rc;

    if (!policy)
        return ebb_err_set(err, EBB_ECONFIG, "bind: policy %s: is not in the folder of policies", binding->policy);
    rc = check_binding(policy, binding, err);
    if (!rc)
        g->bound[g->bound_count++] = (struct ebb_bound){policy, binding, is_object};
    return rc;
}

static int bind_all(struct load *l, struct ebb_err *err)
{
    struct ebb_generation *g = l->g;
    size_t errors = l->diags ? l->diags->error_count : 0;
    int rc = 0;

    g->bound = calloc(g->config->binding_count + g->object_binding_count + 1, sizeof *g->bound);
    if (!g->bound)
        return ebb_err_nomem(err);
    for (size_t i = 0; !rc && i < g->config->binding_count; i++)
        rc = bind(g, &g->config->bindings[i], false, err);
    if (rc && err)
        return tell(l, g->config->file ? g->config->file : "ebb.lua", err, errors);
    for (size_t i = 0; !rc && i < g->object_binding_count; i++)
        rc = bind(g, &g->object_bindings[i], true, err);
    return rc;
}

/* ---- what vanished ---- */

/* Whether it is one of the folder: a policy object only goes when a person disables, detaches or deletes it. */
static bool is_of_folder(const struct ebb_policy *policy)
{
    return !ebb_is_object_name(ebb_policy_get_name(policy));
}

static size_t count_folder(const struct ebb_generation *g)
{
    size_t count = 0;

    for (size_t i = 0; i < g->policy_count; i++)
        count += is_of_folder(g->policies[i]);
    return count;
}

static size_t count_vanished(const struct ebb_generation *before, const struct ebb_generation *g, struct ebb_buf *names)
{
    size_t count = 0;

    for (size_t i = 0; i < before->policy_count; i++) {
        const char *name = ebb_policy_get_name(before->policies[i]);

        if (!is_of_folder(before->policies[i]) || ebb_generation_find(g, name))
            continue;
        if (count < VANISHED_MAX)
            ebb_buf_printf(names, "%s%s", count ? ", " : "", name);
        count++;
    }
    return count;
}

static int check_vanished(const struct ebb_generation_options *o, const struct ebb_generation *g, struct ebb_err *err)
{
    struct ebb_buf names;
    size_t count, known = o->before ? count_folder(o->before) : 0;
    int rc = 0;

    if (o->force || !known)
        return 0;
    ebb_buf_init(&names, 1024);
    count = count_vanished(o->before, g, &names);
    if (count >= VANISHED_MAX || count == known) {
        rc = ebb_err_set(err, EBB_EREFUSED, "policies: %zu of %zu vanished at once: %s%s", count, known,
                         ebb_buf_cstr(&names), count > VANISHED_MAX ? ", …" : "");
        ebb_err_hint(err, "when that is meant: ebb reload --force");
    }
    ebb_buf_fini(&names);
    return rc;
}

static void end_hash(struct load *l)
{
    static const char HEX[] = "0123456789abcdef";
    unsigned char sum[EVP_MAX_MD_SIZE];
    unsigned int n = 0;
    char *out = l->g->hash + strlen("sha256:");

    memcpy(l->g->hash, "sha256:", strlen("sha256:"));
    EVP_DigestFinal_ex(l->hash, sum, &n);
    for (unsigned int i = 0; i < n && i < 32; i++) {
        *out++ = HEX[sum[i] >> 4];
        *out++ = HEX[sum[i] & 15];
    }
    *out = '\0';
}

static int load_all(struct load *l, const struct ebb_generation_options *o, struct ebb_err *err)
{
    size_t errors = l->diags ? l->diags->error_count : 0;
    int rc = load_config(l, o->config, err);

    if (rc)
        return tell(l, o->config ? o->config : "ebb.lua", err, errors);
    rc = load_folder(l, err);
    if (!rc)
        rc = load_objects(l, o->store, err);
    if (!rc)
        rc = bind_all(l, err);
    if (!rc)
        rc = check_vanished(o, l->g, err);
    return rc;
}

int ebb_generation_load(const struct ebb_generation_options *options, struct ebb_generation **out,
                        struct ebb_diagnostics *diags, struct ebb_err *err)
{
    struct shared *s = calloc(1, sizeof *s);
    struct load l = {s ? &s->generation : NULL, diags, EVP_MD_CTX_new()};
    struct ebb_err why;
    int rc;

    memset(&why, 0, sizeof why);
    *out = NULL;
    if (!s || !l.hash || !EVP_DigestInit_ex(l.hash, EVP_sha256(), NULL)) {
        EVP_MD_CTX_free(l.hash);
        free(s);
        return ebb_err_nomem(err);
    }
    atomic_init(&s->refs, 1);
    l.g->loaded_ms = options->now_ms;
    rc = load_all(&l, options, &why);
    if (!rc)
        end_hash(&l);
    EVP_MD_CTX_free(l.hash);
    if (rc) {
        free_generation(l.g);
        if (err)
            *err = why;
        return rc;
    }
    *out = l.g;
    return 0;
}
