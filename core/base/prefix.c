/* SPDX-License-Identifier: Apache-2.0 */
#include "base/location.h"

#include <stdlib.h>
#include <strings.h>

#define NAMES_MAX 4096

/* Names of one class are the same; the names of a scheme are kept in their built-in canonical form. */
struct alias {
    char *name;
    size_t class_id;
};

struct aliases {
    struct alias *items;
    size_t count;
    size_t cap;
};

struct ebb_prefix_rules {
    struct aliases schemes;
    struct aliases authorities;
};

static bool is_same_text(struct ebb_str a, struct ebb_str b)
{
    return a.n == b.n && (a.n == 0 || !strncasecmp(a.p, b.p, a.n));
}

static struct ebb_str canonical_scheme(struct ebb_str scheme)
{
    static const char *const S3[] = {"s3a", "s3n"};
    static const char *const AZURE[] = {"wasb", "wasbs", "abfs"};

    for (size_t i = 0; i < sizeof S3 / sizeof *S3; i++)
        if (is_same_text(scheme, ebb_str_of(S3[i])))
            return EBB_STR("s3");
    for (size_t i = 0; i < sizeof AZURE / sizeof *AZURE; i++)
        if (is_same_text(scheme, ebb_str_of(AZURE[i])))
            return EBB_STR("abfss");
    return scheme;
}

/* Where the service label ("blob" or "dfs") of "container@account.blob.host" begins, or 0 when the text has another
 * form. */
static size_t azure_service(struct ebb_str authority)
{
    const char *at = authority.n ? memchr(authority.p, '@', authority.n) : NULL;
    const char *dot = at ? memchr(at, '.', (size_t)(authority.p + authority.n - at)) : NULL;

    return dot ? (size_t)(dot + 1 - authority.p) : 0;
}

static struct ebb_str after(struct ebb_str s, size_t n)
{
    struct ebb_str rest = {s.p + n, s.n - n};

    return rest;
}

/* What follows the service label, or an empty slice. */
static struct ebb_str azure_host(struct ebb_str authority, size_t service)
{
    struct ebb_str rest = after(authority, service);

    if (rest.n > 5 && !strncasecmp(rest.p, "blob.", 5))
        return after(rest, 5);
    if (rest.n > 4 && !strncasecmp(rest.p, "dfs.", 4))
        return after(rest, 4);
    return after(rest, rest.n);
}

static bool is_same_azure(struct ebb_str a, struct ebb_str b)
{
    size_t service = azure_service(a);
    struct ebb_str host;

    if (!service || service != azure_service(b) || strncasecmp(a.p, b.p, service))
        return false;
    host = azure_host(a, service);
    return host.n && is_same_text(host, azure_host(b, service));
}

static const struct alias *find(const struct aliases *list, struct ebb_str name)
{
    for (size_t i = 0; i < list->count; i++)
        if (is_same_text(ebb_str_of(list->items[i].name), name))
            return &list->items[i];
    return NULL;
}

static bool is_same_name(const struct aliases *list, struct ebb_str a, struct ebb_str b)
{
    const struct alias *x, *y;

    if (is_same_text(a, b))
        return true;
    if (!list || !list->count)
        return false;
    x = find(list, a);
    y = x ? find(list, b) : NULL;
    return y && x->class_id == y->class_id;
}

static bool is_same_scheme(const struct ebb_prefix_rules *rules, struct ebb_str a, struct ebb_str b)
{
    return is_same_name(rules ? &rules->schemes : NULL, canonical_scheme(a), canonical_scheme(b));
}

static bool is_same_authority(const struct ebb_prefix_rules *rules, bool azure, struct ebb_str a, struct ebb_str b)
{
    return is_same_name(rules ? &rules->authorities : NULL, a, b) || (azure && is_same_azure(a, b));
}

static bool is_azure(struct ebb_str scheme)
{
    return is_same_text(canonical_scheme(scheme), EBB_STR("abfss"));
}

/* The scheme that a location stands for: a bare path is a file of this machine. */
static struct ebb_str effective_scheme(const struct ebb_location *location)
{
    return location->scheme.n || location->authority.n ? location->scheme : EBB_STR("file");
}

bool ebb_prefix_is_match(const struct ebb_prefix_rules *rules, const struct ebb_location *valid,
                         const struct ebb_location *actual)
{
    static const struct ebb_str NONE = {"", 0};
    struct ebb_str scheme = effective_scheme(actual);
    bool azure = is_azure(valid->scheme) && is_azure(scheme);

    return (is_same_scheme(rules, valid->scheme, NONE) || is_same_scheme(rules, valid->scheme, scheme)) &&
           (is_same_authority(rules, false, valid->authority, NONE) ||
            is_same_authority(rules, azure, valid->authority, actual->authority));
}

bool ebb_prefix_is_equal(const struct ebb_prefix_rules *rules, const struct ebb_location *a,
                         const struct ebb_location *b)
{
    struct ebb_str x = effective_scheme(a);
    struct ebb_str y = effective_scheme(b);

    return is_same_scheme(rules, x, y) &&
           is_same_authority(rules, is_azure(x) && is_azure(y), a->authority, b->authority);
}

int ebb_prefix_rules_new(struct ebb_prefix_rules **out, struct ebb_err *err)
{
    *out = calloc(1, sizeof **out);
    return *out ? 0 : ebb_err_nomem(err);
}

static void free_aliases(struct aliases *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i].name);
    free(list->items);
}

void ebb_prefix_rules_free(struct ebb_prefix_rules *rules)
{
    if (!rules)
        return;
    free_aliases(&rules->schemes);
    free_aliases(&rules->authorities);
    free(rules);
}

static int add_alias(struct aliases *list, struct ebb_str name, struct ebb_err *err)
{
    struct alias *item;

    if (list->count == NAMES_MAX)
        return ebb_err_set(err, EBB_ELIMIT, "declared equal names: more than %d", NAMES_MAX);
    if (list->count == list->cap) {
        size_t cap = list->cap ? list->cap * 2 : 8;
        struct alias *items = realloc(list->items, cap * sizeof *items);

        if (!items)
            return ebb_err_nomem(err);
        list->items = items;
        list->cap = cap;
    }
    item = &list->items[list->count];
    item->name = strndup(name.n ? name.p : "", name.n);
    if (!item->name)
        return ebb_err_nomem(err);
    item->class_id = list->count++;
    return 0;
}

static int class_of(struct aliases *list, struct ebb_str name, size_t *out, struct ebb_err *err)
{
    const struct alias *item = find(list, name);
    int rc;

    if (!item) {
        rc = add_alias(list, name, err);
        if (rc)
            return rc;
        item = &list->items[list->count - 1];
    }
    *out = item->class_id;
    return 0;
}

static int unite(struct aliases *list, struct ebb_str name, struct ebb_str as, struct ebb_err *err)
{
    size_t from = 0, to = 0;
    int rc;

    rc = class_of(list, as, &to, err);
    if (!rc)
        rc = class_of(list, name, &from, err);
    if (rc)
        return rc;
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].class_id == from)
            list->items[i].class_id = to;
    return 0;
}

static struct ebb_str trim(const char *p, size_t n)
{
    struct ebb_str s = {p, n};

    while (s.n && strchr(" \t\r\n\f\v", s.p[0])) {
        s.p++;
        s.n--;
    }
    while (s.n && strchr(" \t\r\n\f\v", s.p[s.n - 1]))
        s.n--;
    return s;
}

static int add_names(struct aliases *list, const char *names, struct ebb_str as, bool schemes, struct ebb_err *err)
{
    const char *p = names;
    bool several = strchr(names, ',') != NULL;

    for (;;) {
        size_t n = strcspn(p, ",");
        struct ebb_str name = trim(p, n);
        int rc;

        if (!name.n && (several || schemes))
            return ebb_err_set(err, EBB_ECONFIG, "declared equal names '%s': an empty name", names);
        rc = unite(list, schemes ? canonical_scheme(name) : name, as, err);
        if (rc)
            return rc;
        if (!p[n])
            return 0;
        p += n + 1;
    }
}

int ebb_prefix_rules_add_schemes(struct ebb_prefix_rules *rules, const char *names, const char *as, struct ebb_err *err)
{
    return add_names(&rules->schemes, names, canonical_scheme(trim(as, strlen(as))), true, err);
}

int ebb_prefix_rules_add_authorities(struct ebb_prefix_rules *rules, const char *names, const char *as,
                                     struct ebb_err *err)
{
    return add_names(&rules->authorities, names, trim(as, strlen(as)), false, err);
}
