/* SPDX-License-Identifier: Apache-2.0
 *
 * Errors of the own interface: problem details (RFC 9457). Types are "about:blank": the title is that of the status,
 * and `code` is the stable code of the error.
 */
#include "service/api_priv.h"

#define PROBLEM_MAX ((size_t)64 << 10)

static const struct {
    int status;
    const char *phrase, *code; /* code: of what the dispatcher refuses */
} STATUSES[] = {
    {200, "OK", ""},
    {201, "Created", ""},
    {202, "Accepted", ""},
    {204, "No Content", ""},
    {400, "Bad Request", "http.bad_request"},
    {401, "Unauthorized", "http.unauthorized"},
    {403, "Forbidden", "http.forbidden"},
    {404, "Not Found", "http.not_found"},
    {405, "Method Not Allowed", "http.method_not_allowed"},
    {406, "Not Acceptable", "http.not_acceptable"},
    {408, "Request Timeout", "http.timeout"},
    {409, "Conflict", "http.conflict"},
    {413, "Content Too Large", "http.too_large"},
    {414, "URI Too Long", "http.uri_too_long"},
    {415, "Unsupported Media Type", "http.unsupported_media_type"},
    {421, "Misdirected Request", "http.misdirected"},
    {422, "Unprocessable Content", "http.unprocessable"},
    {429, "Too Many Requests", "http.too_many_requests"},
    {431, "Request Header Fields Too Large", "http.headers_too_large"},
    {500, "Internal Server Error", "internal"},
    {501, "Not Implemented", "http.not_implemented"},
    {503, "Service Unavailable", "http.unavailable"},
    {505, "HTTP Version Not Supported", "http.version"},
};

static const char *code_of(int status)
{
    for (size_t i = 0; i < sizeof STATUSES / sizeof STATUSES[0]; i++)
        if (STATUSES[i].status == status)
            return STATUSES[i].code;
    return "internal";
}

const char *ebb_api_phrase(int status)
{
    for (size_t i = 0; i < sizeof STATUSES / sizeof STATUSES[0]; i++)
        if (STATUSES[i].status == status)
            return STATUSES[i].phrase;
    return "";
}

int ebb_api_status(enum ebb_error error)
{
    switch (error) {
    case EBB_OK:
        return 200;
    case EBB_EUSAGE:
    case EBB_ETIME:
    case EBB_ELOCATION:
    case EBB_ESCHEDULE:
        return 400;
    case EBB_ENOT_FOUND:
    case EBB_ETABLE_NOT_FOUND:
    case EBB_ECATALOG_UNKNOWN:
        return 404;
    case EBB_EEXIST:
    case EBB_EPLAN_APPLIED:
    case EBB_ERUN_STATE:
    case EBB_ELOCKED:
    case EBB_ECANCELLED:
        return 409;
    case EBB_ELIMIT:
    case EBB_EUNSUPPORTED:
    case EBB_ERECORD:
        return 422;
    case EBB_ESTORE:
    case EBB_ESTORE_CORRUPT:
    case EBB_ENOSPACE:
    case EBB_ENOMEM:
    case EBB_EAUDIT:
        return 503;
    case EBB_ECORRUPT: /* what is stored */
        return 500;
    default: /* refusals and policies that went wrong by what was asked; all else is the server's affair */
        return ebb_error_exit(error) == 2 || ebb_error_exit(error) == 4 || ebb_error_exit(error) == 64 ? 422 : 500;
    }
}

static void write_problem(struct ebb_buf *out, int status, const char *code, const char *detail, const char *hint,
                          bool is_retryable)
{
    struct ebb_buf text;
    struct ebb_jsonw w;

    ebb_buf_init(&text, 4 * (size_t)EBB_ERR_MESSAGE_MAX + 1);
    ebb_jsonw_init(&w, out);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kstr(&w, "type", "about:blank");
    ebb_jsonw_kstr(&w, "title", ebb_api_phrase(status));
    ebb_jsonw_kint(&w, "status", status);
    ebb_text_escape(&text, detail, strlen(detail));
    ebb_jsonw_kstr(&w, "detail", ebb_buf_cstr(&text));
    ebb_jsonw_kstr(&w, "code", code);
    ebb_buf_reset(&text);
    ebb_text_escape(&text, hint, strlen(hint));
    if (hint[0])
        ebb_jsonw_kstr(&w, "hint", ebb_buf_cstr(&text));
    ebb_jsonw_kbool(&w, "retryable", is_retryable);
    ebb_jsonw_end(&w, '}');
    ebb_buf_putc(out, '\n');
    ebb_buf_fini(&text);
}

void ebb_api_problem(struct ebb_api_call *call, const struct ebb_err *err)
{
    bool is_told = call->status >= 400;

    if (!is_told)
        call->status = ebb_api_status(err->error);
    call->answer_type = "application/problem+json";
    ebb_buf_reset(&call->out);
    write_problem(&call->out, call->status, is_told ? code_of(call->status) : ebb_error_code(err->error), err->message,
                  err->hint, err->retryable || call->status == 503 || call->status == 429);
}

void ebb_api_server_problem(void *data, int status, const char *why, struct ebb_buf *body, const char **content_type)
{
    (void)data;
    *content_type = "application/problem+json";
    write_problem(body, status, code_of(status), why ? why : "", "", status == 429 || status == 503);
}
