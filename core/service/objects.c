/* SPDX-License-Identifier: Apache-2.0 */
#include "service/objects.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/location.h"
#include "service/generation_priv.h"
#include "service/pass.h"

#define NAME_MAX_BYTES ((size_t)63)
#define CUT_BYTES ((size_t)36)
#define DAYS_MAX 36500
#define TERMS_MAX_BYTES ((size_t)1 << 20)
#define POLICY_FILE "policies/iceberg_orphan_file_removal.lua"

static void encode(const char *name, struct ebb_buf *out)
{
    for (const char *p = name; *p; p++) {
        unsigned char c = (unsigned char)*p;

        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("._-", *p))
            ebb_buf_putc(out, *p);
        else
            ebb_buf_printf(out, "%%%02X", c);
    }
}

static void put_name(const char *prefix, const char *name, int64_t number, struct ebb_buf *out)
{
    struct ebb_buf text;

    ebb_buf_init(&text, (size_t)1024 * 1024);
    encode(name, &text);
    ebb_buf_puts(out, prefix);
    if (!text.bad && text.len <= NAME_MAX_BYTES - strlen(prefix))
        ebb_buf_add_str(out, ebb_buf_str(&text));
    else
        ebb_buf_printf(out, "%.*s~%" PRId64, (int)(text.len < CUT_BYTES ? text.len : CUT_BYTES), ebb_buf_cstr(&text),
                       number);
    ebb_buf_fini(&text);
}

void ebb_object_policy_name(const char *name, int64_t number, struct ebb_buf *out)
{
    put_name(EBB_OBJECT_PREFIX, name, number, out);
}

void ebb_remote_policy_name(const char *name, int64_t number, struct ebb_buf *out)
{
    put_name(EBB_REMOTE_PREFIX, name, number, out);
}

static bool is_remote_name(const char *policy)
{
    return !strncmp(policy, EBB_REMOTE_PREFIX, strlen(EBB_REMOTE_PREFIX));
}

bool ebb_is_object_name(const char *policy)
{
    return is_remote_name(policy) || !strncmp(policy, EBB_OBJECT_PREFIX, strlen(EBB_OBJECT_PREFIX));
}

static void name_of(const struct ebb_object *object, const char *name, struct ebb_buf *out)
{
    if (object->kind == EBB_OBJECT_REMOTE_POLICY)
        ebb_remote_policy_name(name, object->number, out);
    else
        ebb_object_policy_name(name, object->number, out);
}

bool ebb_object_runs(const char *type)
{
    return !strcmp(type, EBB_OBJECT_ORPHANS);
}

/* ---- content ---- */

static int check_location(const char *location, struct ebb_err *err)
{
    struct ebb_buf normal;
    int rc;

    ebb_buf_init(&normal, EBB_LOCATION_MAX_BYTES);
    rc = ebb_location_check_table(location, err);
    if (!rc)
        rc = ebb_location_normalise(location, strlen(location), &normal, err);
    ebb_buf_fini(&normal);
    return rc ? ebb_err_as(err, EBB_EUSAGE, "location") : 0;
}

static int check_days(int64_t days, const struct ebb_config *config, struct ebb_err *err)
{
    if (days < 0 || days > DAYS_MAX)
        return ebb_err_set(err, EBB_EUSAGE, "olderThanDays must be between 0 and %d", DAYS_MAX);
    if (days == 0 && config && !config->below_floor.count)
        return ebb_err_set(err, EBB_EUSAGE,
                           "olderThanDays 0 is accepted only where the configuration sets allow_below_floor");
    return 0;
}

static int check_kinds(const struct ebb_value *content, struct ebb_err *err)
{
    static const struct {
        const char *key;
        enum ebb_value_kind kind;
    } MEMBERS[] = {{"olderThanDays", EBB_VALUE_INT}, {"location", EBB_VALUE_STRING}, {"dryRun", EBB_VALUE_BOOL}};

    for (size_t i = 0; i < ebb_value_get_count(content); i++) {
        const char *key = ebb_value_get_key(content, i).p;
        size_t m = 0;

        while (m < 3 && strcmp(MEMBERS[m].key, key) != 0)
            m++;
        if (m == 3)
            return ebb_err_set(err, EBB_EUSAGE, "Unrecognized field \"%s\"", key);
        if (ebb_value_get_kind(ebb_value_get_at(content, i)) != MEMBERS[m].kind)
            return ebb_err_set(err, EBB_EUSAGE, "%s: a %s is wanted", key, ebb_value_kind_name(MEMBERS[m].kind));
    }
    return 0;
}

int ebb_object_orphan_content(const struct ebb_value *content, const struct ebb_config *config, struct ebb_value **out,
                              struct ebb_err *err)
{
    const char *location = ebb_value_text_of(content, "location");
    int rc = check_kinds(content, err);

    *out = NULL;
    if (!rc)
        rc = check_days(ebb_value_int_of(content, "olderThanDays", 3), config, err);
    if (!rc && location)
        rc = check_location(location, err);
    if (rc)
        return rc;
    *out = ebb_value_new_map(NULL);
    ebb_value_put_int(*out, "olderThanDays", ebb_value_int_of(content, "olderThanDays", 3));
    ebb_value_put_str(*out, "location", location);
    ebb_value_put_bool(*out, "dryRun", ebb_value_bool_of(content, "dryRun", false));
    rc = ebb_value_check(*out, "content", err);
    if (rc) {
        ebb_value_free(*out);
        *out = NULL;
    }
    return rc;
}

/* ---- whether one may run ---- */

struct look_up {
    const char *policy;
    ebb_object_cb *cb;
    void *data;
    bool is_found;
};

static int look_up(void *data, const struct ebb_object *object, struct ebb_err *err)
{
    struct look_up *l = data;
    struct ebb_buf name;
    int rc = 0;

    ebb_buf_init(&name, 256);
    name_of(object, object->name, &name);
    if (!name.bad && !strcmp(ebb_buf_cstr(&name), l->policy)) {
        l->is_found = true;
        rc = l->cb(l->data, object, err);
    }
    ebb_buf_fini(&name);
    return rc;
}

static int find(struct ebb_store *store, const char *policy, ebb_object_cb *cb, void *data, bool *found,
                struct ebb_err *err)
{
    struct look_up l = {policy, cb, data, false};
    int rc = ebb_store_list_objects(store, is_remote_name(policy) ? EBB_OBJECT_REMOTE_POLICY : EBB_OBJECT_POLICY,
                                    look_up, &l, err);

    *found = l.is_found;
    return rc;
}

static int read_enabled(void *data, const struct ebb_object *object, struct ebb_err *err)
{
    struct ebb_value *json = NULL;
    int rc = ebb_value_of_json(object->name, object->json, strlen(object->json), NULL, &json, err);

    *(bool *)data = !rc && ebb_value_bool_of(json, "enabled", false);
    ebb_value_free(json);
    return rc;
}

int ebb_object_check_enabled(struct ebb_store *store, const char *policy, struct ebb_err *err)
{
    bool is_enabled = false, found;
    int rc;

    if (!ebb_is_object_name(policy))
        return 0;
    rc = find(store, policy, read_enabled, &is_enabled, &found, err);
    if (rc || is_enabled)
        return rc;
    return ebb_err_set(err, EBB_EREFUSED, "policy %s: is disabled or was deleted meanwhile", policy);
}

int ebb_remote_policy_find(struct ebb_store *store, const char *policy, ebb_object_cb *cb, void *data,
                           struct ebb_err *err)
{
    bool found = false;
    int rc = is_remote_name(policy) ? find(store, policy, cb, data, &found, err) : 0;

    return rc || found ? rc : ebb_err_set(err, EBB_ENOT_FOUND, "policy %s: there is no such one", policy);
}

/* ---- bindings ---- */

void ebb_object_bindings_fini(struct ebb_object_bindings *list)
{
    for (size_t i = 0; i < list->count; i++) {
        ebb_policy_free(list->items[i].policy);
        ebb__binding_fini(&list->items[i].binding);
    }
    free(list->items);
    memset(list, 0, sizeof *list);
}

struct load {
    struct ebb_store *store;
    const struct ebb_config *config;
    struct ebb_object_bindings *list;
};

static int corrupt(const struct ebb_object *object, const char *why, struct ebb_err *err)
{
    return ebb_err_set(err, EBB_ECORRUPT, "policy object %s: %s", object->name, why);
}

/* "schema lake.shop" and so on as a glob of tables. */
static int add_glob(const char *tie, struct ebb_strs *tables, struct ebb_err *err)
{
    const char *name = strchr(tie, ' ');
    struct ebb_buf glob;
    int rc;

    if (!name || strpbrk(name, "*?")) /* a name, not a pattern */
        return 0;
    ebb_buf_init(&glob, 65536);
    ebb_buf_puts(&glob, name + 1);
    if (!strncmp(tie, "table ", 6))
        ;
    else if (!strncmp(tie, "catalog ", 8) || !strncmp(tie, "schema ", 7))
        ebb_buf_puts(&glob, ".**");
    else
        ebb_buf_reset(&glob);
    rc = ebb_buf_check(&glob, "tie", err);
    if (!rc && glob.len)
        rc = ebb_strs_add(tables, ebb_buf_cstr(&glob), err);
    ebb_buf_fini(&glob);
    return rc;
}

static int fill_tables(const struct load *l, const struct ebb_object *object, struct ebb_strs *tables,
                       struct ebb_err *err)
{
    struct ebb_strs ties;
    int rc;

    ebb_strs_init(&ties);
    rc = ebb_store_object_ties(l->store, object->kind, object->name, &ties, err);
    for (size_t i = 0; !rc && i < ties.count; i++)
        rc = add_glob(ties.items[i], tables, err);
    ebb_strs_fini(&ties);
    return rc;
}

static int load_policy(const struct ebb_object *object, const struct ebb_value *json, struct ebb_policy **out,
                       struct ebb_err *err)
{
    const char *former = ebb_value_text_of(json, "was");
    struct ebb_buf file, name, was;
    int rc;

    ebb_buf_init(&file, 65536);
    ebb_buf_init(&name, 256);
    ebb_buf_init(&was, 256);
    ebb_pass_data_dir(&file);
    ebb_buf_puts(&file, "/" POLICY_FILE);
    name_of(object, object->name, &name);
    if (former)
        name_of(object, former, &was);
    rc = ebb_buf_check(&file, "built-in policy", err);
    if (!rc)
        rc = ebb_policy_load(ebb_buf_cstr(&file), out, NULL, err);
    if (!rc)
        rc = ebb_policy_set_name(*out, ebb_buf_cstr(&name), former ? ebb_buf_cstr(&was) : NULL, err);
    ebb_buf_fini(&was);
    ebb_buf_fini(&name);
    ebb_buf_fini(&file);
    return rc;
}

/* What only remote ones say: who does it, and how far apart. */
static int fill_remote(const struct ebb_value *json, struct ebb_binding *binding, struct ebb_err *err)
{
    const char *engine = ebb_value_text_of(json, "engine");
    int64_t hours = ebb_value_int_of(json, "interval_hours", 0);
    struct ebb_value *guard;
    char text[32];

    binding->engine = engine ? ebb_job_engine_of(engine) : EBB_JOB_NATIVE;
    if (binding->engine == EBB_JOB_ENGINES)
        return ebb_err_set(err, EBB_ECORRUPT, "policy object: engine %s is not known", engine);
    if (!hours)
        return 0;
    guard = ebb_value_new_map(NULL);
    snprintf(text, sizeof text, "%" PRId64 "h", hours);
    ebb_value_put_str(guard, "min_interval", text);
    binding->guard = guard;
    return ebb_value_check(guard, "guard", err);
}

/* All but where it is tied. */
static int fill_terms(const struct ebb_object *object, const struct ebb_value *json, struct ebb_binding *out,
                      struct ebb_err *err)
{
    struct ebb_value *params = NULL;
    int rc = ebb_object_orphan_content(ebb_value_get(json, "content"), NULL, &params, err);

    if (rc)
        return rc == -(int)EBB_EUSAGE ? corrupt(object, "its content can't be read", err) : rc;
    out->params = params;
    out->mode = ebb_value_bool_of(params, "dryRun", false) ? EBB_BIND_APPROVE : EBB_BIND_ENFORCE;
    return fill_remote(json, out, err);
}

static int fill(const struct load *l, const struct ebb_object *object, const struct ebb_value *json,
                struct ebb_object_binding *out, struct ebb_err *err)
{
    int rc = fill_terms(object, json, &out->binding, err);

    if (!rc)
        rc = fill_tables(l, object, &out->binding.tables, err);
    if (rc || !out->binding.tables.count)
        return rc;
    rc = load_policy(object, json, &out->policy, err);
    if (rc)
        return rc;
    out->binding.policy = strdup(ebb_policy_get_name(out->policy));
    return out->binding.policy ? 0 : ebb_err_nomem(err);
}

/* One that is tied to nothing is dropped again. */
static int add(const struct load *l, const struct ebb_object *object, const struct ebb_value *json, struct ebb_err *err)
{
    struct ebb_object_bindings *list = l->list;
    struct ebb_object_binding *items = realloc(list->items, (list->count + 1) * sizeof *items);
    int rc;

    if (!items)
        return ebb_err_nomem(err);
    list->items = items;
    memset(&items[list->count], 0, sizeof *items);
    rc = fill(l, object, json, &items[list->count], err);
    if (rc || !items[list->count].policy) {
        ebb_policy_free(items[list->count].policy);
        ebb__binding_fini(&items[list->count].binding);
        return rc;
    }
    list->count++;
    return 0;
}

/* The image of what a server keeps counts as long as there is that server. */
static bool is_served(const struct ebb_config *config, const struct ebb_object *object)
{
    const char *dot = strchr(object->name, '.');

    if (object->kind != EBB_OBJECT_REMOTE_POLICY)
        return true;
    for (size_t i = 0; dot && i < config->catalog_count; i++) {
        const struct ebb_config_catalog *c = &config->catalogs[i];

        if (!strcmp(c->type, "gravitino") && strlen(c->name) == (size_t)(dot - object->name) &&
            !strncmp(c->name, object->name, strlen(c->name)))
            return true;
    }
    return false;
}

static int on_object(void *data, const struct ebb_object *object, struct ebb_err *err)
{
    struct load *l = data;
    struct ebb_value *json = NULL;
    const char *type;
    int rc = ebb_value_of_json(object->name, object->json, strlen(object->json), NULL, &json, err);

    if (rc == -(int)EBB_ENOMEM)
        return rc;
    type = ebb_value_text_of(json, "policyType");
    if (rc || !type)
        rc = corrupt(object, "can't be read", err);
    else if (ebb_value_bool_of(json, "enabled", false) && ebb_object_runs(type) && is_served(l->config, object))
        rc = add(l, object, json, err);
    ebb_value_free(json);
    return rc;
}

int ebb_object_bindings_load(struct ebb_store *store, const struct ebb_config *config, struct ebb_object_bindings *out,
                             struct ebb_err *err)
{
    struct load l = {.store = store, .config = config, .list = out};
    int rc;

    memset(out, 0, sizeof *out);
    rc = ebb_store_list_objects(store, EBB_OBJECT_POLICY, on_object, &l, err);
    if (!rc)
        rc = ebb_store_list_objects(store, EBB_OBJECT_REMOTE_POLICY, on_object, &l, err);
    if (rc)
        ebb_object_bindings_fini(out);
    return rc;
}

/* ---- whether what is in force is what is stored ---- */

static int describe_terms(const struct ebb_binding *binding, struct ebb_buf *out, struct ebb_err *err)
{
    struct ebb_binding terms = *binding;

    memset(&terms.tables, 0, sizeof terms.tables);
    return ebb__binding_describe(&terms, out, err);
}

struct comparison {
    const struct ebb_binding *binding; /* in force */
    bool is_same;
};

static int compare(void *data, const struct ebb_object *object, struct ebb_err *err)
{
    struct comparison *c = data;
    struct ebb_value *json = NULL;
    struct ebb_binding stored;
    struct ebb_buf was, is;
    int rc = ebb_value_of_json(object->name, object->json, strlen(object->json), NULL, &json, err);

    memset(&stored, 0, sizeof stored);
    ebb_buf_init(&was, TERMS_MAX_BYTES);
    ebb_buf_init(&is, TERMS_MAX_BYTES);
    if (!rc)
        rc = fill_terms(object, json, &stored, err);
    if (!rc)
        rc = describe_terms(c->binding, &was, err);
    if (!rc)
        rc = describe_terms(&stored, &is, err);
    c->is_same = !rc && ebb_str_is_equal(ebb_buf_str(&was), ebb_buf_str(&is));
    ebb_buf_fini(&is);
    ebb_buf_fini(&was);
    ebb__binding_fini(&stored);
    ebb_value_free(json);
    return rc;
}

int ebb_object_check_current(struct ebb_store *store, const struct ebb_generation *generation, const char *policy,
                             struct ebb_err *err)
{
    struct comparison c = {NULL, false};
    bool found;
    int rc = 0;

    if (!ebb_is_object_name(policy))
        return 0;
    for (size_t i = 0; i < generation->object_binding_count; i++)
        if (!strcmp(generation->object_bindings[i].policy, policy))
            c.binding = &generation->object_bindings[i];
    if (c.binding)
        rc = find(store, policy, compare, &c, &found, err);
    if (rc || c.is_same)
        return rc;
    ebb_err_set(err, EBB_EREFUSED, "policy %s: was changed since the policies in use were loaded", policy);
    ebb_err_hint(err, "ebb status tells whether a reload failed; ebb reload tries again");
    if (err)
        err->retryable = true;
    return -(int)EBB_EREFUSED;
}
