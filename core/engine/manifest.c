/* SPDX-License-Identifier: Apache-2.0
 *
 * From the raw data of the header phase to the manifest: references become {"param": name}, triggers maps with "kind",
 * functions the text "function".
 */
#include "engine/header_priv.h"
#include "engine/policy_priv.h"

static void copy_in(struct ebb_value *box, struct ebb_str key, const struct ebb_value *v);

static void copy_members(struct ebb_value *to, const struct ebb_value *from)
{
    for (size_t i = 0; i < ebb_value_get_count(from); i++)
        copy_in(to, ebb_value_get_key(from, i), ebb_value_get_at(from, i));
}

/* Depth is bounded by that of the source. */
static void copy_in(struct ebb_value *box, struct ebb_str key, const struct ebb_value *v)
{
    enum ebb_value_kind kind = ebb_value_get_kind(v);
    const char *made = ebb_value_text_of(v, EBB__MADE_KIND);
    struct ebb_value *map;

    if (kind < EBB_VALUE_LIST) {
        if (key.p)
            ebb_value_put_copy(box, key.p, v);
        else
            ebb_value_add_copy(box, v);
        return;
    }
    if (ebb_value_get(v, EBB__FUNCTION_KEY)) {
        ebb__value_set_text(ebb__value_make(box, key, EBB_VALUE_STRING), "function", 8);
        return;
    }
    map = ebb__value_make(box, key, kind);
    if (!made) {
        copy_members(map, v);
    } else if (!strcmp(made, "param")) {
        ebb_value_put_copy(map, "param", ebb_value_get(v, "args"));
    } else {
        ebb_value_put_str(map, "kind", made);
        copy_members(map, ebb_value_get(v, "args"));
    }
}

int ebb__manifest_make(const struct ebb_value *raw, struct ebb_value **out, struct ebb_err *err)
{
    struct ebb_value *root = ebb_value_new_map(NULL);
    int rc;

    copy_members(root, raw);
    rc = ebb_value_check(root, "manifest", err);
    if (rc)
        ebb_value_free(root);
    else
        *out = root;
    return rc;
}
