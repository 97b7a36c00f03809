/* SPDX-License-Identifier: Apache-2.0 */
#include "service/metalake_policies.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "service/objects.h"

#define TEXT_MAX ((size_t)1 << 20)

/* One policy while it is read. */
struct reading {
    const struct ebb_config *config;
    const char *catalog; /* here */
    const char *remote;  /* there */
    const struct ebb_value *policy;
    char problem[300];
    const char *engine;
    int64_t interval_hours;
    struct ebb_strs ties, ignored;
    struct ebb_buf json;
};

static void reading_fini(struct reading *r)
{
    ebb_strs_fini(&r->ties);
    ebb_strs_fini(&r->ignored);
    ebb_buf_fini(&r->json);
}

static void reading_init(struct reading *r, const struct ebb_config *config, const char *catalog, const char *remote,
                         const struct ebb_value *policy)
{
    memset(r, 0, sizeof *r);
    r->config = config;
    r->catalog = catalog;
    r->remote = remote;
    r->policy = policy;
    r->engine = "native";
    ebb_strs_init(&r->ties);
    ebb_strs_init(&r->ignored);
    ebb_buf_init(&r->json, TEXT_MAX);
}

/* The first counts. */
static void complain(struct reading *r, const char *what, const char *why)
{
    if (!r->problem[0])
        snprintf(r->problem, sizeof r->problem, "%.100s: %.180s", what, why);
}

/* ---- content ---- */

static bool is_type(const struct reading *r, const char *type)
{
    const char *have = ebb_value_text_of(r->policy, "policyType");

    return have && !strcasecmp(have, type);
}

static const struct ebb_value *properties_of(const struct reading *r)
{
    return ebb_value_get(ebb_value_get(r->policy, "content"), "properties");
}

static bool is_ours(const struct reading *r)
{
    const char *strategy = ebb_value_text_of(properties_of(r), "strategy.type");

    return is_type(r, EBB_OBJECT_ORPHANS) ||
           (is_type(r, EBB_OBJECT_CUSTOM) && strategy && !strcmp(strategy, EBB_METALAKE_STRATEGY));
}

static void take_interval(struct reading *r, const struct ebb_value *value)
{
    r->interval_hours = ebb_value_get_int(value, 0);
    if (r->interval_hours < EBB_OBJECT_INTERVAL_MIN_H || r->interval_hours > 24 * 3650)
        complain(r, "interval-hours", "a number from 120 on is wanted: ebb lets five days pass at least");
}

/* The template that it names must be the one by which the server runs ebb itself: any other would delete otherwise. */
static void take_template(struct reading *r, const struct ebb_value *value)
{
    const char *ours = r->config->engines.gravitino.template, *name = ebb_value_get_str(value);

    if (!value)
        return;
    r->engine = "gravitino";
    if (!name || strcmp(name, ours ? ours : EBB_JOB_TEMPLATE) != 0)
        complain(r, "job.template-name", "is not the job template that ebb registers");
}

static bool is_map(const struct ebb_value *value)
{
    return ebb_value_get_kind(value) == EBB_VALUE_MAP;
}

/* What can't be read would otherwise be as if it were not there. */
static void check_kinds(struct reading *r)
{
    const struct ebb_value *content = ebb_value_get(r->policy, "content");
    const struct ebb_value *rules = ebb_value_get(content, "customRules"), *properties = properties_of(r);
    const struct ebb_value *types = ebb_value_get(content, "supportedObjectTypes");

    if (!is_map(content))
        complain(r, "content", "is missing, or no object");
    else if (is_type(r, EBB_OBJECT_CUSTOM) && rules && !is_map(rules))
        complain(r, "customRules", "is no object");
    else if (properties && !is_map(properties))
        complain(r, "properties", "is no object");
    if (types ? !ebb_value_get_count(types) : is_type(r, EBB_OBJECT_CUSTOM))
        complain(r, "supportedObjectTypes", "names none");
    for (size_t i = 0; i < ebb_value_get_count(types); i++)
        if (is_map(types) || !ebb_value_get_str(ebb_value_get_at(types, i)))
            complain(r, "supportedObjectTypes", "is no list of texts");
}

/* The members of the orphan removal, as the system type has them; all else must be known, too. */
static struct ebb_value *gather(struct reading *r)
{
    static const char *const KNOWN[] = {"olderThanDays", "location", "dryRun"};
    bool is_custom = is_type(r, EBB_OBJECT_CUSTOM);
    const struct ebb_value *content = ebb_value_get(r->policy, "content");
    const struct ebb_value *rules = is_custom ? ebb_value_get(content, "customRules") : content;
    struct ebb_value *out = ebb_value_new_map(NULL);

    check_kinds(r);
    for (size_t i = 0; is_map(rules) && i < ebb_value_get_count(rules); i++) {
        const char *key = ebb_value_get_key(rules, i).p;
        size_t k = 0;

        while (k < 3 && strcmp(KNOWN[k], key) != 0)
            k++;
        if (k < 3)
            ebb_value_put_copy(out, key, ebb_value_get_at(rules, i));
        else if (is_custom && !strcmp(key, "interval-hours"))
            take_interval(r, ebb_value_get_at(rules, i));
        else if (is_custom || (strcmp(key, "supportedObjectTypes") && strcmp(key, "properties")))
            complain(r, key, "is not known to ebb, which does not guess");
    }
    if (is_custom)
        take_template(r, ebb_value_get(properties_of(r), "job.template-name"));
    return out;
}

static int write_json(struct reading *r, const struct ebb_value *content, struct ebb_err *err)
{
    struct ebb_value *out = ebb_value_new_map(NULL);
    int rc;

    ebb_value_put_str(out, "policyType", EBB_OBJECT_ORPHANS);
    ebb_value_put_str(out, "remote", ebb_value_text_of(r->policy, "name"));
    ebb_value_put_bool(out, "enabled", ebb_value_bool_of(r->policy, "enabled", false) && !r->problem[0]);
    ebb_value_put_str(out, "engine", r->engine);
    ebb_value_put_str(out, "problem", r->problem[0] ? r->problem : NULL);
    if (r->interval_hours)
        ebb_value_put_int(out, "interval_hours", r->interval_hours);
    ebb_value_put_copy(out, "content", content);
    rc = ebb_value_check(out, "policy", err);
    if (!rc)
        rc = ebb_value_to_json(out, &r->json, err);
    ebb_value_free(out);
    return rc;
}

static int judge(struct reading *r, struct ebb_err *err)
{
    struct ebb_value *content = NULL, *given = gather(r);
    struct ebb_err why;
    int rc = ebb_value_check(given, "policy", err);

    if (!rc) {
        rc = ebb_object_orphan_content(given, r->config, &content, &why);
        if (rc == -(int)EBB_EUSAGE || rc == -(int)EBB_EUNSUPPORTED) {
            complain(r, "content", why.message);
            rc = 0;
        } else if (rc && err) {
            *err = why;
        }
    }
    if (!rc)
        rc = write_json(r, content, err);
    ebb_value_free(content);
    ebb_value_free(given);
    return rc;
}

/* ---- where it is tied ---- */

static bool supports(const struct reading *r, const char *type)
{
    const struct ebb_value *types = ebb_value_get(ebb_value_get(r->policy, "content"), "supportedObjectTypes");

    for (size_t i = 0; i < ebb_value_get_count(types); i++) {
        const char *one = ebb_value_get_str(ebb_value_get_at(types, i));

        if (one && !strcasecmp(one, type))
            return true;
    }
    return !ebb_value_get_count(types);
}

static int ignore_tie(struct reading *r, const char *type, const char *name, const char *why, struct ebb_err *err)
{
    struct ebb_buf text;
    int rc;

    ebb_buf_init(&text, TEXT_MAX);
    ebb_buf_printf(&text, "%s %s: %s", type, name, why);
    rc = ebb_buf_check(&text, "tie", err);
    if (!rc)
        rc = ebb_strs_add(&r->ignored, ebb_buf_cstr(&text), err);
    ebb_buf_fini(&text);
    return rc;
}

/* rest: what follows the catalog's name, ".shop.orders". */
static bool is_place(const char *type, const char *rest)
{
    size_t dots = 0, wanted = !strcasecmp(type, "table") ? 2 : !strcasecmp(type, "schema") ? 1 : 0;

    for (const char *p = rest; *p; p++) {
        if (*p == '.' && (!p[1] || p[1] == '.'))
            return false;
        dots += *p == '.';
    }
    return wanted ? dots >= wanted : !dots;
}

/* "lakehouse.shop.orders" there is "grav.shop.orders" here; other catalogs are none of ours. */
static int take_tie(struct reading *r, const char *type, const char *name, struct ebb_err *err)
{
    size_t n = strlen(r->remote);
    struct ebb_buf place;
    int rc;

    if (strncmp(name, r->remote, n) != 0 || (name[n] && name[n] != '.'))
        return 0;
    if (strcasecmp(type, "catalog") && strcasecmp(type, "schema") && strcasecmp(type, "table"))
        return ignore_tie(r, type, name, "ebb keeps tables only", err);
    if (!supports(r, type))
        return ignore_tie(r, type, name, "the policy's supportedObjectTypes do not name this type", err);
    if (strpbrk(name, "*?"))
        return ignore_tie(r, type, name, "a name with '*' or '?' can't be told from a pattern", err);
    if (!is_place(type, name + n))
        return ignore_tie(r, type, name, "is no name of such an object", err);
    ebb_buf_init(&place, TEXT_MAX);
    for (const char *p = type; *p; p++)
        ebb_buf_putc(&place, (char)(*p >= 'A' && *p <= 'Z' ? *p + 32 : *p));
    ebb_buf_printf(&place, " %s%s", r->catalog, name + n);
    rc = ebb_buf_check(&place, "tie", err);
    if (!rc && !ebb_strs_has(&r->ties, ebb_buf_cstr(&place)))
        rc = ebb_strs_add(&r->ties, ebb_buf_cstr(&place), err);
    ebb_buf_fini(&place);
    return rc;
}

/* One that was dropped meanwhile is tied to nothing. */
static int read_ties(struct reading *r, struct ebb_gravitino *g, struct ebb_err *err)
{
    struct ebb_gravitino_call call = {.what = "objects of a policy"};
    const struct ebb_value *objects;
    struct ebb_value *answer = NULL;
    struct ebb_buf path;
    int rc;

    ebb_buf_init(&path, TEXT_MAX);
    ebb_buf_puts(&path, "/policies");
    ebb_gravitino_segment(&path, ebb_value_text_of(r->policy, "name"));
    ebb_buf_puts(&path, "/objects");
    rc = ebb_buf_check(&path, call.what, err);
    call.path = ebb_buf_cstr(&path);
    if (!rc)
        rc = ebb_metalake_ask(g, &call, "metadataObjects", &answer, err);
    if (rc == -(int)EBB_ENOT_FOUND && !strcmp(call.type, "NoSuchPolicyException"))
        rc = 0;
    objects = ebb_value_get(answer, "metadataObjects");
    for (size_t i = 0; !rc && i < ebb_value_get_count(objects); i++) {
        const char *type = ebb_value_text_of(ebb_value_get_at(objects, i), "type");
        const char *name = ebb_value_text_of(ebb_value_get_at(objects, i), "fullName");

        rc = type && name ? take_tie(r, type, name, err)
                          : ebb_err_set(err, EBB_ECATALOG, "objects of a policy: the server's answer names no object");
    }
    ebb_strs_sort(&r->ties);
    ebb_value_free(answer);
    ebb_buf_fini(&path);
    return rc;
}

/* ---- all of them ---- */

static int tell(struct reading *r, struct ebb_gravitino *g, ebb_metalake_policy_cb *cb, void *data, struct ebb_err *err)
{
    struct ebb_metalake_policy out = {.name = ebb_value_text_of(r->policy, "name"),
                                      .type = ebb_value_text_of(r->policy, "policyType"),
                                      .is_enabled = ebb_value_bool_of(r->policy, "enabled", false),
                                      .is_ours = is_ours(r),
                                      .ties = &r->ties,
                                      .ignored = &r->ignored};
    int rc = 0;

    if (!out.name || !out.name[0] || !out.type)
        return ebb_err_set(err, EBB_ECATALOG, "policies: the server's answer has one without name or type");
    if (out.is_ours)
        rc = judge(r, err);
    if (!rc && out.is_ours)
        rc = read_ties(r, g, err);
    out.problem = r->problem[0] ? r->problem : NULL;
    out.engine = r->engine;
    out.json = ebb_buf_cstr(&r->json);
    return rc ? rc : cb(data, &out, err);
}

static int by_name(const void *a, const void *b)
{
    const char *x = ebb_value_text_of(*(const struct ebb_value *const *)a, "name");
    const char *y = ebb_value_text_of(*(const struct ebb_value *const *)b, "name");

    return strcmp(x ? x : "", y ? y : "");
}

static int tell_all(struct ebb_workspace *ws, struct ebb_gravitino *g, const char *catalog,
                    const struct ebb_value *policies, ebb_metalake_policy_cb *cb, void *data, struct ebb_err *err)
{
    size_t count = ebb_value_get_count(policies);
    const struct ebb_value **sorted = calloc(count + 1, sizeof(struct ebb_value *));
    int rc = sorted ? 0 : ebb_err_nomem(err);

    for (size_t i = 0; sorted && i < count; i++)
        sorted[i] = ebb_value_get_at(policies, i);
    if (sorted)
        qsort(sorted, count, sizeof(struct ebb_value *), by_name);
    for (size_t i = 0; !rc && i < count; i++) {
        struct reading r;

        reading_init(&r, ebb_workspace_config(ws), catalog, ebb_gravitino_catalog(g), sorted[i]);
        rc = tell(&r, g, cb, data, err);
        reading_fini(&r);
    }
    free(sorted);
    return rc;
}

int ebb_metalake_each_policy(struct ebb_workspace *ws, struct ebb_gravitino *g, const char *catalog,
                             ebb_metalake_policy_cb *cb, void *data, struct ebb_err *err)
{
    struct ebb_gravitino_call call = {.path = "/policies?details=true", .what = "policies"};
    struct ebb_value *answer = NULL;
    int rc = ebb_metalake_ask(g, &call, "policies", &answer, err);

    if (!rc)
        rc = tell_all(ws, g, catalog, ebb_value_get(answer, "policies"), cb, data, err);
    ebb_value_free(answer);
    return rc;
}

/* ---- the image in the store ---- */

struct sync {
    const char *catalog;
    struct ebb_metalake_synced *out;
    struct ebb_object_image *images;
    struct ebb_strs *ties; /* of each */
    size_t cap;
    struct ebb_strs texts; /* name, JSON */
    struct ebb_buf prefix; /* of the names */
};

static int grow(struct sync *s, struct ebb_err *err)
{
    size_t cap = s->cap ? 2 * s->cap : 64;
    struct ebb_strs *ties = realloc(s->ties, cap * sizeof *ties);

    if (!ties)
        return ebb_err_nomem(err);
    s->ties = ties;
    s->cap = cap;
    return 0;
}

static int keep(void *data, const struct ebb_metalake_policy *p, struct ebb_err *err)
{
    struct sync *s = data;
    struct ebb_strs *ties;
    struct ebb_buf name;
    int rc;

    if (!p->is_ours)
        return 0;
    if (s->out->policies == s->cap && grow(s, err))
        return -(int)EBB_ENOMEM;
    ebb_buf_init(&name, TEXT_MAX);
    ebb_buf_printf(&name, "%s.%s", s->catalog, p->name);
    rc = ebb_buf_check(&name, "policy", err);
    if (!rc)
        rc = ebb_strs_add(&s->texts, ebb_buf_cstr(&name), err);
    if (!rc)
        rc = ebb_strs_add(&s->texts, p->json, err);
    ties = &s->ties[s->out->policies++];
    ebb_strs_init(ties);
    for (size_t i = 0; !rc && i < p->ties->count; i++)
        rc = ebb_strs_add(ties, p->ties->items[i], err);
    s->out->running += p->is_enabled && !p->problem && p->ties->count;
    ebb_buf_fini(&name);
    return rc;
}

static int count_changes(struct ebb_workspace *ws, struct sync *s, struct ebb_err *err)
{
    return ebb_store_count_mirrored(ebb_workspace_site(ws)->store, ebb_buf_cstr(&s->prefix), &s->out->changes, err);
}

static int mirror(struct ebb_workspace *ws, struct sync *s, bool is_dry, struct ebb_err *err)
{
    const struct ebb_site *site = ebb_workspace_site(ws);
    int rc;

    s->images = calloc(s->out->policies + 1, sizeof *s->images);
    if (!s->images)
        return ebb_err_nomem(err);
    for (size_t i = 0; i < s->out->policies; i++)
        s->images[i] = (struct ebb_object_image){s->texts.items[2 * i], s->texts.items[2 * i + 1], &s->ties[i]};
    rc = ebb_store_mirror_objects(site->store, EBB_OBJECT_REMOTE_POLICY, ebb_buf_cstr(&s->prefix), s->images,
                                  s->out->policies, ebb_clock_now(&site->clock), is_dry, &s->out->changed, err);
    return rc ? rc : count_changes(ws, s, err);
}

int ebb_metalake_sync(struct ebb_workspace *ws, const char *catalog, bool is_dry, struct ebb_metalake_synced *out,
                      struct ebb_err *err)
{
    struct sync s = {.catalog = catalog, .out = out};
    struct ebb_gravitino *g = NULL;
    int rc;

    memset(out, 0, sizeof *out);
    ebb_strs_init(&s.texts);
    ebb_buf_init(&s.prefix, TEXT_MAX);
    ebb_buf_printf(&s.prefix, "%s.", catalog);
    rc = ebb_buf_check(&s.prefix, "catalog", err);
    if (!rc) /* known also when the server can't be asked */
        rc = count_changes(ws, &s, err);
    if (!rc)
        rc = ebb_metalake_open(ws, catalog, &g, err);
    if (!rc)
        rc = ebb_metalake_each_policy(ws, g, catalog, keep, &s, err);
    if (!rc)
        rc = mirror(ws, &s, is_dry, err);
    for (size_t i = 0; i < out->policies; i++)
        ebb_strs_fini(&s.ties[i]);
    free(s.ties);
    free(s.images);
    ebb_strs_fini(&s.texts);
    ebb_buf_fini(&s.prefix);
    ebb_gravitino_free(g);
    return rc;
}

/* ---- right before a job ---- */

struct kept {
    char *name, *json;
};

static int take_kept(void *data, const struct ebb_object *object, struct ebb_err *err)
{
    struct kept *k = data;

    k->name = strdup(object->name);
    k->json = strdup(object->json);
    return k->name && k->json ? 0 : ebb_err_nomem(err);
}

static int changed_there(const char *policy, const char *why, struct ebb_err *err)
{
    int rc = ebb_err_set(err, EBB_EREFUSED, "policy %s: %s on the server since it was read", policy, why);

    ebb_err_hint(err, "ebb gravitino sync");
    return rc;
}

/* The server also passes on ties of types that the policy does not support. */
static bool is_tied(const struct reading *r, const char *rest)
{
    for (size_t i = 0; i < r->ties.count; i++) {
        const char *tie = r->ties.items[i], *place = strchr(tie, ' ') + 1 + strlen(r->catalog);
        size_t n = strlen(place);

        if (!strncmp(tie, "table ", 6) ? !strcmp(place, rest) : !strncmp(place, rest, n) && rest[n] == '.')
            return true;
    }
    return false;
}

/* What is checked right before a job. */
struct check {
    struct ebb_workspace *ws;
    const char *policy, *kept; /* the name here, what was read of it */
    const char *catalog;       /* here */
    const char *rest;          /* of the table, behind the catalog's name: ".shop.orders" */
};

static int compare(const struct check *c, struct ebb_gravitino *g, const struct ebb_value *now, struct ebb_err *err)
{
    struct reading r;
    int rc = 0;

    reading_init(&r, ebb_workspace_config(c->ws), c->catalog, ebb_gravitino_catalog(g), now);
    if (!ebb_value_bool_of(now, "enabled", false))
        rc = changed_there(c->policy, "was disabled", err);
    if (!rc)
        rc = judge(&r, err);
    if (!rc && strcmp(ebb_buf_cstr(&r.json), c->kept) != 0)
        rc = changed_there(c->policy, "was changed", err);
    if (!rc)
        rc = read_ties(&r, g, err);
    if (!rc && !is_tied(&r, c->rest))
        rc = changed_there(c->policy, "was detached from the table", err);
    reading_fini(&r);
    return rc;
}

/* name: of the policy there */
static int look_there(const struct check *c, const char *name, struct ebb_err *err)
{
    struct ebb_gravitino_call call = {.what = "policy of a table"};
    struct ebb_value *answer = NULL;
    struct ebb_gravitino *g = NULL;
    struct ebb_buf path, full;
    int rc = ebb_metalake_open(c->ws, c->catalog, &g, err);

    ebb_buf_init(&path, TEXT_MAX);
    ebb_buf_init(&full, TEXT_MAX);
    if (!rc) {
        ebb_buf_printf(&full, "%s%s", ebb_gravitino_catalog(g), c->rest);
        ebb_buf_puts(&path, "/objects/table");
        ebb_gravitino_segment(&path, ebb_buf_cstr(&full));
        ebb_buf_puts(&path, "/policies");
        ebb_gravitino_segment(&path, name);
        rc = ebb_buf_check(&path, call.what, err);
    }
    call.path = ebb_buf_cstr(&path);
    if (!rc)
        rc = ebb_metalake_ask(g, &call, "policy", &answer, err);
    if (rc == -(int)EBB_ENOT_FOUND)
        rc = changed_there(c->policy, "was dropped, or detached from the table,", err);
    else if (!rc)
        rc = compare(c, g, ebb_value_get(answer, "policy"), err);
    ebb_value_free(answer);
    ebb_gravitino_free(g);
    ebb_buf_fini(&full);
    ebb_buf_fini(&path);
    return rc;
}

int ebb_metalake_check_policy(struct ebb_workspace *ws, const char *policy, const char *table, struct ebb_err *err)
{
    struct kept k = {NULL, NULL};
    const char *dot, *name;
    char catalog[256];
    int rc;

    if (strncmp(policy, EBB_REMOTE_PREFIX, strlen(EBB_REMOTE_PREFIX)) != 0)
        return 0;
    rc = ebb_remote_policy_find(ebb_workspace_site(ws)->store, policy, take_kept, &k, err);
    name = k.name ? strchr(k.name, '.') : NULL;
    dot = strchr(table, '.');
    if (rc == -(int)EBB_ENOT_FOUND)
        rc = ebb_err_as(err, EBB_EREFUSED, NULL);
    else if (!rc && (!name || !dot || (size_t)(name - k.name) >= sizeof catalog ||
                     (size_t)(dot - table) != (size_t)(name - k.name) || memcmp(table, k.name, (size_t)(dot - table))))
        rc = ebb_err_set(err, EBB_EREFUSED, "policy %s: is not of the catalog of %s", policy, table);
    if (!rc) {
        snprintf(catalog, sizeof catalog, "%.*s", (int)(name - k.name), k.name);
        rc = look_there(&(struct check){ws, policy, k.json, catalog, dot}, name + 1, err);
    }
    free(k.name);
    free(k.json);
    return rc;
}
