/* SPDX-License-Identifier: Apache-2.0 */
#include "service/gravitino_priv.h"

/* Schemas are what tables stand in: an empty one is not known. Those of a catalog, in order, each once. */
static int add_schema(void *data, const struct ebb_table_ref *ref, struct ebb_err *err)
{
    struct ebb_strs *names = data;
    size_t n = names->count;

    if (!ref->namespace_[0] || (n && !strcmp(names->items[n - 1], ref->namespace_)) ||
        ebb_strs_has(names, ref->namespace_))
        return 0;
    return ebb_strs_add(names, ref->namespace_, err);
}

struct wanted {
    const char *name;
    size_t n;
    bool found;
};

/* Also what only holds other schemas. */
static int look_schema(void *data, const struct ebb_table_ref *ref, struct ebb_err *err)
{
    struct wanted *w = data;

    (void)err;
    if (!strncmp(ref->namespace_, w->name, w->n) && (ref->namespace_[w->n] == '\0' || ref->namespace_[w->n] == '.'))
        w->found = true;
    return 0;
}

int ebb__gravitino_has_schema(const struct ebb_api_call *call, const char *catalog, const char *schema, bool *out,
                              struct ebb_err *err)
{
    struct wanted w = {schema, strlen(schema), false};
    struct ebb_catalog *c = ebb__gravitino_find_catalog(call, catalog);
    int rc = c && w.n ? ebb_catalog_list(c, look_schema, &w, err) : 0;

    *out = w.found;
    return rc;
}

int ebb__gravitino_need_schema(struct ebb_api_call *call)
{
    const char *catalog = ebb__gravitino_arg(call, 1), *schema = ebb__gravitino_arg(call, 2);
    struct ebb__subject subject = {"schema(s)", schema, "LOAD", "catalog", catalog};
    struct ebb_catalog *c = NULL;
    struct ebb_err local;
    bool found = false;
    int rc = ebb__gravitino_need_catalog(call, &c);

    if (rc)
        return rc;
    if (ebb__gravitino_has_schema(call, catalog, schema, &found, &local))
        return ebb__gravitino_fail_err(call, &subject, &local);
    if (found)
        return 0;
    return ebb__gravitino_fail(call, EBB__FAULT_NO_SCHEMA, &subject, "Schema %s.%s.%s does not exist",
                               ebb__gravitino_arg(call, 0), catalog, schema);
}

static int write_identifiers(struct ebb_api_call *call, const char *const *space, const struct ebb_strs *names,
                             struct ebb_err *err)
{
    struct ebb_jsonw w;

    ebb__gravitino_begin(call, &w);
    ebb_jsonw_key(&w, "identifiers");
    ebb_jsonw_begin(&w, '[');
    for (size_t i = 0; i < names->count; i++)
        ebb__gravitino_identifier(&w, space, names->items[i]);
    ebb_jsonw_end(&w, ']');
    return ebb__gravitino_end(call, &w, err);
}

int ebb__gravitino_schemas_list(struct ebb_api_call *call, struct ebb_err *err)
{
    const char *space[] = {ebb__gravitino_arg(call, 0), ebb__gravitino_arg(call, 1), NULL};
    struct ebb__subject subject = {"schema(s)", NULL, "LIST", "catalog", space[1]};
    struct ebb_catalog *catalog = NULL;
    struct ebb_strs names;
    struct ebb_err local;
    int rc = ebb__gravitino_need_catalog(call, &catalog);

    ebb_strs_init(&names);
    if (!rc && ebb_catalog_list(catalog, add_schema, &names, &local))
        rc = ebb__gravitino_fail_err(call, &subject, &local);
    if (!rc)
        rc = write_identifiers(call, space, &names, err);
    ebb_strs_fini(&names);
    return ebb__gravitino_done(rc);
}

int ebb__gravitino_schema_get(struct ebb_api_call *call, struct ebb_err *err)
{
    struct ebb_jsonw w;
    int rc = ebb__gravitino_need_schema(call);

    if (rc)
        return ebb__gravitino_done(rc);
    ebb__gravitino_begin(call, &w);
    ebb_jsonw_key(&w, "schema");
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kstr(&w, "name", ebb__gravitino_arg(call, 2));
    ebb_jsonw_key(&w, "properties");
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_end(&w, '}');
    ebb__gravitino_audit(&w, "ebb", ebb__gravitino_since(call), NULL, 0);
    ebb_jsonw_end(&w, '}');
    return ebb__gravitino_done(ebb__gravitino_end(call, &w, err));
}

struct tables {
    const char *schema;
    struct ebb_strs names;
};

static int add_table(void *data, const struct ebb_table_ref *ref, struct ebb_err *err)
{
    struct tables *t = data;

    return strcmp(ref->namespace_, t->schema) != 0 ? 0 : ebb_strs_add(&t->names, ref->name, err);
}

/* A schema without tables of its own may hold others, or not be there. */
int ebb__gravitino_tables_list(struct ebb_api_call *call, struct ebb_err *err)
{
    const char *space[] = {ebb__gravitino_arg(call, 0), ebb__gravitino_arg(call, 1), ebb__gravitino_arg(call, 2), NULL};
    struct ebb__subject subject = {"table(s)", NULL, "LIST", "schema", space[2]};
    struct tables t = {.schema = space[2]};
    struct ebb_catalog *catalog = NULL;
    struct ebb_err local;
    int rc = ebb__gravitino_need_catalog(call, &catalog);

    ebb_strs_init(&t.names);
    if (!rc && ebb_catalog_list(catalog, add_table, &t, &local))
        rc = ebb__gravitino_fail_err(call, &subject, &local);
    if (!rc && !t.names.count)
        rc = ebb__gravitino_need_schema(call);
    if (!rc)
        rc = write_identifiers(call, space, &t.names, err);
    ebb_strs_fini(&t.names);
    return ebb__gravitino_done(rc);
}
