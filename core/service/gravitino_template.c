/* SPDX-License-Identifier: Apache-2.0 */
#include "service/gravitino_priv.h"

#include <stdio.h>
#include <strings.h>

const struct ebb__template_member EBB__TEMPLATE_MEMBERS[] = {{"executable", "newExecutable", EBB_VALUE_STRING, NULL},
                                                             {"arguments", "newArguments", EBB_VALUE_LIST, NULL},
                                                             {"environments", "newEnvironments", EBB_VALUE_MAP, NULL},
                                                             {"customFields", "newCustomFields", EBB_VALUE_MAP, NULL},
                                                             {"scripts", "newScripts", EBB_VALUE_LIST, "shell"},
                                                             {"className", "newClassName", EBB_VALUE_STRING, "spark"},
                                                             {"jars", "newJars", EBB_VALUE_LIST, "spark"},
                                                             {"files", "newFiles", EBB_VALUE_LIST, "spark"},
                                                             {"archives", "newArchives", EBB_VALUE_LIST, "spark"},
                                                             {"configs", "newConfigs", EBB_VALUE_MAP, "spark"},
                                                             {NULL, NULL, EBB_VALUE_NIL, NULL}};

static const char BUILTIN[] =
    "{\"jobType\":\"spark\",\"comment\":\"Removes files that no snapshot of a table references; carried out by ebb "
    "itself\","
    "\"executable\":\"ebb\",\"arguments\":[\"--catalog\",\"{{catalog_name}}\",\"--table\",\"{{table_identifier}}\","
    "\"--older-than\",\"{{older_than}}\",\"--location\",\"{{location}}\",\"--dry-run\",\"{{dry_run}}\","
    "\"--spark-conf\",\"{{spark_conf}}\"],\"environments\":{},\"customFields\":{\"version\":\"v1\"}}";

static int make_builtin(const struct ebb_api_call *call, struct ebb__entity *out, struct ebb_err *err)
{
    struct ebb_object object = {.kind = EBB_OBJECT_TEMPLATE,
                                .name = EBB__TEMPLATE_ORPHANS,
                                .json = BUILTIN,
                                .creator = "ebb",
                                .modifier = "",
                                .created_ms = ebb__gravitino_since(call)};

    return ebb__entity_of(&object, out, err);
}

int ebb__template_get(const struct ebb_api_call *call, const char *name, struct ebb__entity *out, struct ebb_err *err)
{
    if (!strcmp(name, EBB__TEMPLATE_ORPHANS))
        return make_builtin(call, out, err);
    return ebb__entity_get(call, EBB_OBJECT_TEMPLATE, name, out, err);
}

struct ebb__subject ebb__template_subject(const struct ebb_api_call *call, const char *name, const char *operation)
{
    return (struct ebb__subject){"job template(s)", name, operation, "object", ebb__gravitino_arg(call, 0)};
}

static int no_template(struct ebb_api_call *call, const struct ebb__subject *subject)
{
    return ebb__gravitino_fail(call, EBB__FAULT_NO_TEMPLATE, subject,
                               "Job template with name %s under metalake %s does not exist", subject->name,
                               subject->under);
}

/* Nobody but ebb makes, changes or drops built-in ones. */
int ebb__template_refuse_builtin(struct ebb_api_call *call, const struct ebb__subject *subject, const char *name)
{
    if (strncmp(name, EBB__TEMPLATE_PREFIX, strlen(EBB__TEMPLATE_PREFIX)) != 0)
        return 0;
    return ebb__gravitino_fail(call, EBB__FAULT_TEMPLATE_OPERATION, subject,
                               "Job template %s is built in: names that start with 'builtin-' are reserved", name);
}

/* ---- write ---- */

static void write_member(struct ebb_jsonw *w, const struct ebb_value *json, const struct ebb__template_member *m)
{
    const struct ebb_value *value = ebb_value_get(json, m->name);

    if (!value && m->kind == EBB_VALUE_STRING)
        return;
    ebb_jsonw_key(w, m->name);
    if (value)
        ebb_value_write(value, w);
    else
        ebb_jsonw_raw(w, m->kind == EBB_VALUE_LIST ? "[]" : "{}", 2);
}

static void write_template(struct ebb_jsonw *w, const struct ebb__entity *e)
{
    const char *type = ebb_value_text_of(e->json, "jobType");
    const char *comment = ebb_value_text_of(e->json, "comment");
    const struct ebb_object *o = &e->object;

    ebb_jsonw_begin(w, '{');
    ebb_jsonw_kstr(w, "jobType", type);
    ebb_jsonw_kstr(w, "name", o->name);
    if (comment)
        ebb_jsonw_kstr(w, "comment", comment);
    for (size_t i = 0; !EBB__TEMPLATE_MEMBERS[i].type; i++)
        write_member(w, e->json, &EBB__TEMPLATE_MEMBERS[i]);
    ebb__gravitino_audit(w, o->creator, o->created_ms, o->modifier, o->modified_ms);
    for (size_t i = 0; EBB__TEMPLATE_MEMBERS[i].name; i++)
        if (type && EBB__TEMPLATE_MEMBERS[i].type && !strcmp(EBB__TEMPLATE_MEMBERS[i].type, type))
            write_member(w, e->json, &EBB__TEMPLATE_MEMBERS[i]);
    ebb_jsonw_end(w, '}');
}

int ebb__template_answer(struct ebb_api_call *call, const struct ebb__entity *e, struct ebb_err *err)
{
    struct ebb_jsonw w;

    ebb__gravitino_begin(call, &w);
    ebb_jsonw_key(&w, "jobTemplate");
    write_template(&w, e);
    return ebb__gravitino_end(call, &w, err);
}

struct listing {
    struct ebb_jsonw w;
    bool details;
};

static int write_one(void *data, const struct ebb_object *object, struct ebb_err *err)
{
    struct listing *l = data;
    struct ebb__entity e;
    int rc = ebb__entity_of(object, &e, err);

    if (!rc && l->details)
        write_template(&l->w, &e);
    else if (!rc)
        ebb_jsonw_str(&l->w, object->name);
    ebb__entity_fini(&e);
    return rc;
}

int ebb__gravitino_templates_list(struct ebb_api_call *call, struct ebb_err *err)
{
    struct listing l;
    struct ebb__entity builtin = {0};
    int rc = ebb__gravitino_metalake(call);

    if (!rc)
        rc = make_builtin(call, &builtin, err);
    if (!rc) {
        l.details = ebb__gravitino_asks(call, "details");
        ebb__gravitino_begin(call, &l.w);
        ebb_jsonw_key(&l.w, l.details ? "jobTemplates" : "names");
        ebb_jsonw_begin(&l.w, '[');
        rc = write_one(&l, &builtin.object, err);
        if (!rc)
            rc = ebb_store_list_objects(ebb__gravitino_store(call), EBB_OBJECT_TEMPLATE, write_one, &l, err);
        ebb_jsonw_end(&l.w, ']');
    }
    if (!rc)
        rc = ebb__gravitino_end(call, &l.w, err);
    ebb__entity_fini(&builtin);
    return ebb__gravitino_done(rc);
}

int ebb__template_find(struct ebb_api_call *call, const struct ebb__subject *subject, struct ebb__entity *out,
                       struct ebb_err *err)
{
    int rc = ebb__gravitino_metalake(call);

    memset(out, 0, sizeof *out);
    if (!rc)
        rc = ebb__template_get(call, subject->name, out, err);
    return rc == -(int)EBB_ENOT_FOUND ? no_template(call, subject) : rc;
}

int ebb__gravitino_template_get(struct ebb_api_call *call, struct ebb_err *err)
{
    struct ebb__subject subject = ebb__template_subject(call, ebb__gravitino_arg(call, 1), "GET");
    struct ebb__entity e;
    int rc = ebb__template_find(call, &subject, &e, err);

    if (!rc)
        rc = ebb__template_answer(call, &e, err);
    ebb__entity_fini(&e);
    return ebb__gravitino_done(rc);
}

/* ---- register ---- */

int ebb__template_take(struct ebb_api_call *call, const struct ebb_value *from, const char *key,
                       const struct ebb__template_member *m, struct ebb_value *to, struct ebb_err *err)
{
    struct ebb_strs texts;
    const char *text;
    int rc;

    if (!ebb_value_get(from, key))
        return 0;
    ebb_strs_init(&texts);
    if (m->kind == EBB_VALUE_STRING)
        rc = ebb__gravitino_text(call, from, key, &text);
    else if (m->kind == EBB_VALUE_MAP)
        rc = ebb__gravitino_text_map(call, from, key);
    else
        rc = ebb__gravitino_texts(call, from, key, &texts, err);
    if (!rc)
        ebb_value_put_copy(to, m->name, ebb_value_get(from, key));
    ebb_strs_fini(&texts);
    return rc;
}

/* "shell" or "spark" in any case. */
const char *ebb__template_type(const char *text)
{
    return text && !strcasecmp(text, "shell") ? "shell" : text && !strcasecmp(text, "spark") ? "spark" : NULL;
}

static int read_template(struct ebb_api_call *call, const struct ebb__subject *subject, const struct ebb_value *from,
                         struct ebb_value *to, struct ebb_err *err)
{
    const char *type = ebb__template_type(ebb_value_text_of(from, "jobType")), *comment = NULL;
    const char *executable;
    int rc;

    if (!type)
        return ebb__gravitino_malformed(call, "jobType: shell or spark is wanted");
    rc = ebb__gravitino_members(call, from,
                                type[1] == 'h' ? "|jobType|name|comment|executable|arguments|environments|customFields|"
                                                 "audit|scripts|"
                                               : "|jobType|name|comment|executable|arguments|environments|customFields|"
                                                 "audit|className|jars|files|archives|configs|");
    if (!rc)
        rc = ebb__gravitino_text(call, from, "comment", &comment);
    ebb_value_put_str(to, "jobType", type);
    ebb_value_put_str(to, "comment", comment);
    for (size_t i = 0; !rc && EBB__TEMPLATE_MEMBERS[i].name; i++)
        rc = ebb__template_take(call, from, EBB__TEMPLATE_MEMBERS[i].name, &EBB__TEMPLATE_MEMBERS[i], to, err);
    executable = ebb_value_text_of(to, "executable");
    if (!rc && (!executable || !executable[strspn(executable, " \t\r\n")]))
        rc = ebb__gravitino_fail(call, EBB__FAULT_ARGUMENT, subject, "\"executable\" is required and cannot be empty");
    return rc ? rc : ebb_value_check(to, "job template", err);
}

int ebb__gravitino_template_add(struct ebb_api_call *call, struct ebb_err *err)
{
    struct ebb__subject subject = ebb__template_subject(call, "", "REGISTER");
    struct ebb_value *body = NULL, *json = ebb_value_new_map(NULL);
    const struct ebb_value *given = NULL;
    const char *name = NULL;
    int rc = ebb__gravitino_metalake(call);

    if (!rc)
        rc = ebb__gravitino_body(call, "|jobTemplate|", &body, err);
    given = ebb_value_get(body, "jobTemplate");
    if (!rc && ebb_value_get_kind(given) != EBB_VALUE_MAP)
        rc = ebb__gravitino_malformed(call, "jobTemplate: an object is wanted");
    if (!rc)
        rc = ebb__gravitino_text(call, given, "name", &name);
    subject.name = name ? name : "";
    if (!rc)
        rc = read_template(call, &subject, given, json, err);
    if (!rc)
        rc = ebb__gravitino_check_name(call, &subject, "name", name);
    if (!rc)
        rc = ebb__template_refuse_builtin(call, &subject, name);
    if (!rc)
        rc = ebb__entity_add(call, EBB_OBJECT_TEMPLATE, name, json, err);
    if (rc == -(int)EBB_EEXIST)
        rc = ebb__template_is_taken(call, &subject, name);
    if (!rc)
        rc = ebb__gravitino_ok(call, err);
    ebb_value_free(json);
    ebb_value_free(body);
    return ebb__gravitino_done(rc);
}
