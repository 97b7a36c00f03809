/* SPDX-License-Identifier: Apache-2.0 */
#include "service/config_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

enum { DIRECTORY = 1, SQLITE = 2, REST = 4, GLUE = 8, GRAVITINO = 16 };
enum kind { TEXT, URL, FILE_PATH, FLAG, HEADERS, CATALOG };

/* A key of a catalog: which types know it, which need it, and where it goes. */
struct key {
    const char *name;
    unsigned types, needed;
    enum kind kind;
    size_t at; /* in struct ebb_catalog_config */
};

#define AT(member) offsetof(struct ebb_catalog_config, member)
static const struct key KEYS[] = {
    {"type", ~0U, ~0U, TEXT, AT(type)},
    {"path", DIRECTORY | SQLITE, DIRECTORY | SQLITE, FILE_PATH, AT(path)},
    {"name", SQLITE | DIRECTORY, 0, TEXT, AT(sql_name)},
    {"uri", REST | GRAVITINO, REST | GRAVITINO, URL, AT(uri)},
    {"warehouse", REST, 0, TEXT, AT(warehouse)},
    {"prefix", REST, 0, TEXT, AT(prefix)},
    {"token", REST | GRAVITINO, 0, TEXT, AT(token)},
    {"credential", REST | GRAVITINO, 0, TEXT, AT(credential)},
    {"oauth2_server_uri", REST | GRAVITINO, 0, URL, AT(oauth2_uri)},
    {"scope", REST | GRAVITINO, 0, TEXT, AT(scope)},
    {"headers", REST | GRAVITINO, 0, HEADERS, AT(headers)},
    {"vended_credentials", REST, 0, FLAG, AT(vended)},
    {"region", GLUE, 0, TEXT, AT(aws.region)},
    {"endpoint", GLUE, 0, URL, AT(endpoint)},
    {"catalog_id", GLUE, 0, TEXT, AT(catalog_id)},
    {"profile", GLUE, 0, TEXT, AT(aws.profile)},
    {"access_key_id", GLUE, 0, TEXT, AT(aws.access_key_id)},
    {"secret_access_key", GLUE, 0, TEXT, AT(aws.secret_access_key)},
    {"session_token", GLUE, 0, TEXT, AT(aws.session_token)},
    {"metalake", GRAVITINO, GRAVITINO, TEXT, AT(metalake)},
    {"catalog", GRAVITINO, 0, TEXT, AT(remote)},
    {"backing", GRAVITINO, 0, CATALOG, AT(backing)},
    {"user", GRAVITINO, 0, TEXT, AT(user)},
    {"ca_file", REST | GLUE | GRAVITINO, 0, FILE_PATH, AT(ca_file)},
};
#define KEY_COUNT (sizeof KEYS / sizeof KEYS[0])

static const struct {
    const char *name;
    unsigned bit;
} TYPES[] = {
    {"directory", DIRECTORY}, {"sqlite", SQLITE}, {"rest", REST}, {"glue", GLUE}, {"gravitino", GRAVITINO},
};
#define TYPE_COUNT (sizeof TYPES / sizeof TYPES[0])

static unsigned type_bit(const char *type)
{
    for (size_t i = 0; i < TYPE_COUNT; i++)
        if (!strcmp(type, TYPES[i].name))
            return TYPES[i].bit;
    return 0;
}

static const char **text_at(struct ebb_catalog_config *config, const struct key *key)
{
    return (const char **)(void *)((char *)config + key->at);
}

static bool has_key(const struct ebb_value *v, const char *name)
{
    return ebb_value_get(v, name) != NULL;
}

/* ---- types ---- */

/* Types that a later version may have are told as such, not by their first strange key. */
static int unknown_type(const struct ebb__config_reader *r, const char *where, const char *type, struct ebb_err *err)
{
    static const char *const UNBUILT[] = {"hive", "postgresql"};
    const char *names[TYPE_COUNT], *nearest;

    for (size_t i = 0; i < sizeof UNBUILT / sizeof UNBUILT[0]; i++)
        if (!strcmp(type, UNBUILT[i]))
            return ebb_err_set(err, EBB_EUNSUPPORTED, "%s: %s: type %s is not part of this version of ebb (%s)",
                               r->c->file, where, type, EBB_VERSION);
    for (size_t i = 0; i < TYPE_COUNT; i++)
        names[i] = TYPES[i].name;
    nearest = ebb_text_nearest(type, names, TYPE_COUNT);
    ebb__config_fail_in(r, err, where, "type", "there is no such type of catalog");
    if (nearest)
        ebb_err_hint(err, "did you mean %s?", nearest);
    else
        ebb_err_hint(err, "types are directory, sqlite, rest, glue and gravitino");
    return -(int)EBB_ECONFIG;
}

static int check_keys(const struct ebb__config_reader *r, const struct ebb_value *v, const char *where, unsigned bit,
                      struct ebb_err *err)
{
    const char *names[KEY_COUNT];
    size_t count = 0;

    for (size_t i = 0; i < KEY_COUNT; i++)
        if (KEYS[i].types & bit)
            names[count++] = KEYS[i].name;
    return ebb__config_check_keys(r, v, where, names, count, err);
}

static int read_type(const struct ebb__config_reader *r, const struct ebb_value *v, const char *where,
                     struct ebb_config_catalog *c, unsigned *bit, struct ebb_err *err)
{
    int rc;

    if (ebb_value_get_kind(v) != EBB_VALUE_MAP)
        return ebb__config_fail(r, err, where, "a table with named keys is wanted");
    rc = has_key(v, "type") ? 0 : check_keys(r, v, where, ~0U, err); /* a misspelt type is named first */
    if (!rc)
        rc = ebb__config_take_text(r, v, where, "type", true, &c->type, err);
    if (rc)
        return rc;
    *bit = type_bit(c->type);
    return *bit ? check_keys(r, v, where, *bit, err) : unknown_type(r, where, c->type, err);
}

/* ---- values ---- */

/* Where a server is: nothing that may be a secret stands in it, so that messages may name it. */
static bool is_plain_url(const char *text)
{
    const char *host = ebb__config_is_url(text) ? strstr(text, "://") + 3 : NULL;

    return host && !strpbrk(text, "?#") && !memchr(host, '@', strcspn(host, "/"));
}

static int take_text(const struct ebb__config_reader *r, const struct ebb_value *v, const char *where,
                     const struct key *key, struct ebb_config_catalog *c, struct ebb_err *err)
{
    const char *text = ebb__config_text(v);

    if (!text || !text[0])
        return ebb__config_fail_in(r, err, where, key->name, "text is wanted");
    if (key->kind == URL && !is_plain_url(text))
        return ebb__config_fail_in(
            r, err, where, key->name,
            "a http:// or https:// URL is wanted, without user, query and fragment (credentials have their own keys)");
    if (key->at != AT(type))
        *text_at(&c->config, key) = text;
    return 0;
}

static int take_path(const struct ebb__config_reader *r, const struct ebb_value *v, const char *where,
                     const struct key *key, struct ebb_config_catalog *c, struct ebb_err *err)
{
    char **owned = key->at == AT(path) ? &c->path : &c->ca_file;
    int rc = ebb__config_take_text(r, v, where, key->name, true, owned, err);

    if (!rc)
        rc = ebb__config_absolute(r, owned, err);
    *text_at(&c->config, key) = *owned;
    return rc;
}

static int take_headers(const struct ebb__config_reader *r, const struct ebb_value *v, const char *where,
                        struct ebb_config_catalog *c, struct ebb_err *err)
{
    static const char *const OURS[] = {"authorization", "host", "content-length", "content-type", "accept"};
    int rc = ebb__config_take_headers(r, v, where, &c->headers, err);

    for (size_t i = 0; !rc && i < c->headers.count; i++)
        for (size_t k = 0; !rc && k < sizeof OURS / sizeof OURS[0]; k++)
            if (!strncasecmp(c->headers.items[i], OURS[k], strlen(OURS[k])) &&
                c->headers.items[i][strlen(OURS[k])] == ':')
                rc = ebb__config_fail_in(r, err, where, "headers",
                                         k ? "Host, Content-Length, Content-Type and Accept are set by ebb"
                                           : "Authorization is set by ebb: use token or credential");
    c->config.headers = &c->headers;
    return rc;
}

static int take(const struct ebb__config_reader *r, const struct ebb_value *v, const char *where, const struct key *key,
                struct ebb_config_catalog *c, struct ebb_err *err)
{
    const struct ebb_value *value = ebb_value_get(v, key->name);

    if (!value)
        return 0;
    switch (key->kind) {
    case TEXT:
    case URL:
        return take_text(r, value, where, key, c, err);
    case FILE_PATH:
        return take_path(r, v, where, key, c, err);
    case FLAG:
        return ebb__config_take_bool(r, v, where, key->name, &c->config.vended, err);
    case HEADERS:
        return take_headers(r, value, where, c, err);
    case CATALOG: /* once all are read */
        break;
    }
    return 0;
}

static int check_together(const struct ebb__config_reader *r, const char *where, const struct ebb_catalog_config *c,
                          struct ebb_err *err)
{
    if (c->token && c->credential)
        return ebb__config_fail(r, err, where, "either token or credential is wanted");
    if ((c->scope || c->oauth2_uri) && !c->credential)
        return ebb__config_fail(r, err, where, "oauth2_server_uri and scope go with credential only");
    if (!c->aws.access_key_id != !c->aws.secret_access_key)
        return ebb__config_fail(r, err, where, "access_key_id and secret_access_key go together");
    if (c->aws.session_token && !c->aws.access_key_id)
        return ebb__config_fail(r, err, where, "session_token goes with access_key_id only");
    if (c->user && (c->token || c->credential))
        return ebb__config_fail(r, err, where, "user goes neither with token nor with credential");
    if (c->user && strchr(c->user, ':'))
        return ebb__config_fail_in(r, err, where, "user", "holds a ':'");
    if (c->metalake && c->credential && !c->oauth2_uri)
        return ebb__config_fail_in(r, err, where, "oauth2_server_uri",
                                   "is missing: a Gravitino server gives no tokens");
    return 0;
}

static int read_catalog(struct ebb__config_reader *r, struct ebb_str name, const struct ebb_value *v,
                        struct ebb_err *err)
{
    struct ebb_config_catalog *c = &r->c->catalogs[r->c->catalog_count++];
    char where[128];
    unsigned bit = 0;
    int rc;

    snprintf(where, sizeof where, "catalogs.%s", name.p);
    rc = read_type(r, v, where, c, &bit, err);
    if (!rc && !strcmp(name.p, "path"))
        rc = ebb__config_fail(r, err, where, "is how tables that are opened by path are called");
    c->name = strndup(name.p, name.n);
    if (!rc && !c->name)
        rc = ebb_err_nomem(err);
    for (size_t i = 0; !rc && i < KEY_COUNT; i++)
        if ((KEYS[i].needed & bit) && !has_key(v, KEYS[i].name))
            rc = ebb__config_fail_in(r, err, where, KEYS[i].name, "is missing");
    for (size_t i = 0; !rc && i < KEY_COUNT; i++)
        if (KEYS[i].types & bit)
            rc = take(r, v, where, &KEYS[i], c, err);
    c->config.name = c->name;
    c->config.type = c->type;
    return rc ? rc : check_together(r, where, &c->config, err);
}

const struct ebb_catalog_config *ebb_config_catalog(const struct ebb_config *config, const char *name)
{
    for (size_t i = 0; i < config->catalog_count; i++)
        if (!strcmp(config->catalogs[i].name, name))
            return &config->catalogs[i].config;
    return NULL;
}

/* The catalog behind another one is one that tells metadata files itself. */
static int link_backing(const struct ebb__config_reader *r, struct ebb_config_catalog *c, const struct ebb_value *v,
                        struct ebb_err *err)
{
    const char *name = ebb__config_text(ebb_value_get(v, "backing"));
    char where[128];

    if (!ebb_value_get(v, "backing"))
        return 0;
    snprintf(where, sizeof where, "catalogs.%.100s", c->name);
    c->config.backing = name ? ebb_config_catalog(r->c, name) : NULL;
    if (!c->config.backing)
        return ebb__config_fail_in(r, err, where, "backing", "the name of another catalog of this file is wanted");
    if (type_bit(c->config.backing->type) & GRAVITINO)
        return ebb__config_fail_in(r, err, where, "backing", "is itself of type gravitino");
    return 0;
}

int ebb__config_read_catalogs(struct ebb__config_reader *r, const struct ebb_value *v, struct ebb_err *err)
{
    size_t n = ebb_value_get_count(v);
    int rc = 0;

    if (v && ebb_value_get_kind(v) != EBB_VALUE_MAP)
        return ebb__config_fail(r, err, "catalogs", "a table with named keys is wanted");
    r->c->catalogs = calloc(n + 1, sizeof *r->c->catalogs);
    if (!r->c->catalogs)
        return ebb_err_nomem(err);
    rc = ebb__config_check_names(r, v, "catalogs", err);
    for (size_t i = 0; !rc && i < n; i++)
        rc = read_catalog(r, ebb_value_get_key(v, i), ebb_value_get_at(v, i), err);
    for (size_t i = 0; !rc && i < n; i++)
        rc = link_backing(r, &r->c->catalogs[i], ebb_value_get_at(v, i), err);
    return rc;
}

void ebb__config_catalog_fini(struct ebb_config_catalog *c)
{
    free(c->name);
    free(c->type);
    free(c->path);
    free(c->ca_file);
    free(c->uri);
    ebb_strs_fini(&c->headers);
}

/* ---- the effective configuration ---- */

void ebb__config_put_headers(struct ebb_value *map, const struct ebb_strs *headers)
{
    struct ebb_value *masked = ebb_value_put_map(map, "headers");

    for (size_t i = 0; i < headers->count; i++) {
        char *name = strndup(headers->items[i], strcspn(headers->items[i], ":"));

        if (name)
            ebb_value_put_str(masked, name, "***");
        free(name);
    }
}

static void put_catalog(struct ebb_value *map, const struct ebb_config_catalog *c)
{
    static const char *const SECRETS[] = {"token", "credential", "secret_access_key", "session_token"};
    struct ebb_catalog_config config = c->config;
    unsigned bit = type_bit(c->type);

    for (size_t i = 0; i < KEY_COUNT; i++) {
        bool is_secret = false;

        for (size_t k = 0; k < sizeof SECRETS / sizeof SECRETS[0]; k++)
            is_secret = is_secret || !strcmp(KEYS[i].name, SECRETS[k]);
        if (!(KEYS[i].types & bit))
            continue;
        if (KEYS[i].kind == FLAG)
            ebb_value_put_bool(map, KEYS[i].name, config.vended);
        else if (KEYS[i].kind == HEADERS && c->headers.count)
            ebb__config_put_headers(map, &c->headers);
        else if (KEYS[i].kind == CATALOG && config.backing)
            ebb_value_put_str(map, KEYS[i].name, config.backing->name);
        else if (KEYS[i].kind != HEADERS && KEYS[i].kind != CATALOG && *text_at(&config, &KEYS[i]))
            ebb_value_put_str(map, KEYS[i].name, is_secret ? "***" : *text_at(&config, &KEYS[i]));
    }
}

void ebb__config_put_catalogs(const struct ebb_config *c, struct ebb_value *root)
{
    struct ebb_value *catalogs = ebb_value_put_map(root, "catalogs");

    for (size_t i = 0; i < c->catalog_count; i++)
        put_catalog(ebb_value_put_map(catalogs, c->catalogs[i].name), &c->catalogs[i]);
}

/* ---- on the command line ---- */

/* What is behind the type: a path, or where a server is. */
static int read_place(const char *spec, const char *place, struct ebb_config_catalog *out, struct ebb_err *err)
{
    unsigned bit = type_bit(out->type);

    if (bit & (GLUE | GRAVITINO))
        return ebb_err_set(err, EBB_EUSAGE, "catalog %s: one of type %s needs a configuration", spec, out->type);
    if ((bit & REST) && !is_plain_url(place)) {
        ebb_err_set(err, EBB_EUSAGE,
                    "catalog of type rest: a http:// or https:// URL is wanted, without user and query");
        ebb_err_hint(err, "as in lake=rest:http://127.0.0.1:8181; credentials belong into the configuration");
        return -(int)EBB_EUSAGE;
    }
    if (bit & REST)
        out->uri = strdup(place);
    else
        out->path = strdup(place);
    out->config.path = out->path;
    out->config.uri = out->uri;
    return out->uri || out->path ? 0 : ebb_err_nomem(err);
}

/* Take "[NAME=]TYPE:PLACE" apart. */
static int read_spec(const char *spec, struct ebb_config_catalog *out, struct ebb_err *err)
{
    const char *equals = strchr(spec, '='), *colon = strchr(spec, ':');
    const char *type;

    if (equals && colon && equals > colon)
        equals = NULL;
    type = equals ? equals + 1 : spec;
    if (!colon || colon == type || !colon[1] || equals == spec)
        return ebb_err_set(err, EBB_EUSAGE, "catalog %s: [NAME=]TYPE:PLACE is wanted, as in lake=directory:./warehouse",
                           spec);
    out->name = equals ? strndup(spec, (size_t)(equals - spec)) : strdup("lake");
    out->type = strndup(type, (size_t)(colon - type));
    if (!out->name || !out->type)
        return ebb_err_nomem(err);
    out->config.name = out->name;
    out->config.type = out->type;
    return read_place(spec, colon + 1, out, err);
}

/* The same catalogs at another place, with room for one more: what points from one to another, or into itself, follows.
 */
static struct ebb_config_catalog *move_all(const struct ebb_config_catalog *all, size_t count)
{
    struct ebb_config_catalog *moved = calloc(count + 1, sizeof *moved);

    for (size_t i = 0; moved && i < count; i++) {
        moved[i] = all[i];
        if (all[i].config.headers)
            moved[i].config.headers = &moved[i].headers;
        for (size_t k = 0; k < count; k++)
            if (all[i].config.backing == &all[k].config)
                moved[i].config.backing = &moved[k].config;
    }
    return moved;
}

int ebb_config_add_catalog(struct ebb_config *c, const char *spec, struct ebb_err *err)
{
    size_t last = c->catalog_count;
    struct ebb_config_catalog *all = move_all(c->catalogs, last);
    int rc;

    if (!all)
        return ebb_err_nomem(err);
    free(c->catalogs);
    c->catalogs = all;
    c->catalog_count++;
    rc = read_spec(spec, &all[last], err);
    for (size_t i = 0; !rc && i < last; i++)
        if (!strcmp(all[i].name, all[last].name))
            rc = ebb_err_set(err, EBB_EUSAGE, "catalog %s: the configuration has one of this name", spec);
    return rc;
}
