/* SPDX-License-Identifier: Apache-2.0 */
#include "format/json.h"

static const char *kind_name(enum ebb_json_kind kind)
{
    static const char *const NAMES[] = {
        "the end", "an object", "the end of an object", "an array", "the end of an array",
        "a key",   "a string",  "an integer",           "a number", "true",
        "false",   "null"};

    return NAMES[kind];
}

int ebb_json_skip(struct ebb_json *j, struct ebb_err *err)
{
    int rc = 0;
    int outside;

    if (j->kind == EBB_JSON_KEY)
        rc = ebb_json_next(j, err);
    if (rc || (j->kind != EBB_JSON_OBJECT && j->kind != EBB_JSON_ARRAY))
        return rc;
    outside = j->depth - 1;
    while (!rc && j->depth > outside)
        rc = ebb_json_next(j, err);
    return rc;
}

int ebb_json_raw(struct ebb_json *j, struct ebb_str *out, struct ebb_err *err)
{
    size_t begin;
    int rc = 0;

    if (j->kind == EBB_JSON_KEY)
        rc = ebb_json_next(j, err);
    begin = j->token_at;
    if (!rc)
        rc = ebb_json_skip(j, err);
    if (rc)
        return rc;
    out->p = j->start + begin;
    out->n = (size_t)(j->p - out->p);
    return 0;
}

bool ebb_json_is_text(const struct ebb_json *j, const char *text)
{
    return ebb_str_is_equal(j->text, ebb_str_of(text));
}

int ebb_json_expect(struct ebb_json *j, enum ebb_json_kind kind, const char *what, struct ebb_err *err)
{
    int rc = ebb_json_next(j, err);

    if (rc || j->kind == kind)
        return rc;
    return ebb_json_fail(j, err, "%s: want %s, found %s", what, kind_name(kind), kind_name(j->kind));
}

int ebb_json_read_int(struct ebb_json *j, const char *what, int64_t *out, struct ebb_err *err)
{
    int rc = ebb_json_expect(j, EBB_JSON_INT, what, err);

    if (!rc)
        *out = j->number;
    return rc;
}

int ebb_json_read_str(struct ebb_json *j, const char *what, struct ebb_arena *arena, char **out, struct ebb_err *err)
{
    int rc = ebb_json_expect(j, EBB_JSON_STRING, what, err);

    if (rc)
        return rc;
    if (j->text.n && memchr(j->text.p, '\0', j->text.n))
        return ebb_json_fail(j, err, "%s: holds a NUL", what);
    *out = ebb_arena_dup(arena, j->text.p, j->text.n);
    return *out ? 0 : ebb_err_nomem(err);
}

int ebb_json_read_bool(struct ebb_json *j, const char *what, bool *out, struct ebb_err *err)
{
    int rc = ebb_json_next(j, err);

    if (rc)
        return rc;
    if (j->kind != EBB_JSON_TRUE && j->kind != EBB_JSON_FALSE)
        return ebb_json_fail(j, err, "%s: want true or false, found %s", what, kind_name(j->kind));
    *out = j->kind == EBB_JSON_TRUE;
    return 0;
}
