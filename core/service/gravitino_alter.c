/* SPDX-License-Identifier: Apache-2.0
 *
 * Changes of named things: policies and job templates. All updates of a request count, or none.
 */
#include "service/gravitino_priv.h"

struct altering {
    struct ebb_api_call *call;
    const struct ebb__alter_kind *kind;
    const struct ebb__subject *subject;
    struct ebb_value *json; /* the document */
    const char *new_name;   /* of the body, NULL none */
};

static int change_name(struct altering *a, const struct ebb_value *update)
{
    const char *name = NULL;
    int rc = ebb__gravitino_members(a->call, update, "|@type|newName|");

    if (!rc)
        rc = ebb__gravitino_text(a->call, update, "newName", &name);
    if (!rc)
        rc = ebb__gravitino_check_name(a->call, a->subject, "newName", name);
    if (!rc && a->kind->check_name)
        rc = a->kind->check_name(a->call, a->subject, name);
    if (!rc)
        a->new_name = name;
    return rc;
}

static int change_comment(struct altering *a, const struct ebb_value *update)
{
    const char *comment = NULL;
    int rc = ebb__gravitino_members(a->call, update, "|@type|newComment|");

    if (!rc)
        rc = ebb__gravitino_text(a->call, update, "newComment", &comment);
    if (!rc)
        ebb_value_put_str(a->json, "comment", comment ? comment : "");
    return rc;
}

static int change(struct altering *a, const struct ebb_value *update, struct ebb_err *err)
{
    const char *type = ebb_value_text_of(update, "@type");

    if (type && !strcmp(type, "rename"))
        return change_name(a, update);
    if (type && !strcmp(type, "updateComment"))
        return change_comment(a, update);
    if (type && !strcmp(type, a->kind->third))
        return a->kind->change(a->call, a->subject, a->json, update, err);
    return ebb__gravitino_malformed(a->call, "updates: @type: rename, updateComment or %s is wanted", a->kind->third);
}

static int answer(struct altering *a, enum ebb_object_kind kind, const char *name, struct ebb_err *err)
{
    struct ebb__entity after;
    int rc = ebb__entity_get(a->call, kind, name, &after, err);

    if (!rc)
        rc = a->kind->answer(a->call, &after, err);
    ebb__entity_fini(&after);
    return rc;
}

static int save(struct altering *a, const struct ebb__entity *before, struct ebb_err *err)
{
    const char *old = before->object.name;
    int rc;

    if (a->new_name && strcmp(a->new_name, old) != 0)
        ebb_value_put_str(a->json, "was", old); /* what is kept under its name goes on under the new one */
    rc = ebb_value_check(a->json, "changes", err);
    if (!rc)
        rc = ebb__entity_save(a->call, before, a->json, a->new_name, err);
    if (rc == -(int)EBB_EEXIST)
        return a->kind->taken(a->call, a->subject, a->new_name);
    if (rc)
        return rc;
    if (a->kind->is_policy)
        ebb__gravitino_tell(a->call, EBB_NOTE_OBJECTS, NULL);
    return answer(a, before->object.kind, a->new_name ? a->new_name : old, err);
}

int ebb__alter(struct ebb_api_call *call, const struct ebb__alter_kind *kind, const struct ebb__subject *subject,
               struct ebb_err *err)
{
    struct altering a = {call, kind, subject, NULL, NULL};
    const struct ebb_value *updates;
    struct ebb_value *body = NULL;
    struct ebb__entity e = {0};
    int rc = ebb__gravitino_metalake(call);

    if (!rc)
        rc = ebb__gravitino_body(call, "|updates|", &body, err);
    updates = ebb_value_get(body, "updates");
    if (!rc && ebb_value_get_kind(updates) != EBB_VALUE_LIST)
        rc = ebb__gravitino_malformed(call, "updates: a list is wanted");
    if (!rc)
        rc = kind->find(call, subject, &e, err);
    if (!rc)
        rc = ebb_value_dup(e.json, NULL, &a.json, err);
    for (size_t i = 0; !rc && i < ebb_value_get_count(updates); i++)
        rc = change(&a, ebb_value_get_at(updates, i), err);
    if (!rc)
        rc = save(&a, &e, err);
    ebb_value_free(a.json);
    ebb__entity_fini(&e);
    ebb_value_free(body);
    return ebb__gravitino_done(rc);
}
