/* SPDX-License-Identifier: Apache-2.0
 *
 * curl's handle of a request: its options, and what comes back.
 */
#include "io/http_client_priv.h"

#include <fcntl.h>
#include <stdlib.h>
#include <strings.h>

#define HEADER_BYTES_MAX 65536
#define CONNECT_MS 10000

static size_t on_header(char *bytes, size_t size, size_t count, void *data)
{
    struct ebb_http_request *r = data;
    size_t all = size * count, n = all;

    r->header_bytes += all;
    if (r->header_bytes > HEADER_BYTES_MAX) {
        r->are_headers_too_long = true;
        return 0;
    }
    while (n && (bytes[n - 1] == '\r' || bytes[n - 1] == '\n' || bytes[n - 1] == ' '))
        n--;
    if (n >= 5 && !memcmp(bytes, "HTTP/", 5)) { /* an interim answer came before */
        ebb_strs_fini(&r->answer_headers);
        ebb_strs_init(&r->answer_headers);
        r->has_head = false;
    } else if (!n) {
        r->has_head = true;
    } else if (bytes[0] != ' ' && bytes[0] != '\t' && ebb_strs_addn(&r->answer_headers, bytes, n, NULL)) {
        r->has_no_memory = true;
        return 0;
    }
    return all;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *data)
{
    struct ebb_http_request *r = data;
    size_t all = size * count;

    ebb_buf_append(&r->answer, bytes, all);
    if (!r->answer.bad)
        return all;
    r->is_too_long = r->answer.full;
    r->has_no_memory = !r->answer.full;
    return 0;
}

static int add_line(struct ebb_http_request *r, const char *line)
{
    struct curl_slist *more = curl_slist_append(r->headers, line);

    if (!more)
        return -1;
    r->headers = more;
    return 0;
}

/* curl reads "Name:" as "leave it out"; with nothing as value it is written "Name;". */
static int add_header(struct ebb_http_request *r, const char *header)
{
    const char *colon = strchr(header, ':');
    char *empty;
    int rc;

    if (colon[1 + strspn(colon + 1, " \t")])
        return add_line(r, header);
    empty = strndup(header, (size_t)(colon - header) + 1);
    if (!empty)
        return -1;
    empty[colon - header] = ';';
    rc = add_line(r, empty);
    free(empty);
    return rc;
}

static int add_headers(struct ebb_http_request *r, const struct ebb_strs *headers)
{
    bool has_type = false;

    if (add_line(r, "Expect:"))
        return -1;
    for (size_t i = 0; headers && i < headers->count; i++) {
        has_type = has_type || !strncasecmp(headers->items[i], "content-type:", 13);
        if (add_header(r, headers->items[i]))
            return -1;
    }
    return has_type ? 0 : add_line(r, "Content-Type:");
}

/* Programs that are started inherit nothing. */
static int on_socket(void *data, curl_socket_t fd, curlsocktype purpose)
{
    (void)data, (void)purpose;
    return fcntl(fd, F_SETFD, FD_CLOEXEC) ? CURL_SOCKOPT_ERROR : CURL_SOCKOPT_OK;
}

#define SET(option, value) (code = code ? code : curl_easy_setopt(r->easy, option, value))

static CURLcode set_method(struct ebb_http_request *r)
{
    CURLcode code = CURLE_OK;

    if (!strcmp(r->method, "HEAD")) {
        SET(CURLOPT_NOBODY, 1L);
        return code;
    }
    if (r->body_bytes || !strncmp(r->method, "P", 1)) {
        SET(CURLOPT_POST, 1L);
        SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body_bytes);
        SET(CURLOPT_POSTFIELDS, r->body);
    }
    SET(CURLOPT_CUSTOMREQUEST, r->method);
    return code;
}

static CURLcode set_place(struct ebb_http_request *r)
{
    const struct ebb_http_client *client = r->client;
    CURLcode code = CURLE_OK;

    SET(CURLOPT_URL, r->url);
    SET(CURLOPT_PATH_AS_IS, 1L);
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
    SET(CURLOPT_FOLLOWLOCATION, 0L);
    SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    SET(CURLOPT_SSL_VERIFYPEER, 1L);
    SET(CURLOPT_SSL_VERIFYHOST, 2L);
    SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    if (client->ca_file) {
        SET(CURLOPT_CAINFO, client->ca_file);
        SET(CURLOPT_CAPATH, NULL);
    }
    if (client->proxy)
        SET(CURLOPT_PROXY, client->proxy);
    SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    SET(CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    /* curl itself sends again when a connection that was kept turns out to be dead, which may be after it was done. */
    SET(CURLOPT_FRESH_CONNECT, r->may_repeat ? 0L : 1L);
    return code;
}

static CURLcode set_rest(struct ebb_http_request *r)
{
    CURLcode code = CURLE_OK;

    SET(CURLOPT_PRIVATE, r);
    if (strcmp(r->method, "HEAD") != 0)                              /* which tells of a body that does not come */
        SET(CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)r->answer_bytes); /* by what it says; on_body counts */
    SET(CURLOPT_ERRORBUFFER, r->curl_error);
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_QUICK_EXIT, 1L); /* else a cancelled request waits for the resolver's thread */
    SET(CURLOPT_NOPROGRESS, 1L);
    SET(CURLOPT_USERAGENT, r->client->user_agent);
    SET(CURLOPT_HTTPHEADER, r->headers);
    SET(CURLOPT_HEADEROPT, (long)CURLHEADER_SEPARATE); /* a proxy gets none of them */
    SET(CURLOPT_HEADERFUNCTION, on_header);
    SET(CURLOPT_HEADERDATA, r);
    SET(CURLOPT_WRITEFUNCTION, on_body);
    SET(CURLOPT_WRITEDATA, r);
    SET(CURLOPT_SOCKOPTFUNCTION, on_socket);
    return code;
}

#undef SET

int ebb__http_easy_new(struct ebb_http_request *r, const struct ebb_strs *headers, struct ebb_err *err)
{
    CURLcode code;

    r->easy = curl_easy_init();
    if (!r->easy || add_headers(r, headers))
        return ebb_err_nomem(err);
    code = set_method(r);
    if (!code)
        code = set_place(r);
    if (!code)
        code = set_rest(r);
    if (code == CURLE_OUT_OF_MEMORY)
        return ebb_err_nomem(err);
    return code ? ebb_err_set(err, EBB_EINTERNAL, "HTTP client: %s", curl_easy_strerror(code)) : 0;
}

void ebb__http_easy_reset(struct ebb_http_request *r, unsigned try_ms)
{
    ebb_buf_reset(&r->answer);
    ebb_strs_fini(&r->answer_headers);
    ebb_strs_init(&r->answer_headers);
    r->header_bytes = 0;
    r->has_head = false;
    r->status = 0;
    r->curl_error[0] = '\0';
    memset(&r->err, 0, sizeof r->err);
    curl_easy_setopt(r->easy, CURLOPT_TIMEOUT_MS, (long)try_ms);
}

/* Texts of curl that name at most the host. */
static bool is_telling(CURLcode code)
{
    return code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_RESOLVE_PROXY ||
           code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CONNECT_ERROR || code == CURLE_RECV_ERROR ||
           code == CURLE_SEND_ERROR || code == CURLE_PARTIAL_FILE || code == CURLE_GOT_NOTHING ||
           code == CURLE_SSL_CACERT_BADFILE;
}

static void tell_failure(struct ebb_http_request *r, CURLcode code)
{
    const char *why = is_telling(code) && r->curl_error[0] ? r->curl_error : curl_easy_strerror(code);

    if (code == CURLE_OUT_OF_MEMORY && !r->has_head) /* so curl says it of a header over 100 KiB, too */
        ebb_err_set(&r->err, EBB_ELIMIT, "%s: the headers are too long, or memory is exhausted", r->where);
    else if (r->has_no_memory || code == CURLE_OUT_OF_MEMORY)
        ebb_err_nomem(&r->err);
    else if (r->is_too_long || code == CURLE_FILESIZE_EXCEEDED)
        ebb_err_set(&r->err, EBB_ELIMIT, "%s: the answer is longer than %zu bytes", r->where, r->answer_bytes);
    else if (r->are_headers_too_long)
        ebb_err_set(&r->err, EBB_ELIMIT, "%s: the headers are longer than %d bytes", r->where, HEADER_BYTES_MAX);
    else if (code == CURLE_OPERATION_TIMEDOUT)
        ebb_err_set(&r->err, EBB_EIO, "%s: no whole answer in time", r->where);
    else
        ebb_err_set(&r->err, EBB_EIO, "%s: %s", r->where, why);
    r->err.retryable = r->err.error == EBB_EIO && ebb__http_is_passing(code);
    if (code == CURLE_PEER_FAILED_VERIFICATION && !r->client->ca_file)
        ebb_err_hint(&r->err, "add the authority that signed its certificate to the system's (update-ca-certificates)");
}

CURLcode ebb__http_easy_result(struct ebb_http_request *r, CURLcode code)
{
    long status = 0;

    if (!code && !r->has_head)
        code = CURLE_PARTIAL_FILE; /* curl is content with a connection that ends amid the headers */
    if (code)
        tell_failure(r, code);
    else
        curl_easy_getinfo(r->easy, CURLINFO_RESPONSE_CODE, &status);
    r->status = (int)status;
    return code;
}
