/* SPDX-License-Identifier: Apache-2.0 */
#include "service/gravitino_priv.h"

#include <stdio.h>

static const struct {
    int status, code;
    const char *type;
} FAULTS[] = {
#define X(symbol, status, code, type) {status, code, type},
    EBB__FAULTS(X)
#undef X
};

static void put_message(struct ebb_buf *out, const struct ebb__subject *subject, const char *text)
{
    if (!subject) {
        ebb_buf_puts(out, text);
        return;
    }
    ebb_buf_puts(out, "Failed to operate ");
    if (subject->name)
        ebb_buf_printf(out, "%s [%s]", subject->noun, subject->name);
    else
        ebb_buf_puts(out, subject->noun);
    ebb_buf_printf(out, " operation [%s]", subject->operation);
    if (subject->under)
        ebb_buf_printf(out, " under %s%s[%s]", subject->under_noun, subject->under_noun[0] ? " " : "", subject->under);
    ebb_buf_printf(out, ", reason [%s]", text);
}

/* why: what the stack says, NULL: no stack. */
static int answer(struct ebb_api_call *call, enum ebb__fault fault, const char *message, const char *why)
{
    struct ebb_jsonw w;
    char line[EBB_ERR_MESSAGE_MAX + 128];

    ebb_buf_reset(&call->out);
    call->status = FAULTS[fault].status;
    call->answer_type = "application/json";
    ebb_jsonw_init(&w, &call->out);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kint(&w, "code", FAULTS[fault].code);
    ebb_jsonw_kstr(&w, "type", FAULTS[fault].type);
    ebb_jsonw_kstr(&w, "message", message);
    if (why) {
        snprintf(line, sizeof line, "%s: %s", FAULTS[fault].type, why);
        ebb_jsonw_key(&w, "stack");
        ebb_jsonw_begin(&w, '[');
        ebb_jsonw_str(&w, line);
        ebb_jsonw_end(&w, ']');
    }
    ebb_jsonw_end(&w, '}');
    return EBB__ANSWERED;
}

static int answer_about(struct ebb_api_call *call, enum ebb__fault fault, const struct ebb__subject *subject,
                        const char *text, bool has_stack)
{
    struct ebb_buf message;
    int rc;

    ebb_buf_init(&message, 65536);
    put_message(&message, subject, text);
    rc = answer(call, fault, message.bad ? text : ebb_buf_cstr(&message), has_stack ? text : NULL);
    ebb_buf_fini(&message);
    return rc;
}

int ebb__gravitino_fail(struct ebb_api_call *call, enum ebb__fault fault, const struct ebb__subject *subject,
                        const char *format, ...)
{
    char text[EBB_ERR_MESSAGE_MAX];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return answer_about(call, fault, subject, text, true);
}

int ebb__gravitino_fail_bare(struct ebb_api_call *call, enum ebb__fault fault, const struct ebb__subject *subject,
                             const char *format, ...)
{
    char text[EBB_ERR_MESSAGE_MAX];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return answer_about(call, fault, subject, text, false);
}

int ebb__gravitino_malformed(struct ebb_api_call *call, const char *format, ...)
{
    char text[EBB_ERR_MESSAGE_MAX];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return answer(call, EBB__FAULT_ARGUMENT, "Malformed json request", text);
}

static enum ebb__fault fault_of(enum ebb_error error)
{
    switch (error) {
    case EBB_EUSAGE:
    case EBB_ECORRUPT:
    case EBB_ELIMIT:
    case EBB_ETIME:
    case EBB_ELOCATION:
        return EBB__FAULT_ARGUMENT;
    case EBB_ETABLE_NOT_FOUND:
        return EBB__FAULT_NO_TABLE;
    case EBB_ECATALOG_UNKNOWN:
        return EBB__FAULT_NO_CATALOG;
    case EBB_ECATALOG:
        return EBB__FAULT_CONNECTION;
    case EBB_EUNSUPPORTED:
        return EBB__FAULT_UNSUPPORTED;
    default:
        return EBB__FAULT_RUNTIME;
    }
}

int ebb__gravitino_fail_err(struct ebb_api_call *call, const struct ebb__subject *subject, const struct ebb_err *err)
{
    return answer_about(call, fault_of(err->error), subject, err->message, true);
}

static void answer_page(struct ebb_api_call *call, const char *title)
{
    ebb_buf_reset(&call->out);
    call->answer_type = "text/html;charset=iso-8859-1";
    ebb_buf_printf(&call->out,
                   "<html>\n<head>\n<title>Error %d %s</title>\n</head>\n<body><h2>HTTP ERROR %d %s</h2>\n</body>\n"
                   "</html>\n",
                   call->status, title, call->status, title);
}

/* What the dispatcher found: the status is set. */
static void answer_status(struct ebb_api_call *call, const struct ebb_err *err)
{
    const char *why = err && err->message[0] ? err->message : "The request was refused";
    int status = call->status;

    if (status == 404)
        answer_page(call, "Not Found");
    else if (status == 415)
        answer_page(call, "Unsupported Media Type");
    else if (status == 401)
        answer(call, EBB__FAULT_UNAUTHORIZED, "The provided credentials did not support", why);
    else if (status == 403)
        answer(call, EBB__FAULT_FORBIDDEN, why, why);
    else if (status == 405 || status == 406) {
        ebb_buf_reset(&call->out);
        call->answer_type = NULL;
    } else {
        answer(call, status < 500 ? EBB__FAULT_ARGUMENT : EBB__FAULT_RUNTIME, why, why);
        call->status = status;
    }
}

void ebb_gravitino_problem(struct ebb_api_call *call, const struct ebb_err *err)
{
    if (call->status >= 400)
        answer_status(call, err);
    else if (err->error == EBB_EPERMISSION)
        answer(call, EBB__FAULT_FORBIDDEN, err->message, err->message);
    else
        answer(call, fault_of(err->error), err->message, err->message);
}
