/* SPDX-License-Identifier: Apache-2.0
 *
 * Job templates that are changed or dropped.
 */
#include "service/gravitino_priv.h"

int ebb__template_is_taken(struct ebb_api_call *call, const struct ebb__subject *subject, const char *name)
{
    return ebb__gravitino_fail(call, EBB__FAULT_TEMPLATE_EXISTS, subject,
                               "Job template with name %s under metalake %s already exists", name, subject->under);
}

static int change_template(struct ebb_api_call *call, const struct ebb__subject *subject, struct ebb_value *json,
                           const struct ebb_value *update, struct ebb_err *err)
{
    const struct ebb_value *given = ebb_value_get(update, "newTemplate");
    const char *type = ebb__template_type(ebb_value_text_of(given, "@type"));
    const char *is = ebb_value_text_of(json, "jobType");
    int rc = ebb__gravitino_members(call, update, "|@type|newTemplate|");

    if (!rc && !type)
        rc = ebb__gravitino_malformed(call, "newTemplate: @type: shell or spark is wanted");
    if (!rc)
        rc = ebb__gravitino_members(
            call, given,
            type[1] == 'h' ? "|@type|newExecutable|newArguments|newEnvironments|newCustomFields|newScripts|"
                           : "|@type|newExecutable|newArguments|newEnvironments|newCustomFields|newClassName|newJars|"
                             "newFiles|newArchives|newConfigs|");
    if (!rc && strcmp(type, is ? is : "") != 0)
        rc = ebb__gravitino_fail(call, EBB__FAULT_ARGUMENT, subject,
                                 "Job template %s is of type %s and can't be updated as %s", subject->name,
                                 is ? is : "", type);
    for (size_t i = 0; !rc && EBB__TEMPLATE_MEMBERS[i].name; i++)
        rc = ebb__template_take(call, given, EBB__TEMPLATE_MEMBERS[i].update, &EBB__TEMPLATE_MEMBERS[i], json, err);
    return rc;
}

static int find_own(struct ebb_api_call *call, const struct ebb__subject *subject, struct ebb__entity *out,
                    struct ebb_err *err)
{
    int rc = ebb__template_refuse_builtin(call, subject, subject->name);

    return rc ? rc : ebb__template_find(call, subject, out, err);
}

int ebb__gravitino_template_alter(struct ebb_api_call *call, struct ebb_err *err)
{
    static const struct ebb__alter_kind KIND = {
        "updateTemplate",       change_template,      find_own, ebb__template_refuse_builtin,
        ebb__template_is_taken, ebb__template_answer, false};
    struct ebb__subject subject = ebb__template_subject(call, ebb__gravitino_arg(call, 1), "ALTER");

    return ebb__alter(call, &KIND, &subject, err);
}

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
