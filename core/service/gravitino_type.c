/* SPDX-License-Identifier: Apache-2.0 */
#include "service/gravitino_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define DEPTH_MAX 8
#define PATH_MAX_PARTS 8

static const char *const PLAIN[][2] = {
    {"boolean", "boolean"},
    {"int", "integer"},
    {"long", "long"},
    {"float", "float"},
    {"double", "double"},
    {"date", "date"},
    {"time", "time(6)"},
    {"timestamp", "timestamp(6)"},
    {"timestamptz", "timestamp_tz(6)"},
    {"timestamp_ns", "timestamp(9)"},
    {"timestamptz_ns", "timestamp_tz(9)"},
    {"string", "string"},
    {"uuid", "uuid"},
    {"binary", "binary"},
};

static void write_plain(struct ebb_jsonw *w, const char *type)
{
    int precision, scale;
    long width;
    char text[64];

    for (size_t i = 0; i < sizeof PLAIN / sizeof *PLAIN; i++)
        if (!strcmp(type, PLAIN[i][0])) {
            ebb_jsonw_str(w, PLAIN[i][1]);
            return;
        }
    if (sscanf(type, "decimal(%3d ,%3d)", &precision, &scale) == 2 ||
        sscanf(type, "decimal(%3d,%3d)", &precision, &scale) == 2)
        snprintf(text, sizeof text, "decimal(%d,%d)", precision, scale);
    else if (sscanf(type, "fixed[%9ld]", &width) == 1)
        snprintf(text, sizeof text, "fixed(%ld)", width);
    else {
        ebb_jsonw_begin(w, '{');
        ebb_jsonw_kstr(w, "type", "unparsed");
        ebb_jsonw_kstr(w, "unparsedType", type);
        ebb_jsonw_end(w, '}');
        return;
    }
    ebb_jsonw_str(w, text);
}

/* The fields of a struct; those of a schema are columns. */
static void write_fields(struct ebb_jsonw *w, const char *key, const struct ebb_value *fields, bool are_columns,
                         int depth)
{
    ebb_jsonw_key(w, key);
    ebb_jsonw_begin(w, '[');
    for (size_t i = 0; i < ebb_value_get_count(fields); i++) {
        const struct ebb_value *f = ebb_value_get_at(fields, i);

        ebb_jsonw_begin(w, '{');
        ebb_jsonw_kstr(w, "name", ebb_value_text_of(f, "name"));
        ebb_jsonw_key(w, "type");
        ebb__gravitino_type(w, ebb_value_get(f, "type"), depth + 1);
        if (ebb_value_text_of(f, "doc"))
            ebb_jsonw_kstr(w, "comment", ebb_value_text_of(f, "doc"));
        ebb_jsonw_kbool(w, "nullable", !ebb_value_bool_of(f, "required", false));
        if (are_columns)
            ebb_jsonw_kbool(w, "autoIncrement", false);
        ebb_jsonw_end(w, '}');
    }
    ebb_jsonw_end(w, ']');
}

static void write_part(struct ebb_jsonw *w, const struct ebb_value *type, const char *from, const char *to, int depth)
{
    ebb_jsonw_key(w, to);
    ebb__gravitino_type(w, ebb_value_get(type, from), depth + 1);
}

void ebb__gravitino_type(struct ebb_jsonw *w, const struct ebb_value *type, int depth)
{
    const char *kind = ebb_value_text_of(type, "type");

    if (ebb_value_get_str(type)) {
        write_plain(w, ebb_value_get_str(type));
        return;
    }
    if (!kind || depth > DEPTH_MAX) {
        write_plain(w, kind ? kind : "unknown");
        return;
    }
    ebb_jsonw_begin(w, '{');
    ebb_jsonw_kstr(w, "type", kind);
    if (!strcmp(kind, "struct"))
        write_fields(w, "fields", ebb_value_get(type, "fields"), false, depth);
    else if (!strcmp(kind, "list")) {
        write_part(w, type, "element", "elementType", depth);
        ebb_jsonw_kbool(w, "containsNull", !ebb_value_bool_of(type, "element-required", false));
    } else if (!strcmp(kind, "map")) {
        write_part(w, type, "key", "keyType", depth);
        write_part(w, type, "value", "valueType", depth);
        ebb_jsonw_kbool(w, "valueContainsNull", !ebb_value_bool_of(type, "value-required", false));
    }
    ebb_jsonw_end(w, '}');
}

/* ---- partitioning, order ---- */

/* Names from the root of the schema down to the field of an id; 0: there is none. */
static size_t find_path(const struct ebb_value *type, int64_t id, const char **path, size_t room)
{
    const struct ebb_value *fields = ebb_value_get(type, "fields");

    if (!room)
        return 0;
    for (size_t i = 0; i < ebb_value_get_count(fields); i++) {
        const struct ebb_value *f = ebb_value_get_at(fields, i);
        size_t below;

        path[0] = ebb_value_text_of(f, "name");
        if (!path[0])
            continue;
        if (ebb_value_int_of(f, "id", -1) == id)
            return 1;
        below = find_path(ebb_value_get(f, "type"), id, path + 1, room - 1);
        if (below)
            return below + 1;
    }
    return 0;
}

static void write_path(struct ebb_jsonw *w, const struct ebb_value *schema, const struct ebb_value *field)
{
    const char *path[PATH_MAX_PARTS];
    size_t n = find_path(schema, ebb_value_int_of(field, "source-id", -1), path, PATH_MAX_PARTS);

    ebb_jsonw_begin(w, '[');
    for (size_t i = 0; i < n; i++)
        ebb_jsonw_str(w, path[i]);
    ebb_jsonw_end(w, ']');
}

/* "bucket[16]": name and number. */
static void read_transform(const char *text, char name[32], int64_t *number)
{
    const char *bracket = strchr(text, '[');
    size_t n = bracket ? (size_t)(bracket - text) : strlen(text);

    snprintf(name, 32, "%.*s", (int)(n < 31 ? n : 31), text);
    *number = bracket ? strtoll(bracket + 1, NULL, 10) : 0;
}

static void write_partition(struct ebb_jsonw *w, const struct ebb_value *schema, const struct ebb_value *field)
{
    const char *transform = ebb_value_text_of(field, "transform");
    char name[32];
    int64_t number;
    bool is_bucket;

    read_transform(transform ? transform : "unknown", name, &number);
    if (!strcmp(name, "void"))
        return;
    is_bucket = !strcmp(name, "bucket");
    ebb_jsonw_begin(w, '{');
    ebb_jsonw_kstr(w, "strategy", name);
    if (is_bucket)
        ebb_jsonw_kint(w, "numBuckets", number);
    else if (!strcmp(name, "truncate"))
        ebb_jsonw_kint(w, "width", number);
    ebb_jsonw_key(w, is_bucket ? "fieldNames" : "fieldName");
    if (is_bucket)
        ebb_jsonw_begin(w, '[');
    write_path(w, schema, field);
    if (is_bucket)
        ebb_jsonw_end(w, ']');
    ebb_jsonw_end(w, '}');
}

static void write_order(struct ebb_jsonw *w, const struct ebb_value *schema, const struct ebb_value *field)
{
    const char *transform = ebb_value_text_of(field, "transform");
    const char *nulls = ebb_value_text_of(field, "null-order");
    const char *direction = ebb_value_text_of(field, "direction");
    bool is_field = transform && !strcmp(transform, "identity");

    ebb_jsonw_begin(w, '{');
    ebb_jsonw_key(w, "sortTerm");
    ebb_jsonw_begin(w, '{');
    ebb_jsonw_kstr(w, "type", is_field ? "field" : "function");
    if (!is_field) {
        ebb_jsonw_kstr(w, "funcName", transform ? transform : "unknown");
        ebb_jsonw_key(w, "funcArgs");
        ebb_jsonw_begin(w, '[');
        ebb_jsonw_begin(w, '{');
        ebb_jsonw_kstr(w, "type", "field");
    }
    ebb_jsonw_key(w, "fieldName");
    write_path(w, schema, field);
    if (!is_field) {
        ebb_jsonw_end(w, '}');
        ebb_jsonw_end(w, ']');
    }
    ebb_jsonw_end(w, '}');
    ebb_jsonw_kstr(w, "direction", direction ? direction : "asc");
    ebb_jsonw_kstr(w, "nullOrdering", nulls && !strcmp(nulls, "nulls-last") ? "nulls_last" : "nulls_first");
    ebb_jsonw_end(w, '}');
}

static int read_part(const char *what, struct ebb_str json, struct ebb_value **out, struct ebb_err *err)
{
    return json.n ? ebb_value_of_json(what, json.p, json.n, NULL, out, err) : 0;
}

/* The fields of a spec, which old files have as a bare list. */
static const struct ebb_value *fields_of(const struct ebb_value *spec)
{
    return ebb_value_get_kind(spec) == EBB_VALUE_LIST ? spec : ebb_value_get(spec, "fields");
}

static void write_list(struct ebb_jsonw *w, const char *key, const struct ebb_value *schema,
                       const struct ebb_value *fields,
                       void (*write)(struct ebb_jsonw *, const struct ebb_value *, const struct ebb_value *))
{
    ebb_jsonw_key(w, key);
    ebb_jsonw_begin(w, '[');
    for (size_t i = 0; i < ebb_value_get_count(fields); i++)
        write(w, schema, ebb_value_get_at(fields, i));
    ebb_jsonw_end(w, ']');
}

int ebb__gravitino_layout(struct ebb_jsonw *w, const struct ebb_metadata *m, struct ebb_err *err)
{
    static const char NONE[] = "{\"strategy\":\"none\",\"number\":0,\"funcArgs\":[]}";
    struct ebb_value *schema = NULL, *spec = NULL, *order = NULL;
    int rc = read_part("schema", m->schema_json, &schema, err);

    if (!rc)
        rc = read_part("partition spec", m->spec_json, &spec, err);
    if (!rc)
        rc = read_part("sort order", m->sort_order_json, &order, err);
    if (!rc) {
        write_fields(w, "columns", ebb_value_get(schema, "fields"), true, 0);
        ebb_jsonw_key(w, "distribution");
        ebb_jsonw_raw(w, NONE, sizeof NONE - 1);
        write_list(w, "sortOrders", schema, ebb_value_get(order, "fields"), write_order);
        write_list(w, "partitioning", schema, fields_of(spec), write_partition);
    }
    ebb_value_free(order);
    ebb_value_free(spec);
    ebb_value_free(schema);
    return rc;
}
