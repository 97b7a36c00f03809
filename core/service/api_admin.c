/* SPDX-License-Identifier: Apache-2.0
 *
 * Steering: pause and resume, reload, tokens.
 */
#include "base/time.h"
#include "service/api_priv.h"

static int ok(struct ebb_api_call *call, int status)
{
    call->status = status;
    ebb_buf_puts(&call->out, "{\"ok\":true}\n");
    return 0;
}

/* "all", "policy NAME", "table NAME" of a body. */
static int read_what(const struct ebb_api_call *call, struct ebb_buf *out, struct ebb_err *err)
{
    const char *policy = ebb_value_text_of(call->json, "policy"), *table = ebb_value_text_of(call->json, "table");
    struct ebb_table_ref ref;
    int rc = 0;

    if (policy && table)
        return ebb_err_set(err, EBB_EUSAGE, "body: policy or table, not both");
    if (policy && !ebb_generation_find(call->generation, policy))
        return ebb__api_not_found(err, "policy", policy);
    if (table) {
        rc = ebb__api_find_table(call, table, &ref, err);
        ebb_table_ref_fini(&ref);
    }
    if (rc)
        return rc;
    if (policy || table)
        ebb_buf_printf(out, "%s %s", policy ? "policy" : "table", policy ? policy : table);
    else
        ebb_buf_puts(out, "all");
    return ebb_buf_check(out, "what to pause", err);
}

static int post_pause(struct ebb_api_call *call, enum ebb_note note, struct ebb_err *err)
{
    struct ebb_buf what;
    int rc;

    ebb_buf_init(&what, (size_t)64 << 10);
    rc = read_what(call, &what, err);
    if (!rc) {
        ebb_hub_post(call->hub, note, ebb_buf_cstr(&what));
        ok(call, 202);
    }
    ebb_buf_fini(&what);
    return rc;
}

static int pause_post(struct ebb_api_call *call, struct ebb_err *err)
{
    return post_pause(call, EBB_NOTE_PAUSE, err);
}

static int resume_post(struct ebb_api_call *call, struct ebb_err *err)
{
    return post_pause(call, EBB_NOTE_RESUME, err);
}

/* "force NAME" loads although policies have vanished. */
static int reload_post(struct ebb_api_call *call, struct ebb_err *err)
{
    bool is_forced = ebb_value_bool_of(call->json, "force", false);
    struct ebb_buf who;
    int rc;

    ebb_buf_init(&who, 512);
    ebb_buf_printf(&who, "%s%s", is_forced ? "force " : "",
                   strncmp(call->who.name, "force ", 6) ? call->who.name : "anonymous");
    rc = ebb_buf_check(&who, "who asks", err);
    if (!rc) {
        ebb_hub_post(call->hub, EBB_NOTE_RELOAD, ebb_buf_cstr(&who));
        ok(call, 202);
    }
    ebb_buf_fini(&who);
    return rc;
}

/* ---- tokens ---- */

static int tokens_get(struct ebb_api_call *call, struct ebb_err *err)
{
    struct ebb_value *list = NULL;
    struct ebb_jsonw w;
    int rc = ebb_token_list(ebb__api_store(call), &list, err);

    if (rc)
        return rc;
    ebb_jsonw_init(&w, &call->out);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_key(&w, "items");
    ebb_value_write(list, &w);
    ebb_jsonw_end(&w, '}');
    ebb_buf_putc(&call->out, '\n');
    ebb_value_free(list);
    return 0;
}

static int read_expiry(const struct ebb_api_call *call, int64_t *out, struct ebb_err *err)
{
    const char *text = ebb_value_text_of(call->json, "expires");
    int64_t ms;
    int rc = text ? ebb_duration_parse(text, &ms, err) : 0;

    *out = 0;
    if (rc)
        return ebb_err_as(err, EBB_EUSAGE, "expires");
    if (text && (ms <= 0 || __builtin_add_overflow(call->now_ms, ms, out)))
        return ebb_err_set(err, EBB_EUSAGE, "expires: a span of time is wanted, as 90d");
    return 0;
}

static int tokens_post(struct ebb_api_call *call, struct ebb_err *err)
{
    const char *name = ebb_value_text_of(call->json, "name");
    enum ebb_role role = EBB_ROLE_NONE;
    int64_t expires_ms;
    char token[64];
    struct ebb_jsonw w;
    int rc = read_expiry(call, &expires_ms, err);

    ebb_role_of(ebb_value_text_of(call->json, "role"), &role);
    if (!rc)
        rc = ebb_token_create(ebb__api_store(call), name, role, call->now_ms, expires_ms, call->who.name, token, err);
    if (!rc)
        rc = ebb_strs_add(&call->headers, "Cache-Control: no-store", err);
    if (rc)
        return rc;
    call->status = 201;
    ebb_jsonw_init(&w, &call->out);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kstr(&w, "name", name);
    ebb_jsonw_kstr(&w, "role", ebb_role_name(role));
    ebb__api_time(&w, "expires", expires_ms);
    ebb_jsonw_kstr(&w, "token", token);
    ebb_jsonw_end(&w, '}');
    ebb_buf_putc(&call->out, '\n');
    explicit_bzero(token, sizeof token);
    return 0;
}

static int token_delete(struct ebb_api_call *call, struct ebb_err *err)
{
    int rc = ebb_token_revoke(ebb__api_store(call), call->args->items[0], err);

    call->status = 204;
    call->answer_type = NULL;
    return rc;
}

#define WHAT                                                                                                           \
    "'requestBody':{'content':{'application/json':{'schema':{'type':'object','additionalProperties':false,"            \
    "'properties':{'policy':{'type':'string','minLength':1,'maxLength':128},'table':{'type':'string','minLength':1,"   \
    "'maxLength':4096}}}}}},"
#define OK_202 "'answer':{'202':{'$ref':'#/components/schemas/Ok'}}"

const struct ebb_route EBB__API_ADMIN_ROUTES[] = {
    {"POST", "/api/pause", EBB_ROLE_OPERATE, pause_post, "Start nothing of a policy, on a table, or at all",
     "{'description':'What runs goes on; triggers collapse to one that is pending.'," WHAT OK_202
     ",'errors':[404,422]}"},
    {"POST", "/api/resume", EBB_ROLE_OPERATE, resume_post, "Go on", "{" WHAT OK_202 ",'errors':[404,422]}"},
    {"POST", "/api/reload", EBB_ROLE_ADMIN, reload_post, "Load configuration and policies again",
     "{'description':'Whether it went well is in the status, and news of type reload tell. With force also when five "
     "policies, or all, have vanished.','requestBody':{'content':{'application/json':{'schema':{'type':'object',"
     "'additionalProperties':false,'properties':{'force':{'type':'boolean'}}}}}}," OK_202 "}"},
    {"GET", "/api/tokens", EBB_ROLE_ADMIN, tokens_get, "Tokens: names and roles, never the tokens",
     "{'answer':{'200':{'$ref':'#/components/schemas/Tokens'}}}"},
    {"POST", "/api/tokens", EBB_ROLE_ADMIN, tokens_post, "Make a token, which is shown this once",
     "{'body':{'type':'object','required':['name','role'],'additionalProperties':false,'properties':{"
     "'name':{'type':'string','minLength':1,'maxLength':64,'description':'[A-Za-z0-9._-]+'},"
     "'role':{'type':'string','enum':['view','operate','admin']},'expires':{'type':'string','minLength':2,'maxLength':"
     "32,"
     "'description':'a span of time, as 90d; never when it is not given'}}},"
     "'answer':{'201':{'$ref':'#/components/schemas/NewToken'}},'errors':[409,422]}"},
    {"DELETE", "/api/tokens/{name}", EBB_ROLE_ADMIN, token_delete, "Revoke a token",
     "{'responses':{'204':{'description':'Revoked'}}}"},
    {NULL, NULL, EBB_ROLE_NONE, NULL, NULL, NULL},
};
