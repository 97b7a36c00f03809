/* SPDX-License-Identifier: Apache-2.0 */
#include "service/doctor_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "service/metalake.h"
#include "table/quarantine.h"
#include "table/table.h"

#define READ_MAX 50    /* tables of a catalog whose metadata is read */
#define PROBLEMS_MAX 5 /* of a catalog that are told one by one */
#define FUTURE_MS INT64_C(300000)

/* ---- policies ---- */

static void tell_diagnostics(struct ebb__doctor *d, const struct ebb_diagnostics *list)
{
    for (size_t i = 0; i < list->count; i++)
        ebb__doctor_say(d, list->items[i].is_error ? EBB_DOCTOR_FAIL : EBB_DOCTOR_WARN, "policies",
                        list->items[i].hint ? list->items[i].hint : "", "%s:%d:%d: %s", list->items[i].file,
                        list->items[i].line, list->items[i].column, list->items[i].message);
}

/* Whether policies may come from elsewhere than the folder. */
static bool has_server(const struct ebb__doctor *d)
{
    for (size_t i = 0; i < d->config->catalog_count; i++)
        if (!strcmp(d->config->catalogs[i].type, "gravitino"))
            return true;
    return false;
}

static void tell_generation(struct ebb__doctor *d)
{
    size_t modes[3] = {0};

    for (size_t i = 0; i < d->generation->bound_count; i++)
        modes[d->generation->bound[i].binding->mode]++;
    if (!d->generation->bound_count && has_server(d))
        ebb__doctor_say(d, EBB_DOCTOR_OK, "policies", "",
                        "policies %zu, none is bound here: those of the server are, see ebb gravitino status",
                        d->generation->policy_count);
    else if (!d->generation->bound_count)
        ebb__doctor_say(d, EBB_DOCTOR_WARN, "policies", "bind = { { policy = \"…\", mode = \"observe\" } } in ebb.lua",
                        "policies %zu, none is bound: nothing is ever due", d->generation->policy_count);
    else
        ebb__doctor_say(
            d, EBB_DOCTOR_OK, "policies", "", "policies %zu, bindings that observe %zu, approve %zu, enforce %zu",
            d->generation->policy_count, modes[EBB_BIND_OBSERVE], modes[EBB_BIND_APPROVE], modes[EBB_BIND_ENFORCE]);
}

void ebb__doctor_policies(struct ebb__doctor *d)
{
    struct ebb_generation_options options = {.config = d->config->file, .now_ms = ebb_clock_now(&d->o->clock)};
    struct ebb_diagnostics list;
    struct ebb_err why = {0};
    int rc;

    ebb_diagnostics_init(&list);
    rc = ebb_generation_load(&options, &d->generation, &list, &why);
    tell_diagnostics(d, &list);
    if (rc && !list.error_count)
        ebb__doctor_error(d, EBB_DOCTOR_FAIL, "policies", &why);
    if (!rc)
        tell_generation(d);
    ebb_diagnostics_fini(&list);
}

/* ---- catalogs ---- */

struct lister {
    struct ebb__doctor *d;
    const struct ebb_site *site;
    int64_t count, problems, read;
    int64_t writable, newest_ms;
    char clock_folder[PATH_MAX]; /* of the first table */
    char bucket[256];            /* that was looked at last */
};

static void tell_problem(struct lister *l, const char *table, const struct ebb_err *why)
{
    if (l->problems++ < PROBLEMS_MAX)
        ebb__doctor_say(l->d, EBB_DOCTOR_WARN, "table", why->hint, "%s: %s: %s", table, ebb_error_code(why->error),
                        why->message);
}

static void look_at_quarantine(struct lister *l, const char *table, const char *folder)
{
    char name[PATH_MAX];
    struct stat here, there;

    if (snprintf(name, sizeof name, "%s/" EBB_QUARANTINE_DIR, folder) >= (int)sizeof name || stat(folder, &here) != 0 ||
        lstat(name, &there) != 0)
        return;
    if (!S_ISDIR(there.st_mode))
        ebb__doctor_say(l->d, EBB_DOCTOR_FAIL, "table", "move it aside: files can't be moved to quarantine",
                        "%s: %s is no folder", table, name);
    else if (here.st_dev != there.st_dev)
        ebb__doctor_say(l->d, EBB_DOCTOR_FAIL, "table", "files are moved by renaming them: unmount it",
                        "%s: %s is on another file system than the table", table, name);
    else if (access(name, W_OK | X_OK) != 0)
        ebb__doctor_say(l->d, ebb__doctor_is_enforcing(l->d) ? EBB_DOCTOR_FAIL : EBB_DOCTOR_WARN, "table",
                        "it belongs to who applied plans before: run ebb as that user, or give the folder away",
                        "%s: %s: %s", table, name, strerror(errno));
}

/* Of each bucket, the first table's folder. Whether it may be written to shows when a plan is applied. */
static void look_at_remote(struct lister *l, const char *location)
{
    const char *host = strstr(location, "://");
    char bucket[sizeof l->bucket];

    l->writable++;
    snprintf(bucket, sizeof bucket, "%.*s", host ? (int)strcspn(host + 3, "/") : 0, host ? host + 3 : "");
    if (!strcmp(bucket, l->bucket) && bucket[0])
        return;
    memcpy(l->bucket, bucket, sizeof bucket);
    ebb__doctor_bucket(l->d, l->site->storage, location);
}

static void look_at_folder(struct lister *l, const struct ebb_table *table)
{
    struct ebb_buf local;
    struct ebb_err why = {0};
    const char *folder;

    if (ebb_storage_is_remote(l->site->storage, table->metadata->location)) {
        look_at_remote(l, table->metadata->location);
        return;
    }
    ebb_buf_init(&local, PATH_MAX);
    if (ebb_uri_map_local(ebb_storage_map(l->site->storage), table->metadata->location, &local, &why)) {
        tell_problem(l, table->label, &why);
    } else {
        folder = ebb_buf_cstr(&local);
        if (access(folder, W_OK | X_OK) == 0)
            l->writable++;
        if (!l->clock_folder[0])
            snprintf(l->clock_folder, sizeof l->clock_folder, "%s", folder);
        look_at_quarantine(l, table->label, folder);
    }
    ebb_buf_fini(&local);
}

static int on_table(void *data, const struct ebb_table_ref *ref, struct ebb_err *err)
{
    struct lister *l = data;
    struct ebb_table *table = NULL;
    struct ebb_err why = ref->problem;
    char name[512];

    (void)err;
    l->count++;
    snprintf(name, sizeof name, "%s.%s.%s", ref->catalog, ref->namespace_, ref->name);
    if (!ref->metadata_uri) {
        tell_problem(l, name, &why);
        return 0;
    }
    if (l->read >= READ_MAX)
        return 0;
    l->read++;
    if (ebb_table_open_ref(l->site, ref, &table, &why)) {
        tell_problem(l, name, &why);
        return 0;
    }
    if (table->metadata->last_updated_ms > l->newest_ms)
        l->newest_ms = table->metadata->last_updated_ms;
    look_at_folder(l, table);
    ebb_table_free(table);
    return 0;
}

static void tell_writable(struct lister *l, const char *catalog)
{
    int64_t closed = l->read - l->problems - l->writable;

    if (closed <= 0)
        return;
    ebb__doctor_say(l->d, ebb__doctor_is_enforcing(l->d) ? EBB_DOCTOR_FAIL : EBB_DOCTOR_OK, "table",
                    ebb__doctor_is_enforcing(l->d) ? "files can't be moved to quarantine: run ebb as a user who may "
                                                     "write there"
                                                   : "",
                    "%s: folders that may only be read: %" PRId64 " of %" PRId64, catalog, closed, l->read);
}

static void tell_clock(struct lister *l, const char *catalog)
{
    int64_t now = ebb_clock_now(&l->d->o->clock);

    if (l->newest_ms > now + FUTURE_MS)
        ebb__doctor_say(l->d, EBB_DOCTOR_FAIL, "clock", "mend the clock of this machine, or that of the writers",
                        "%s: a table was written %" PRId64 " s in the future", catalog, (l->newest_ms - now) / 1000);
    if (l->clock_folder[0])
        ebb__doctor_clock_of(l->d, l->clock_folder);
}

static void look_at_catalog(struct ebb__doctor *d, const struct ebb_site *site, struct ebb_catalog *catalog)
{
    struct lister l = {.d = d, .site = site};
    struct ebb_err why = {0};
    const char *name = ebb_catalog_name(catalog);

    if (ebb_catalog_list(catalog, on_table, &l, &why)) {
        ebb__doctor_error(d, EBB_DOCTOR_FAIL, "catalog", &why);
        return;
    }
    d->tables += l.count;
    ebb__doctor_say(d, l.problems ? EBB_DOCTOR_WARN : EBB_DOCTOR_OK, "catalog",
                    l.problems ? "tables with problems are left alone: nothing is removed there" : "",
                    "%s: tables %" PRId64 ", metadata read of %" PRId64 ", with problems %" PRId64, name, l.count,
                    l.read, l.problems);
    tell_writable(&l, name);
    tell_clock(&l, name);
}

/* ---- the server of a Gravitino catalog ---- */

static bool runs_there(const struct ebb__doctor *d)
{
    for (size_t i = 0; i < d->config->binding_count; i++)
        if (d->config->bindings[i].engine == EBB_JOB_GRAVITINO)
            return true;
    return d->config->engines.gravitino.is_set;
}

static void tell_template(struct ebb__doctor *d, const char *catalog, const char *name,
                          const struct ebb_value *template)
{
    if (!template)
        ebb__doctor_say(d, runs_there(d) ? EBB_DOCTOR_WARN : EBB_DOCTOR_OK, "gravitino",
                        runs_there(d) ? "on the server's machine: ebb gravitino register" : "",
                        "%s: job template %s is not registered", catalog, name);
    else if (!ebb_metalake_is_ours(template))
        ebb__doctor_say(d, EBB_DOCTOR_WARN, "gravitino", "take another name: engines.gravitino.template",
                        "%s: job template %s was not registered by ebb", catalog, name);
    else
        ebb__doctor_say(d, EBB_DOCTOR_OK, "gravitino", "", "%s: job template %s is registered", catalog, name);
}

static void look_at_metalake(struct ebb__doctor *d, struct ebb_workspace *ws, const struct ebb_config_catalog *c)
{
    const char *name = d->config->engines.gravitino.template;
    struct ebb_value *template = NULL;
    struct ebb_gravitino *g = NULL;
    struct ebb_err why = {0};
    int rc;

    if (strcmp(c->type, "gravitino") != 0)
        return;
    name = name ? name : EBB_JOB_TEMPLATE;
    rc = ebb_metalake_open(ws, c->name, &g, &why);
    if (!rc)
        rc = ebb_metalake_get_template(g, name, &template, &why);
    if (rc)
        ebb__doctor_error(d, EBB_DOCTOR_WARN, "gravitino", &why);
    else
        tell_template(d, c->name, name, template);
    ebb_value_free(template);
    ebb_gravitino_free(g);
}

void ebb__doctor_catalogs(struct ebb__doctor *d)
{
    struct ebb_workspace_options options = {.shared = d->config, .clock = d->o->clock};
    struct ebb_workspace *ws = NULL;
    struct ebb_err why = {0};
    int rc = ebb_workspace_open(&options, true, &ws, &why);

    if (!rc)
        rc = ebb_workspace_connect(ws, NULL, NULL, &why);
    if (rc)
        ebb__doctor_error(d, EBB_DOCTOR_FAIL, "catalog", &why);
    for (size_t i = 0; !rc && i < ebb_workspace_site(ws)->catalog_count; i++)
        look_at_catalog(d, ebb_workspace_site(ws), ebb_workspace_site(ws)->catalogs[i]);
    for (size_t i = 0; !rc && i < d->config->catalog_count; i++)
        look_at_metalake(d, ws, &d->config->catalogs[i]);
    ebb_workspace_close(ws);
}
