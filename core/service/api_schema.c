/* SPDX-License-Identifier: Apache-2.0
 *
 * Queries and bodies against the schemas of the document: what is documented is what is accepted.
 */
#include "service/api_priv.h"

#include "format/json.h"

#define REF "#/components/schemas/"
#define DEPTH_MAX 16

struct checker {
    const struct ebb_value *document;
    struct ebb_err *err;
    int depth;
};

static const struct ebb_value *resolve(const struct ebb_value *document, const struct ebb_value *schema)
{
    const char *ref = ebb_value_text_of(schema, "$ref");

    if (!ref || strncmp(ref, REF, sizeof REF - 1) != 0)
        return schema;
    return ebb_value_get(ebb_value_get(ebb_value_get(document, "components"), "schemas"), ref + sizeof REF - 1);
}

static bool is_type(const struct ebb_value *value, const char *type)
{
    enum ebb_value_kind kind = ebb_value_get_kind(value);

    if (!strcmp(type, "string"))
        return kind == EBB_VALUE_STRING;
    if (!strcmp(type, "integer"))
        return kind == EBB_VALUE_INT;
    if (!strcmp(type, "number"))
        return kind == EBB_VALUE_INT || kind == EBB_VALUE_FLOAT;
    if (!strcmp(type, "boolean"))
        return kind == EBB_VALUE_BOOL;
    if (!strcmp(type, "array"))
        return kind == EBB_VALUE_LIST;
    return !strcmp(type, "object") && kind == EBB_VALUE_MAP;
}

static int64_t characters(struct ebb_str s)
{
    int64_t n = 0;

    for (size_t i = 0; i < s.n; i++)
        n += ((unsigned char)s.p[i] & 0xC0) != 0x80;
    return n;
}

static int check_text(const struct checker *c, const struct ebb_value *schema, const struct ebb_value *value,
                      const char *where)
{
    struct ebb_str text = ebb_value_get_bytes(value);
    const struct ebb_value *choices = ebb_value_get(schema, "enum");
    bool is_choice = !choices;

    if (memchr(text.p ? text.p : "", '\0', text.n))
        return ebb_err_set(c->err, EBB_EUSAGE, "%s: NUL is refused", where);
    if (characters(text) < ebb_value_int_of(schema, "minLength", 0))
        return ebb_err_set(c->err, EBB_EUSAGE, "%s: too short", where);
    if (characters(text) > ebb_value_int_of(schema, "maxLength", INT64_MAX))
        return ebb_err_set(c->err, EBB_EUSAGE, "%s: longer than %lld characters", where,
                           (long long)ebb_value_int_of(schema, "maxLength", 0));
    for (size_t i = 0; !is_choice && i < ebb_value_get_count(choices); i++)
        is_choice = ebb_str_is_equal(text, ebb_value_get_bytes(ebb_value_get_at(choices, i)));
    return is_choice ? 0 : ebb_err_set(c->err, EBB_EUSAGE, "%s: none of the values that it may have", where);
}

static int check_number(const struct checker *c, const struct ebb_value *schema, const struct ebb_value *value,
                        const char *where)
{
    const struct ebb_value *low = ebb_value_get(schema, "minimum"), *high = ebb_value_get(schema, "maximum");

    if (low && ebb_value_get_float(value, 0) < ebb_value_get_float(low, 0))
        return ebb_err_set(c->err, EBB_EUSAGE, "%s: less than %g", where, ebb_value_get_float(low, 0));
    if (high && ebb_value_get_float(value, 0) > ebb_value_get_float(high, 0))
        return ebb_err_set(c->err, EBB_EUSAGE, "%s: more than %g", where, ebb_value_get_float(high, 0));
    return 0;
}

static int check(struct checker *c, const struct ebb_value *schema, const struct ebb_value *value, const char *where);

static int check_list(struct checker *c, const struct ebb_value *schema, const struct ebb_value *value,
                      const char *where)
{
    const struct ebb_value *items = ebb_value_get(schema, "items");
    size_t count = ebb_value_get_count(value);
    int rc = 0;

    if ((int64_t)count < ebb_value_int_of(schema, "minItems", 0))
        return ebb_err_set(c->err, EBB_EUSAGE, "%s: too few items", where);
    if ((int64_t)count > ebb_value_int_of(schema, "maxItems", INT64_MAX))
        return ebb_err_set(c->err, EBB_EUSAGE, "%s: too many items", where);
    for (size_t i = 0; !rc && items && i < count; i++)
        rc = check(c, items, ebb_value_get_at(value, i), where);
    return rc;
}

static int check_member(struct checker *c, const struct ebb_value *schema, const struct ebb_value *map, size_t i,
                        const char *where)
{
    struct ebb_str key = ebb_value_get_key(map, i);
    const struct ebb_value *known = ebb_value_getn(ebb_value_get(schema, "properties"), key.p, key.n);
    struct ebb_buf path;
    int rc;

    if (!known && ebb_value_bool_of(schema, "additionalProperties", true))
        return 0;
    ebb_buf_init(&path, 256);
    ebb_buf_puts(&path, where);
    ebb_buf_putc(&path, '.');
    ebb_buf_append(&path, key.p, key.n < 64 ? key.n : 64);
    rc = known ? check(c, known, ebb_value_get_at(map, i), ebb_buf_cstr(&path))
               : ebb_err_set(c->err, EBB_EUSAGE, "%s: unknown member", ebb_buf_cstr(&path));
    ebb_buf_fini(&path);
    return rc;
}

static int check_map(struct checker *c, const struct ebb_value *schema, const struct ebb_value *value,
                     const char *where)
{
    const struct ebb_value *required = ebb_value_get(schema, "required");
    int rc = 0;

    for (size_t i = 0; i < ebb_value_get_count(required); i++) {
        const char *name = ebb_value_get_str(ebb_value_get_at(required, i));

        if (name && !ebb_value_get(value, name))
            return ebb_err_set(c->err, EBB_EUSAGE, "%s.%s: is missing", where, name);
    }
    for (size_t i = 0; !rc && i < ebb_value_get_count(value); i++)
        rc = check_member(c, schema, value, i, where);
    return rc;
}

static int check(struct checker *c, const struct ebb_value *schema, const struct ebb_value *value, const char *where)
{
    const char *type;
    int rc = 0;

    schema = resolve(c->document, schema);
    type = ebb_value_text_of(schema, "type");
    if (++c->depth > DEPTH_MAX)
        rc = ebb_err_set(c->err, EBB_EUSAGE, "%s: nested too deep", where);
    else if (type && !is_type(value, type))
        rc = ebb_err_set(c->err, EBB_EUSAGE, "%s: %s is wanted, not %s", where, type,
                         ebb_value_kind_name(ebb_value_get_kind(value)));
    else if (ebb_value_get_kind(value) == EBB_VALUE_STRING)
        rc = check_text(c, schema, value, where);
    else if (ebb_value_get_kind(value) == EBB_VALUE_LIST)
        rc = check_list(c, schema, value, where);
    else if (ebb_value_get_kind(value) == EBB_VALUE_MAP)
        rc = check_map(c, schema, value, where);
    else if (ebb_value_get_kind(value) == EBB_VALUE_INT || ebb_value_get_kind(value) == EBB_VALUE_FLOAT)
        rc = check_number(c, schema, value, where);
    c->depth--;
    return rc;
}

int ebb__api_check(const struct ebb_value *document, const struct ebb_value *schema, const struct ebb_value *value,
                   const char *where, struct ebb_err *err)
{
    struct checker c = {document, err, 0};

    return check(&c, schema, value, where);
}

/* ---- queries ---- */

static const struct ebb_value *parameter_of(const struct ebb_value *document, const struct ebb_value *operation,
                                            size_t index)
{
    const struct ebb_value *p = ebb_value_get_at(ebb_value_get(operation, "parameters"), index);
    const char *ref = ebb_value_text_of(p, "$ref"), *name = ref ? strrchr(ref, '/') : NULL;

    if (name)
        p = ebb_value_get(ebb_value_get(ebb_value_get(document, "components"), "parameters"), name + 1);
    return p;
}

static bool is_query(const struct ebb_value *parameter)
{
    const char *in = ebb_value_text_of(parameter, "in");

    return in && !strcmp(in, "query");
}

/* Texts of a query are what JSON would hold: numbers and booleans by their schema. */
static int check_query_value(const struct ebb_value *document, const struct ebb_value *schema, const char *name,
                             const struct ebb_value *text, struct ebb_err *err)
{
    struct ebb_value *list = ebb_value_new_list(NULL);
    const char *type = ebb_value_text_of(schema, "type"), *s = ebb_value_get_str(text);
    int64_t number = 0;
    int rc = list ? 0 : ebb_err_nomem(err);

    if (!rc && type && !strcmp(type, "integer") && ebb_text_count(s, &number))
        ebb_value_add_int(list, number);
    else if (!rc && type && !strcmp(type, "boolean") && s && (!strcmp(s, "true") || !strcmp(s, "false")))
        ebb_value_add_bool(list, s[0] == 't');
    else if (!rc)
        ebb_value_add_copy(list, text);
    if (!rc)
        rc = ebb_value_check(list, name, err);
    if (!rc)
        rc = ebb__api_check(document, schema, ebb_value_get_at(list, 0), name, err);
    ebb_value_free(list);
    return rc;
}

static int check_known(const struct ebb_value *document, const struct ebb_value *operation, const char *name,
                       const struct ebb_value *text, struct ebb_err *err)
{
    size_t count = ebb_value_get_count(ebb_value_get(operation, "parameters"));

    for (size_t i = 0; i < count; i++) {
        const struct ebb_value *p = parameter_of(document, operation, i);
        const char *known = ebb_value_text_of(p, "name");

        if (known && is_query(p) && !strcmp(known, name))
            return check_query_value(document, ebb_value_get(p, "schema"), name, text, err);
    }
    return ebb_err_set(err, EBB_EUSAGE, "%.64s: unknown parameter", name);
}

int ebb__api_check_query(const struct ebb_value *document, const struct ebb_value *operation,
                         const struct ebb_value *query, struct ebb_err *err)
{
    size_t count = ebb_value_get_count(ebb_value_get(operation, "parameters"));
    int rc = 0;

    for (size_t i = 0; !rc && i < ebb_value_get_count(query); i++)
        rc = check_known(document, operation, ebb_value_get_key(query, i).p, ebb_value_get_at(query, i), err);
    for (size_t i = 0; !rc && i < count; i++) {
        const struct ebb_value *p = parameter_of(document, operation, i);

        if (is_query(p) && ebb_value_bool_of(p, "required", false) &&
            !ebb_value_get(query, ebb_value_text_of(p, "name")))
            rc = ebb_err_set(err, EBB_EUSAGE, "%s: is missing", ebb_value_text_of(p, "name"));
    }
    return rc;
}

/* ---- bodies ---- */

/* null says nothing here: it is refused, so that nobody takes it for something. */
static int refuse_null(struct ebb_str body, struct ebb_err *err)
{
    struct ebb_json j;
    int rc;

    ebb_json_init(&j, "body", body.p, body.n);
    do {
        rc = ebb_json_next(&j, err);
        if (!rc && j.kind == EBB_JSON_NULL)
            rc = ebb_err_set(err, EBB_EUSAGE, "body: offset %zu: null is refused; leave the member out", j.token_at);
    } while (!rc && j.kind != EBB_JSON_END);
    ebb_json_fini(&j);
    return rc;
}

int ebb__api_read_body(const struct ebb_value *document, const struct ebb_value *operation, struct ebb_str body,
                       struct ebb_value **out, struct ebb_err *err)
{
    const struct ebb_value *request = ebb_value_get(operation, "requestBody");
    const struct ebb_value *schema =
        ebb_value_get(ebb_value_get(ebb_value_get(request, "content"), "application/json"), "schema");
    int rc;

    *out = NULL;
    if (!request && body.n)
        return ebb_err_set(err, EBB_EUSAGE, "body: none is taken here");
    if (!body.n && ebb_value_bool_of(request, "required", false))
        return ebb_err_set(err, EBB_EUSAGE, "body: is missing");
    if (!body.n)
        return 0;
    rc = refuse_null(body, err);
    if (!rc)
        rc = ebb_value_of_json("body", body.p, body.n, NULL, out, err);
    if (rc == -(int)EBB_ECORRUPT || rc == -(int)EBB_ELIMIT)
        return ebb_err_as(err, EBB_EUSAGE, NULL);
    return rc ? rc : ebb__api_check(document, schema, *out, "body", err);
}
