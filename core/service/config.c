/* SPDX-License-Identifier: Apache-2.0 */
#include "service/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/mask.h"
#include "service/config_priv.h"

/* What comes from the environment is taken for a secret. */
static const char *lookup_env(void *data, const char *name)
{
    struct ebb__config_reader *r = data;
    const char *value = getenv(name);

    if (value && *value && !ebb_strs_has(&r->c->secrets, value) && ebb_strs_add(&r->c->secrets, value, NULL))
        r->no_memory = true;
    return value;
}

static int read_location(struct ebb__config_reader *r, const char *from, const struct ebb_value *v, struct ebb_err *err)
{
    const char *to = ebb__config_text(v);
    char *path = to && *to ? strdup(to) : NULL;
    struct ebb_buf text;
    int rc = 0;

    if (!to || !*to)
        return ebb__config_fail_in(r, err, "locations", from, "text is wanted");
    if (!path)
        return ebb_err_nomem(err);
    ebb_buf_init(&text, 2 * 65536);
    if (strchr(to, '=')) /* a map is passed on as FROM=TO */
        rc = ebb__config_fail_in(r, err, "locations", from, "the folder may not hold '='");
    if (!rc && strncmp(path, "file:", 5) && strncmp(path, "s3://", 5))
        rc = ebb__config_absolute(r, &path, err);
    ebb_buf_printf(&text, "%s=%s", from, path ? path : "");
    if (!rc)
        rc = ebb_buf_check(&text, "locations", err);
    if (!rc)
        rc = ebb_strs_add(&r->c->maps, ebb_buf_cstr(&text), err);
    ebb_buf_fini(&text);
    free(path);
    return rc;
}

static int read_locations(struct ebb__config_reader *r, const struct ebb_value *v, struct ebb_err *err)
{
    int rc;

    if (v && ebb_value_get_kind(v) != EBB_VALUE_MAP)
        return ebb__config_fail(r, err, "locations", "a table of [\"FROM\"] = \"TO\" is wanted");
    rc = ebb__config_check_names(r, v, "locations", err);
    for (size_t i = 0; !rc && i < ebb_value_get_count(v); i++)
        rc = read_location(r, ebb_value_get_key(v, i).p, ebb_value_get_at(v, i), err);
    return rc;
}

static int read_tables(struct ebb__config_reader *r, const struct ebb_value *v, struct ebb_err *err)
{
    static const char *const KEYS[] = {"allow_below_floor"};
    char where[128];
    int rc;

    if (v && ebb_value_get_kind(v) != EBB_VALUE_MAP)
        return ebb__config_fail(r, err, "tables", "a table of [\"GLOB\"] = { … } is wanted");
    rc = ebb__config_check_names(r, v, "tables", err);
    for (size_t i = 0; !rc && i < ebb_value_get_count(v); i++) {
        bool allow = false;

        snprintf(where, sizeof where, "tables.%s", ebb_value_get_key(v, i).p);
        rc = ebb__config_check_keys(r, ebb_value_get_at(v, i), where, KEYS, 1, err);
        if (!rc)
            rc = ebb__config_take_bool(r, ebb_value_get_at(v, i), where, "allow_below_floor", &allow, err);
        if (!rc && allow)
            rc = ebb_strs_add(&r->c->below_floor, ebb_value_get_key(v, i).p, err);
    }
    return rc;
}

static int read_flags(struct ebb__config_reader *r, const struct ebb_value *v, struct ebb_err *err)
{
    int rc;

    if (v && ebb_value_get_kind(v) != EBB_VALUE_MAP)
        return ebb__config_fail(r, err, "flags", "a table of NAME = true or false is wanted");
    rc = ebb__config_check_names(r, v, "flags", err);
    for (size_t i = 0; !rc && i < ebb_value_get_count(v); i++)
        if (ebb_value_get_kind(ebb_value_get_at(v, i)) != EBB_VALUE_BOOL)
            rc = ebb__config_fail_in(r, err, "flags", ebb_value_get_key(v, i).p, "true or false is wanted");
    r->c->flags = v;
    return rc;
}

static int read_root(struct ebb__config_reader *r, struct ebb_err *err)
{
    static const char *const KEYS[] = {"catalogs", "locations", "policies", "bind",   "tables",
                                       "flags",    "storage",   "serve",    "engines"};
    const struct ebb_value *root = r->c->root;
    int rc = ebb__config_check_keys(r, root, "", KEYS, sizeof KEYS / sizeof KEYS[0], err);

    if (!rc)
        rc = ebb__config_read_storage(r, ebb_value_get(root, "storage"), err);
    if (!rc)
        rc = ebb__config_read_catalogs(r, ebb_value_get(root, "catalogs"), err);
    if (!rc)
        rc = read_locations(r, ebb_value_get(root, "locations"), err);
    if (!rc)
        rc = ebb__config_take_text(r, root, "", "policies", false, &r->c->policies, err);
    if (!rc)
        rc = ebb__config_absolute(r, &r->c->policies, err);
    if (!rc)
        rc = ebb__config_read_bindings(r, ebb_value_get(root, "bind"), err);
    if (!rc)
        rc = read_tables(r, ebb_value_get(root, "tables"), err);
    if (!rc)
        rc = read_flags(r, ebb_value_get(root, "flags"), err);
    if (!rc)
        rc = ebb__config_read_engines(r, ebb_value_get(root, "engines"), err);
    return rc ? rc : ebb__config_read_serve(r, ebb_value_get(root, "serve"), err);
}

static int base_folder(struct ebb__config_reader *r, const char *file, struct ebb_err *err)
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
    struct ebb_config *c = calloc(1, sizeof *c);
    int rc = c ? ebb__serve_init(&c->serve, err) : ebb_err_nomem(err);

    if (rc) {
        ebb_config_free(c);
        c = NULL;
    } else {
        c->s3.path_style = -1;
        ebb__engines_init(&c->engines);
    }
    *out = c;
    return rc;
}

/* A script may put anything into its error. */
static void hide_text(struct ebb_strs *secrets, char *text, size_t size)
{
    struct ebb_buf masked;

    ebb_buf_init(&masked, 8 * size);
    if (ebb_mask_text(secrets, text, &masked, NULL))
        ebb_buf_reset(&masked);
    snprintf(text, size, "%s", ebb_buf_cstr(&masked));
    ebb_buf_fini(&masked);
}

static void hide_secrets(struct ebb_config *c, struct ebb_err *err)
{
    if (!err || !c->secrets.count)
        return;
    hide_text(&c->secrets, err->message, sizeof err->message);
    hide_text(&c->secrets, err->hint, sizeof err->hint);
}

int ebb_config_load(const char *file, struct ebb_config **out, struct ebb_err *err)
{
    struct ebb__config_reader r = {0};
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
        rc = ebb_data_load(file, lookup_env, &r, &r.c->root, err);
    if (!rc && r.no_memory)
        rc = ebb_err_nomem(err);
    if (rc == -(int)EBB_ENOENT)
        rc = ebb_err_as(err, EBB_ECONFIG, "configuration");
    if (!rc)
        rc = read_root(&r, err);
    ebb_buf_fini(&r.base);
    if (rc) {
        hide_secrets(r.c, err);
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
    for (size_t i = 0; i < c->catalog_count; i++)
        ebb__config_catalog_fini(&c->catalogs[i]);
    for (size_t i = 0; i < c->binding_count; i++) {
        free(c->bindings[i].policy);
        ebb_strs_fini(&c->bindings[i].tables);
    }
    free(c->catalogs);
    free(c->bindings);
    ebb__serve_fini(&c->serve);
    ebb__engines_fini(&c->engines);
    ebb_strs_fini(&c->secrets);
    ebb_strs_fini(&c->maps);
    ebb_strs_fini(&c->below_floor);
    free(c->policies);
    free(c->s3_ca_file);
    free(c->file);
    ebb_value_free(c->root);
    free(c);
}

bool ebb_config_has_catalog(const struct ebb_config *c, const char *name)
{
    return ebb_config_catalog(c, name) != NULL;
}

bool ebb_config_allows_below_floor(const struct ebb_config *c, const char *table)
{
    for (size_t i = 0; i < c->below_floor.count; i++)
        if (ebb_table_glob_is_match(c->below_floor.items[i], table))
            return true;
    return false;
}
