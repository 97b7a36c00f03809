/* SPDX-License-Identifier: Apache-2.0
 *
 * AWS Signature Version 4: signing of one request, header form. Pure. The rules are those of the specification: path
 * and query are taken as they will be sent (encoded once), the query is sorted here for signing; S3's path is not
 * normalised and not encoded twice, that of other services is.
 */
#ifndef EBB_IO_SIGV4_H
#define EBB_IO_SIGV4_H

#include "base/buf.h"
#include "base/text.h"

/* Keys for signing. Texts are borrowed. */
struct ebb_aws_keys {
    const char *access_key_id;
    const char *secret_access_key;
    const char *session_token; /* NULL or "": none */
};

#define EBB_SHA256_HEX 65
/* Lower-case hex of the SHA-256 of bytes. EBB_EINTERNAL when the library fails. */
int ebb_sha256_hex(const void *bytes, size_t n, char out[EBB_SHA256_HEX], struct ebb_err *err);

struct ebb_sigv4_request {
    const char *method;
    const char *host;  /* value of the Host header that is sent: with the port when it is not the default */
    const char *path;  /* as sent: "/" when empty; each byte that needs it already %XX */
    const char *query; /* as sent, without '?': "a=b&c="; "" or NULL none; names and values encoded */
    const struct ebb_strs *headers; /* "Name: value" lines that are sent; all of them are signed. NULL none */
    const char *payload_sha256;     /* hex, or "UNSIGNED-PAYLOAD" */
    const char *region, *service;   /* "us-east-1", "s3" */
    struct ebb_aws_keys keys;
    int64_t now_ms;
};
/* Append to `out` the header lines to send besides request->headers: Authorization, x-amz-date, x-amz-content-sha256
 * (service s3 only), x-amz-security-token (when there is one). EBB_ENOMEM, EBB_EINTERNAL. */
int ebb_sigv4_sign(const struct ebb_sigv4_request *request, struct ebb_strs *out, struct ebb_err *err);

/* The steps in between, for tests and messages: appended to the buffers (NULL: not wanted). */
int ebb_sigv4_explain(const struct ebb_sigv4_request *request, struct ebb_buf *canonical_request,
                      struct ebb_buf *string_to_sign, struct ebb_err *err);

#endif
