/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/number_priv.h"
#include "engine/value_priv.h"
#include "format/json.h"

void ebb_value_write(const struct ebb_value *value, struct ebb_jsonw *w)
{
    enum ebb_value_kind kind = ebb_value_get_kind(value);
    struct ebb_str bytes = ebb_value_get_bytes(value);
    char text[EBB__NUMBER_MAX];

    switch (kind) {
    case EBB_VALUE_NIL:
        ebb_jsonw_null(w);
        return;
    case EBB_VALUE_BOOL:
        ebb_jsonw_bool(w, ebb_value_get_bool(value, false));
        return;
    case EBB_VALUE_INT:
        ebb_jsonw_int(w, ebb_value_get_int(value, 0));
        return;
    case EBB_VALUE_FLOAT:
        if (ebb__number_format(ebb_value_get_float(value, 0), text))
            ebb_jsonw_raw(w, text, strlen(text));
        else
            ebb_jsonw_null(w);
        return;
    case EBB_VALUE_STRING:
        ebb_jsonw_strn(w, bytes.p, bytes.n);
        return;
    default:
        break;
    }
    ebb_jsonw_begin(w, kind == EBB_VALUE_MAP ? '{' : '[');
    for (size_t i = 0; i < ebb_value_get_count(value); i++) {
        if (kind == EBB_VALUE_MAP)
            ebb_jsonw_key(w, ebb_value_get_key(value, i).p);
        ebb_value_write(ebb_value_get_at(value, i), w);
    }
    ebb_jsonw_end(w, kind == EBB_VALUE_MAP ? '}' : ']');
}

int ebb_value_to_json(const struct ebb_value *value, struct ebb_buf *out, struct ebb_err *err)
{
    struct ebb_jsonw w;

    ebb_jsonw_init(&w, out);
    ebb_value_write(value, &w);
    return ebb_buf_check(out, "value as JSON", err);
}

/* Where the next value of the document goes. */
struct builder {
    struct ebb_value *stack[EBB_VALUE_DEPTH_MAX];
    int depth;
    struct ebb_buf key;
    struct ebb_value *root;
    const struct ebb_value_limits *limits;
};

static struct ebb_value *place(struct builder *b, enum ebb_value_kind kind)
{
    struct ebb_value *box = b->stack[b->depth - 1];

    return ebb__value_make(box, (struct ebb_str){ebb_buf_cstr(&b->key), b->key.len}, kind);
}

static int open_box(struct builder *b, struct ebb_json *j, enum ebb_value_kind kind, struct ebb_err *err)
{
    struct ebb_value *box;

    if (b->depth == EBB_VALUE_DEPTH_MAX)
        return ebb_json_fail(j, err, "nested deeper than %d", EBB_VALUE_DEPTH_MAX);
    if (b->depth)
        box = place(b, kind);
    else
        box = b->root = kind == EBB_VALUE_MAP ? ebb_value_new_map(b->limits) : ebb_value_new_list(b->limits);
    if (!b->root)
        return ebb_err_nomem(err);
    b->stack[b->depth++] = box;
    return 0;
}

static int add_float(struct builder *b, struct ebb_json *j, struct ebb_err *err)
{
    double real;

    if (!ebb__number_parse(j->text, &real) || !isfinite(real))
        return ebb_json_fail(j, err, "number out of range");
    ebb__value_set_scalar(place(b, EBB_VALUE_FLOAT), false, 0, real);
    return 0;
}

static int add_scalar(struct builder *b, struct ebb_json *j, struct ebb_err *err)
{
    if (!b->depth)
        return ebb_json_fail(j, err, "an object or array is due");
    switch (j->kind) {
    case EBB_JSON_STRING:
        ebb__value_set_text(place(b, EBB_VALUE_STRING), j->text.p, j->text.n);
        return 0;
    case EBB_JSON_INT:
        ebb__value_set_scalar(place(b, EBB_VALUE_INT), false, j->number, 0);
        return 0;
    case EBB_JSON_FLOAT:
        return add_float(b, j, err);
    case EBB_JSON_NULL:
        if (ebb_value_get_kind(b->stack[b->depth - 1]) == EBB_VALUE_LIST)
            place(b, EBB_VALUE_NIL);
        return 0;
    default:
        ebb__value_set_scalar(place(b, EBB_VALUE_BOOL), j->kind == EBB_JSON_TRUE, 0, 0);
        return 0;
    }
}

static int take(struct builder *b, struct ebb_json *j, struct ebb_err *err)
{
    switch (j->kind) {
    case EBB_JSON_OBJECT:
        return open_box(b, j, EBB_VALUE_MAP, err);
    case EBB_JSON_ARRAY:
        return open_box(b, j, EBB_VALUE_LIST, err);
    case EBB_JSON_OBJECT_END:
    case EBB_JSON_ARRAY_END:
        b->depth--;
        return 0;
    case EBB_JSON_KEY:
        ebb_buf_reset(&b->key);
        ebb_buf_add_str(&b->key, j->text);
        return ebb_buf_check(&b->key, j->name, err);
    default:
        return add_scalar(b, j, err);
    }
}

int ebb_value_of_json(const char *name, const void *bytes, size_t n, const struct ebb_value_limits *limits,
                      struct ebb_value **out, struct ebb_err *err)
{
    struct builder b = {.limits = limits};
    struct ebb_json j;
    int rc;

    *out = NULL;
    ebb_json_init(&j, name, bytes, n);
    ebb_buf_init(&b.key, ebb_value_limits_wide().text_bytes);
    for (;;) {
        rc = ebb_json_next(&j, err);
        if (rc || j.kind == EBB_JSON_END)
            break;
        rc = take(&b, &j, err);
        if (!rc)
            rc = ebb_value_check(b.root, name, err);
        if (rc)
            break;
    }
    ebb_buf_fini(&b.key);
    ebb_json_fini(&j);
    if (rc)
        ebb_value_free(b.root);
    else
        *out = b.root;
    return rc;
}
