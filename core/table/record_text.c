/* SPDX-License-Identifier: Apache-2.0 */
#include "table/record_text_priv.h"

#include "format/json.h"

static int read_value(struct ebb_json *j, struct ebb_buf *out, struct ebb_err *err)
{
    int rc = ebb_json_next(j, err);

    if (!rc && j->kind == EBB_JSON_STRING)
        ebb_buf_add_str(out, j->text);
    else if (!rc && (j->kind == EBB_JSON_OBJECT || j->kind == EBB_JSON_ARRAY))
        rc = ebb_json_skip(j, err);
    return rc ? rc : ebb_buf_check(out, "record", err);
}

int ebb__record_text(const char *json, const char *key, struct ebb_buf *out, struct ebb_err *err)
{
    struct ebb_json j;
    int rc;

    ebb_json_init(&j, "record", json, strlen(json));
    rc = ebb_json_expect(&j, EBB_JSON_OBJECT, "record", err);
    while (!rc) {
        rc = ebb_json_next(&j, err);
        if (rc || j.kind != EBB_JSON_KEY)
            break;
        if (ebb_str_is_equal(j.text, ebb_str_of(key)))
            rc = read_value(&j, out, err);
        else
            rc = ebb_json_skip(&j, err);
    }
    ebb_json_fini(&j);
    return rc;
}
