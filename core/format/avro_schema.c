/* SPDX-License-Identifier: Apache-2.0 */
#include "format/avro_priv.h"

#include <stdio.h>

#include "format/json.h"

struct reader {
    struct ebb_json json;
    struct ebb_arena *arena;
    struct ebb__avro_schema *schema;
    const char *file;
    size_t node_count;
};

static int count_node(struct reader *r, struct ebb_err *err)
{
    if (++r->node_count > EBB__AVRO_NODES)
        return ebb_err_set(err, EBB_ELIMIT, "%s: schema has more than %d types and fields", r->file, EBB__AVRO_NODES);
    return 0;
}

static int add_node(struct reader *r, struct ebb__avro_node **out, struct ebb_err *err)
{
    int rc = count_node(r, err);

    if (rc)
        return rc;
    *out = ebb_arena_alloc(r->arena, sizeof **out);
    if (!*out)
        return ebb_err_nomem(err);
    (*out)->size = -1;
    return 0;
}

static int add_child(struct reader *r, struct ebb__avro_child ***tail, struct ebb__avro_node *parent,
                     struct ebb__avro_child **out, struct ebb_err *err)
{
    int rc = count_node(r, err);

    if (rc)
        return rc;
    *out = ebb_arena_alloc(r->arena, sizeof **out);
    if (!*out)
        return ebb_err_nomem(err);
    (*out)->id = -1;
    **tail = *out;
    *tail = &(*out)->next;
    parent->child_count++;
    return 0;
}

/* The text of the current token, kept. */
static int keep_text(struct reader *r, struct ebb_str *out, struct ebb_err *err)
{
    out->p = ebb_arena_dup(r->arena, r->json.text.p, r->json.text.n);
    out->n = r->json.text.n;
    return out->p ? 0 : ebb_err_nomem(err);
}

static int read_text(struct reader *r, const char *what, struct ebb_str *out, struct ebb_err *err)
{
    int rc = ebb_json_expect(&r->json, EBB_JSON_STRING, what, err);

    return rc ? rc : keep_text(r, out, err);
}

static bool key_is(const struct reader *r, const char *key)
{
    return ebb_str_is_equal(r->json.text, ebb_str_of(key));
}

static const struct {
    const char *name;
    enum ebb__avro_kind kind;
    bool is_complex;
} KINDS[] = {
    {"null", EBB__AVRO_NULL, false},        {"boolean", EBB__AVRO_BOOLEAN, false}, {"int", EBB__AVRO_KIND_INT, false},
    {"long", EBB__AVRO_KIND_LONG, false},   {"float", EBB__AVRO_FLOAT, false},     {"double", EBB__AVRO_DOUBLE, false},
    {"bytes", EBB__AVRO_KIND_BYTES, false}, {"string", EBB__AVRO_STRING, false},   {"record", EBB__AVRO_RECORD, true},
    {"error", EBB__AVRO_RECORD, true},      {"enum", EBB__AVRO_ENUM, true},        {"array", EBB__AVRO_ARRAY, true},
    {"map", EBB__AVRO_MAP, true},           {"fixed", EBB__AVRO_FIXED, true},
};

/* What a type name stands for; a complex word counts only as the "type" of an object. */
static enum ebb__avro_kind find_kind(struct ebb_str name, bool in_object)
{
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
        if (ebb_str_is_equal(name, ebb_str_of(KINDS[i].name)) && (in_object || !KINDS[i].is_complex))
            return KINDS[i].kind;
    return EBB__AVRO_NAME;
}

static int parse_type(struct reader *r, struct ebb__avro_node **out, struct ebb_err *err);

static int parse_union(struct reader *r, struct ebb__avro_node *node, struct ebb_err *err)
{
    struct ebb__avro_child **tail = &node->children;
    struct ebb__avro_child *child;
    int rc;

    node->kind = EBB__AVRO_UNION;
    for (;;) {
        rc = ebb_json_next(&r->json, err);
        if (rc)
            return rc;
        if (r->json.kind == EBB_JSON_ARRAY_END)
            return 0;
        rc = add_child(r, &tail, node, &child, err);
        if (!rc)
            rc = parse_type(r, &child->type, err);
        if (rc)
            return rc;
    }
}

static int parse_field_key(struct reader *r, struct ebb__avro_child *field, struct ebb_err *err)
{
    int rc;

    if (key_is(r, "name"))
        return read_text(r, "field name", &field->name, err);
    if (key_is(r, "type")) {
        rc = ebb_json_next(&r->json, err);
        return rc ? rc : parse_type(r, &field->type, err);
    }
    if (!key_is(r, "field-id"))
        return ebb_json_skip(&r->json, err);
    r->schema->has_ids = true;
    return ebb_json_read_int(&r->json, "field-id", &field->id, err);
}

static int parse_field(struct reader *r, struct ebb__avro_child *field, struct ebb_err *err)
{
    int rc;

    if (r->json.kind != EBB_JSON_OBJECT)
        return ebb_json_fail(&r->json, err, "a record field is not an object");
    for (;;) {
        rc = ebb_json_next(&r->json, err);
        if (rc)
            return rc;
        if (r->json.kind == EBB_JSON_OBJECT_END)
            break;
        rc = parse_field_key(r, field, err);
        if (rc)
            return rc;
    }
    if (!field->type)
        return ebb_json_fail(&r->json, err, "a record field has no type");
    return 0;
}

static int parse_fields(struct reader *r, struct ebb__avro_node *node, struct ebb_err *err)
{
    struct ebb__avro_child **tail = &node->children;
    struct ebb__avro_child *field;
    int rc = ebb_json_expect(&r->json, EBB_JSON_ARRAY, "fields", err);

    if (!rc && node->children)
        rc = ebb_json_fail(&r->json, err, "a type has both fields and items");
    while (!rc) {
        rc = ebb_json_next(&r->json, err);
        if (rc || r->json.kind == EBB_JSON_ARRAY_END)
            return rc;
        rc = add_child(r, &tail, node, &field, err);
        if (!rc)
            rc = parse_field(r, field, err);
    }
    return rc;
}

static int parse_items(struct reader *r, struct ebb__avro_node *node, struct ebb_err *err)
{
    struct ebb__avro_child **tail = &node->children;
    struct ebb__avro_child *item;
    int rc = ebb_json_next(&r->json, err);

    if (!rc && node->children)
        rc = ebb_json_fail(&r->json, err, "a type has both fields and items");
    if (!rc)
        rc = add_child(r, &tail, node, &item, err);
    return rc ? rc : parse_type(r, &item->type, err);
}

static int parse_symbols(struct reader *r, struct ebb__avro_node *node, struct ebb_err *err)
{
    int rc = ebb_json_expect(&r->json, EBB_JSON_ARRAY, "symbols", err);

    node->size = 0;
    while (!rc) {
        rc = ebb_json_next(&r->json, err);
        if (rc || r->json.kind == EBB_JSON_ARRAY_END)
            return rc;
        if (r->json.kind != EBB_JSON_STRING)
            return ebb_json_fail(&r->json, err, "an enum symbol is not a string");
        node->size++;
    }
    return rc;
}

/* Read the value of one key of an object type. inner: the type when it is no word. */
static int parse_key(struct reader *r, struct ebb__avro_node *node, struct ebb_str *word, struct ebb__avro_node **inner,
                     struct ebb_err *err)
{
    int rc;

    if (key_is(r, "type")) {
        rc = ebb_json_next(&r->json, err);
        if (rc)
            return rc;
        return r->json.kind == EBB_JSON_STRING ? keep_text(r, word, err) : parse_type(r, inner, err);
    }
    if (key_is(r, "name"))
        return read_text(r, "type name", &node->name, err);
    if (key_is(r, "namespace")) {
        node->has_space = true;
        return read_text(r, "namespace", &node->space, err);
    }
    if (key_is(r, "fields"))
        return parse_fields(r, node, err);
    if (key_is(r, "items") || key_is(r, "values"))
        return parse_items(r, node, err);
    if (key_is(r, "size"))
        return ebb_json_read_int(&r->json, "size of a fixed type", &node->size, err);
    if (key_is(r, "symbols"))
        return parse_symbols(r, node, err);
    return ebb_json_skip(&r->json, err);
}

static int check_shape(struct reader *r, const struct ebb__avro_node *node, struct ebb_err *err)
{
    bool is_named = node->kind == EBB__AVRO_RECORD || node->kind == EBB__AVRO_ENUM || node->kind == EBB__AVRO_FIXED;

    if (is_named && node->name.n == 0)
        return ebb_json_fail(&r->json, err, "a named type has no name");
    if ((node->kind == EBB__AVRO_ARRAY || node->kind == EBB__AVRO_MAP) && node->child_count != 1)
        return ebb_json_fail(&r->json, err, "an array or map has no item type");
    if (node->kind == EBB__AVRO_ENUM && (node->size < 0 || node->size > INT32_MAX))
        return ebb_json_fail(&r->json, err, "an enum has no symbols");
    if (node->kind == EBB__AVRO_FIXED && (node->size < 0 || node->size > INT32_MAX))
        return ebb_json_fail(&r->json, err, "a fixed type has no usable size");
    return 0;
}

static int parse_object(struct reader *r, struct ebb__avro_node **out, struct ebb_err *err)
{
    struct ebb__avro_node *node = *out, *inner = NULL;
    struct ebb_str word = {NULL, 0};
    int rc;

    for (;;) {
        rc = ebb_json_next(&r->json, err);
        if (rc)
            return rc;
        if (r->json.kind == EBB_JSON_OBJECT_END)
            break;
        rc = parse_key(r, node, &word, &inner, err);
        if (rc)
            return rc;
    }
    if (inner) {
        *out = inner;
        return 0;
    }
    if (!word.p)
        return ebb_json_fail(&r->json, err, "a type has no \"type\"");
    node->kind = find_kind(word, true);
    if (node->kind == EBB__AVRO_NAME)
        node->name = word;
    return check_shape(r, node, err);
}

/* The current token begins the type. */
static int parse_type(struct reader *r, struct ebb__avro_node **out, struct ebb_err *err)
{
    int rc = add_node(r, out, err);

    if (rc)
        return rc;
    switch (r->json.kind) {
    case EBB_JSON_STRING:
        (*out)->kind = find_kind(r->json.text, false);
        return keep_text(r, &(*out)->name, err);
    case EBB_JSON_ARRAY:
        return parse_union(r, *out, err);
    case EBB_JSON_OBJECT:
        return parse_object(r, out, err);
    default:
        return ebb_json_fail(&r->json, err, "a type is neither a name, an object nor a list");
    }
}

int ebb__avro_schema_read(struct ebb__avro_schema *schema, struct ebb_arena *arena, const char *name,
                          struct ebb_str text, struct ebb_err *err)
{
    struct reader r = {.arena = arena, .schema = schema, .file = name};
    char what[512];
    int rc;

    memset(schema, 0, sizeof *schema);
    if (text.n > EBB__AVRO_SCHEMA_BYTES)
        return ebb_err_set(err, EBB_ELIMIT, "%s: schema is longer than %zu bytes", name, EBB__AVRO_SCHEMA_BYTES);
    snprintf(what, sizeof what, "%s: avro.schema", name);
    ebb_json_init(&r.json, what, text.p, text.n);
    rc = ebb_json_next(&r.json, err);
    if (!rc)
        rc = parse_type(&r, &schema->root, err);
    if (!rc)
        rc = ebb_json_expect(&r.json, EBB_JSON_END, "end of the schema", err);
    if (!rc)
        rc = ebb__avro_names_resolve(schema->root, arena, name, err);
    ebb_json_fini(&r.json);
    return rc;
}
