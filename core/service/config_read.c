/* SPDX-License-Identifier: Apache-2.0 */
#include "service/config_priv.h"

#include <stdlib.h>

int ebb__config_fail(const struct ebb__config_reader *r, struct ebb_err *err, const char *key, const char *why)
{
    return ebb_err_set(err, EBB_ECONFIG, "%s: %s: %s", r->c->file, key, why);
}

static int unknown(const struct ebb__config_reader *r, struct ebb_err *err, const char *where, const char *key,
                   const char *const *keys, size_t count)
{
    const char *nearest = ebb_text_nearest(key, keys, count);
    int rc = ebb_err_set(err, EBB_ECONFIG_UNKNOWN_KEY, "%s: %s%s%s: unknown key", r->c->file, where,
                         where[0] ? "." : "", key);

    if (nearest)
        ebb_err_hint(err, "did you mean %s?", nearest);
    return rc;
}

int ebb__config_check_keys(const struct ebb__config_reader *r, const struct ebb_value *map, const char *where,
                           const char *const *keys, size_t count, struct ebb_err *err)
{
    if (ebb_value_get_kind(map) != EBB_VALUE_MAP)
        return ebb__config_fail(r, err, where[0] ? where : "the file", "a table with named keys is wanted");
    for (size_t i = 0; i < ebb_value_get_count(map); i++) {
        struct ebb_str key = ebb_value_get_key(map, i);
        bool known = false;

        for (size_t k = 0; !known && k < count; k++)
            known = ebb_str_is_equal(key, ebb_str_of(keys[k]));
        if (!known)
            return unknown(r, err, where, key.p, keys, count);
    }
    return 0;
}

int ebb__config_fail_in(const struct ebb__config_reader *r, struct ebb_err *err, const char *where, const char *key,
                        const char *why)
{
    return ebb_err_set(err, EBB_ECONFIG, "%s: %s%s%s: %s", r->c->file, where, where[0] ? "." : "", key, why);
}

const char *ebb__config_text(const struct ebb_value *v)
{
    const char *text = ebb_value_get_str(v);

    return text && strlen(text) == ebb_value_get_bytes(v).n ? text : NULL;
}

int ebb__config_check_names(const struct ebb__config_reader *r, const struct ebb_value *map, const char *where,
                            struct ebb_err *err)
{
    for (size_t i = 0; i < ebb_value_get_count(map); i++)
        if (!ebb_value_get_key(map, i).n || memchr(ebb_value_get_key(map, i).p, '\0', ebb_value_get_key(map, i).n))
            return ebb__config_fail(r, err, where, "a name is empty or holds a NUL");
    return 0;
}

int ebb__config_take_text(const struct ebb__config_reader *r, const struct ebb_value *map, const char *where,
                          const char *key, bool required, char **out, struct ebb_err *err)
{
    const struct ebb_value *v = ebb_value_get(map, key);
    const char *text = ebb__config_text(v);

    if (!v && !required)
        return 0;
    if (!text || !text[0])
        return ebb__config_fail_in(r, err, where, key, v ? "text is wanted" : "is missing");
    free(*out);
    *out = strdup(text);
    return *out ? 0 : ebb_err_nomem(err);
}

int ebb__config_absolute(const struct ebb__config_reader *r, char **path, struct ebb_err *err)
{
    struct ebb_buf b;

    if (!*path || **path == '/')
        return 0;
    ebb_buf_init(&b, 65536);
    ebb_buf_printf(&b, "%s/%s", r->base.data, *path);
    free(*path);
    *path = ebb_buf_take(&b);
    return *path ? 0 : ebb_err_nomem(err);
}

int ebb__config_take_bool(const struct ebb__config_reader *r, const struct ebb_value *map, const char *where,
                          const char *key, bool *out, struct ebb_err *err)
{
    const struct ebb_value *v = ebb_value_get(map, key);

    if (v && ebb_value_get_kind(v) != EBB_VALUE_BOOL)
        return ebb__config_fail_in(r, err, where, key, "true or false is wanted");
    *out = ebb_value_get_bool(v, *out);
    return 0;
}

int ebb__config_take_texts(const struct ebb__config_reader *r, const struct ebb_value *list, const char *key,
                           struct ebb_strs *out, struct ebb_err *err)
{
    int rc = 0;

    if (list && ebb_value_get_kind(list) != EBB_VALUE_LIST)
        return ebb__config_fail(
            r, err, key, "a list of texts, not empty, is wanted"); /* {} is a map: "no table" would read as "any" */
    for (size_t i = 0; !rc && i < ebb_value_get_count(list); i++) {
        const char *text = ebb__config_text(ebb_value_get_at(list, i));

        rc = text && *text ? ebb_strs_add(out, text, err) : ebb__config_fail(r, err, key, "a list of texts is wanted");
    }
    return rc;
}
