/* SPDX-License-Identifier: Apache-2.0 */
#include "service/gravitino_priv.h"

#include <inttypes.h>
#include <stdio.h>

#include "engine/mask.h"
#include "table/table.h"

static void write_properties(struct ebb_jsonw *w, const struct ebb_metadata *m)
{
    static const char *const RESERVED[] = {"location", "current-snapshot-id", "format", "provider", "format-version"};
    const char *format = ebb_metadata_property(m, "write.format.default");
    char text[64];

    ebb_jsonw_key(w, "properties");
    ebb_jsonw_begin(w, '{');
    ebb_jsonw_kstr(w, "location", m->location);
    snprintf(text, sizeof text, "iceberg/%.40s", format ? format : "parquet");
    ebb_jsonw_kstr(w, "format", text);
    ebb_jsonw_kstr(w, "provider", "iceberg");
    snprintf(text, sizeof text, "%" PRId64, m->current_snapshot_id);
    ebb_jsonw_kstr(w, "current-snapshot-id", m->has_current_snapshot ? text : "none");
    snprintf(text, sizeof text, "%d", m->format_version);
    ebb_jsonw_kstr(w, "format-version", text);
    for (size_t i = 0; i < m->property_count; i++) {
        bool is_reserved = ebb_is_secret_name(ebb_str_of(m->properties[i].key)); /* hidden, as there */

        for (size_t r = 0; r < sizeof RESERVED / sizeof *RESERVED; r++)
            is_reserved = is_reserved || !strcmp(m->properties[i].key, RESERVED[r]);
        if (!is_reserved)
            ebb_jsonw_kstr(w, m->properties[i].key, m->properties[i].value);
    }
    ebb_jsonw_end(w, '}');
}

/* Nobody is known to have made it: the first thing that its metadata tells of it. */
static int64_t born(const struct ebb_metadata *m)
{
    int64_t first = m->last_updated_ms;

    for (size_t i = 0; i < m->metadata_log_count; i++)
        if (m->metadata_log[i].timestamp_ms < first)
            first = m->metadata_log[i].timestamp_ms;
    for (size_t i = 0; i < m->snapshot_count; i++)
        if (m->snapshots[i].timestamp_ms < first)
            first = m->snapshots[i].timestamp_ms;
    return first;
}

static int write_table(struct ebb_api_call *call, const struct ebb_table *t, struct ebb_err *err)
{
    const char *comment = ebb_metadata_property(t->metadata, "comment");
    struct ebb_jsonw w;
    int rc;

    ebb__gravitino_begin(call, &w);
    ebb_jsonw_key(&w, "table");
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kstr(&w, "name", t->ref.name);
    if (comment)
        ebb_jsonw_kstr(&w, "comment", comment);
    write_properties(&w, t->metadata);
    ebb__gravitino_audit(&w, "ebb", born(t->metadata), NULL, 0);
    rc = ebb__gravitino_layout(&w, t->metadata, err);
    ebb_jsonw_key(&w, "indexes");
    ebb_jsonw_begin(&w, '[');
    ebb_jsonw_end(&w, ']');
    ebb_jsonw_end(&w, '}');
    return rc ? rc : ebb__gravitino_end(call, &w, err);
}

static int open_table(struct ebb_api_call *call, const char *operation, struct ebb_table **out)
{
    const char *catalog = ebb__gravitino_arg(call, 1), *schema = ebb__gravitino_arg(call, 2),
               *table = ebb__gravitino_arg(call, 3);
    struct ebb__subject subject = {"table(s)", table, operation, "schema", schema};
    struct ebb_err err;
    struct ebb_buf name;
    int rc;

    ebb_buf_init(&name, 65536);
    ebb_buf_printf(&name, "%s.%s.%s", catalog, schema, table);
    if (name.bad || !table[0] || strpbrk(ebb_buf_cstr(&name), "/:") || strchr(table, '.'))
        rc = ebb_err_set(&err, EBB_ETABLE_NOT_FOUND, "no such table");
    else
        rc = ebb_table_open(ebb_workspace_site(call->ws), ebb_buf_cstr(&name), out, &err);
    if (rc == -(int)EBB_ETABLE_NOT_FOUND)
        rc = ebb__gravitino_fail(call, EBB__FAULT_NO_TABLE, &subject, "Table %s.%s.%s does not exist", catalog, schema,
                                 table);
    else if (rc)
        rc = ebb__gravitino_fail_err(call, &subject, &err);
    ebb_buf_fini(&name);
    return rc;
}

int ebb__gravitino_table_get(struct ebb_api_call *call, struct ebb_err *err)
{
    struct ebb_table *table = NULL;
    struct ebb_catalog *catalog = NULL;
    int rc = ebb__gravitino_need_catalog(call, &catalog);

    if (!rc)
        rc = open_table(call, "LOAD", &table);
    if (!rc)
        rc = write_table(call, table, err);
    ebb_table_free(table);
    return ebb__gravitino_done(rc);
}

int ebb__gravitino_partitions_get(struct ebb_api_call *call, struct ebb_err *err)
{
    struct ebb__subject subject = {"partition(s)", NULL, "LIST", "table", ebb__gravitino_arg(call, 3)};
    struct ebb_catalog *catalog = NULL;
    struct ebb_table *table = NULL;
    int rc = ebb__gravitino_need_catalog(call, &catalog);

    (void)err;
    if (!rc)
        rc = open_table(call, "LOAD", &table);
    ebb_table_free(table);
    if (!rc)
        rc = ebb__gravitino_fail(call, EBB__FAULT_UNSUPPORTED, &subject, "Table does not support partition operations");
    return ebb__gravitino_done(rc);
}
