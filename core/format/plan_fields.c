/* SPDX-License-Identifier: Apache-2.0 */
#include "format/plan_priv.h"

#include "base/time.h"

#include <inttypes.h>
#include <stdio.h>

int ebb__plan_reader_init(struct ebb__plan_reader *r, const char *name, int64_t line_number, struct ebb_str line,
                          struct ebb_arena *arena, struct ebb_err *err)
{
    snprintf(r->label, sizeof r->label, "%s:%" PRId64, name, line_number);
    r->arena = arena;
    ebb_json_init(&r->j, r->label, line.p, line.n);
    if (line.n > EBB_PLAN_MAX_LINE_BYTES)
        return ebb_json_fail(&r->j, err, "the line is longer than %zu bytes", EBB_PLAN_MAX_LINE_BYTES);
    return ebb_json_next(&r->j, err);
}

int ebb__plan_reader_fini(struct ebb__plan_reader *r, int rc, struct ebb_err *err)
{
    if (!rc)
        rc = ebb_json_expect(&r->j, EBB_JSON_END, "line", err);
    ebb_json_fini(&r->j);
    return rc == -EBB_ECORRUPT ? ebb_err_as(err, EBB_EPLAN, NULL) : rc;
}

int ebb__plan_want(struct ebb__plan_reader *r, enum ebb_json_kind kind, const char *what, struct ebb_err *err)
{
    static const char *const NAMES[] = {[EBB_JSON_OBJECT] = "an object",
                                        [EBB_JSON_ARRAY] = "an array",
                                        [EBB_JSON_STRING] = "a string",
                                        [EBB_JSON_INT] = "a whole number of 63 bits"};

    if (r->j.kind == kind)
        return 0;
    return ebb_json_fail(&r->j, err, "%s: is not %s", what, NAMES[kind]);
}

/* The bytes that the current string stands for, NUL terminated, in the arena. */
static int read_bytes(struct ebb__plan_reader *r, const char *what, bool is_base64, struct ebb_str *out,
                      struct ebb_err *err)
{
    struct ebb_buf bytes;
    struct ebb_str text = r->j.text;
    int rc = ebb__plan_want(r, EBB_JSON_STRING, what, err);

    ebb_buf_init(&bytes, EBB_PLAN_MAX_LINE_BYTES);
    if (!rc && is_base64) {
        bool is_good = ebb_text_unbase64(&bytes, text.p, text.n);

        text = ebb_buf_str(&bytes);
        if (bytes.bad)
            rc = ebb_err_nomem(err);
        else if (!is_good || ebb_text_is_utf8(text.p, text.n))
            rc = ebb_json_fail(&r->j, err, "%s_b64: is not base64 of bytes that need it", what);
    }
    if (!rc && text.n && memchr(text.p, '\0', text.n))
        rc = ebb_json_fail(&r->j, err, "%s: holds a NUL", what);
    if (!rc) {
        out->p = ebb_arena_dup(r->arena, text.p, text.n);
        out->n = text.n;
        rc = out->p ? 0 : ebb_err_nomem(err);
    }
    ebb_buf_fini(&bytes);
    return rc;
}

static int read_text(struct ebb__plan_reader *r, const char *what, bool is_base64, const char **out,
                     struct ebb_err *err)
{
    struct ebb_str bytes;
    int rc = read_bytes(r, what, is_base64, &bytes, err);

    if (!rc)
        *out = bytes.p;
    return rc;
}

static int read_count(struct ebb__plan_reader *r, const char *what, int64_t *out, struct ebb_err *err)
{
    int rc = ebb__plan_want(r, EBB_JSON_INT, what, err);

    if (!rc && r->j.number < 0)
        rc = ebb_json_fail(&r->j, err, "%s: is negative", what);
    if (!rc)
        *out = r->j.number;
    return rc;
}

static int read_size(struct ebb__plan_reader *r, const char *what, uint64_t *out, struct ebb_err *err)
{
    int64_t size = 0;
    int rc = read_count(r, what, &size, err);

    if (!rc)
        *out = (uint64_t)size;
    return rc;
}

/* Only the one spelling that is written. */
static int read_time(struct ebb__plan_reader *r, const char *what, int64_t *out, struct ebb_err *err)
{
    const char *text = "";
    struct ebb_buf again;
    int rc = read_text(r, what, false, &text, err);

    if (!rc)
        rc = ebb_time_parse(text, "", out, err);
    if (rc == -EBB_ETIME)
        rc = ebb_json_fail(&r->j, err, "%s: is not a time", what);
    if (rc)
        return rc;
    ebb_buf_init(&again, 64);
    ebb_time_iso(&again, *out);
    if (again.bad)
        rc = ebb_err_nomem(err);
    else if (strcmp(ebb_buf_cstr(&again), text))
        rc = ebb_json_fail(&r->j, err, "%s: is not a time like 2026-06-01T00:00:00Z", what);
    ebb_buf_fini(&again);
    return rc;
}

static int read_object(struct ebb__plan_reader *r, const char *what, struct ebb_str *out, struct ebb_err *err)
{
    struct ebb_str raw;
    int rc = ebb__plan_want(r, EBB_JSON_OBJECT, what, err);

    if (!rc)
        rc = ebb_json_raw(&r->j, &raw, err);
    if (rc)
        return rc;
    out->p = ebb_arena_dup(r->arena, raw.p, raw.n);
    out->n = raw.n;
    return out->p ? 0 : ebb_err_nomem(err);
}

static int read_value(struct ebb__plan_reader *r, const struct ebb__plan_field *field, bool is_base64, void *target,
                      struct ebb_err *err)
{
    void *to = (char *)target + field->offset;
    int rc;

    switch (field->kind) {
    case EBB__PLAN_TEXT:
    case EBB__PLAN_PATH:
        return read_text(r, field->name, is_base64, to, err);
    case EBB__PLAN_BYTES:
        rc = read_bytes(r, field->name, is_base64, to, err);
        if (!rc && ((struct ebb_str *)to)->n == 0)
            rc = ebb_json_fail(&r->j, err, "%s: is empty", field->name);
        return rc;
    case EBB__PLAN_COUNT:
        return read_count(r, field->name, to, err);
    case EBB__PLAN_SIZE:
        return read_size(r, field->name, to, err);
    case EBB__PLAN_TIME:
        return read_time(r, field->name, to, err);
    case EBB__PLAN_OBJECT:
        return read_object(r, field->name, to, err);
    default:
        return field->read(r, target, err);
    }
}

/* Whether the key is the field's, or its name with "_b64" behind where that is allowed. */
static bool is_key_of(struct ebb_str key, const struct ebb__plan_field *field, bool *is_base64)
{
    struct ebb_str name = ebb_str_of(field->name);

    *is_base64 = false;
    if (ebb_str_is_equal(key, name))
        return true;
    *is_base64 = key.n == name.n + 4 && ebb_str_has_prefix(key, name) && !memcmp(key.p + name.n, "_b64", 4);
    return *is_base64 && (field->kind == EBB__PLAN_PATH || field->kind == EBB__PLAN_BYTES);
}

static int read_member(struct ebb__plan_reader *r, const struct ebb__plan_field *fields, size_t count, void *target,
                       uint32_t *seen, struct ebb_err *err)
{
    struct ebb_str key = r->j.text;
    bool is_base64 = false;
    size_t i = 0;
    int rc;

    while (i < count && !is_key_of(key, &fields[i], &is_base64))
        i++;
    if (i == count)
        return ebb_json_fail(&r->j, err, "the key \"%.*s\" is not known", (int)(key.n < 100 ? key.n : 100), key.p);
    if (*seen >> i & 1)
        return ebb_json_fail(&r->j, err, "%s: is there twice", fields[i].name);
    *seen |= (uint32_t)1 << i;
    rc = ebb_json_next(&r->j, err);
    if (rc || (r->j.kind == EBB_JSON_NULL && fields[i].flags & EBB__PLAN_NULLABLE))
        return rc;
    return read_value(r, &fields[i], is_base64, target, err);
}

int ebb__plan_object(struct ebb__plan_reader *r, const struct ebb__plan_field *fields, size_t count, void *target,
                     struct ebb_err *err)
{
    uint32_t seen = 0;
    int rc = ebb__plan_want(r, EBB_JSON_OBJECT, "line", err);

    while (!rc) {
        rc = ebb_json_next(&r->j, err);
        if (rc || r->j.kind == EBB_JSON_OBJECT_END)
            break;
        rc = read_member(r, fields, count, target, &seen, err);
    }
    for (size_t i = 0; !rc && i < count; i++)
        if (!(seen >> i & 1) && !(fields[i].flags & EBB__PLAN_OPTIONAL))
            rc = ebb_json_fail(&r->j, err, "%s is missing", fields[i].name);
    return rc;
}
