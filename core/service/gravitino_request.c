/* SPDX-License-Identifier: Apache-2.0 */
#include "service/gravitino_priv.h"

#include <stdio.h>
#include <strings.h>

const char *ebb__gravitino_arg(const struct ebb_api_call *call, size_t index)
{
    return call->args && index < call->args->count ? call->args->items[index] : "";
}

bool ebb__gravitino_asks(const struct ebb_api_call *call, const char *key)
{
    const char *text = ebb_value_text_of(call->query, key);

    return text && !strcasecmp(text, "true");
}

int ebb__gravitino_metalake(struct ebb_api_call *call)
{
    const char *name = ebb__gravitino_arg(call, 0);
    struct ebb__subject subject = {"metalake(s)", name, "LOAD", NULL, NULL};

    if (!strcmp(name, ebb_workspace_config(call->ws)->serve.metalake))
        return 0;
    return ebb__gravitino_fail(call, EBB__FAULT_NO_METALAKE, &subject, "Metalake %s does not exist", name);
}

int ebb__gravitino_members(struct ebb_api_call *call, const struct ebb_value *map, const char *members)
{
    char wanted[256];

    if (ebb_value_get_kind(map) != EBB_VALUE_MAP)
        return ebb__gravitino_malformed(call, "an object is wanted, not a %s",
                                        ebb_value_kind_name(ebb_value_get_kind(map)));
    for (size_t i = 0; i < ebb_value_get_count(map); i++) {
        struct ebb_str key = ebb_value_get_key(map, i);

        snprintf(wanted, sizeof wanted, "|%.*s|", (int)(key.n < 200 ? key.n : 200), key.p);
        if (memchr(key.p, '|', key.n) || !strstr(members, wanted))
            return ebb__gravitino_malformed(call, "Unrecognized field \"%.*s\"", (int)(key.n < 200 ? key.n : 200),
                                            key.p);
    }
    return 0;
}

int ebb__gravitino_body(struct ebb_api_call *call, const char *members, struct ebb_value **out, struct ebb_err *err)
{
    struct ebb_err local;
    int rc = ebb_value_of_json("request", call->body.p, call->body.n, NULL, out, &local);

    if (rc == -(int)EBB_ENOMEM) {
        if (err)
            *err = local;
        return rc;
    }
    if (rc)
        return ebb__gravitino_malformed(call, "%s", local.message);
    return ebb__gravitino_members(call, *out, members);
}

static int is_kind(struct ebb_api_call *call, const char *key, const struct ebb_value *value, enum ebb_value_kind kind)
{
    enum ebb_value_kind is = ebb_value_get_kind(value);

    if (is == kind)
        return 0;
    return ebb__gravitino_malformed(call, "%s: a %s is wanted, not a %s", key, ebb_value_kind_name(kind),
                                    ebb_value_kind_name(is));
}

int ebb__gravitino_text(struct ebb_api_call *call, const struct ebb_value *map, const char *key, const char **out)
{
    const struct ebb_value *value = ebb_value_get(map, key);
    struct ebb_str bytes = ebb_value_get_bytes(value);

    *out = ebb_value_get_str(value);
    if (!value)
        return 0;
    if (*out && memchr(bytes.p, '\0', bytes.n))
        return ebb__gravitino_malformed(call, "%s: NUL in a text", key);
    return is_kind(call, key, value, EBB_VALUE_STRING);
}

int ebb__gravitino_texts(struct ebb_api_call *call, const struct ebb_value *map, const char *key, struct ebb_strs *out,
                         struct ebb_err *err)
{
    const struct ebb_value *list = ebb_value_get(map, key);
    int rc = list ? is_kind(call, key, list, EBB_VALUE_LIST) : 0;

    for (size_t i = 0; !rc && i < ebb_value_get_count(list); i++) {
        const struct ebb_value *item = ebb_value_get_at(list, i);

        rc = is_kind(call, key, item, EBB_VALUE_STRING);
        if (!rc && memchr(ebb_value_get_str(item), '\0', ebb_value_get_bytes(item).n))
            rc = ebb__gravitino_malformed(call, "%s: NUL in a text", key);
        if (!rc)
            rc = ebb_strs_add(out, ebb_value_get_str(item), err);
    }
    return rc;
}

int ebb__gravitino_text_map(struct ebb_api_call *call, const struct ebb_value *map, const char *key)
{
    const struct ebb_value *values = ebb_value_get(map, key);
    int rc = values ? is_kind(call, key, values, EBB_VALUE_MAP) : 0;

    for (size_t i = 0; !rc && i < ebb_value_get_count(values); i++) {
        const struct ebb_value *item = ebb_value_get_at(values, i);

        rc = is_kind(call, key, item, EBB_VALUE_STRING);
        if (!rc && memchr(ebb_value_get_str(item), '\0', ebb_value_get_bytes(item).n))
            rc = ebb__gravitino_malformed(call, "%s: NUL in a text", key);
    }
    return rc;
}

int ebb__gravitino_bool(struct ebb_api_call *call, const struct ebb_value *map, const char *key, bool otherwise,
                        bool *out)
{
    const struct ebb_value *value = ebb_value_get(map, key);

    *out = ebb_value_get_bool(value, otherwise);
    return value ? is_kind(call, key, value, EBB_VALUE_BOOL) : 0;
}
