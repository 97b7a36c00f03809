/* SPDX-License-Identifier: Apache-2.0 */
#include "service/gravitino_priv.h"

#include <stdlib.h>

static struct ebb__subject subject_of(const struct ebb_api_call *call, const char *name, const char *operation)
{
    return (struct ebb__subject){"policy(s)", name, operation, "object", ebb__gravitino_arg(call, 0)};
}

static int no_policy(struct ebb_api_call *call, const struct ebb__subject *subject)
{
    return ebb__gravitino_fail(call, EBB__FAULT_NO_POLICY, subject,
                               "Policy with name %s under metalake %s does not exist", subject->name, subject->under);
}

int ebb__gravitino_write_policy(struct ebb_jsonw *w, const struct ebb_object *object, const char *inherited,
                                struct ebb_err *err)
{
    struct ebb_value *json = NULL;
    int rc = ebb_value_of_json(object->name, object->json, strlen(object->json), NULL, &json, err);

    if (rc)
        return rc;
    ebb_jsonw_begin(w, '{');
    ebb_jsonw_kstr(w, "name", object->name);
    if (ebb_value_text_of(json, "comment"))
        ebb_jsonw_kstr(w, "comment", ebb_value_text_of(json, "comment"));
    ebb_jsonw_kstr(w, "policyType", ebb_value_text_of(json, "policyType"));
    ebb_jsonw_kbool(w, "enabled", ebb_value_bool_of(json, "enabled", false));
    ebb_jsonw_key(w, "content");
    ebb_value_write(ebb_value_get(json, "content"), w);
    ebb_jsonw_key(w, "inherited");
    ebb_jsonw_raw(w, inherited, strlen(inherited));
    ebb__gravitino_audit(w, object->creator, object->created_ms, object->modifier, object->modified_ms);
    ebb_jsonw_end(w, '}');
    ebb_value_free(json);
    return 0;
}

static int answer_policy(struct ebb_api_call *call, const struct ebb__entity *e, struct ebb_err *err)
{
    struct ebb_jsonw w;
    int rc;

    ebb__gravitino_begin(call, &w);
    ebb_jsonw_key(&w, "policy");
    rc = ebb__gravitino_write_policy(&w, &e->object, "null", err);
    return rc ? rc : ebb__gravitino_end(call, &w, err);
}

static int answer_stored(struct ebb_api_call *call, const char *name, struct ebb_err *err)
{
    struct ebb__entity e;
    int rc = ebb__entity_get(call, EBB_OBJECT_POLICY, name, &e, err);

    if (!rc)
        rc = answer_policy(call, &e, err);
    ebb__entity_fini(&e);
    return rc;
}

/* The policy of the path. EBB__ANSWERED: there is none. */
static int find(struct ebb_api_call *call, const struct ebb__subject *subject, struct ebb__entity *out,
                struct ebb_err *err)
{
    int rc = ebb__gravitino_metalake(call);

    memset(out, 0, sizeof *out);
    if (!rc)
        rc = ebb__entity_get(call, EBB_OBJECT_POLICY, subject->name, out, err);
    return rc == -(int)EBB_ENOT_FOUND ? no_policy(call, subject) : rc;
}

/* ---- list ---- */

struct listing {
    struct ebb_jsonw w;
    bool details;
};

static int write_one(void *data, const struct ebb_object *object, struct ebb_err *err)
{
    struct listing *l = data;

    if (l->details)
        return ebb__gravitino_write_policy(&l->w, object, "null", err);
    ebb_jsonw_str(&l->w, object->name);
    return 0;
}

int ebb__gravitino_policies_list(struct ebb_api_call *call, struct ebb_err *err)
{
    struct listing l;
    int rc = ebb__gravitino_metalake(call);

    if (rc)
        return ebb__gravitino_done(rc);
    l.details = ebb__gravitino_asks(call, "details");
    ebb__gravitino_begin(call, &l.w);
    ebb_jsonw_key(&l.w, l.details ? "policies" : "names");
    ebb_jsonw_begin(&l.w, '[');
    rc = ebb_store_list_objects(ebb__gravitino_store(call), EBB_OBJECT_POLICY, write_one, &l, err);
    ebb_jsonw_end(&l.w, ']');
    return rc ? rc : ebb__gravitino_end(call, &l.w, err);
}

/* ---- create ---- */

struct request {
    const char *name, *comment, *type;
    bool enabled;
    const struct ebb_value *content;
};

static int read_request(struct ebb_api_call *call, const struct ebb_value *body, struct request *r)
{
    int rc = ebb__gravitino_text(call, body, "name", &r->name);

    if (!rc)
        rc = ebb__gravitino_text(call, body, "comment", &r->comment);
    if (!rc)
        rc = ebb__gravitino_text(call, body, "policyType", &r->type);
    if (!rc)
        rc = ebb__gravitino_bool(call, body, "enabled", true, &r->enabled);
    r->content = ebb_value_get(body, "content");
    if (!rc && !r->type) /* tells what the content is */
        rc = ebb__gravitino_malformed(call, "policyType: is missing");
    if (!rc && r->content && ebb_value_get_kind(r->content) != EBB_VALUE_MAP)
        rc = ebb__gravitino_malformed(call, "content: an object is wanted");
    return rc;
}

static int store_new(struct ebb_api_call *call, const struct request *r, const struct ebb__subject *subject,
                     struct ebb_err *err)
{
    struct ebb_value *content = NULL, *json = NULL;
    const char *type = NULL;
    int rc = ebb__gravitino_content(call, subject, r->type, r->content, &type, &content, err);

    if (rc)
        return rc;
    json = ebb_value_new_map(NULL);
    ebb_value_put_str(json, "policyType", type);
    ebb_value_put_str(json, "comment", r->comment);
    ebb_value_put_bool(json, "enabled", r->enabled);
    ebb_value_put_copy(json, "content", content);
    rc = ebb_value_check(json, "policy", err);
    if (!rc)
        rc = ebb__entity_add(call, EBB_OBJECT_POLICY, r->name, json, err);
    if (rc == -(int)EBB_EEXIST)
        rc = ebb__gravitino_fail(call, EBB__FAULT_POLICY_EXISTS, subject,
                                 "Policy with name %s under metalake %s already exists", r->name, subject->under);
    ebb_value_free(json);
    ebb_value_free(content);
    return rc;
}

int ebb__gravitino_policy_create(struct ebb_api_call *call, struct ebb_err *err)
{
    struct ebb_value *body = NULL;
    struct ebb__subject subject = subject_of(call, "", "CREATE");
    struct request r = {0};
    int rc = ebb__gravitino_metalake(call);

    if (!rc)
        rc = ebb__gravitino_body(call, "|name|comment|policyType|enabled|content|", &body, err);
    if (!rc)
        rc = read_request(call, body, &r);
    subject.name = r.name ? r.name : "";
    if (!rc)
        rc = ebb__gravitino_check_name(call, &subject, "name", r.name);
    if (!rc && !r.content)
        rc = ebb__gravitino_fail(call, EBB__FAULT_ARGUMENT, &subject, "\"content\" is required and cannot be null");
    if (!rc)
        rc = store_new(call, &r, &subject, err);
    if (!rc)
        rc = answer_stored(call, r.name, err);
    ebb_value_free(body);
    return ebb__gravitino_done(rc);
}

/* ---- one policy ---- */

int ebb__gravitino_policy_get(struct ebb_api_call *call, struct ebb_err *err)
{
    struct ebb__subject subject = subject_of(call, ebb__gravitino_arg(call, 1), "GET");
    struct ebb__entity e;
    int rc = find(call, &subject, &e, err);

    if (!rc)
        rc = answer_policy(call, &e, err);
    ebb__entity_fini(&e);
    return ebb__gravitino_done(rc);
}

int ebb__gravitino_policy_set(struct ebb_api_call *call, struct ebb_err *err)
{
    struct ebb__subject subject = subject_of(call, ebb__gravitino_arg(call, 1), "ENABLE");
    struct ebb_value *body = NULL;
    struct ebb__entity e = {0};
    bool enable = false;
    int rc = ebb__gravitino_metalake(call);

    if (!rc)
        rc = ebb__gravitino_body(call, "|enable|", &body, err);
    if (!rc)
        rc = ebb__gravitino_bool(call, body, "enable", false, &enable);
    subject.operation = enable ? "ENABLE" : "DISABLE";
    if (!rc)
        rc = find(call, &subject, &e, err);
    if (!rc && ebb_value_bool_of(e.json, "enabled", false) != enable) {
        ebb_value_put_bool(e.json, "enabled", enable);
        rc = ebb__entity_save(call, &e, e.json, NULL, err);
        if (!rc)
            ebb__gravitino_tell(call, EBB_NOTE_OBJECTS, NULL);
    }
    if (!rc)
        rc = ebb__gravitino_ok(call, err);
    ebb__entity_fini(&e);
    ebb_value_free(body);
    return ebb__gravitino_done(rc);
}

int ebb__gravitino_policy_delete(struct ebb_api_call *call, struct ebb_err *err)
{
    bool found = false;
    int rc = ebb__gravitino_metalake(call);

    if (!rc)
        rc = ebb_store_drop_object(ebb__gravitino_store(call), EBB_OBJECT_POLICY, ebb__gravitino_arg(call, 1), &found,
                                   err);
    if (!rc && found)
        ebb__gravitino_tell(call, EBB_NOTE_OBJECTS, NULL);
    if (!rc)
        rc = ebb__gravitino_dropped(call, found, err);
    return ebb__gravitino_done(rc);
}

static void write_ties(struct ebb_jsonw *w, const struct ebb_strs *ties)
{
    ebb_jsonw_key(w, "metadataObjects");
    ebb_jsonw_begin(w, '[');
    for (size_t i = 0; i < ties->count; i++) {
        const char *name = strchr(ties->items[i], ' ');

        if (!name)
            continue;
        ebb_jsonw_begin(w, '{');
        ebb_jsonw_key(w, "type");
        ebb_jsonw_strn(w, ties->items[i], (size_t)(name - ties->items[i]));
        ebb_jsonw_kstr(w, "fullName", name + 1);
        ebb_jsonw_end(w, '}');
    }
    ebb_jsonw_end(w, ']');
}

int ebb__gravitino_policy_objects(struct ebb_api_call *call, struct ebb_err *err)
{
    struct ebb__subject subject = subject_of(call, ebb__gravitino_arg(call, 1), "LIST");
    struct ebb__entity e;
    struct ebb_strs ties;
    struct ebb_jsonw w;
    int rc = find(call, &subject, &e, err);

    ebb_strs_init(&ties);
    if (!rc)
        rc = ebb_store_object_ties(ebb__gravitino_store(call), EBB_OBJECT_POLICY, e.object.name, &ties, err);
    if (!rc) {
        ebb__gravitino_begin(call, &w);
        write_ties(&w, &ties);
        rc = ebb__gravitino_end(call, &w, err);
    }
    ebb_strs_fini(&ties);
    ebb__entity_fini(&e);
    return ebb__gravitino_done(rc);
}

/* ---- alter ---- */

static int change_content(struct ebb_api_call *call, const struct ebb__subject *subject, struct ebb_value *json,
                          const struct ebb_value *update, struct ebb_err *err)
{
    const struct ebb_value *content = ebb_value_get(update, "newContent");
    const char *is = ebb_value_text_of(json, "policyType");
    const char *type = NULL, *kept = NULL;
    struct ebb_value *read = NULL;
    int rc = ebb__gravitino_members(call, update, "|@type|policyType|newContent|");

    if (!rc)
        rc = ebb__gravitino_text(call, update, "policyType", &type);
    if (!rc && !type)
        rc = ebb__gravitino_malformed(call, "policyType: is missing");
    if (!rc && ebb_value_get_kind(content) != EBB_VALUE_MAP)
        rc = ebb__gravitino_malformed(call, "newContent: an object is wanted");
    if (!rc)
        rc = ebb__gravitino_content(call, subject, type, content, &kept, &read, err);
    if (!rc && strcmp(kept, is ? is : "") != 0)
        rc = ebb__gravitino_fail(call, EBB__FAULT_ARGUMENT, subject, "Policy type mismatch: expected %s, got %s", is,
                                 kept);
    if (!rc)
        ebb_value_put_copy(json, "content", read);
    ebb_value_free(read);
    return rc;
}

static int is_taken(struct ebb_api_call *call, const struct ebb__subject *subject, const char *name)
{
    return ebb__gravitino_fail(call, EBB__FAULT_RUNTIME, subject,
                               "Policy with name %s under metalake %s already exists", name, subject->under);
}

int ebb__gravitino_policy_alter(struct ebb_api_call *call, struct ebb_err *err)
{
    static const struct ebb__alter_kind KIND = {"updateContent", change_content, find, NULL,
                                                is_taken,        answer_policy,  true};
    struct ebb__subject subject = subject_of(call, ebb__gravitino_arg(call, 1), "ALTER");

    return ebb__alter(call, &KIND, &subject, err);
}
