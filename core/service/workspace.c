/* SPDX-License-Identifier: Apache-2.0 */
#include "service/workspace.h"

#include <stdlib.h>
#include <unistd.h>

struct ebb_workspace {
    struct ebb_config *own;          /* NULL: a shared one */
    const struct ebb_config *config; /* that counts */
    const struct ebb_generation *generation;
    struct ebb_site site;
    struct ebb_uri_map *map;
    struct ebb_strs maps;
};

int ebb_workspace_state_dir(const char *given, struct ebb_buf *out, struct ebb_err *err)
{
    const char *xdg = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");

    if (given)
        ebb_buf_puts(out, given);
    else if (xdg && xdg[0] == '/')
        ebb_buf_printf(out, "%s/ebb", xdg);
    else if (home && home[0] == '/')
        ebb_buf_printf(out, "%s/.local/state/ebb", home);
    else
        return ebb_err_set(err, EBB_EUSAGE, "state folder: neither --state nor XDG_STATE_HOME nor HOME is set");
    return ebb_buf_check(out, "state folder", err);
}

static int load_config(struct ebb_workspace *ws, const struct ebb_workspace_options *o, struct ebb_err *err)
{
    struct ebb_buf found;
    int rc;

    ws->config = o->shared;
    if (o->shared)
        return 0;
    ebb_buf_init(&found, 65536);
    if (!o->config && !o->no_config)
        ebb_config_find(&found);
    if (o->config)
        rc = ebb_config_load(o->config, &ws->own, err);
    else
        rc = found.len ? ebb_config_load(ebb_buf_cstr(&found), &ws->own, err) : ebb_config_empty(&ws->own, err);
    ebb_buf_fini(&found);
    ws->config = ws->own;
    return rc;
}

static int open_store(struct ebb_workspace *ws, const struct ebb_workspace_options *o, struct ebb_err *err)
{
    struct ebb_buf dir;
    int rc;

    ebb_buf_init(&dir, 65536);
    rc = ebb_workspace_state_dir(o->state_dir, &dir, err);
    if (!rc)
        rc = ebb_store_open(ebb_buf_cstr(&dir), &ws->site.store, err);
    if (!rc)
        rc = ebb_audit_open(ebb_buf_cstr(&dir), &ws->site.audit, err);
    ebb_buf_fini(&dir);
    return rc;
}

int ebb_workspace_open(const struct ebb_workspace_options *o, bool without_store, struct ebb_workspace **out,
                       struct ebb_err *err)
{
    struct ebb_workspace *ws = calloc(1, sizeof *ws);
    int rc;

    if (!ws)
        return ebb_err_nomem(err);
    ws->site.clock = o->clock.now_ms ? o->clock : ebb_clock_system();
    ws->site.log = o->log;
    ws->site.progress = o->progress;
    ws->site.progress_data = o->progress_data;
    ws->site.cancelled = o->cancelled;
    ws->generation = o->generation;
    rc = load_config(ws, o, err);
    if (!rc && !without_store)
        rc = open_store(ws, o, err);
    if (rc) {
        ebb_workspace_close(ws);
        return rc;
    }
    *out = ws;
    return 0;
}

/* Whether a map for the same FROM is there already. */
static bool has_from(const struct ebb_strs *maps, const char *text)
{
    const char *equals = strrchr(text, '=');
    size_t n = equals ? (size_t)(equals - text) : strlen(text);

    for (size_t i = 0; i < maps->count; i++)
        if (!strncmp(maps->items[i], text, n) && maps->items[i][n] == '=')
            return true;
    return false;
}

static int add_absolute(struct ebb_workspace *ws, const char *text, struct ebb_err *err)
{
    const char *equals = strrchr(text, '=');
    char cwd[4096];
    struct ebb_buf b;
    int rc;

    if (!equals || equals[1] == '/' || !strncmp(equals + 1, "file:", 5) || !strncmp(equals + 1, "s3://", 5) ||
        !getcwd(cwd, sizeof cwd))
        return ebb_strs_add(&ws->maps, text, err);
    ebb_buf_init(&b, 2 * EBB_LOCATION_MAX_BYTES);
    ebb_buf_append(&b, text, (size_t)(equals + 1 - text));
    ebb_buf_printf(&b, "%s/%s", cwd, equals + 1);
    rc = ebb_buf_check(&b, "--map", err);
    if (!rc)
        rc = ebb_strs_add(&ws->maps, ebb_buf_cstr(&b), err);
    ebb_buf_fini(&b);
    return rc;
}

static int gather_maps(struct ebb_workspace *ws, const struct ebb_strs *maps, const struct ebb_strs *recorded,
                       struct ebb_err *err)
{
    const struct ebb_strs *sources[] = {maps, &ws->config->maps, recorded};
    int rc = 0;

    for (size_t s = 0; !rc && s < 3; s++)
        for (size_t i = 0; !rc && sources[s] && i < sources[s]->count; i++)
            if (s == 0 || !has_from(&ws->maps, sources[s]->items[i]))
                rc = add_absolute(ws, sources[s]->items[i], err);
    for (size_t i = 0; !rc && i < ws->maps.count; i++)
        rc = ebb_uri_map_add_text(ws->map, ws->maps.items[i], err);
    return rc;
}

static int open_catalogs(struct ebb_workspace *ws, struct ebb_err *err)
{
    const struct ebb_config *c = ws->config;
    const struct ebb_catalog_site site = {ws->site.storage, ws->site.clock, ws->site.log, ws->site.cancelled};
    int rc = 0;

    ws->site.catalogs = calloc(c->catalog_count + 1, sizeof(struct ebb_catalog *));
    if (!ws->site.catalogs)
        return ebb_err_nomem(err);
    for (size_t i = 0; !rc && i < c->catalog_count; i++) {
        rc = ebb_catalog_new(&c->catalogs[i].config, &site, &ws->site.catalogs[i], err);
        if (!rc)
            ws->site.catalog_count++;
    }
    return rc;
}

int ebb_workspace_connect(struct ebb_workspace *ws, const struct ebb_strs *maps, const struct ebb_strs *recorded,
                          struct ebb_err *err)
{
    const struct ebb_storage_options storage = {&ws->config->s3, ws->site.clock, ws->site.log, ws->site.cancelled};
    int rc = ebb_uri_map_new(&ws->map, err);

    if (!rc)
        rc = gather_maps(ws, maps, recorded, err);
    if (!rc)
        rc = ebb_storage_new(ws->map, &storage, &ws->site.storage, err);
    ws->site.maps = &ws->maps;
    return rc ? rc : open_catalogs(ws, err);
}

void ebb_workspace_close(struct ebb_workspace *ws)
{
    if (!ws)
        return;
    for (size_t i = 0; i < ws->site.catalog_count; i++)
        ebb_catalog_free(ws->site.catalogs[i]);
    free(ws->site.catalogs);
    ebb_storage_free(ws->site.storage);
    ebb_uri_map_free(ws->map);
    ebb_audit_close(ws->site.audit);
    ebb_store_close(ws->site.store);
    ebb_strs_fini(&ws->maps);
    ebb_config_free(ws->own);
    free(ws);
}

struct ebb_site *ebb_workspace_site(struct ebb_workspace *ws)
{
    return &ws->site;
}

const struct ebb_config *ebb_workspace_config(const struct ebb_workspace *ws)
{
    return ws->config;
}

const struct ebb_generation *ebb_workspace_generation(const struct ebb_workspace *ws)
{
    return ws->generation;
}

int ebb_workspace_set_policies(struct ebb_workspace *ws, const char *dir, struct ebb_err *err)
{
    char *copy;

    if (!ws->own)
        return ebb_err_set(err, EBB_EINTERNAL, "workspace: its configuration is shared");
    copy = strdup(dir);
    if (!copy)
        return ebb_err_nomem(err);
    free(ws->own->policies);
    ws->own->policies = copy;
    return 0;
}

int ebb_workspace_add_catalog(struct ebb_workspace *ws, const char *spec, struct ebb_err *err)
{
    if (!ws->own)
        return ebb_err_set(err, EBB_EINTERNAL, "workspace: its configuration is shared");
    return ebb_config_add_catalog(ws->own, spec, err);
}

int ebb_workspace_recorded_maps(struct ebb_str json, struct ebb_strs *out, struct ebb_err *err)
{
    struct ebb_value *root = NULL;
    const struct ebb_value *list;
    int rc = ebb_value_of_json("record", json.p, json.n, NULL, &root, err);

    if (rc)
        return rc;
    list = ebb_value_get(root, "map");
    if (!list)
        list = ebb_value_get(ebb_value_get(root, "options"), "map");
    for (size_t i = 0; !rc && i < ebb_value_get_count(list); i++)
        if (ebb_value_get_str(ebb_value_get_at(list, i)))
            rc = ebb_strs_add(out, ebb_value_get_str(ebb_value_get_at(list, i)), err);
    ebb_value_free(root);
    return rc;
}
