/* SPDX-License-Identifier: Apache-2.0
 *
 * Read token by token: a null in jobConf is answered in a way of its own, numbers become texts as they are written.
 */
#include <stdio.h>
#include <stdlib.h>

#include "service/gravitino_priv.h"

void ebb__run_request_fini(struct ebb__run_request *request)
{
    free(request->template_);
    ebb_value_free(request->conf);
    memset(request, 0, sizeof *request);
}

int ebb__run_refuse(struct ebb_api_call *call, enum ebb__fault fault, const char *why)
{
    bool is_failure = fault == EBB__FAULT_RUNTIME; /* told in another form than what the caller did wrong */
    struct ebb__subject subject = {is_failure ? "object" : "job(s)", NULL, "RUN", is_failure ? "" : "object",
                                   ebb__gravitino_arg(call, 0)};

    return ebb__gravitino_fail(call, fault, &subject, "%s", why);
}

static bool is_scalar(enum ebb_json_kind kind)
{
    return kind == EBB_JSON_STRING || kind == EBB_JSON_INT || kind == EBB_JSON_FLOAT || kind == EBB_JSON_TRUE ||
           kind == EBB_JSON_FALSE;
}

static int malformed(struct ebb_api_call *call, const struct ebb_err *err)
{
    return ebb__gravitino_malformed(call, "%s", err->message);
}

/* One entry; j is at its key. */
static int read_entry(struct ebb_api_call *call, struct ebb_json *j, struct ebb_value *conf)
{
    struct ebb_buf key;
    struct ebb_err err;
    char why[512];
    int rc = 0;

    ebb_buf_init(&key, 65536);
    ebb_buf_add_str(&key, j->text);
    if (memchr(j->text.p, '\0', j->text.n) || key.bad)
        rc = ebb__gravitino_malformed(call, "jobConf: a name can't be read");
    else if (ebb_json_next(j, &err))
        rc = malformed(call, &err);
    else if (j->kind == EBB_JSON_NULL) {
        snprintf(why, sizeof why, "null value in entry: %.400s=null", ebb_buf_cstr(&key));
        rc = ebb__run_refuse(call, EBB__FAULT_RUNTIME, why);
    } else if (!is_scalar(j->kind) || (j->text.n && memchr(j->text.p, '\0', j->text.n)))
        rc = ebb__gravitino_malformed(call, "jobConf: %s: a text is wanted", ebb_buf_cstr(&key));
    else if (j->kind == EBB_JSON_TRUE || j->kind == EBB_JSON_FALSE)
        ebb_value_put_str(conf, ebb_buf_cstr(&key), j->kind == EBB_JSON_TRUE ? "true" : "false");
    else
        ebb_value_put_strn(conf, ebb_buf_cstr(&key), j->text.p, j->text.n);
    ebb_buf_fini(&key);
    return rc;
}

static int read_conf(struct ebb_api_call *call, struct ebb_json *j, struct ebb_value *conf)
{
    struct ebb_err err;
    int rc = 0;

    if (j->kind == EBB_JSON_NULL)
        return 0;
    if (j->kind != EBB_JSON_OBJECT)
        return ebb__gravitino_malformed(call, "jobConf: an object is wanted");
    while (!rc) {
        if (ebb_json_next(j, &err))
            return malformed(call, &err);
        if (j->kind == EBB_JSON_OBJECT_END)
            return 0;
        rc = read_entry(call, j, conf);
    }
    return rc;
}

/* One member; j is at its key. */
static int read_member(struct ebb_api_call *call, struct ebb_json *j, struct ebb__run_request *out)
{
    bool is_name = ebb_json_is_text(j, "jobTemplateName"), is_conf = ebb_json_is_text(j, "jobConf");
    struct ebb_err err;

    if (!is_name && !is_conf)
        return ebb__gravitino_malformed(call, "Unrecognized field \"%.*s\"", (int)(j->text.n < 200 ? j->text.n : 200),
                                        j->text.p);
    if (ebb_json_next(j, &err))
        return malformed(call, &err);
    if (is_conf)
        return read_conf(call, j, out->conf);
    if (j->kind == EBB_JSON_NULL)
        return 0;
    if (j->kind != EBB_JSON_STRING || memchr(j->text.p, '\0', j->text.n))
        return ebb__gravitino_malformed(call, "jobTemplateName: a text is wanted");
    out->template_ = strndup(j->text.p, j->text.n);
    return out->template_ ? 0 : -(int)EBB_ENOMEM;
}

static int read_object(struct ebb_api_call *call, struct ebb_json *j, struct ebb__run_request *out)
{
    struct ebb_err err;
    int rc = 0;

    if (ebb_json_next(j, &err))
        return malformed(call, &err);
    if (j->kind != EBB_JSON_OBJECT)
        return ebb__gravitino_malformed(call, "an object is wanted");
    while (!rc) {
        if (ebb_json_next(j, &err))
            return malformed(call, &err);
        if (j->kind == EBB_JSON_OBJECT_END)
            break;
        rc = read_member(call, j, out);
    }
    if (!rc && ebb_json_next(j, &err)) /* nothing may follow */
        rc = malformed(call, &err);
    return rc;
}

int ebb__run_request_read(struct ebb_api_call *call, struct ebb__run_request *out, struct ebb_err *err)
{
    struct ebb_json j;
    int rc;

    out->template_ = NULL;
    out->conf = ebb_value_new_map(NULL);
    ebb_json_init(&j, "request", call->body.p, call->body.n);
    rc = ebb_value_check(out->conf, "jobConf", err);
    if (!rc)
        rc = read_object(call, &j, out);
    ebb_json_fini(&j);
    if (!rc)
        rc = ebb_value_check(out->conf, "jobConf", err);
    if (!rc && (!out->template_ || !out->template_[strspn(out->template_, " \t\r\n")]))
        rc = ebb__run_refuse(call, EBB__FAULT_ARGUMENT, "\"jobTemplateName\" is required and cannot be empty");
    return rc == -(int)EBB_ENOMEM ? ebb_err_nomem(err) : rc;
}
