/* SPDX-License-Identifier: Apache-2.0
 *
 * What an answer that is no success means, and what is to be done about it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "io/s3_priv.h"

static void take(char *to, size_t size, struct ebb_str text)
{
    size_t n = text.n < size - 1 ? text.n : size - 1;

    for (size_t i = 0; i < n; i++)
        to[i] = (unsigned char)text.p[i] < 0x20 ? ' ' : text.p[i];
    to[n] = '\0';
}

static int on_end(void *data, size_t depth, const char *name, struct ebb_str text, struct ebb_err *err)
{
    struct ebb__s3_failure *f = data;

    (void)err;
    if (depth != 1)
        return 0;
    if (!strcmp(name, "Code"))
        take(f->code, sizeof f->code, text);
    else if (!strcmp(name, "Message"))
        take(f->message, sizeof f->message, text);
    else if (!strcmp(name, "Region"))
        take(f->region, sizeof f->region, text);
    return 0;
}

static int on_root(void *data, size_t depth, const char *name, struct ebb_err *err)
{
    (void)data;
    return depth || !strcmp(name, "Error") ? 0 : ebb_err_set(err, EBB_ECORRUPT, "no error");
}

void ebb__s3_failure_read(struct ebb_str body, struct ebb__s3_failure *out)
{
    static const struct ebb__xml_ops OPS = {on_root, on_end};

    memset(out, 0, sizeof *out);
    if (body.n && ebb__xml_parse("answer", body, &OPS, out, NULL))
        memset(out, 0, sizeof *out);
}

static bool is_one_of(const char *code, const char *const *list)
{
    for (; *list; list++)
        if (!strcmp(code, *list))
            return true;
    return false;
}

enum ebb__s3_next ebb__s3_judge(int status, const char *code)
{
    static const char *const SLOW[] = {"SlowDown",   "ServiceUnavailable",  "TooManyRequests",
                                       "Throttling", "ThrottlingException", "RequestLimitExceeded",
                                       NULL};
    static const char *const PASSING[] = {"RequestTimeout", "OperationAborted", "InternalError",
                                          "ConditionalRequestConflict", NULL};
    static const char *const KEYS[] = {"ExpiredToken", "InvalidToken", "ExpiredTokenException", "TokenRefreshRequired",
                                       NULL};

    if (status >= 200 && status < 300 && !code[0])
        return EBB__S3_DONE;
    if (is_one_of(code, SLOW) || status == 503 || status == 429)
        return EBB__S3_SLOWER;
    if (is_one_of(code, PASSING) || status == 408 || status == 500 || status == 502 || status == 504)
        return EBB__S3_AGAIN;
    if (is_one_of(code, KEYS))
        return EBB__S3_NEW_KEYS;
    if (!strcmp(code, "RequestTimeTooSkewed"))
        return EBB__S3_NEW_CLOCK;
    return EBB__S3_DONE;
}

struct row {
    const char *code;
    enum ebb_error error;
    const char *why, *hint;
};

static const struct row ROWS[] = {
    {"NoSuchBucket", EBB_ECONFIG, "there is no such bucket", "check the name, and storage.s3.endpoint"},
    {"InvalidAccessKeyId", EBB_ECONFIG, "the access key id is unknown there",
     "check storage.s3.access_key_id, or AWS_ACCESS_KEY_ID"},
    {"XAdminUserNotFound", EBB_ECONFIG, "the access key id is unknown there",
     "check storage.s3.access_key_id, or AWS_ACCESS_KEY_ID"},
    {"SignatureDoesNotMatch", EBB_ECONFIG, "the signature is not right",
     "check the secret access key; a proxy that rewrites requests breaks signatures, too"},
    {"ExpiredToken", EBB_EPERMISSION, "the keys have expired", "get new ones: temporary keys end"},
    {"InvalidToken", EBB_EPERMISSION, "the session token is not valid",
     "check storage.s3.session_token, or AWS_SESSION_TOKEN"},
    {"AccessDenied", EBB_EPERMISSION, "access denied", "the keys lack the right for this"},
    {"AllAccessDisabled", EBB_EPERMISSION, "access denied", "the keys lack the right for this"},
    {"InvalidObjectState", EBB_EUNSUPPORTED, "is archived", "bring it back from the archive first"},
    {"RequestTimeTooSkewed", EBB_ECLOCK, "the server's clock and ours are too far apart", "set both clocks right"},
    {"PreconditionFailed", EBB_ECHANGED, "is another one than before", ""},
    {"NotImplemented", EBB_EUNSUPPORTED, "the server can't do that", ""},
    {"KeyTooLongError", EBB_EUNSUPPORTED, "the name is too long", ""},
    {"NoSuchKey", EBB_ENOENT, "is not there", ""},
};

static const struct row *row_of(const char *code)
{
    for (size_t i = 0; code[0] && i < sizeof ROWS / sizeof ROWS[0]; i++)
        if (!strcmp(ROWS[i].code, code))
            return &ROWS[i];
    return NULL;
}

static const struct row *row_of_status(int status)
{
    switch (status) {
    case 404:
        return row_of("NoSuchKey");
    case 403:
        return row_of("AccessDenied");
    case 412:
        return row_of("PreconditionFailed");
    case 501:
        return row_of("NotImplemented");
    default:
        return NULL;
    }
}

/* 400 without a code is what HEAD has. */
static bool is_wrong_region(const struct ebb_s3 *s3, int status, const char *code, const char *header_region)
{
    if (status == 400 && !code[0] && header_region && *header_region)
        return strcmp(header_region, s3->region) != 0;
    return status == 301 || status == 307 || !strcmp(code, "PermanentRedirect") || !strcmp(code, "TemporaryRedirect") ||
           !strcmp(code, "AuthorizationHeaderMalformed") || !strcmp(code, "IllegalLocationConstraintException");
}

void ebb__s3_fail(const struct ebb_s3 *s3, const char *what, const char *bucket, int status,
                  const struct ebb__s3_failure *failure, const char *header_region, struct ebb_err *err)
{
    const struct row *row = row_of(failure->code);
    const char *region = header_region && *header_region ? header_region : failure->region;

    if (!row && is_wrong_region(s3, status, failure->code, header_region)) {
        ebb_err_set(err, EBB_ECONFIG, "%s: bucket %s is not in region %s", what, bucket, s3->region);
        if (region[0])
            ebb_err_hint(err, "set storage.s3.region = \"%.31s\"", region);
        else
            ebb_err_hint(err, "set storage.s3.region to the bucket's, or storage.s3.endpoint to its server");
        return;
    }
    row = row ? row : row_of_status(status);
    if (row) {
        ebb_err_set(err, row->error, "%s: %s%s%s%s", what, row->why, failure->message[0] ? " (" : "", failure->message,
                    failure->message[0] ? ")" : "");
        if (row->hint[0])
            ebb_err_hint(err, "%s", row->hint);
        return;
    }
    ebb_err_set(err, EBB_EIO, "%s: the server %s answered %d%s%s%s%s", what, s3->host, status,
                failure->code[0] ? " " : "", failure->code, failure->message[0] ? ": " : "", failure->message);
    if (err)
        err->retryable = ebb__s3_judge(status, failure->code) != EBB__S3_DONE;
    if (!failure->code[0] && status < 500)
        ebb_err_hint(err, "is storage.s3.endpoint that of an S3 server?");
}
