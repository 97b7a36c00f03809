/* SPDX-License-Identifier: Apache-2.0 */
#include "format/metadata_priv.h"

#include <stdlib.h>

void ebb__rows_init(struct ebb__rows *rows, size_t item_bytes)
{
    memset(rows, 0, sizeof *rows);
    rows->item_bytes = item_bytes;
}

void ebb__rows_fini(struct ebb__rows *rows)
{
    free(rows->data);
    ebb__rows_init(rows, rows->item_bytes);
}

void *ebb__rows_add(struct ebb__rows *rows)
{
    char *item;

    if (rows->count == rows->cap) {
        size_t cap = rows->cap ? rows->cap * 2 : 16;
        char *data = cap > SIZE_MAX / rows->item_bytes ? NULL : realloc(rows->data, cap * rows->item_bytes);

        if (!data)
            return NULL;
        rows->data = data;
        rows->cap = cap;
    }
    item = rows->data + rows->count++ * rows->item_bytes;
    memset(item, 0, rows->item_bytes);
    return item;
}

int ebb__rows_take(struct ebb__rows *rows, struct ebb_arena *arena, void *out, size_t *count, struct ebb_err *err)
{
    size_t bytes = rows->count * rows->item_bytes;
    void *copy = NULL;

    if (bytes) {
        copy = ebb_arena_alloc(arena, bytes);
        if (!copy)
            return ebb_err_nomem(err);
        memcpy(copy, rows->data, bytes);
    }
    memcpy(out, &copy, sizeof copy);
    *count = rows->count;
    rows->count = 0;
    return 0;
}

int ebb__metadata_want(struct ebb__metadata_reader *r, enum ebb_json_kind kind, const char *what, struct ebb_err *err)
{
    static const char *const NAMES[] = {[EBB_JSON_OBJECT] = "an object",
                                        [EBB_JSON_ARRAY] = "an array",
                                        [EBB_JSON_STRING] = "a string",
                                        [EBB_JSON_INT] = "a whole number"};

    if (r->j.kind == kind)
        return 0;
    return ebb_json_fail(&r->j, err, "%s: is not %s", what, NAMES[kind]);
}

int ebb__metadata_text(struct ebb__metadata_reader *r, const char *what, char **out, struct ebb_err *err)
{
    struct ebb_str text = r->j.text;

    if (text.n && memchr(text.p, '\0', text.n))
        return ebb_json_fail(&r->j, err, "%s: holds a NUL", what);
    *out = ebb_arena_dup(&r->m->arena, text.p, text.n);
    return *out ? 0 : ebb_err_nomem(err);
}

static int read_text(struct ebb__metadata_reader *r, const struct ebb__field *field, char **out, struct ebb_err *err)
{
    int rc = ebb__metadata_want(r, EBB_JSON_STRING, field->name, err);

    if (rc)
        return rc;
    if (field->kind == EBB__FIELD_PATH && r->j.text.n == 0)
        return ebb_json_fail(&r->j, err, "%s: is empty", field->name);
    return ebb__metadata_text(r, field->name, out, err);
}

static int read_raw(struct ebb__metadata_reader *r, const struct ebb__field *field, struct ebb_str *out,
                    struct ebb_err *err)
{
    enum ebb_json_kind kind = field->kind == EBB__FIELD_RAW_ARRAY ? EBB_JSON_ARRAY : EBB_JSON_OBJECT;
    int rc = ebb__metadata_want(r, kind, field->name, err);

    return rc ? rc : ebb_json_raw(&r->j, out, err);
}

static int read_value(struct ebb__metadata_reader *r, const struct ebb__field *field, void *target, struct ebb_err *err)
{
    void *to = (char *)target + field->offset;
    int rc;

    switch (field->kind) {
    case EBB__FIELD_INT:
        rc = ebb__metadata_want(r, EBB_JSON_INT, field->name, err);
        if (!rc)
            *(int64_t *)to = r->j.number;
        return rc;
    case EBB__FIELD_TEXT:
    case EBB__FIELD_PATH:
        return read_text(r, field, to, err);
    case EBB__FIELD_RAW_OBJECT:
    case EBB__FIELD_RAW_ARRAY:
        return read_raw(r, field, to, err);
    default:
        return field->read(r, target, err);
    }
}

static size_t find_field(const struct ebb_json *j, const struct ebb__field *fields, size_t count)
{
    size_t i = 0;

    while (i < count && !ebb_json_is_text(j, fields[i].name))
        i++;
    return i;
}

static int check_required(struct ebb__metadata_reader *r, const char *what, const struct ebb__field *fields,
                          size_t count, uint64_t seen, struct ebb_err *err)
{
    unsigned required = EBB__REQUIRED | (r->version >= 2 ? EBB__REQUIRED_V2 : 0);

    for (size_t i = 0; i < count; i++)
        if ((fields[i].flags & required) && !(seen >> i & 1))
            return ebb_json_fail(&r->j, err, "%s: %s is missing", what, fields[i].name);
    return 0;
}

int ebb__metadata_object(struct ebb__metadata_reader *r, const char *what, const struct ebb__field *fields,
                         size_t count, void *target, struct ebb_err *err)
{
    uint64_t seen = 0;
    int rc = ebb__metadata_want(r, EBB_JSON_OBJECT, what, err);

    while (!rc) {
        size_t i;

        rc = ebb_json_next(&r->j, err);
        if (rc || r->j.kind == EBB_JSON_OBJECT_END)
            break;
        i = find_field(&r->j, fields, count);
        rc = ebb_json_next(&r->j, err);
        if (rc)
            break;
        if (i == count) {
            rc = ebb_json_skip(&r->j, err);
        } else if (r->j.kind != EBB_JSON_NULL || !(fields[i].flags & EBB__NULLABLE)) {
            rc = read_value(r, &fields[i], target, err);
            seen |= (uint64_t)1 << i;
        }
    }
    return rc ? rc : check_required(r, what, fields, count, seen, err);
}

int ebb__metadata_array(struct ebb__metadata_reader *r, const char *what,
                        int (*item)(struct ebb__metadata_reader *r, struct ebb_err *err), struct ebb_err *err)
{
    int rc = ebb__metadata_want(r, EBB_JSON_ARRAY, what, err);

    while (!rc) {
        rc = ebb_json_next(&r->j, err);
        if (rc || r->j.kind == EBB_JSON_ARRAY_END)
            break;
        rc = item(r, err);
    }
    return rc;
}
