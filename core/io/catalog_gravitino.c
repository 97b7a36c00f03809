/* SPDX-License-Identifier: Apache-2.0
 *
 * A catalog of a Gravitino server. It tells which tables there are and where, but not their metadata file: that is
 * asked of the catalog behind it (`backing`), and both must name the same location.
 */
#include <stdlib.h>

#include "format/json.h"
#include "io/catalog_priv.h"
#include "io/gravitino.h"

#define PATH_MAX_BYTES ((size_t)65536)
#define TABLES_MAX 1000000
#define PROVIDER "lakehouse-iceberg"

struct gravitino {
    struct ebb_gravitino *server;
    struct ebb_catalog *backing; /* NULL: none is configured */
    char *name;
};

static int open_gravitino(struct ebb_catalog *catalog, const struct ebb_catalog_config *config,
                          const struct ebb_catalog_site *site, struct ebb_err *err)
{
    struct gravitino *s = calloc(1, sizeof *s);
    int rc;

    if (!s)
        return ebb_err_nomem(err);
    catalog->state = s;
    s->name = catalog->name;
    rc = ebb_gravitino_new(config, site, &s->server, err);
    if (!rc && config->backing)
        rc = ebb_catalog_new(config->backing, site, &s->backing, err);
    return rc;
}

static void set_deaf(struct ebb_catalog *catalog, bool is_deaf)
{
    struct gravitino *s = catalog->state;

    ebb_gravitino_set_deaf(s->server, is_deaf);
    if (s->backing)
        ebb_catalog_set_deaf(s->backing, is_deaf);
}

static void close_gravitino(struct ebb_catalog *catalog)
{
    struct gravitino *s = catalog->state;

    if (!s)
        return;
    ebb_gravitino_free(s->server);
    ebb_catalog_free(s->backing);
    free(s);
}

/* ---- paths ---- */

static void put_catalog(const struct gravitino *s, struct ebb_buf *path)
{
    ebb_buf_puts(path, "/catalogs");
    ebb_gravitino_segment(path, ebb_gravitino_catalog(s->server));
}

static void put_schema(const struct gravitino *s, const char *schema, struct ebb_buf *path)
{
    put_catalog(s, path);
    ebb_buf_puts(path, "/schemas");
    ebb_gravitino_segment(path, schema);
}

/* ---- answers ---- */

static int bad_answer(const struct gravitino *s, const char *what, int rc, struct ebb_err *err)
{
    return rc == -(int)EBB_ENOMEM || rc == -(int)EBB_ECATALOG
               ? rc
               : ebb_err_set(err, EBB_ECATALOG, "catalog '%s': %s: the server's answer can't be understood", s->name,
                             what);
}

/* The "name" of each of "identifiers". */
static int read_names(struct ebb_json *j, struct ebb_strs *out, struct ebb_err *err)
{
    int rc = ebb_json_expect(j, EBB_JSON_ARRAY, "identifiers", err);

    while (!rc && !(rc = ebb_json_next(j, err)) && j->kind == EBB_JSON_OBJECT) {
        bool is_named = false;

        while (!rc && !(rc = ebb_json_next(j, err)) && j->kind == EBB_JSON_KEY) {
            if (!ebb_json_is_text(j, "name")) {
                rc = ebb_json_skip(j, err);
                continue;
            }
            rc = ebb_json_expect(j, EBB_JSON_STRING, "name", err);
            if (!rc && memchr(j->text.p, '\0', j->text.n))
                rc = ebb_json_fail(j, err, "name: holds a NUL");
            if (!rc)
                rc = ebb_strs_addn(out, j->text.p, j->text.n, err);
            is_named = true;
        }
        if (!rc && !is_named)
            rc = ebb_json_fail(j, err, "an identifier without name");
        if (!rc && out->count > TABLES_MAX)
            rc = ebb_json_fail(j, err, "too many");
    }
    return rc ? rc : j->kind == EBB_JSON_ARRAY_END ? 0 : ebb_json_fail(j, err, "identifiers: objects are wanted");
}

/* A list of names; one that is missing in the answer is no empty one. */
static int ask_names(const struct gravitino *s, const char *path, const char *what, struct ebb_strs *out,
                     struct ebb_err *err)
{
    struct ebb_gravitino_call call = {.path = path, .what = what};
    struct ebb_buf answer;
    struct ebb_json j;
    bool is_there = false;
    int rc;

    ebb_buf_init(&answer, (size_t)64 << 20);
    rc = ebb_gravitino_ask(s->server, &call, &answer, err);
    if (rc) {
        ebb_buf_fini(&answer);
        return rc;
    }
    ebb_json_init(&j, what, answer.data, answer.len);
    rc = ebb_json_expect(&j, EBB_JSON_OBJECT, "answer", err);
    while (!rc && !(rc = ebb_json_next(&j, err)) && j.kind == EBB_JSON_KEY) {
        bool is_list = ebb_json_is_text(&j, "identifiers");

        is_there = is_there || is_list;
        rc = is_list ? read_names(&j, out, err) : ebb_json_skip(&j, err);
    }
    if (!rc && !is_there)
        rc = ebb_json_fail(&j, err, "no identifiers");
    ebb_json_fini(&j);
    ebb_buf_fini(&answer);
    return rc ? bad_answer(s, what, rc, err) : 0;
}

/* A text in an answer, by its path of keys; NULL: it is not there, or is no text. */
struct pick {
    const char *path[3]; /* the last ones may be NULL */
    char *text;          /* owned */
};
#define PICKS_MAX 4

static bool is_end(const struct pick *pick, size_t depth)
{
    return depth == 2 || !pick->path[depth + 1];
}

static int take_text(struct ebb_json *j, char **out, struct ebb_err *err)
{
    if (memchr(j->text.p, '\0', j->text.n))
        return ebb_json_fail(j, err, "text with a NUL");
    *out = strndup(j->text.p, j->text.n);
    return *out ? 0 : ebb_err_nomem(err);
}

/* Inside of an object at this depth; `on` has the bits of the picks whose path led here. */
static int read_picks(struct ebb_json *j, struct pick *picks, size_t n, size_t depth, unsigned on, struct ebb_err *err)
{
    int rc;

    while (!(rc = ebb_json_next(j, err)) && j->kind == EBB_JSON_KEY) {
        unsigned deeper = 0;
        size_t found = n;

        for (size_t i = 0; i < n; i++)
            if ((on & 1U << i) && ebb_json_is_text(j, picks[i].path[depth])) {
                if (is_end(&picks[i], depth))
                    found = i;
                else
                    deeper |= 1U << i;
            }
        rc = ebb_json_next(j, err);
        if (!rc && found < n && j->kind == EBB_JSON_STRING)
            rc = take_text(j, &picks[found].text, err);
        else if (!rc && deeper && j->kind == EBB_JSON_OBJECT)
            rc = read_picks(j, picks, n, depth + 1, deeper, err);
        else if (!rc)
            rc = ebb_json_skip(j, err);
        if (rc)
            return rc;
    }
    return rc;
}

/* Ask for texts; after an error none is there. */
static int ask_texts(const struct gravitino *s, struct ebb_gravitino_call *call, struct pick *picks, size_t n,
                     struct ebb_err *err)
{
    struct ebb_buf answer;
    struct ebb_json j;
    int rc;

    ebb_buf_init(&answer, (size_t)64 << 20);
    rc = ebb_gravitino_ask(s->server, call, &answer, err);
    if (rc) {
        ebb_buf_fini(&answer);
        return rc;
    }
    ebb_json_init(&j, call->what, answer.data, answer.len);
    rc = ebb_json_expect(&j, EBB_JSON_OBJECT, "answer", err);
    if (!rc)
        rc = read_picks(&j, picks, n, 0, (1U << n) - 1, err);
    ebb_json_fini(&j);
    ebb_buf_fini(&answer);
    for (size_t i = 0; rc && i < n; i++) {
        free(picks[i].text);
        picks[i].text = NULL;
    }
    return rc ? bad_answer(s, call->what, rc, err) : 0;
}

/* ---- the catalog itself ---- */

static int judge_catalog(const struct gravitino *s, const char *provider, struct ebb_err *err)
{
    int rc;

    if (provider && !strcmp(provider, PROVIDER))
        return 0;
    rc = ebb_err_set(err, EBB_ECONFIG, "catalog '%s': %s there has provider %.100s, not " PROVIDER, s->name,
                     ebb_gravitino_catalog(s->server), provider ? provider : "unknown");
    ebb_err_hint(err, "ebb keeps Iceberg tables: name an Iceberg catalog in catalogs.%s.catalog", s->name);
    return rc;
}

static int check_catalog(const struct gravitino *s, struct ebb_err *err)
{
    struct pick provider = {{"catalog", "provider", NULL}, NULL};
    struct ebb_gravitino_call call = {.what = "catalog"};
    struct ebb_buf path;
    int rc;

    ebb_buf_init(&path, PATH_MAX_BYTES);
    put_catalog(s, &path);
    rc = ebb_buf_check(&path, "catalog", err);
    call.path = ebb_buf_cstr(&path);
    if (!rc)
        rc = ask_texts(s, &call, &provider, 1, err);
    if (rc == -(int)EBB_ENOT_FOUND)
        rc = ebb_err_as(err, EBB_ECONFIG, NULL);
    else if (!rc)
        rc = judge_catalog(s, provider.text, err);
    free(provider.text);
    ebb_buf_fini(&path);
    return rc;
}

/* ---- what is behind it ---- */

static int no_backing(const struct gravitino *s, const char *namespace_, const char *name, struct ebb_err *err)
{
    ebb_err_set(err, EBB_EPOINTER_UNKNOWN, "catalog '%s': %s.%s: %s", s->name, namespace_, name,
                s->backing ? "the catalog behind it does not know this table"
                           : "a Gravitino server does not tell where the metadata of a table is");
    if (!s->backing)
        ebb_err_hint(err, "configure the Iceberg catalog behind it, and name it: catalogs.%s.backing", s->name);
    return -(int)EBB_EPOINTER_UNKNOWN;
}

/* A reference of the catalog behind, as one of this catalog. */
static int adopt(const struct gravitino *s, struct ebb_table_ref *ref, struct ebb_err *err)
{
    char *name = strdup(s->name);

    if (!name)
        return ebb_err_nomem(err);
    free(ref->catalog);
    ref->catalog = name;
    return 0;
}

/* ---- one table ---- */

static int load_backing(const struct gravitino *s, const char *namespace_, const char *name, struct ebb_table_ref *out,
                        struct ebb_err *err)
{
    int rc;

    if (!s->backing)
        return no_backing(s, namespace_, name, err);
    rc = ebb_catalog_load(s->backing, namespace_, name, out, err);
    if (rc == -(int)EBB_ETABLE_NOT_FOUND)
        return no_backing(s, namespace_, name, err);
    return rc ? rc : adopt(s, out, err);
}

static int not_a_table(const struct gravitino *s, const char *what, struct ebb_err *err)
{
    return ebb_err_set(err, EBB_ETABLE_NOT_FOUND, "catalog '%s': %s: there is no such table", s->name, what);
}

static int load_gravitino(struct ebb_catalog *catalog, const char *namespace_, const char *name,
                          struct ebb_table_ref *out, struct ebb_err *err)
{
    struct gravitino *s = catalog->state;
    struct pick location = {{"table", "properties", "location"}, NULL};
    struct ebb_gravitino_call call = {.path = NULL};
    struct ebb_buf path, what;
    int rc;

    ebb_buf_init(&path, PATH_MAX_BYTES);
    ebb_buf_init(&what, PATH_MAX_BYTES);
    put_schema(s, namespace_, &path);
    ebb_buf_puts(&path, "/tables");
    ebb_gravitino_segment(&path, name);
    ebb_buf_printf(&what, "table %s.%s", namespace_, name);
    rc = ebb_buf_check(&path, "table", err);
    call.path = ebb_buf_cstr(&path);
    call.what = ebb_buf_cstr(&what);
    if (!rc && (!namespace_[0] || !name[0]))
        rc = not_a_table(s, call.what, err);
    if (!rc)
        rc = ask_texts(s, &call, &location, 1, err);
    if (rc == -(int)EBB_ENOT_FOUND && strcmp(call.type, "NoSuchCatalogException") != 0 &&
        strcmp(call.type, "NoSuchMetalakeException") != 0)
        rc = not_a_table(s, call.what, err);
    else if (rc == -(int)EBB_ENOT_FOUND)
        rc = ebb_err_as(err, EBB_ECATALOG, NULL);
    else if (!rc && !location.text)
        rc = ebb_err_set(err, EBB_ECATALOG, "catalog '%s': %s: the server tells no location", s->name, call.what);
    if (!rc)
        rc = load_backing(s, namespace_, name, out, err);
    if (!rc) {
        out->location = location.text;
        location.text = NULL;
    }
    free(location.text);
    ebb_buf_fini(&what);
    ebb_buf_fini(&path);
    return rc;
}

/* ---- all tables ---- */

/* What the catalog behind lists: kept sorted, as it came. */
struct behind {
    struct ebb_table_ref *refs;
    size_t count, cap;
};

static void behind_fini(struct behind *b)
{
    for (size_t i = 0; i < b->count; i++)
        ebb_table_ref_fini(&b->refs[i]);
    free(b->refs);
}

static int keep_ref(void *data, const struct ebb_table_ref *ref, struct ebb_err *err)
{
    struct behind *b = data;

    if (b->count == b->cap) {
        size_t cap = b->cap ? 2 * b->cap : 256;
        struct ebb_table_ref *grown = realloc(b->refs, cap * sizeof *grown);

        if (!grown)
            return ebb_err_nomem(err);
        b->refs = grown;
        b->cap = cap;
    }
    return ebb_table_ref_copy(ref, &b->refs[b->count++], err);
}

static int compare_names(const char *a_namespace, const char *a_name, const struct ebb_table_ref *ref)
{
    int order = strcmp(a_namespace, ref->namespace_);

    return order ? order : strcmp(a_name, ref->name);
}

static struct ebb_table_ref *find_ref(struct behind *b, const char *namespace_, const char *name)
{
    size_t low = 0, high = b->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare_names(namespace_, name, &b->refs[middle]);

        if (!order)
            return &b->refs[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

static int by_names(const void *a, const void *b)
{
    const struct ebb_table_ref *x = a;

    return compare_names(x->namespace_, x->name, b);
}

static int give(const struct gravitino *s, struct behind *b, const char *namespace_, const char *name,
                ebb_catalog_cb *cb, void *data, struct ebb_err *err)
{
    struct ebb_table_ref *found = find_ref(b, namespace_, name);
    struct ebb_table_ref lost;
    int rc;

    if (found) {
        rc = adopt(s, found, err);
        return rc ? rc : cb(data, found, err);
    }
    memset(&lost, 0, sizeof lost);
    ebb_strs_init(&lost.lagging);
    no_backing(s, namespace_, name, &lost.problem);
    rc = ebb__table_ref_name(&lost, s->name, namespace_, name, err);
    if (!rc)
        rc = cb(data, &lost, err);
    ebb_table_ref_fini(&lost);
    return rc;
}

static int give_schema(const struct gravitino *s, struct behind *b, const char *schema, ebb_catalog_cb *cb, void *data,
                       struct ebb_err *err)
{
    struct ebb_strs names;
    struct ebb_buf path;
    int rc;

    ebb_strs_init(&names);
    ebb_buf_init(&path, PATH_MAX_BYTES);
    put_schema(s, schema, &path);
    ebb_buf_puts(&path, "/tables");
    rc = ebb_buf_check(&path, "schema", err);
    if (!rc)
        rc = ask_names(s, ebb_buf_cstr(&path), "tables of a schema", &names, err);
    if (!rc)
        ebb_strs_sort(&names);
    for (size_t i = 0; !rc && i < names.count; i++)
        if (!i || strcmp(names.items[i], names.items[i - 1]) != 0)
            rc = give(s, b, schema, names.items[i], cb, data, err);
    ebb_buf_fini(&path);
    ebb_strs_fini(&names);
    return rc;
}

static int list_gravitino(struct ebb_catalog *catalog, ebb_catalog_cb *cb, void *data, struct ebb_err *err)
{
    struct gravitino *s = catalog->state;
    struct behind behind = {NULL, 0, 0};
    struct ebb_strs schemas;
    struct ebb_buf path;
    int rc = check_catalog(s, err);

    ebb_strs_init(&schemas);
    ebb_buf_init(&path, PATH_MAX_BYTES);
    put_catalog(s, &path);
    ebb_buf_puts(&path, "/schemas");
    if (!rc)
        rc = ebb_buf_check(&path, "schemas", err);
    if (!rc)
        rc = ask_names(s, ebb_buf_cstr(&path), "schemas", &schemas, err);
    if (!rc && s->backing)
        rc = ebb_catalog_list(s->backing, keep_ref, &behind, err);
    if (!rc) {
        if (behind.count > 1)
            qsort(behind.refs, behind.count, sizeof *behind.refs, by_names);
        ebb_strs_sort(&schemas);
    }
    for (size_t i = 0; !rc && i < schemas.count; i++)
        if (!i || strcmp(schemas.items[i], schemas.items[i - 1]) != 0)
            rc = give_schema(s, &behind, schemas.items[i], cb, data, err);
    behind_fini(&behind);
    ebb_buf_fini(&path);
    ebb_strs_fini(&schemas);
    return rc == -(int)EBB_ENOT_FOUND ? ebb_err_as(err, EBB_ECATALOG, NULL) : rc;
}

/* ---- statistics ---- */

static int statistics_gravitino(struct ebb_catalog *catalog, const char *namespace_, const char *name,
                                struct ebb_buf *answer, struct ebb_err *err)
{
    struct gravitino *s = catalog->state;
    struct ebb_gravitino_call call = {.what = "statistics"};
    struct ebb_buf path, full;
    int rc;

    ebb_buf_init(&path, PATH_MAX_BYTES);
    ebb_buf_init(&full, PATH_MAX_BYTES);
    ebb_buf_printf(&full, "%s.%s.%s", ebb_gravitino_catalog(s->server), namespace_, name);
    ebb_buf_puts(&path, "/objects/table");
    ebb_gravitino_segment(&path, ebb_buf_cstr(&full));
    ebb_buf_puts(&path, "/statistics");
    rc = ebb_buf_check(&path, "table", err);
    call.path = ebb_buf_cstr(&path);
    if (!rc)
        rc = ebb_gravitino_ask(s->server, &call, answer, err);
    ebb_buf_fini(&full);
    ebb_buf_fini(&path);
    return rc;
}

const struct ebb__catalog_ops ebb__catalog_gravitino = {
    .type = "gravitino",
    .open = open_gravitino,
    .set_deaf = set_deaf,
    .close = close_gravitino,
    .list = list_gravitino,
    .load = load_gravitino,
    .statistics = statistics_gravitino,
};
