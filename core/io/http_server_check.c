/* SPDX-License-Identifier: Apache-2.0
 *
 * Strictness. libmicrohttpd 0.9.75 lets through what request smuggling is made of: line ends without CR, NUL bytes that
 * end a value early, folded lines (which it joins wrongly), blanks before a colon, two lengths. So what it found is
 * held against the bytes that it found it in. Later versions keep other bytes, and are strict themselves.
 */
#include <stdlib.h>
#include <strings.h>

#include "io/http_server_priv.h"

enum { METHOD_MAX = 32 };

static bool is_token(const char *text, size_t n)
{
    static const char others[] = "!#$%&'*+-.^_`|~";

    for (size_t i = 0; i < n; i++) {
        char c = text[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr(others, c))))
            return false;
    }
    return n > 0;
}

static bool is_value(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (((unsigned char)text[i] < ' ' && text[i] != '\t') || text[i] == 0x7f)
            return false;
    return true;
}

/* ---- the bytes around what was found ---- */

struct lines {
    const char *at, *end; /* where the next line starts, where the head ends */
    bool broken;
};

/* Line ends are two bytes that libmicrohttpd made zero; after a bare LF there is one, after a NUL there are others. */
static bool skip_line_end(struct lines *lines, const char *from)
{
    if (from < lines->at || lines->end - from < 2 || from[0] || from[1])
        return false;
    lines->at = from + 2;
    return true;
}

static enum MHD_Result check_line(void *data, enum MHD_ValueKind kind, const char *name, size_t name_n,
                                  const char *value, size_t value_n)
{
    struct lines *lines = data;
    const char *blank = name + name_n + 1;

    (void)kind;
    lines->broken = name != lines->at || !value || value < blank || value > lines->end;
    for (; !lines->broken && blank < value; blank++)
        lines->broken = *blank != ' ' && *blank != '\t';
    lines->broken = lines->broken || !skip_line_end(lines, value + value_n);
    return lines->broken ? MHD_NO : MHD_YES;
}

static bool is_layout_strict(struct ebb_http_exchange *x, const char *method, const char *version, size_t head_n)
{
    struct lines lines = {method, method + head_n, false};

    if (method + strlen(method) + 1 != x->raw_target || x->raw_target + x->raw_target_n + 1 != version)
        return false;
    if (!skip_line_end(&lines, version + strlen(version)))
        return false;
    MHD_get_connection_values_n(x->mhd, MHD_HEADER_KIND, check_line, &lines);
    return !lines.broken && skip_line_end(&lines, lines.at) && lines.at == lines.end;
}

/* ---- the headers ---- */

static enum MHD_Result copy_header(void *data, enum MHD_ValueKind kind, const char *name, size_t name_n,
                                   const char *value, size_t value_n)
{
    struct ebb_http_exchange *x = data;
    struct ebb__httpd_header *h = &x->headers[x->header_count];

    (void)kind;
    while (value_n && (value[value_n - 1] == ' ' || value[value_n - 1] == '\t'))
        value_n--;
    if (!is_token(name, name_n) || (value_n && !is_value(value, value_n)))
        return MHD_NO;
    h->name = ebb_arena_dup(&x->arena, name, name_n);
    h->value = ebb_arena_dup(&x->arena, value, value_n);
    if (!h->name || !h->value)
        return MHD_NO;
    x->header_count++;
    return MHD_YES;
}

static int copy_headers(struct ebb_http_exchange *x, const char **why)
{
    int count = MHD_get_connection_values_n(x->mhd, MHD_HEADER_KIND, NULL, NULL);

    *why = "too many headers";
    if (count > EBB__HTTPD_HEADERS_MAX)
        return 431;
    *why = "out of memory";
    x->headers = ebb_arena_alloc(&x->arena, sizeof *x->headers * (EBB__HTTPD_HEADERS_MAX + 1));
    if (!x->headers)
        return 503;
    MHD_get_connection_values_n(x->mhd, MHD_HEADER_KIND, copy_header, x);
    *why = "a header is malformed";
    return (int)x->header_count == count ? 0 : 400;
}

static bool has_twice(const struct ebb_http_exchange *x)
{
    static const char *const once[] = {"Host",   "Content-Length", "Transfer-Encoding", "Content-Type", "Authorization",
                                       "Origin", "Expect",         "Content-Encoding",  "Content-Range"};

    for (size_t i = 0; i < sizeof once / sizeof once[0]; i++) {
        size_t count = 0;

        for (size_t j = 0; j < x->header_count; j++)
            count += !strcasecmp(x->headers[j].name, once[i]);
        if (count > 1)
            return true;
    }
    return false;
}

static int check_length(struct ebb_http_exchange *x, const char *version, const char **why)
{
    const char *coding = ebb_http_header(x, "Transfer-Encoding");
    const char *length = ebb_http_header(x, "Content-Length");

    *why = "Transfer-Encoding with Content-Length";
    if (coding && length)
        return 400;
    *why = "Transfer-Encoding before HTTP/1.1";
    if (coding && !strcmp(version, "HTTP/1.0"))
        return 400;
    *why = "the only Transfer-Encoding that is taken is chunked";
    if (coding && strcasecmp(coding, "chunked"))
        return 501;
    *why = "Content-Length is not a number";
    if (length && (!*length || strspn(length, "0123456789") != strlen(length)))
        return 400;
    return 0;
}

/* ---- where it goes and where it comes from ---- */

static int copy_target(struct ebb_http_exchange *x, struct ebb_http_target *target, const char *method,
                       const char **why)
{
    *why = "the request's target is malformed";
    if (!x->target || !ebb_http_target_parse(ebb_str_of(x->target), target))
        return 400;
    if (target->path.p[0] == '*' && strcmp(method, "OPTIONS"))
        return 400;
    *why = "out of memory";
    x->method = ebb_arena_dup(&x->arena, method, strlen(method));
    x->path = ebb_arena_dup(&x->arena, target->path.p, target->path.n);
    x->query = ebb_arena_dup(&x->arena, target->query.p, target->query.n);
    return x->method && x->path && x->query ? 0 : 503;
}

static bool is_ours(const struct ebb_http_exchange *x, const struct ebb_http_authority *host)
{
    return !strcmp(host->host, "localhost") || !strcmp(host->host, x->conn->local) || !strcmp(host->host, "::1") ||
           !strcmp(host->host, "127.0.0.1") || ebb_http_hosts_have(&x->server->hosts, host);
}

static int check_origin(struct ebb_http_exchange *x, const struct ebb_http_authority *host, const char **why)
{
    const char *text = ebb_http_header(x, "Origin");
    struct ebb_http_authority origin;

    *why = "Origin: pages of other sites are not answered (serve.hosts)";
    if (!text)
        return 0;
    if (!ebb_http_origin_parse(ebb_str_of(text), &origin))
        return 403;
    return ebb_http_authority_is_equal(&origin, host) || ebb_http_hosts_have(&x->server->hosts, &origin) ? 0 : 403;
}

static int check_places(struct ebb_http_exchange *x, const struct ebb_http_target *target, const char *version,
                        const char **why)
{
    const char *text = ebb_http_header(x, "Host");
    struct ebb_http_authority host = {"", -1}, absolute;
    int scheme_port = x->is_tls ? 443 : 80;

    *why = "Host is missing or malformed";
    if (!text && strcmp(version, "HTTP/1.0"))
        return 400;
    if (text && !ebb_http_authority_parse(ebb_str_of(text), scheme_port, &host))
        return 400;
    *why = "the target names another host than Host";
    if (target->authority.p &&
        (target->is_tls != x->is_tls || !text || !ebb_http_authority_parse(target->authority, scheme_port, &absolute) ||
         !ebb_http_authority_is_equal(&host, &absolute)))
        return 400;
    *why = "Host is none of the names that this server goes by (serve.hosts)";
    if (text && !is_ours(x, &host))
        return 421;
    return check_origin(x, &host, why);
}

/* ---- the whole head ---- */

static int check_method(const char *method, const char **why)
{
    *why = "the method is malformed";
    return strlen(method) <= METHOD_MAX && is_token(method, strlen(method)) ? 0 : 400;
}

static int check_size(struct ebb_http_exchange *x, size_t *head_n, const char **why)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(x->mhd, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);

    *head_n = info ? info->header_size : 0;
    *why = "the headers are too large";
    return info && *head_n <= x->server->options.limits.header_bytes ? 0 : 431;
}

int ebb__httpd_check_head(struct ebb_http_exchange *x, const char *method, const char *version, const char **why)
{
    struct ebb_http_target target;
    size_t head_n;
    int status = check_size(x, &head_n, why);

    if (!status && x->server->is_layout_known && !is_layout_strict(x, method, version, head_n)) {
        *why = "lines of the request are malformed";
        status = 400;
    }
    if (!status)
        status = check_method(method, why);
    if (!status)
        status = copy_target(x, &target, method, why);
    if (!status)
        status = copy_headers(x, why);
    if (!status && has_twice(x)) {
        *why = "a header came twice";
        status = 400;
    }
    if (!status)
        status = check_length(x, version, why);
    return status ? status : check_places(x, &target, version, why);
}
