/* SPDX-License-Identifier: Apache-2.0 */
#include "io/catalog_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/text.h"

static const struct ebb__catalog_ops *const TYPES[] = {&ebb__catalog_directory, &ebb__catalog_sqlite,
                                                       &ebb__catalog_rest, &ebb__catalog_glue, &ebb__catalog_gravitino};
static const char *const NOT_BUILT[] = {"hive", "postgresql"};

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

void ebb_table_ref_fini(struct ebb_table_ref *ref)
{
    free(ref->catalog);
    free(ref->namespace_);
    free(ref->name);
    free(ref->metadata_uri);
    free(ref->folder_uri);
    free(ref->snapshots);
    free(ref->location);
    ebb_strs_fini(&ref->lagging);
    memset(ref, 0, sizeof *ref);
}

static int dup_text(const char *text, char **out, struct ebb_err *err)
{
    *out = text ? strdup(text) : NULL;
    return text && !*out ? ebb_err_nomem(err) : 0;
}

static int copy_snapshots(const struct ebb_table_ref *from, struct ebb_table_ref *to, struct ebb_err *err)
{
    to->has_snapshots = from->has_snapshots;
    if (!from->snapshots)
        return 0;
    to->snapshots = calloc(from->snapshot_count + 1, sizeof *to->snapshots);
    if (!to->snapshots)
        return ebb_err_nomem(err);
    memcpy(to->snapshots, from->snapshots, from->snapshot_count * sizeof *to->snapshots);
    to->snapshot_count = from->snapshot_count;
    return 0;
}

int ebb_table_ref_copy(const struct ebb_table_ref *from, struct ebb_table_ref *to, struct ebb_err *err)
{
    int rc;

    memset(to, 0, sizeof *to);
    ebb_strs_init(&to->lagging);
    to->problem = from->problem;
    rc = dup_text(from->catalog, &to->catalog, err);
    if (!rc)
        rc = dup_text(from->namespace_, &to->namespace_, err);
    if (!rc)
        rc = dup_text(from->name, &to->name, err);
    if (!rc)
        rc = dup_text(from->metadata_uri, &to->metadata_uri, err);
    if (!rc)
        rc = dup_text(from->folder_uri, &to->folder_uri, err);
    if (!rc)
        rc = dup_text(from->location, &to->location, err);
    if (!rc)
        rc = copy_snapshots(from, to, err);
    for (size_t i = 0; !rc && i < from->lagging.count; i++)
        rc = ebb_strs_add(&to->lagging, from->lagging.items[i], err);
    return rc;
}

int ebb__table_ref_name(struct ebb_table_ref *ref, const char *catalog, const char *namespace_, const char *name,
                        struct ebb_err *err)
{
    ref->catalog = strdup(catalog);
    ref->namespace_ = strdup(namespace_);
    ref->name = strdup(name);
    return ref->catalog && ref->namespace_ && ref->name ? 0 : ebb_err_nomem(err);
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int check_name(const char *name, struct ebb_err *err)
{
    bool ok = name && is_letter(name[0]);

    for (const char *p = name; ok && *p; p++)
        ok = is_letter(*p) || (*p >= '0' && *p <= '9') || *p == '-';
    if (ok)
        return 0;
    return ebb_err_set(err, EBB_ECONFIG,
                       "catalog '%s': a name is letters, digits, '_' and '-' and begins with a letter",
                       name ? name : "");
}

static int unknown_type(const struct ebb_catalog_config *config, struct ebb_err *err)
{
    const char *type = config->type ? config->type : "";
    const char *known[COUNT(TYPES)], *near;
    int rc;

    for (size_t i = 0; i < COUNT(NOT_BUILT); i++)
        if (strcmp(type, NOT_BUILT[i]) == 0)
            return ebb_err_set(err, EBB_ECONFIG, "catalog '%s': type '%s' is not built into this version", config->name,
                               type);
    for (size_t i = 0; i < COUNT(TYPES); i++)
        known[i] = TYPES[i]->type;
    near = ebb_text_nearest(type, known, COUNT(TYPES));
    rc = ebb_err_set(err, EBB_ECONFIG, "catalog '%s': unknown type '%s'", config->name, type);
    if (near)
        ebb_err_hint(err, "did you mean '%s'?", near);
    else
        ebb_err_hint(err, "types are directory, sqlite, rest, glue and gravitino");
    return rc;
}

static int find_type(const struct ebb_catalog_config *config, const struct ebb__catalog_ops **out, struct ebb_err *err)
{
    for (size_t i = 0; config->type && i < COUNT(TYPES); i++) {
        if (strcmp(config->type, TYPES[i]->type) != 0)
            continue;
        *out = TYPES[i];
        return 0;
    }
    return unknown_type(config, err);
}

static int absolute_path(const char *path, char **out, struct ebb_err *err)
{
    char *cwd;
    int rc;

    if (path[0] == '/') {
        *out = strdup(path);
        return *out ? 0 : ebb_err_nomem(err);
    }
    cwd = getcwd(NULL, 0);
    if (!cwd)
        return ebb_err_errno(err, errno, "working directory");
    rc = ebb__uri_join(cwd, path, out, err);
    free(cwd);
    return rc;
}

static int fill(struct ebb_catalog *c, const struct ebb_catalog_config *config, const struct ebb_catalog_site *site,
                struct ebb_err *err)
{
    int rc;

    rc = check_name(config->name, err);
    if (!rc)
        rc = find_type(config, &c->ops, err);
    if (!rc && ebb__catalog_is_local(c->ops) && (!config->path || !*config->path))
        rc = ebb_err_set(err, EBB_ECONFIG, "catalog '%s': path is missing", config->name);
    if (!rc && config->path)
        rc = absolute_path(config->path, &c->path, err);
    if (rc)
        return rc;
    c->name = strdup(config->name);
    c->sql_name = strdup(config->sql_name ? config->sql_name : config->name);
    if (!c->name || !c->sql_name)
        return ebb_err_nomem(err);
    return c->ops->open ? c->ops->open(c, config, site, err) : 0;
}

int ebb_catalog_new(const struct ebb_catalog_config *config, const struct ebb_catalog_site *site,
                    struct ebb_catalog **out, struct ebb_err *err)
{
    struct ebb_catalog *c = calloc(1, sizeof *c);
    int rc;

    *out = NULL;
    if (!c)
        return ebb_err_nomem(err);
    c->storage = site->storage;
    rc = fill(c, config, site, err);
    if (rc)
        ebb_catalog_free(c);
    else
        *out = c;
    return rc;
}

void ebb_catalog_free(struct ebb_catalog *catalog)
{
    if (!catalog)
        return;
    if (catalog->ops && catalog->ops->close)
        catalog->ops->close(catalog);
    free(catalog->name);
    free(catalog->path);
    free(catalog->sql_name);
    free(catalog);
}

const char *ebb_catalog_name(const struct ebb_catalog *catalog)
{
    return catalog->name;
}

void ebb_catalog_set_deaf(struct ebb_catalog *catalog, bool is_deaf)
{
    if (catalog->ops->set_deaf)
        catalog->ops->set_deaf(catalog, is_deaf);
}

int ebb_catalog_list(struct ebb_catalog *catalog, ebb_catalog_cb *cb, void *data, struct ebb_err *err)
{
    return catalog->ops->list(catalog, cb, data, err);
}

int ebb_catalog_load(struct ebb_catalog *catalog, const char *namespace_, const char *name, struct ebb_table_ref *out,
                     struct ebb_err *err)
{
    int rc;

    memset(out, 0, sizeof *out);
    ebb_strs_init(&out->lagging);
    rc = catalog->ops->load(catalog, namespace_, name, out, err);
    if (!rc && out->problem.error) {
        rc = -(int)out->problem.error;
        if (err)
            *err = out->problem;
    }
    if (rc)
        ebb_table_ref_fini(out);
    return rc;
}

int ebb_catalog_statistics(struct ebb_catalog *catalog, const char *namespace_, const char *name,
                           struct ebb_buf *answer, struct ebb_err *err)
{
    ebb_buf_reset(answer);
    return catalog->ops->statistics ? catalog->ops->statistics(catalog, namespace_, name, answer, err) : 0;
}
