/* SPDX-License-Identifier: Apache-2.0 */
#include "service/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct reader {
    struct ebb_config *c;
    struct ebb_buf base; /* folder of the file */
};

static const char *lookup_env(void *data, const char *name)
{
    (void)data;
    return getenv(name);
}

static int fail(const struct reader *r, struct ebb_err *err, const char *key, const char *why)
{
    return ebb_err_set(err, EBB_ECONFIG, "%s: %s: %s", r->c->file, key, why);
}

static int unknown(const struct reader *r, struct ebb_err *err, const char *where, const char *key,
                   const char *const *keys, size_t count)
{
    const char *nearest = ebb_text_nearest(key, keys, count);
    int rc = ebb_err_set(err, EBB_ECONFIG_UNKNOWN_KEY, "%s: %s%s%s: unknown key", r->c->file, where,
                         where[0] ? "." : "", key);

    if (nearest)
        ebb_err_hint(err, "did you mean %s?", nearest);
    return rc;
}

/* Every key of a map must be one of these. */
static int check_keys(const struct reader *r, const struct ebb_value *map, const char *where, const char *const *keys,
                      size_t count, struct ebb_err *err)
{
    if (ebb_value_get_kind(map) != EBB_VALUE_MAP)
        return fail(r, err, where[0] ? where : "the file", "a table with named keys is wanted");
    for (size_t i = 0; i < ebb_value_get_count(map); i++) {
        struct ebb_str key = ebb_value_get_key(map, i);
        bool known = false;

        for (size_t k = 0; !known && k < count; k++)
            known = ebb_str_is_equal(key, ebb_str_of(keys[k]));
        if (!known)
            return unknown(r, err, where, key.p, keys, count);
    }
    return 0;
}

/* where: the map's own name, "" at the top. */
static int fail_in(const struct reader *r, struct ebb_err *err, const char *where, const char *key, const char *why)
{
    return ebb_err_set(err, EBB_ECONFIG, "%s: %s%s%s: %s", r->c->file, where, where[0] ? "." : "", key, why);
}

/* Text without NUL, or NULL. */
static const char *clean_text(const struct ebb_value *v)
{
    const char *text = ebb_value_get_str(v);

    return text && strlen(text) == ebb_value_get_bytes(v).n ? text : NULL;
}

/* The keys of a map are used as C strings. */
static int check_clean_keys(const struct reader *r, const struct ebb_value *map, const char *where, struct ebb_err *err)
{
    for (size_t i = 0; i < ebb_value_get_count(map); i++)
        if (!ebb_value_get_key(map, i).n || memchr(ebb_value_get_key(map, i).p, '\0', ebb_value_get_key(map, i).n))
            return fail(r, err, where, "a name is empty or holds a NUL");
    return 0;
}

static int take_text(const struct reader *r, const struct ebb_value *map, const char *where, const char *key,
                     bool required, char **out, struct ebb_err *err)
{
    const struct ebb_value *v = ebb_value_get(map, key);
    const char *text = clean_text(v);

    if (!v && !required)
        return 0;
    if (!text || !text[0])
        return fail_in(r, err, where, key, v ? "text is wanted" : "is missing");
    *out = strdup(text);
    return *out ? 0 : ebb_err_nomem(err);
}

static int absolute(const struct reader *r, char **path, struct ebb_err *err)
{
    struct ebb_buf b;

    if (!*path || **path == '/')
        return 0;
    ebb_buf_init(&b, 65536);
    ebb_buf_printf(&b, "%s/%s", r->base.data, *path);
    free(*path);
    *path = ebb_buf_take(&b);
    return *path ? 0 : ebb_err_nomem(err);
}

static int take_bool(const struct reader *r, const struct ebb_value *map, const char *where, const char *key, bool *out,
                     struct ebb_err *err)
{
    const struct ebb_value *v = ebb_value_get(map, key);

    if (v && ebb_value_get_kind(v) != EBB_VALUE_BOOL)
        return fail_in(r, err, where, key, "true or false is wanted");
    *out = ebb_value_get_bool(v, *out);
    return 0;
}

/* ---- sections ---- */

/* Types that a later version may have: told as such, not by their first strange key. */
static int check_type(const struct reader *r, const struct ebb_value *v, const char *where, struct ebb_err *err)
{
    static const char *const UNBUILT[] = {"rest", "gravitino", "glue", "hive", "postgresql"};
    const char *type = ebb_value_text_of(v, "type");

    for (size_t i = 0; type && i < sizeof UNBUILT / sizeof UNBUILT[0]; i++)
        if (!strcmp(type, UNBUILT[i]))
            return ebb_err_set(err, EBB_EUNSUPPORTED, "%s: %s: type %s is not part of this version of ebb (%s)",
                               r->c->file, where, type, EBB_VERSION);
    return 0;
}

static int read_catalog(struct reader *r, struct ebb_str name, const struct ebb_value *v, struct ebb_err *err)
{
    static const char *const KEYS[] = {"type", "path", "name"};
    struct ebb_config_catalog *c = &r->c->catalogs[r->c->catalog_count++];
    char where[128];
    int rc;

    snprintf(where, sizeof where, "catalogs.%s", name.p);
    rc = check_type(r, v, where, err);
    if (!rc)
        rc = check_keys(r, v, where, KEYS, 3, err);
    if (!rc && !strcmp(name.p, "path"))
        rc = fail(r, err, where, "is how tables that are opened by path are called");
    c->name = strndup(name.p, name.n);
    if (!rc && !c->name)
        rc = ebb_err_nomem(err);
    if (!rc)
        rc = take_text(r, v, where, "type", true, &c->type, err);
    if (!rc)
        rc = take_text(r, v, where, "path", true, &c->path, err);
    if (!rc)
        rc = take_text(r, v, where, "name", false, &c->sql_name, err);
    return rc ? rc : absolute(r, &c->path, err);
}

static int read_catalogs(struct reader *r, const struct ebb_value *v, struct ebb_err *err)
{
    size_t n = ebb_value_get_count(v);
    int rc = 0;

    if (v && ebb_value_get_kind(v) != EBB_VALUE_MAP)
        return fail(r, err, "catalogs", "a table with named keys is wanted");
    r->c->catalogs = calloc(n + 1, sizeof *r->c->catalogs);
    if (!r->c->catalogs)
        return ebb_err_nomem(err);
    rc = check_clean_keys(r, v, "catalogs", err);
    for (size_t i = 0; !rc && i < n; i++)
        rc = read_catalog(r, ebb_value_get_key(v, i), ebb_value_get_at(v, i), err);
    return rc;
}

static int read_location(struct reader *r, const char *from, const struct ebb_value *v, struct ebb_err *err)
{
    const char *to = clean_text(v);
    char *path = to && *to ? strdup(to) : NULL;
    struct ebb_buf text;
    int rc = 0;

    if (!to || !*to)
        return fail_in(r, err, "locations", from, "text is wanted");
    if (!path)
        return ebb_err_nomem(err);
    ebb_buf_init(&text, 2 * 65536);
    if (strchr(to, '=')) /* a map is passed on as FROM=TO */
        rc = fail_in(r, err, "locations", from, "the folder may not hold '='");
    if (!rc && strncmp(path, "file:", 5))
        rc = absolute(r, &path, err);
    ebb_buf_printf(&text, "%s=%s", from, path ? path : "");
    if (!rc)
        rc = ebb_buf_check(&text, "locations", err);
    if (!rc)
        rc = ebb_strs_add(&r->c->maps, ebb_buf_cstr(&text), err);
    ebb_buf_fini(&text);
    free(path);
    return rc;
}

static int read_locations(struct reader *r, const struct ebb_value *v, struct ebb_err *err)
{
    int rc;

    if (v && ebb_value_get_kind(v) != EBB_VALUE_MAP)
        return fail(r, err, "locations", "a table of [\"FROM\"] = \"TO\" is wanted");
    rc = check_clean_keys(r, v, "locations", err);
    for (size_t i = 0; !rc && i < ebb_value_get_count(v); i++)
        rc = read_location(r, ebb_value_get_key(v, i).p, ebb_value_get_at(v, i), err);
    return rc;
}

static int read_mode(const struct reader *r, const struct ebb_value *v, enum ebb_bind_mode *out, struct ebb_err *err)
{
    static const char *const MODES[] = {"observe", "approve", "enforce"};
    const char *text = ebb_value_text_of(v, "mode");

    *out = EBB_BIND_OBSERVE;
    if (!ebb_value_get(v, "mode"))
        return 0;
    for (size_t i = 0; text && i < 3; i++)
        if (!strcmp(text, MODES[i])) {
            *out = (enum ebb_bind_mode)i;
            return 0;
        }
    return fail(r, err, "bind.mode", "observe, approve or enforce is wanted");
}

static int read_texts(const struct reader *r, const struct ebb_value *list, const char *key, struct ebb_strs *out,
                      struct ebb_err *err)
{
    int rc = 0;

    if (list && ebb_value_get_kind(list) != EBB_VALUE_LIST)
        return fail(r, err, key,
                    "a list of texts, not empty, is wanted"); /* {} is a map: "no table" would read as "any" */
    for (size_t i = 0; !rc && i < ebb_value_get_count(list); i++) {
        const char *text = clean_text(ebb_value_get_at(list, i));

        rc = text && *text ? ebb_strs_add(out, text, err) : fail(r, err, key, "a list of texts is wanted");
    }
    return rc;
}

static int read_blackouts(const struct reader *r, const struct ebb_value *v, const char *where, struct ebb_binding *b,
                          struct ebb_err *err)
{
    struct ebb_blackout days[EBB_POLICY_BLACKOUTS_MAX];
    const struct ebb_value *zone = ebb_value_get(v, "blackout_tz");
    struct ebb_tz *tz = NULL;
    size_t count;
    int rc;

    b->blackouts = ebb_value_get(v, "blackouts");
    b->blackout_tz = clean_text(zone);
    if (zone && !b->blackout_tz)
        return fail(r, err, "bind.blackout_tz", "text is wanted");
    if (zone && !b->blackouts)
        return fail(r, err, "bind.blackout_tz", "goes with blackouts only");
    rc = ebb_blackouts_parse(b->blackouts, days, &count, err);
    if (!rc && zone)
        rc = ebb_tz_load(b->blackout_tz, &tz, err);
    ebb_tz_free(tz);
    return rc == 0 || rc == -(int)EBB_ENOMEM ? rc : ebb_err_as(err, EBB_ECONFIG, where);
}

/* What a binding says to guards. */
static int read_guards(const struct reader *r, const struct ebb_value *v, struct ebb_binding *b, struct ebb_err *err)
{
    char where[512];
    int rc = 0;

    snprintf(where, sizeof where, "%.400s: bind[%zu]", r->c->file, r->c->binding_count);
    b->guard = ebb_value_get(v, "guard");
    if (b->guard)
        rc = ebb_guard_check_site(where, b->guard, err);
    return rc ? rc : read_blackouts(r, v, where, b, err);
}

static int read_binding(struct reader *r, const struct ebb_value *v, struct ebb_err *err)
{
    static const char *const KEYS[] = {
        "policy", "tables",    "mode",       "params", "allow_below_floor", "allow_override_quiet",
        "guard",  "blackouts", "blackout_tz"};
    struct ebb_binding *b = &r->c->bindings[r->c->binding_count++];
    int rc = check_keys(r, v, "bind", KEYS, sizeof KEYS / sizeof KEYS[0], err);

    if (!rc)
        rc = take_text(r, v, "bind", "policy", true, &b->policy, err);
    if (!rc)
        rc = read_texts(r, ebb_value_get(v, "tables"), "bind.tables", &b->tables, err);
    if (!rc)
        rc = read_mode(r, v, &b->mode, err);
    if (!rc)
        rc = take_bool(r, v, "bind", "allow_below_floor", &b->allow_below_floor, err);
    if (!rc)
        rc = take_bool(r, v, "bind", "allow_override_quiet", &b->allow_override_quiet, err);
    b->params = ebb_value_get(v, "params");
    if (!rc && b->params && ebb_value_get_kind(b->params) != EBB_VALUE_MAP)
        rc = fail(r, err, "bind.params", "a table with named keys is wanted");
    return rc ? rc : read_guards(r, v, b, err);
}

static int read_bindings(struct reader *r, const struct ebb_value *v, struct ebb_err *err)
{
    size_t n = ebb_value_get_count(v);
    int rc = 0;

    if (v && ebb_value_get_kind(v) != EBB_VALUE_LIST && (n || ebb_value_get_kind(v) != EBB_VALUE_MAP))
        return fail(r, err, "bind", "a list of bindings is wanted");
    r->c->bindings = calloc(n + 1, sizeof *r->c->bindings);
    if (!r->c->bindings)
        return ebb_err_nomem(err);
    for (size_t i = 0; !rc && i < n; i++)
        rc = read_binding(r, ebb_value_get_at(v, i), err);
    return rc;
}

static int read_tables(struct reader *r, const struct ebb_value *v, struct ebb_err *err)
{
    static const char *const KEYS[] = {"allow_below_floor"};
    char where[128];
    int rc;

    if (v && ebb_value_get_kind(v) != EBB_VALUE_MAP)
        return fail(r, err, "tables", "a table of [\"GLOB\"] = { … } is wanted");
    rc = check_clean_keys(r, v, "tables", err);
    for (size_t i = 0; !rc && i < ebb_value_get_count(v); i++) {
        bool allow = false;

        snprintf(where, sizeof where, "tables.%s", ebb_value_get_key(v, i).p);
        rc = check_keys(r, ebb_value_get_at(v, i), where, KEYS, 1, err);
        if (!rc)
            rc = take_bool(r, ebb_value_get_at(v, i), where, "allow_below_floor", &allow, err);
        if (!rc && allow)
            rc = ebb_strs_add(&r->c->below_floor, ebb_value_get_key(v, i).p, err);
    }
    return rc;
}

static int read_flags(struct reader *r, const struct ebb_value *v, struct ebb_err *err)
{
    int rc;

    if (v && ebb_value_get_kind(v) != EBB_VALUE_MAP)
        return fail(r, err, "flags", "a table of NAME = true or false is wanted");
    rc = check_clean_keys(r, v, "flags", err);
    for (size_t i = 0; !rc && i < ebb_value_get_count(v); i++)
        if (ebb_value_get_kind(ebb_value_get_at(v, i)) != EBB_VALUE_BOOL)
            rc = fail_in(r, err, "flags", ebb_value_get_key(v, i).p, "true or false is wanted");
    r->c->flags = v;
    return rc;
}

static int read_unbuilt(const struct reader *r, const struct ebb_value *root, struct ebb_err *err)
{
    static const char *const SECTIONS[] = {"storage", "serve", "engines"};

    for (size_t i = 0; i < sizeof SECTIONS / sizeof SECTIONS[0]; i++)
        if (ebb_value_get(root, SECTIONS[i]))
            return ebb_err_set(err, EBB_EUNSUPPORTED, "%s: %s: not part of this version of ebb (%s)", r->c->file,
                               SECTIONS[i], EBB_VERSION);
    return 0;
}

static int read_root(struct reader *r, struct ebb_err *err)
{
    static const char *const KEYS[] = {"catalogs", "locations", "policies", "bind",   "tables",
                                       "flags",    "storage",   "serve",    "engines"};
    const struct ebb_value *root = r->c->root;
    int rc = check_keys(r, root, "", KEYS, sizeof KEYS / sizeof KEYS[0], err);

    if (!rc)
        rc = read_unbuilt(r, root, err);
    if (!rc)
        rc = read_catalogs(r, ebb_value_get(root, "catalogs"), err);
    if (!rc)
        rc = read_locations(r, ebb_value_get(root, "locations"), err);
    if (!rc)
        rc = take_text(r, root, "", "policies", false, &r->c->policies, err);
    if (!rc)
        rc = absolute(r, &r->c->policies, err);
    if (!rc)
        rc = read_bindings(r, ebb_value_get(root, "bind"), err);
    if (!rc)
        rc = read_tables(r, ebb_value_get(root, "tables"), err);
    return rc ? rc : read_flags(r, ebb_value_get(root, "flags"), err);
}

static int base_folder(struct reader *r, const char *file, struct ebb_err *err)
{
    char *real = realpath(file, NULL);
    char *slash = real ? strrchr(real, '/') : NULL;

    if (slash)
        ebb_buf_append(&r->base, real, slash == real ? 1 : (size_t)(slash - real));
    else
        ebb_buf_putc(&r->base, '.');
    free(real);
    return ebb_buf_check(&r->base, file, err);
}

int ebb_config_empty(struct ebb_config **out, struct ebb_err *err)
{
    *out = calloc(1, sizeof **out);
    return *out ? 0 : ebb_err_nomem(err);
}

int ebb_config_load(const char *file, struct ebb_config **out, struct ebb_err *err)
{
    struct reader r;
    int rc = ebb_config_empty(&r.c, err);

    if (rc)
        return rc;
    ebb_buf_init(&r.base, 65536);
    r.c->file = strdup(file);
    if (!r.c->file)
        rc = ebb_err_nomem(err);
    if (!rc)
        rc = base_folder(&r, file, err);
    if (!rc)
        rc = ebb_data_load(file, lookup_env, NULL, &r.c->root, err);
    if (rc == -(int)EBB_ENOENT)
        rc = ebb_err_as(err, EBB_ECONFIG, "configuration");
    if (!rc)
        rc = read_root(&r, err);
    ebb_buf_fini(&r.base);
    if (rc) {
        ebb_config_free(r.c);
        return rc;
    }
    *out = r.c;
    return 0;
}

void ebb_config_find(struct ebb_buf *out)
{
    const char *xdg = getenv("XDG_CONFIG_HOME");
    const char *home = getenv("HOME");

    ebb_buf_reset(out);
    ebb_buf_puts(out, "ebb.lua");
    if (!access("ebb.lua", F_OK))
        return;
    ebb_buf_reset(out);
    if (xdg && xdg[0] == '/')
        ebb_buf_printf(out, "%s/ebb/ebb.lua", xdg);
    else if (home && home[0] == '/')
        ebb_buf_printf(out, "%s/.config/ebb/ebb.lua", home);
    if (out->len && !access(ebb_buf_cstr(out), F_OK))
        return;
    ebb_buf_reset(out);
    ebb_buf_puts(out, "/etc/ebb/ebb.lua");
    if (access("/etc/ebb/ebb.lua", F_OK))
        ebb_buf_reset(out);
}

void ebb_config_free(struct ebb_config *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->catalog_count; i++) {
        free(c->catalogs[i].name);
        free(c->catalogs[i].type);
        free(c->catalogs[i].path);
        free(c->catalogs[i].sql_name);
    }
    for (size_t i = 0; i < c->binding_count; i++) {
        free(c->bindings[i].policy);
        ebb_strs_fini(&c->bindings[i].tables);
    }
    free(c->catalogs);
    free(c->bindings);
    ebb_strs_fini(&c->maps);
    ebb_strs_fini(&c->below_floor);
    free(c->policies);
    free(c->file);
    ebb_value_free(c->root);
    free(c);
}

void ebb_binding_site(const struct ebb_binding *binding, struct ebb_settings_site *out)
{
    memset(out, 0, sizeof *out);
    if (!binding)
        return;
    out->params = binding->params;
    out->guard = binding->guard;
    out->blackouts = binding->blackouts;
    out->blackout_tz = binding->blackout_tz;
}

bool ebb_config_has_catalog(const struct ebb_config *c, const char *name)
{
    for (size_t i = 0; i < c->catalog_count; i++)
        if (!strcmp(c->catalogs[i].name, name))
            return true;
    return false;
}

bool ebb_config_allows_below_floor(const struct ebb_config *c, const char *table)
{
    for (size_t i = 0; i < c->below_floor.count; i++)
        if (ebb_table_glob_is_match(c->below_floor.items[i], table))
            return true;
    return false;
}
