/* SPDX-License-Identifier: Apache-2.0 */
#include "service/gravitino_priv.h"

#include <stdlib.h>

#define NAME_MAX_BYTES 256

struct ebb_store *ebb__gravitino_store(const struct ebb_api_call *call)
{
    return ebb_workspace_site(call->ws)->store;
}

void ebb__entity_fini(struct ebb__entity *entity)
{
    free((char *)(uintptr_t)entity->object.name);
    free((char *)(uintptr_t)entity->object.json);
    free((char *)(uintptr_t)entity->object.creator);
    free((char *)(uintptr_t)entity->object.modifier);
    ebb_value_free(entity->json);
    memset(entity, 0, sizeof *entity);
}

int ebb__entity_of(const struct ebb_object *object, struct ebb__entity *out, struct ebb_err *err)
{
    int rc;

    memset(out, 0, sizeof *out);
    out->object = *object;
    out->object.name = strdup(object->name);
    out->object.json = strdup(object->json);
    out->object.creator = strdup(object->creator ? object->creator : "");
    out->object.modifier = strdup(object->modifier ? object->modifier : "");
    if (!out->object.name || !out->object.json || !out->object.creator || !out->object.modifier)
        rc = ebb_err_nomem(err);
    else
        rc = ebb_value_of_json(object->name, object->json, strlen(object->json), NULL, &out->json, err);
    if (rc)
        ebb__entity_fini(out);
    return rc;
}

static int take(void *data, const struct ebb_object *object, struct ebb_err *err)
{
    return ebb__entity_of(object, data, err);
}

int ebb__entity_get(const struct ebb_api_call *call, enum ebb_object_kind kind, const char *name,
                    struct ebb__entity *out, struct ebb_err *err)
{
    memset(out, 0, sizeof *out);
    return ebb_store_get_object(ebb__gravitino_store(call), kind, name, take, out, err);
}

int ebb__entity_add(const struct ebb_api_call *call, enum ebb_object_kind kind, const char *name,
                    const struct ebb_value *json, struct ebb_err *err)
{
    struct ebb_object object = {
        .kind = kind, .name = name, .creator = call->who.name, .modifier = "", .created_ms = call->now_ms};
    struct ebb_buf text;
    int rc;

    ebb_buf_init(&text, EBB__GRAVITINO_BODY_MAX);
    rc = ebb_value_to_json(json, &text, err);
    object.json = ebb_buf_cstr(&text);
    if (!rc)
        rc = ebb_store_add_object(ebb__gravitino_store(call), &object, err);
    ebb_buf_fini(&text);
    return rc;
}

int ebb__entity_save(const struct ebb_api_call *call, const struct ebb__entity *entity, const struct ebb_value *json,
                     const char *new_name, struct ebb_err *err)
{
    struct ebb_object object = entity->object;
    struct ebb_buf text;
    int rc;

    ebb_buf_init(&text, EBB__GRAVITINO_BODY_MAX);
    rc = ebb_value_to_json(json, &text, err);
    object.json = ebb_buf_cstr(&text);
    object.modifier = call->who.name;
    object.modified_ms = call->now_ms;
    if (new_name)
        object.name = new_name;
    if (!rc)
        rc = ebb_store_change_object(ebb__gravitino_store(call), entity->object.name, &object, err);
    ebb_buf_fini(&text);
    return rc;
}

int ebb__gravitino_check_name(struct ebb_api_call *call, const struct ebb__subject *subject, const char *what,
                              const char *name)
{
    if (!name || !name[strspn(name, " \t\r\n")])
        return ebb__gravitino_fail(call, EBB__FAULT_ARGUMENT, subject, "\"%s\" field is required and cannot be empty",
                                   what);
    if (strlen(name) > NAME_MAX_BYTES)
        return ebb__gravitino_fail(call, EBB__FAULT_ARGUMENT, subject, "\"%s\" is longer than %d bytes", what,
                                   NAME_MAX_BYTES);
    return 0;
}
