/* SPDX-License-Identifier: Apache-2.0
 *
 * The catalog of type `glue`. A database is a namespace; a table counts when its parameter table_type is ICEBERG. A
 * link to a table or database of the same account is no table of its own, and is passed over in a listing; one that
 * leads to another account is followed. One that can't be followed is listed with its problem.
 */
#include <stdlib.h>
#include <strings.h>

#include "base/text.h"
#include "io/glue_priv.h"

#define BODY_MAX ((size_t)1 << 20)
#define ANSWER_MAX ((size_t)64 << 20)
#define WHAT_MAX ((size_t)65536)
#define NOT_FOUND "EntityNotFoundException"

static int open_glue(struct ebb_catalog *catalog, const struct ebb_catalog_config *config,
                     const struct ebb_catalog_site *site, struct ebb_err *err)
{
    struct ebb__glue *glue = NULL;
    int rc = ebb__glue_new(config, site, &glue, err);

    catalog->state = glue;
    return rc;
}

static void set_deaf(struct ebb_catalog *catalog, bool is_deaf)
{
    struct ebb__glue *g = catalog->state;

    ebb_http_sync_set_deaf(g->http, is_deaf);
}

static void close_glue(struct ebb_catalog *catalog)
{
    ebb__glue_free(catalog->state);
}

/* ---- questions ---- */

/* account NULL: the configured one, else the caller's. Texts that are NULL are not sent. */
struct question {
    const char *action, *account, *name_key, *database, *name, *token;
};

static void put_body(const struct ebb__glue *g, const struct question *q, struct ebb_buf *out)
{
    const char *account = q->account ? q->account : g->catalog_id;
    struct ebb_jsonw w;

    ebb_jsonw_init(&w, out);
    ebb_jsonw_begin(&w, '{');
    if (account)
        ebb_jsonw_kstr(&w, "CatalogId", account);
    if (q->database)
        ebb_jsonw_kstr(&w, q->name ? "DatabaseName" : q->name_key, q->database);
    if (q->name)
        ebb_jsonw_kstr(&w, q->name_key, q->name);
    if (q->token)
        ebb_jsonw_kstr(&w, "NextToken", q->token);
    ebb_jsonw_end(&w, '}');
}

/* Ask, and add what is listed. */
static int ask(struct ebb__glue *g, const struct question *q, const char *what, struct ebb__glue_items *out,
               char type[64], struct ebb_err *err)
{
    struct ebb_buf body, answer;
    int rc;

    ebb_buf_init(&body, BODY_MAX);
    ebb_buf_init(&answer, ANSWER_MAX);
    type[0] = '\0';
    put_body(g, q, &body);
    rc = ebb_buf_check(&body, what, err);
    if (!rc)
        rc = ebb__glue_ask(g, q->action, what, ebb_buf_str(&body), &answer, type, err);
    if (!rc) {
        rc = ebb__glue_parse(what, ebb_buf_str(&answer), out, err);
        if (rc == -(int)EBB_ECATALOG && err) {
            struct ebb_err was = *err;

            ebb_err_set(err, EBB_ECATALOG, "catalog '%s': %s: %.900s", g->name, g->endpoint, was.message);
            ebb_err_hint(err, "is this endpoint really Glue?");
        }
    }
    ebb_buf_fini(&body);
    ebb_buf_fini(&answer);
    return rc;
}

/* All pages. */
static int ask_all(struct ebb__glue *g, struct question q, const char *what, struct ebb__glue_items *out, char type[64],
                   struct ebb_err *err)
{
    struct ebb_strs seen;
    int rc = 0;

    ebb_strs_init(&seen);
    for (size_t page = 0; !rc; page++) {
        rc = ask(g, &q, what, out, type, err);
        if (rc || !out->next)
            break;
        if (page >= EBB__GLUE_PAGES_MAX || (seen.count && !strcmp(seen.items[seen.count - 1], out->next)) ||
            ebb_strs_has(&seen, out->next))
            rc = ebb_err_set(err, EBB_ECATALOG, "catalog '%s': %s: %s: the token of a page comes twice: no end is told",
                             g->name, what, g->endpoint);
        if (!rc)
            rc = ebb_strs_add(&seen, out->next, err);
        q.token = seen.count ? seen.items[seen.count - 1] : NULL;
    }
    ebb_strs_fini(&seen);
    ebb__glue_items_sort(out);
    return rc;
}

/* Of a page that should hold one. */
static int check_one(const struct ebb__glue *g, const struct ebb__glue_items *items, const char *what,
                     struct ebb_err *err)
{
    if (items->count == 1)
        return 0;
    return ebb_err_set(err, EBB_ECATALOG, "catalog '%s': %s: %s: the answer holds %zu of it", g->name, what,
                       g->endpoint, items->count);
}

/* ---- a table ---- */

static bool is_iceberg(const struct ebb__glue_item *item)
{
    return item->table_type && !strcasecmp(item->table_type, "ICEBERG") && !item->is_view;
}

static int fill_ref(const struct ebb__glue *g, const struct ebb__glue_item *item, const char *what,
                    struct ebb_table_ref *ref, struct ebb_err *err)
{
    if (item->metadata_uri && item->metadata_uri[0]) {
        ref->metadata_uri = strdup(item->metadata_uri);
        return ref->metadata_uri ? 0 : ebb_err_nomem(err);
    }
    if (item->location && item->location[0]) { /* what it would own */
        ref->folder_uri = strdup(item->location);
        if (!ref->folder_uri)
            return ebb_err_nomem(err);
    }
    ebb_err_set(&ref->problem, EBB_EPOINTER_UNKNOWN, "catalog '%s': %s: it has no metadata_location", g->name, what);
    ebb_err_hint(&ref->problem, "whoever made it in Glue left it out: make it again, or drop it there");
    return 0;
}

/* Leads to another account, or to one that can't be told from ours. */
static bool is_elsewhere(const struct ebb__glue *g, const struct ebb__glue_item *link)
{
    const char *own = link->account ? link->account : g->catalog_id;

    return link->target_account && link->target_account[0] && (!own || strcmp(own, link->target_account) != 0);
}

/* What a link to a table leads to: added to `out`, nothing when it leads nowhere. Another link is not followed. */
static int follow(struct ebb__glue *g, const struct ebb__glue_item *link, const char *what, struct ebb__glue_items *out,
                  struct ebb_err *err)
{
    const struct question q = {.action = "GetTable",
                               .account = link->target_account,
                               .name_key = "Name",
                               .database = link->target_database,
                               .name = link->target_name};
    char type[64];
    int rc;

    if (!link->target_name || !link->target_name[0])
        return ebb_err_set(err, EBB_ECATALOG, "catalog '%s': %s: a link that names no table", g->name, what);
    rc = ask(g, &q, what, out, type, err);
    if (rc && !strcmp(type, NOT_FOUND)) {
        ebb_log_say(&g->log, EBB_LOG_WARN, "catalog '%s': %s: a link to %s.%s of account %s, which is not there",
                    g->name, what, link->target_database, link->target_name,
                    link->target_account ? link->target_account : "?");
        return 0;
    }
    if (!rc)
        rc = check_one(g, out, what, err);
    if (!rc && out->items[0].is_link)
        rc = ebb_err_set(err, EBB_ECATALOG, "catalog '%s': %s: a link to a link", g->name, what);
    return rc;
}

/* What concerns more than one link. */
static bool is_of_all(int rc)
{
    return rc == -(int)EBB_ENOMEM || rc == -(int)EBB_ECANCELLED || rc == -(int)EBB_ECONFIG || rc == -(int)EBB_ECLOCK;
}

/* ---- a listing ---- */

struct listing {
    struct ebb_catalog *catalog;
    struct ebb__glue *glue;
    ebb_catalog_cb *cb;
    void *data;
};

static int tell(struct listing *l, const char *database, const char *name, const struct ebb__glue_item *item,
                const struct ebb_err *problem, const char *what, struct ebb_err *err)
{
    struct ebb_table_ref ref = {.catalog = NULL};
    int rc = ebb__table_ref_name(&ref, l->catalog->name, database, name, err);

    ebb_strs_init(&ref.lagging);
    if (!rc && problem)
        ref.problem = *problem;
    else if (!rc)
        rc = fill_ref(l->glue, item, what, &ref, err);
    if (!rc)
        rc = l->cb(l->data, &ref, err);
    ebb_table_ref_fini(&ref);
    return rc;
}

static int tell_link(struct listing *l, const char *database, const struct ebb__glue_item *link, const char *what,
                     struct ebb_err *err)
{
    struct ebb__glue_items found = {.items = NULL};
    struct ebb_err why = {0};
    int rc = 0;

    if (!is_elsewhere(l->glue, link))
        return 0; /* it stands in this listing under its own name */
    if (follow(l->glue, link, what, &found, &why)) {
        ebb_err_hint(&why, "allow glue:GetTable on %s.%s of account %s, or remove the link", link->target_database,
                     link->target_name ? link->target_name : "?", link->target_account);
        rc = is_of_all(-(int)why.error) ? -(int)why.error : tell(l, database, link->name, NULL, &why, what, err);
        if (rc && is_of_all(-(int)why.error) && err)
            *err = why;
    } else if (found.count && is_iceberg(&found.items[0])) {
        rc = tell(l, database, link->name, &found.items[0], NULL, what, err);
    }
    ebb__glue_items_fini(&found);
    return rc;
}

static int tell_tables(struct listing *l, const char *database, const struct ebb__glue_items *tables,
                       struct ebb_err *err)
{
    struct ebb_buf what;
    int rc = 0;

    ebb_buf_init(&what, WHAT_MAX);
    for (size_t i = 0; !rc && i < tables->count; i++) {
        const struct ebb__glue_item *item = &tables->items[i];

        ebb_buf_reset(&what);
        ebb_buf_printf(&what, "table %s.%s", database, item->name);
        rc = ebb_buf_check(&what, "table", err);
        if (!rc && item->is_link)
            rc = tell_link(l, database, item, ebb_buf_cstr(&what), err);
        else if (!rc && is_iceberg(item))
            rc = tell(l, database, item->name, item, NULL, ebb_buf_cstr(&what), err);
    }
    ebb_buf_fini(&what);
    return rc;
}

static int list_database(struct listing *l, const struct ebb__glue_item *database, struct ebb_err *err)
{
    struct question q = {.action = "GetTables", .name_key = "DatabaseName", .database = database->name};
    struct ebb__glue_items tables = {.items = NULL};
    struct ebb_buf what;
    char type[64];
    int rc;

    if (database->is_link && !is_elsewhere(l->glue, database))
        return 0; /* listed under its own name */
    if (database->is_link) {
        q.account = database->target_account;
        q.database = database->target_database;
    }
    ebb_buf_init(&what, WHAT_MAX);
    ebb_buf_printf(&what, "database %s", database->name);
    rc = ebb_buf_check(&what, "database", err);
    if (!rc)
        rc = ask_all(l->glue, q, ebb_buf_cstr(&what), &tables, type, err);
    if (rc && database->is_link && !strcmp(type, NOT_FOUND)) {
        ebb_log_say(&l->glue->log, EBB_LOG_WARN, "catalog '%s': %s: a link to a database that is not there",
                    l->glue->name, ebb_buf_cstr(&what));
        rc = 0;
    } else if (!rc) {
        rc = tell_tables(l, database->name, &tables, err);
    }
    ebb__glue_items_fini(&tables);
    ebb_buf_fini(&what);
    return rc;
}

static int list_glue(struct ebb_catalog *catalog, ebb_catalog_cb *cb, void *data, struct ebb_err *err)
{
    struct listing l = {catalog, catalog->state, cb, data};
    const struct question q = {.action = "GetDatabases"};
    struct ebb__glue_items databases = {.items = NULL};
    char type[64];
    int rc = ask_all(l.glue, q, "databases", &databases, type, err);

    if (rc && !strcmp(type, NOT_FOUND))
        ebb_err_hint(err, "there is no such catalog: check catalogs.%s.catalog_id", l.glue->name);
    for (size_t i = 0; !rc && i < databases.count; i++)
        rc = list_database(&l, &databases.items[i], err);
    ebb__glue_items_fini(&databases);
    return rc;
}

/* ---- one table ---- */

static int not_found(const struct ebb__glue *g, const char *what, const char *why, struct ebb_err *err)
{
    return ebb_err_set(err, EBB_ETABLE_NOT_FOUND, "catalog '%s': %s: %s", g->name, what, why);
}

/* In a database that is a link, its tables are those of the one it leads to. */
static int get_through(struct ebb__glue *g, const char *database, const char *name, const char *what,
                       struct ebb__glue_items *out, struct ebb_err *err)
{
    const struct question of_database = {.action = "GetDatabase", .name_key = "Name", .database = database};
    struct ebb__glue_items found = {.items = NULL};
    char type[64];
    int rc = ask(g, &of_database, what, &found, type, err);

    if (rc && !strcmp(type, NOT_FOUND))
        rc = not_found(g, what, "there is no such database", err);
    else if (!rc)
        rc = check_one(g, &found, what, err);
    if (!rc && found.items[0].is_link) {
        const struct question q = {.action = "GetTable",
                                   .account = found.items[0].target_account,
                                   .name_key = "Name",
                                   .database = found.items[0].target_database,
                                   .name = name};

        rc = ask(g, &q, what, out, type, err);
        if (rc && !strcmp(type, NOT_FOUND))
            rc = not_found(g, what, "there is no such table", err);
    } else if (!rc) {
        rc = not_found(g, what, "there is no such table", err);
    }
    ebb__glue_items_fini(&found);
    return rc;
}

static int get_table(struct ebb__glue *g, const char *database, const char *name, const char *what,
                     struct ebb__glue_items *out, struct ebb_err *err)
{
    const struct question q = {.action = "GetTable", .name_key = "Name", .database = database, .name = name};
    struct ebb__glue_items target = {.items = NULL};
    char type[64];
    int rc = ask(g, &q, what, out, type, err);

    if (rc && !strcmp(type, NOT_FOUND))
        rc = get_through(g, database, name, what, out, err);
    if (!rc)
        rc = check_one(g, out, what, err);
    if (rc || !out->items[0].is_link)
        return rc;
    rc = follow(g, &out->items[0], what, &target, err);
    if (!rc && !target.count)
        rc = not_found(g, what, "a link to a table that is not there", err);
    if (rc) {
        ebb__glue_items_fini(&target);
        return rc;
    }
    ebb__glue_items_fini(out);
    *out = target;
    return 0;
}

static int load_glue(struct ebb_catalog *catalog, const char *namespace_, const char *name, struct ebb_table_ref *out,
                     struct ebb_err *err)
{
    struct ebb__glue *g = catalog->state;
    struct ebb__glue_items found = {.items = NULL};
    struct ebb_buf what;
    int rc;

    ebb_buf_init(&what, WHAT_MAX);
    ebb_buf_printf(&what, "table %s.%s", namespace_, name);
    rc = ebb_buf_check(&what, "table", err);
    if (!rc)
        rc = get_table(g, namespace_, name, ebb_buf_cstr(&what), &found, err);
    if (!rc && !is_iceberg(&found.items[0]))
        rc = not_found(g, ebb_buf_cstr(&what), "it is there, but is no Iceberg table", err);
    if (!rc)
        rc = ebb__table_ref_name(out, catalog->name, namespace_, name, err);
    if (!rc)
        rc = fill_ref(g, &found.items[0], ebb_buf_cstr(&what), out, err);
    ebb__glue_items_fini(&found);
    ebb_buf_fini(&what);
    return rc;
}

const struct ebb__catalog_ops ebb__catalog_glue = {
    .type = "glue",
    .open = open_glue,
    .set_deaf = set_deaf,
    .close = close_glue,
    .list = list_glue,
    .load = load_glue,
};
