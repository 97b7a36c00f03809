/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "io/catalog_rest_priv.h"

#define CHUNK 256 /* tables that are loaded before they are told */

static struct ebb__rest_catalog *state_of(const struct ebb_catalog *catalog)
{
    return catalog->state;
}

static int open_rest(struct ebb_catalog *catalog, const struct ebb_catalog_config *config,
                     const struct ebb_catalog_site *site, struct ebb_err *err)
{
    struct ebb__rest_catalog *c;

    if (!config->uri || !config->uri[0])
        return ebb_err_set(err, EBB_ECONFIG, "catalog '%s': uri is missing", catalog->name);
    c = calloc(1, sizeof *c);
    if (!c)
        return ebb_err_nomem(err);
    catalog->state = c;
    c->storage = site->storage;
    return ebb__rest_new(config, site, &c->rest, err);
}

static void set_deaf(struct ebb_catalog *catalog, bool is_deaf)
{
    ebb__rest_set_deaf(state_of(catalog)->rest, is_deaf);
}

static void close_rest(struct ebb_catalog *catalog)
{
    struct ebb__rest_catalog *c = state_of(catalog);

    if (!c)
        return;
    ebb__rest_lent_fini(c);
    ebb__rest_kept_fini(c);
    ebb__rest_free(c->rest);
    free(c);
}

/* ---- a reference ---- */

static int no_pointer(const struct ebb__rest_catalog *c, const char *what, struct ebb_err *err)
{
    ebb_err_set(err, EBB_EPOINTER_UNKNOWN, "catalog '%s': %s: it has no metadata file (yet): it is only staged",
                c->rest->name, what);
    return -(int)EBB_EPOINTER_UNKNOWN;
}

static int fill_ref(const struct ebb__rest_catalog *c, const struct ebb__rest_table *t, const char *what,
                    struct ebb_table_ref *ref, struct ebb_err *err)
{
    if (!t->metadata_uri || !t->metadata_uri[0])
        return no_pointer(c, what, err);
    ref->metadata_uri = strdup(t->metadata_uri);
    ref->snapshots = calloc(t->snapshot_count + 1, sizeof *ref->snapshots);
    if (!ref->metadata_uri || !ref->snapshots)
        return ebb_err_nomem(err);
    ref->has_snapshots = true;
    ref->snapshot_count = t->snapshot_count;
    if (t->snapshot_count)
        memcpy(ref->snapshots, t->snapshots, t->snapshot_count * sizeof *ref->snapshots);
    return 0;
}

static int load_rest(struct ebb_catalog *catalog, const char *namespace_, const char *name, struct ebb_table_ref *out,
                     struct ebb_err *err)
{
    struct ebb__rest_catalog *c = state_of(catalog);
    struct ebb__rest_table *t = NULL;
    struct ebb_strs levels;
    int rc = ebb__rest_ready(c->rest, err);

    ebb_strs_init(&levels);
    if (!rc)
        rc = ebb__rest_split(namespace_, &levels, err);
    if (!rc)
        rc = ebb__rest_load_one(c, &levels, name, false, &t, err);
    if (!rc)
        rc = ebb__table_ref_name(out, catalog->name, namespace_, name, err);
    if (!rc)
        rc = fill_ref(c, t, name, out, err);
    ebb_strs_fini(&levels);
    return rc;
}

/* ---- a listing ---- */

/* What concerns the whole catalog, not one table. */
static bool is_of_all(const struct ebb__rest_load *load)
{
    return !load->ask.status || load->ask.status == 401 || load->ask.status == 419 || load->ask.status == 429 ||
           load->ask.status == 503;
}

static bool is_gone(const struct ebb__rest_load *load)
{
    return ebb__rest_is_missing(&load->ask, "NoSuchTableException") ||
           ebb__rest_is_missing(&load->ask, "NoSuchNamespaceException") ||
           ebb__rest_is_missing(&load->ask, "NoSuchIcebergTableException");
}

/* Too long to be read beside others. */
static bool is_long(const struct ebb__rest_load *load)
{
    return load->ask.err.error == EBB_ELIMIT && load->ask.answer_bytes < EBB__REST_LARGE && load->path;
}

static int load_alone(struct ebb__rest_catalog *c, struct ebb__rest_load *load, struct ebb_err *err)
{
    load->ask.answer_bytes = EBB__REST_LARGE;
    return ebb__rest_ask_many(c->rest, &load->ask, 1, err);
}

static int tell(struct ebb_catalog *catalog, const struct ebb__rest_name *name, struct ebb__rest_load *load,
                ebb_catalog_cb *cb, void *data, struct ebb_err *err)
{
    struct ebb__rest_catalog *c = state_of(catalog);
    const char *unreachable = ebb__rest_unreachable(c->rest, &name->levels, name->name);
    const char *ambiguous = ebb__rest_ambiguous(&name->levels, name->name);
    struct ebb_table_ref ref = {.catalog = NULL};
    struct ebb__rest_table *t = NULL;
    int rc = ebb__table_ref_name(&ref, catalog->name, name->dotted, name->name, err);

    if (!rc && !unreachable && is_long(load))
        rc = load_alone(c, load, err);
    if (!rc && !unreachable && (is_gone(load) || (load->ask.err.error && is_of_all(load)))) {
        if (!is_gone(load)) {
            rc = -(int)load->ask.err.error;
            if (err)
                *err = load->ask.err;
        }
        goto out;
    }
    if (!rc && !unreachable && load->ask.err.error)
        ref.problem = load->ask.err;
    else if (!rc && !unreachable && !ebb__rest_load_take(load, &t, &ref.problem))
        fill_ref(c, t, load->what, &ref, &ref.problem);
    if (!rc && (unreachable || (ambiguous && !ref.problem.error)))
        ebb_err_set(&ref.problem, EBB_EPOINTER_UNKNOWN, "catalog '%s': table %s.%s: %s", catalog->name, name->dotted,
                    name->name, unreachable ? unreachable : ambiguous);
    if (ref.problem.error == EBB_ENOMEM)
        rc = ebb_err_nomem(err);
    if (!rc)
        rc = cb(data, &ref, err);
out:
    ebb_table_ref_fini(&ref);
    return rc;
}

static int load_chunk(struct ebb_catalog *catalog, const struct ebb__rest_name *names, size_t n,
                      struct ebb__rest_load *loads, struct ebb__rest_ask *asks, struct ebb_err *err)
{
    struct ebb__rest_catalog *c = state_of(catalog);
    size_t count = 0;
    int rc = 0;

    for (size_t i = 0; !rc && i < n; i++) {
        if (ebb__rest_unreachable(c->rest, &names[i].levels, names[i].name))
            continue;
        rc = ebb__rest_load_init(&loads[i], c, &names[i].levels, names[i].name, false, err);
        if (!rc)
            asks[count++] = loads[i].ask;
    }
    if (!rc)
        rc = ebb__rest_ask_many(c->rest, asks, count, err);
    for (size_t i = 0, k = 0; i < n && k < count; i++)
        if (loads[i].catalog)
            loads[i].ask = asks[k++];
    return rc;
}

static int list_chunk(struct ebb_catalog *catalog, const struct ebb__rest_name *names, size_t n, ebb_catalog_cb *cb,
                      void *data, struct ebb_err *err)
{
    struct ebb__rest_load *loads = calloc(n, sizeof *loads);
    struct ebb__rest_ask *asks = calloc(n, sizeof *asks);
    int rc = loads && asks ? 0 : ebb_err_nomem(err);

    if (!rc)
        rc = load_chunk(catalog, names, n, loads, asks, err);
    for (size_t i = 0; !rc && i < n; i++)
        rc = tell(catalog, &names[i], &loads[i], cb, data, err);
    for (size_t i = 0; loads && i < n; i++)
        if (loads[i].catalog)
            ebb__rest_load_fini(&loads[i]);
    free(asks);
    free(loads);
    return rc;
}

/* A table may stand on two pages when others are made meanwhile. */
static void drop_doubles(struct ebb__rest_names *names)
{
    size_t kept = 0;

    for (size_t i = 0; i < names->count; i++) {
        struct ebb__rest_name *last = kept ? &names->items[kept - 1] : NULL;
        bool is_same =
            last && !strcmp(last->name, names->items[i].name) && last->levels.count == names->items[i].levels.count;

        for (size_t k = 0; is_same && k < last->levels.count; k++)
            is_same = !strcmp(last->levels.items[k], names->items[i].levels.items[k]);
        if (is_same) {
            ebb_strs_fini(&names->items[i].levels);
            free(names->items[i].dotted);
            free(names->items[i].name);
        } else {
            names->items[kept++] = names->items[i];
        }
    }
    names->count = kept;
}

static int list_rest(struct ebb_catalog *catalog, ebb_catalog_cb *cb, void *data, struct ebb_err *err)
{
    struct ebb__rest_catalog *c = state_of(catalog);
    struct ebb__rest_names names = {.items = NULL};
    int rc = ebb__rest_ready(c->rest, err);

    if (!rc)
        rc = ebb__rest_list(c->rest, &names, err);
    if (!rc)
        drop_doubles(&names);
    for (size_t i = 0; !rc && i < names.count; i += CHUNK)
        rc = list_chunk(catalog, &names.items[i], names.count - i > CHUNK ? CHUNK : names.count - i, cb, data, err);
    ebb__rest_names_fini(&names);
    return rc;
}

const struct ebb__catalog_ops ebb__catalog_rest = {
    .type = "rest",
    .open = open_rest,
    .set_deaf = set_deaf,
    .close = close_rest,
    .list = list_rest,
    .load = load_rest,
};
