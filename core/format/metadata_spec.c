/* SPDX-License-Identifier: Apache-2.0 */
#include "format/metadata_priv.h"

#define COUNT(fields) (sizeof(fields) / sizeof((fields)[0]))

static int read_field(struct ebb__metadata_reader *r, struct ebb__rows *rows, struct ebb_err *err)
{
    static const struct ebb__field FIELDS[] = {
        {"name", EBB__FIELD_TEXT, EBB__REQUIRED, offsetof(struct ebb_spec_field, name), NULL},
        {"transform", EBB__FIELD_TEXT, EBB__REQUIRED, offsetof(struct ebb_spec_field, transform), NULL},
        {"field-id", EBB__FIELD_INT, EBB__NULLABLE, offsetof(struct ebb_spec_field, field_id), NULL},
        {"source-id", EBB__FIELD_INT, EBB__NULLABLE, offsetof(struct ebb_spec_field, source_id), NULL},
    };
    struct ebb_spec_field *field = ebb__rows_add(rows);

    if (!field)
        return ebb_err_nomem(err);
    return ebb__metadata_object(r, "partition field", FIELDS, COUNT(FIELDS), field, err);
}

static int read_spec_field(struct ebb__metadata_reader *r, struct ebb_err *err)
{
    return read_field(r, &r->spec_fields, err);
}

static int read_spec_fields(struct ebb__metadata_reader *r, void *target, struct ebb_err *err)
{
    (void)target;
    return ebb__metadata_array(r, "partition-specs: fields", read_spec_field, err);
}

static int read_spec(struct ebb__metadata_reader *r, struct ebb_err *err)
{
    static const struct ebb__field FIELDS[] = {
        {"spec-id", EBB__FIELD_INT, EBB__REQUIRED, 0, NULL},
        {"fields", EBB__FIELD_READ, EBB__REQUIRED, 0, read_spec_fields},
    };
    size_t first = r->spec_fields.count;
    int64_t *id = ebb__rows_add(&r->spec_ids);
    struct ebb_spec_field *fields;
    int rc;

    if (!id)
        return ebb_err_nomem(err);
    rc = ebb__metadata_object(r, "partition-specs", FIELDS, COUNT(FIELDS), id, err);
    if (rc || first == r->spec_fields.count)
        return rc;
    fields = (void *)r->spec_fields.data;
    for (size_t i = first; i < r->spec_fields.count; i++)
        fields[i].spec_id = *id;
    return 0;
}

/* Bytes of the document from the token that was current at `begin` up to here. */
static struct ebb_str bytes_since(const struct ebb__metadata_reader *r, size_t begin)
{
    struct ebb_str raw = {r->j.start + begin, 0};

    raw.n = (size_t)(r->j.p - raw.p);
    return raw;
}

int ebb__metadata_specs(struct ebb__metadata_reader *r, void *target, struct ebb_err *err)
{
    size_t begin = r->j.token_at;
    int rc = ebb__metadata_array(r, "partition-specs", read_spec, err);

    (void)target;
    if (!rc)
        r->top.specs = bytes_since(r, begin);
    return rc;
}

static int read_v1_field(struct ebb__metadata_reader *r, struct ebb_err *err)
{
    return read_field(r, &r->v1_fields, err);
}

int ebb__metadata_v1_spec(struct ebb__metadata_reader *r, void *target, struct ebb_err *err)
{
    size_t begin = r->j.token_at;
    int rc = ebb__metadata_array(r, "partition-spec", read_v1_field, err);

    (void)target;
    if (!rc)
        r->top.spec = bytes_since(r, begin);
    return rc;
}

static int copy_raw(struct ebb__metadata_reader *r, struct ebb_str raw, struct ebb_str *out, struct ebb_err *err)
{
    if (!raw.p)
        return 0;
    out->p = ebb_arena_dup(&r->m->arena, raw.p, raw.n);
    out->n = raw.n;
    return out->p ? 0 : ebb_err_nomem(err);
}

/* One object of a list, and the number it has under `key` (0 when it has none). */
static int read_numbered(struct ebb_json *j, const char *key, int64_t *id, struct ebb_str *raw, struct ebb_err *err)
{
    size_t begin = j->token_at;
    int rc = 0;

    *id = 0;
    if (j->kind != EBB_JSON_OBJECT)
        return ebb_json_fail(j, err, "%s: its item is not an object", key);
    while (!rc) {
        rc = ebb_json_next(j, err);
        if (rc || j->kind == EBB_JSON_OBJECT_END)
            break;
        rc = ebb_json_is_text(j, key) ? ebb_json_read_int(j, key, id, err) : ebb_json_skip(j, err);
    }
    raw->p = j->start + begin;
    raw->n = (size_t)(j->p - raw->p);
    return rc;
}

/* Of the objects in the JSON array `list`, the one whose `key` is id; out stays as it is when there is none. */
static int choose_one(struct ebb__metadata_reader *r, struct ebb_str list, const char *key, int64_t id,
                      struct ebb_str *out, struct ebb_err *err)
{
    struct ebb_json j;
    struct ebb_str raw = {NULL, 0};
    int64_t at = 0;
    int rc;

    if (!list.p)
        return 0;
    ebb_json_init(&j, r->j.name, list.p, list.n);
    rc = ebb_json_expect(&j, EBB_JSON_ARRAY, key, err);
    while (!rc && !out->p) {
        rc = ebb_json_next(&j, err);
        if (rc || j.kind == EBB_JSON_ARRAY_END)
            break;
        rc = read_numbered(&j, key, &at, &raw, err);
        if (!rc && at == id)
            rc = copy_raw(r, raw, out, err);
    }
    ebb_json_fini(&j);
    return rc;
}

/* Version 1 may have the fields of its only spec, number 0, in "partition-spec". */
static int take_specs(struct ebb__metadata_reader *r, struct ebb_err *err)
{
    struct ebb_metadata *m = r->m;
    bool is_old = !r->top.specs.p;
    int rc;

    if (is_old && !r->top.spec.p)
        return ebb_err_set(err, EBB_ECORRUPT, "%s: partition-specs and partition-spec are missing", r->j.name);
    if (is_old && !ebb__rows_add(&r->spec_ids))
        return ebb_err_nomem(err);
    m->default_spec_id = is_old ? 0 : r->top.default_spec_id;
    rc = ebb__rows_take(&r->spec_ids, &m->arena, &m->spec_ids, &m->spec_count, err);
    if (!rc)
        rc = ebb__rows_take(is_old ? &r->v1_fields : &r->spec_fields, &m->arena, &m->spec_fields, &m->spec_field_count,
                            err);
    if (!rc && is_old)
        rc = copy_raw(r, r->top.spec, &m->spec_json, err);
    return rc;
}

int ebb__metadata_choose(struct ebb__metadata_reader *r, struct ebb_err *err)
{
    struct ebb_metadata *m = r->m;
    const struct ebb__metadata_top *top = &r->top;
    int rc = take_specs(r, err);

    if (!rc)
        rc = choose_one(r, top->specs, "spec-id", m->default_spec_id, &m->spec_json, err);
    if (!rc && m->spec_field_count)
        rc = copy_raw(r, top->schemas, &m->schemas_json, err);
    if (!rc)
        rc = choose_one(r, top->schemas, "schema-id", top->current_schema_id, &m->schema_json, err);
    if (!rc && !m->schema_json.p)
        rc = copy_raw(r, top->schema, &m->schema_json, err);
    if (!rc)
        rc = choose_one(r, top->sort_orders, "order-id", top->default_sort_order_id, &m->sort_order_json, err);
    return rc;
}
