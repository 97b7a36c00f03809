/* SPDX-License-Identifier: Apache-2.0
 *
 * Job templates that are changed or dropped.
 */
#include "service/gravitino_priv.h"

struct changes {
    struct ebb_api_call *call;
    struct ebb__subject subject;
    struct ebb_value *json;
    const char *new_name;
};

static int change_name(struct changes *c, const struct ebb_value *update)
{
    const char *name = NULL;
    int rc = ebb__gravitino_members(c->call, update, "|@type|newName|");

    if (!rc)
        rc = ebb__gravitino_text(c->call, update, "newName", &name);
    if (!rc)
        rc = ebb__gravitino_check_name(c->call, &c->subject, "newName", name);
    if (!rc)
        rc = ebb__template_refuse_builtin(c->call, &c->subject, name);
    if (!rc)
        c->new_name = name;
    return rc;
}

static int change_comment(struct changes *c, const struct ebb_value *update)
{
    const char *comment = NULL;
    int rc = ebb__gravitino_members(c->call, update, "|@type|newComment|");

    if (!rc)
        rc = ebb__gravitino_text(c->call, update, "newComment", &comment);
    if (!rc)
        ebb_value_put_str(c->json, "comment", comment ? comment : "");
    return rc;
}

static int change_template(struct changes *c, const struct ebb_value *update, struct ebb_err *err)
{
    const struct ebb_value *given = ebb_value_get(update, "newTemplate");
    const char *type = ebb__template_type(ebb_value_text_of(given, "@type"));
    const char *is = ebb_value_text_of(c->json, "jobType");
    int rc = ebb__gravitino_members(c->call, update, "|@type|newTemplate|");

    if (!rc && !type)
        rc = ebb__gravitino_malformed(c->call, "newTemplate: @type: shell or spark is wanted");
    if (!rc)
        rc = ebb__gravitino_members(c->call, given,
                                    type[1] == 'h' ? "|@type|newExecutable|newArguments|newEnvironments|"
                                                     "newCustomFields|newScripts|"
                                                   : "|@type|newExecutable|newArguments|newEnvironments|"
                                                     "newCustomFields|newClassName|newJars|newFiles|newArchives|"
                                                     "newConfigs|");
    if (!rc && strcmp(type, is ? is : "") != 0)
        rc = ebb__gravitino_fail(c->call, EBB__FAULT_ARGUMENT, &c->subject,
                                 "Job template %s is of type %s and can't be updated as %s", c->subject.name,
                                 is ? is : "", type);
    for (size_t i = 0; !rc && EBB__TEMPLATE_MEMBERS[i].name; i++)
        rc = ebb__template_take(c->call, given, EBB__TEMPLATE_MEMBERS[i].update, &EBB__TEMPLATE_MEMBERS[i], c->json,
                                err);
    return rc;
}

static int change(struct changes *c, const struct ebb_value *update, struct ebb_err *err)
{
    const char *type = ebb_value_text_of(update, "@type");

    if (type && !strcmp(type, "rename"))
        return change_name(c, update);
    if (type && !strcmp(type, "updateComment"))
        return change_comment(c, update);
    if (type && !strcmp(type, "updateTemplate"))
        return change_template(c, update, err);
    return ebb__gravitino_malformed(c->call, "updates: @type: rename, updateComment or updateTemplate is wanted");
}

static int save(struct changes *c, const struct ebb__entity *before, struct ebb_err *err)
{
    struct ebb__entity after = {0};
    int rc = ebb_value_check(c->json, "job template", err);

    if (!rc)
        rc = ebb__entity_save(c->call, before, c->json, c->new_name, err);
    if (rc == -(int)EBB_EEXIST)
        rc = ebb__gravitino_fail(c->call, EBB__FAULT_TEMPLATE_EXISTS, &c->subject,
                                 "Job template with name %s under metalake %s already exists", c->new_name,
                                 c->subject.under);
    if (!rc)
        rc = ebb__template_get(c->call, c->new_name ? c->new_name : before->object.name, &after, err);
    if (!rc)
        rc = ebb__template_answer(c->call, &after, err);
    ebb__entity_fini(&after);
    return rc;
}

int ebb__gravitino_template_alter(struct ebb_api_call *call, struct ebb_err *err)
{
    struct changes c = {call, ebb__template_subject(call, ebb__gravitino_arg(call, 1), "ALTER"), NULL, NULL};
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
        rc = ebb__template_refuse_builtin(call, &c.subject, c.subject.name);
    if (!rc)
        rc = ebb__template_find(call, &c.subject, &e, err);
    if (!rc)
        rc = ebb_value_dup(e.json, NULL, &c.json, err);
    for (size_t i = 0; !rc && i < ebb_value_get_count(updates); i++)
        rc = change(&c, ebb_value_get_at(updates, i), err);
    if (!rc)
        rc = save(&c, &e, err);
    ebb_value_free(c.json);
    ebb__entity_fini(&e);
    ebb_value_free(body);
    return ebb__gravitino_done(rc);
}

/* ---- delete ---- */

static int check_unused(struct ebb_api_call *call, const struct ebb__subject *subject, struct ebb_err *err)
{
    int64_t counts[EBB_JOB_UNKNOWN + 1] = {0};
    int rc = ebb_store_count_jobs(ebb__gravitino_store(call), subject->name, counts, err);

    if (rc)
        return rc;
    if (counts[EBB_JOB_QUEUED] + counts[EBB_JOB_STARTED] + counts[EBB_JOB_CANCELLING] + counts[EBB_JOB_UNKNOWN] == 0)
        return 0;
    return ebb__gravitino_fail(call, EBB__FAULT_IN_USE, subject,
                               "Job template %s under metalake %s has active jobs associated with it", subject->name,
                               subject->under);
}

int ebb__gravitino_template_delete(struct ebb_api_call *call, struct ebb_err *err)
{
    struct ebb__subject subject = ebb__template_subject(call, ebb__gravitino_arg(call, 1), "DELETE");
    int64_t dropped = 0;
    bool found = false;
    int rc = ebb__gravitino_metalake(call);

    if (!rc)
        rc = ebb__template_refuse_builtin(call, &subject, subject.name);
    if (!rc)
        rc = check_unused(call, &subject, err);
    if (!rc)
        rc = ebb_store_drop_object(ebb__gravitino_store(call), EBB_OBJECT_TEMPLATE, subject.name, &found, err);
    if (!rc && found)
        rc = ebb_store_drop_jobs(ebb__gravitino_store(call), subject.name, INT64_MAX, &dropped, err);
    if (!rc)
        rc = ebb__gravitino_dropped(call, found, err);
    return ebb__gravitino_done(rc);
}
