/* SPDX-License-Identifier: Apache-2.0
 *
 * What may be sent at all. URLs and headers hold secrets: errors tell what is wrong, not with what.
 */
#include "io/http_client_priv.h"

#include <ctype.h>
#include <stdio.h>
#include <strings.h>

#define URL_BYTES_MAX 16384
#define HEADERS_MAX 100
#define HEADER_BYTES_MAX 16384
#define BODY_BYTES_MAX ((size_t)1 << 30)

static bool is_one_of(const char *text, const char *const *list)
{
    for (; *list; list++)
        if (!strcmp(text, *list))
            return true;
    return false;
}

bool ebb__http_is_idempotent(const char *method)
{
    static const char *const methods[] = {"GET", "HEAD", "PUT", "DELETE", "OPTIONS", NULL};

    return is_one_of(method, methods);
}

static bool is_method(const char *method)
{
    return ebb__http_is_idempotent(method) || !strcmp(method, "POST") || !strcmp(method, "PATCH");
}

static int check_header(const char *header, struct ebb_err *err)
{
    static const char token[] = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t name = strspn(header, token);

    if (!name || header[name] != ':')
        return ebb_err_set(err, EBB_EUSAGE, "header: must read \"Name: value\"");
    for (const char *p = header + name; *p; p++)
        if (((unsigned char)*p < 0x20 && *p != '\t') || *p == 0x7f)
            return ebb_err_set(err, EBB_EUSAGE, "header %.*s: holds a control character", (int)name, header);
    if (strlen(header) > HEADER_BYTES_MAX)
        return ebb_err_set(err, EBB_EUSAGE, "header %.*s: longer than %d bytes", (int)name, header, HEADER_BYTES_MAX);
    if (!strncasecmp(header, "content-length:", 15) || !strncasecmp(header, "transfer-encoding:", 18))
        return ebb_err_set(err, EBB_EUSAGE, "header %.*s: follows from the body", (int)name, header);
    return 0;
}

static int check_headers(const struct ebb_strs *headers, struct ebb_err *err)
{
    int rc = 0;

    if (headers && headers->count > HEADERS_MAX)
        return ebb_err_set(err, EBB_EUSAGE, "headers: more than %d", HEADERS_MAX);
    for (size_t i = 0; headers && !rc && i < headers->count; i++)
        rc = check_header(headers->items[i], err);
    return rc;
}

static int name_host(CURLU *url, char *key, char *where, struct ebb_err *err)
{
    char *scheme = NULL, *host = NULL, *port = NULL, *given = NULL;
    int rc = 0;

    if (curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) || curl_url_get(url, CURLUPART_HOST, &host, 0) ||
        curl_url_get(url, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT))
        rc = ebb_err_set(err, EBB_EUSAGE, "URL: no host");
    else if (strlen(host) > 255)
        rc = ebb_err_set(err, EBB_EUSAGE, "URL: the host is longer than 255 bytes");
    if (rc)
        goto out;
    curl_url_get(url, CURLUPART_PORT, &given, 0);
    snprintf(key, EBB__HTTP_HOST_MAX, "%s://%s:%s", scheme, host, port);
    snprintf(where, EBB__HTTP_HOST_MAX, "%s%s%s", host, given ? ":" : "", given ? given : "");
    for (char *p = key; *p; p++)
        *p = (char)tolower((unsigned char)*p);
out:
    curl_free(scheme);
    curl_free(host);
    curl_free(port);
    curl_free(given);
    return rc;
}

/* curl takes "http:///host" too. */
static bool has_scheme(const char *text)
{
    size_t n = strncasecmp(text, "https://", 8) ? 7 : 8;

    return (n == 8 || !strncasecmp(text, "http://", 7)) && text[n] != '/';
}

static int check_url(const char *text, char *key, char *where, struct ebb_err *err)
{
    CURLU *url;
    CURLUcode code;
    int rc;

    if (strlen(text) > URL_BYTES_MAX)
        return ebb_err_set(err, EBB_EUSAGE, "URL: longer than %d bytes", URL_BYTES_MAX);
    if (!has_scheme(text))
        return ebb_err_set(err, EBB_EUSAGE, "URL: must begin with http:// or https:// and a host");
    url = curl_url();
    if (!url)
        return ebb_err_nomem(err);
    code = curl_url_set(url, CURLUPART_URL, text, 0);
    rc = code ? ebb_err_set(err, EBB_EUSAGE, "URL: %s", curl_url_strerror(code)) : name_host(url, key, where, err);
    curl_url_cleanup(url);
    return rc;
}

int ebb__http_check(const struct ebb_http_call *call, char *key, char *where, struct ebb_err *err)
{
    int rc;

    if (!call->method || !call->url)
        return ebb_err_set(err, EBB_EUSAGE, "request: needs a method and a URL");
    if (!is_method(call->method))
        return ebb_err_set(err, EBB_EUSAGE, "request: unknown method");
    if (call->body.n > BODY_BYTES_MAX)
        return ebb_err_set(err, EBB_EUSAGE, "request: the body is longer than 1 GiB");
    rc = check_url(call->url, key, where, err);
    return rc ? rc : check_headers(call->headers, err);
}
