/* SPDX-License-Identifier: Apache-2.0
 *
 * What the partition fields of a table are: their types come from the columns that they are made of.
 */
#include <stdio.h>
#include <stdlib.h>

#include "format/json.h"
#include "table/partition_priv.h"

#define FIELD_ID_FIRST 1000

enum ebb_avro_type ebb__partition_storage(enum ebb__partition_kind kind)
{
    switch (kind) {
    case EBB__PARTITION_NULL:
        return EBB_AVRO_PRESENT;
    case EBB__PARTITION_BOOLEAN:
    case EBB__PARTITION_FLOAT:
    case EBB__PARTITION_DOUBLE:
        return EBB_AVRO_RAW;
    case EBB__PARTITION_DECIMAL:
    case EBB__PARTITION_TEXT:
    case EBB__PARTITION_UUID:
    case EBB__PARTITION_BINARY:
        return EBB_AVRO_BYTES;
    default:
        return EBB_AVRO_LONG;
    }
}

/* "decimal(9, 2)", with or without the blank. */
static bool read_decimal(const char *type, int *scale)
{
    int precision = 0, end = 0;

    return sscanf(type, "decimal(%2d,%2d)%n", &precision, scale, &end) == 2 && end && !type[end] && precision > 0 &&
           precision <= 38 && *scale >= 0 && *scale <= precision;
}

static bool kind_of_column(const char *type, struct ebb__partition_field *out)
{
    static const struct {
        const char *type;
        enum ebb__partition_kind kind;
        int per_second;
        bool has_zone;
    } KINDS[] = {
        {"int", EBB__PARTITION_NUMBER, 0, false},
        {"long", EBB__PARTITION_NUMBER, 0, false},
        {"string", EBB__PARTITION_TEXT, 0, false},
        {"date", EBB__PARTITION_DATE, 0, false},
        {"timestamp", EBB__PARTITION_TIMESTAMP, 6, false},
        {"timestamptz", EBB__PARTITION_TIMESTAMP, 6, true},
        {"timestamp_ns", EBB__PARTITION_TIMESTAMP, 9, false},
        {"timestamptz_ns", EBB__PARTITION_TIMESTAMP, 9, true},
        {"time", EBB__PARTITION_TIME, 0, false},
        {"boolean", EBB__PARTITION_BOOLEAN, 0, false},
        {"float", EBB__PARTITION_FLOAT, 0, false},
        {"double", EBB__PARTITION_DOUBLE, 0, false},
        {"uuid", EBB__PARTITION_UUID, 0, false},
        {"binary", EBB__PARTITION_BINARY, 0, false},
    };

    for (size_t i = 0; i < sizeof KINDS / sizeof KINDS[0]; i++)
        if (!strcmp(type, KINDS[i].type)) {
            out->kind = KINDS[i].kind;
            out->per_second = KINDS[i].per_second;
            out->has_zone = KINDS[i].has_zone;
            return true;
        }
    out->kind = !strncmp(type, "fixed[", 6) ? EBB__PARTITION_BINARY : EBB__PARTITION_DECIMAL;
    return out->kind == EBB__PARTITION_BINARY || read_decimal(type, &out->scale);
}

bool ebb__partition_kind_of(const char *transform, const char *type, struct ebb__partition_field *out)
{
    static const struct {
        const char *transform;
        enum ebb__partition_kind kind;
    } FIXED[] = {{"void", EBB__PARTITION_NULL},    {"year", EBB__PARTITION_YEAR}, {"month", EBB__PARTITION_MONTH},
                 {"day", EBB__PARTITION_DATE},     {"hour", EBB__PARTITION_HOUR}, {"years", EBB__PARTITION_YEAR},
                 {"months", EBB__PARTITION_MONTH}, {"days", EBB__PARTITION_DATE}, {"hours", EBB__PARTITION_HOUR}};

    for (size_t i = 0; i < sizeof FIXED / sizeof FIXED[0]; i++)
        if (!strcmp(transform, FIXED[i].transform)) {
            out->kind = FIXED[i].kind;
            return true;
        }
    if (!strncmp(transform, "bucket[", 7)) {
        out->kind = EBB__PARTITION_NUMBER;
        return true;
    }
    return type && (!strcmp(transform, "identity") || !strncmp(transform, "truncate[", 9)) && kind_of_column(type, out);
}

/* ---- types of columns ---- */

struct column {
    int64_t id;
    char *type; /* NULL: not known */
};
struct columns {
    struct column *items; /* those that partition fields are made of, by id */
    size_t count;
    struct ebb_arena arena;
};

static int by_id(const void *a, const void *b)
{
    const struct column *x = a, *y = b;

    return x->id < y->id ? -1 : x->id > y->id;
}

static struct column *find_column(const struct columns *c, int64_t id)
{
    struct column key = {id, NULL};

    return c->count ? bsearch(&key, c->items, c->count, sizeof key, by_id) : NULL;
}

/* One open object of the schemas: a column when it has both. */
struct open_object {
    int64_t id;
    char type[40]; /* "": none, or none that is short */
};

struct scan {
    struct open_object open[EBB_JSON_DEPTH + 1];
    int depth;
    enum { NOTHING, ID, TYPE } due;
};

static int close_object(struct scan *s, struct columns *c, struct ebb_err *err)
{
    struct open_object *o = &s->open[s->depth--];
    struct column *column = o->type[0] ? find_column(c, o->id) : NULL;

    if (!column)
        return 0;
    column->type = ebb_arena_dup(&c->arena, o->type, strlen(o->type)); /* a later schema may have a wider type */
    return column->type ? 0 : ebb_err_nomem(err);
}

static void take_scalar(struct scan *s, const struct ebb_json *j)
{
    struct open_object *o = &s->open[s->depth];

    if (s->due == ID && j->kind == EBB_JSON_INT)
        o->id = j->number;
    if (s->due == TYPE && j->kind == EBB_JSON_STRING && j->text.n < sizeof o->type) {
        memcpy(o->type, j->text.p, j->text.n);
        o->type[j->text.n] = '\0';
    }
}

static int take_token(struct scan *s, const struct ebb_json *j, struct columns *c, struct ebb_err *err)
{
    if (j->kind == EBB_JSON_KEY) {
        s->due = ebb_json_is_text(j, "id") ? ID : ebb_json_is_text(j, "type") ? TYPE : NOTHING;
        return 0;
    }
    if (j->kind == EBB_JSON_OBJECT && s->depth < EBB_JSON_DEPTH)
        s->open[++s->depth] = (struct open_object){-1, ""};
    else if (j->kind == EBB_JSON_OBJECT_END)
        return close_object(s, c, err);
    else
        take_scalar(s, j);
    s->due = NOTHING;
    return 0;
}

static int scan_schemas(struct columns *c, struct ebb_str json, struct ebb_err *err)
{
    struct scan s = {.depth = 0, .due = NOTHING};
    struct ebb_json j;
    int rc = 0;

    if (!json.n || !c->count)
        return 0;
    ebb_json_init(&j, "schemas", json.p, json.n);
    while (!rc) {
        rc = ebb_json_next(&j, err);
        if (rc || j.kind == EBB_JSON_END)
            break;
        rc = take_token(&s, &j, c, err);
    }
    ebb_json_fini(&j);
    return rc == -(int)EBB_ECORRUPT ? ebb_err_as(err, EBB_EMETADATA, NULL) : rc;
}

static int columns_init(struct columns *c, const struct ebb_metadata *m, struct ebb_err *err)
{
    int rc;

    ebb_arena_init(&c->arena, (size_t)64 << 20);
    c->count = 0;
    c->items = calloc(m->spec_field_count + 1, sizeof *c->items);
    if (!c->items)
        return ebb_err_nomem(err);
    for (size_t i = 0; i < m->spec_field_count; i++)
        if (m->spec_fields[i].source_id > 0)
            c->items[c->count++].id = m->spec_fields[i].source_id;
    qsort(c->items, c->count, sizeof *c->items, by_id);
    for (size_t i = 1, n = c->count, kept = 1; i <= n; i++) {
        if (i == n)
            c->count = kept;
        else if (c->items[i].id != c->items[i - 1].id)
            c->items[kept++] = c->items[i];
    }
    rc = scan_schemas(c, m->schemas_json, err);
    return rc || m->schemas_json.n ? rc : scan_schemas(c, m->schema_json, err);
}

static void columns_fini(struct columns *c)
{
    free(c->items);
    ebb_arena_fini(&c->arena);
}

/* ---- specs ---- */

static bool field_of(const struct columns *c, const struct ebb_spec_field *from, size_t position,
                     struct ebb__partition_field *out)
{
    const struct column *column = find_column(c, from->source_id);
    int64_t id = from->field_id > 0 ? from->field_id : FIELD_ID_FIRST + (int64_t)position;

    out->name = from->name;
    out->field_id = (int)id;
    return id <= INT32_MAX && ebb__partition_kind_of(from->transform, column ? column->type : NULL, out);
}

static bool by_spec(const struct ebb_metadata *m, size_t at, int64_t id)
{
    return at < m->spec_field_count && m->spec_fields[at].spec_id == id;
}

/* The fields of a spec lie together. */
static void fill_spec(struct ebb__partition_specs *specs, const struct ebb_metadata *m, const struct columns *c,
                      struct ebb__partition_spec *spec)
{
    size_t at = 0;

    while (at < m->spec_field_count && !by_spec(m, at, spec->id))
        at++;
    spec->first = at;
    spec->is_known = true;
    for (; by_spec(m, at, spec->id); at++, spec->count++)
        if (!field_of(c, &m->spec_fields[at], spec->count, &specs->fields[at]))
            spec->is_known = false;
    if (spec->count > EBB_MANIFEST_PARTS_MAX)
        spec->is_known = false;
}

int ebb__partition_specs_init(struct ebb__partition_specs *specs, const struct ebb_metadata *m, struct ebb_err *err)
{
    struct columns columns;
    int rc = columns_init(&columns, m, err);

    memset(specs, 0, sizeof *specs);
    specs->specs = calloc(m->spec_count + 1, sizeof *specs->specs);
    specs->fields = calloc(m->spec_field_count + 1, sizeof *specs->fields);
    if (!rc && (!specs->specs || !specs->fields))
        rc = ebb_err_nomem(err);
    for (size_t i = 0; !rc && i < m->spec_count && i < EBB__PARTITION_SPECS_MAX; i++) {
        specs->specs[specs->spec_count].id = m->spec_ids[i];
        fill_spec(specs, m, &columns, &specs->specs[specs->spec_count++]);
    }
    columns_fini(&columns);
    return rc;
}

void ebb__partition_specs_fini(struct ebb__partition_specs *specs)
{
    free(specs->specs);
    free(specs->fields);
    memset(specs, 0, sizeof *specs);
}

const struct ebb__partition_spec *ebb__partition_specs_find(const struct ebb__partition_specs *specs, int64_t id)
{
    for (size_t i = 0; i < specs->spec_count; i++)
        if (specs->specs[i].id == id)
            return &specs->specs[i];
    return NULL;
}
