/* SPDX-License-Identifier: Apache-2.0 */
#include "io/http_authority.h"

#include <arpa/inet.h>

enum { PORT_DIGITS_MAX = 5, PORT_MAX = 65535 };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_hex(char c)
{
    return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'f');
}

static bool is_name_char(char c)
{
    return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'z') || c == '-' || c == '.' || c == '_';
}

static bool parse_port(struct ebb_str text, int default_port, int *out)
{
    int port = 0;

    if (!text.n || text.n > PORT_DIGITS_MAX)
        return false;
    for (size_t i = 0; i < text.n; i++) {
        if (!is_digit(text.p[i]))
            return false;
        port = port * 10 + (text.p[i] - '0');
    }
    if (port > PORT_MAX)
        return false;
    *out = port && port == default_port ? -1 : port;
    return true;
}

static bool parse_name(struct ebb_str text, struct ebb_http_authority *out)
{
    if (!text.n || text.n > EBB_HTTP_HOST_MAX)
        return false;
    for (size_t i = 0; i < text.n; i++) {
        if (!is_name_char(text.p[i]))
            return false;
        out->host[i] = lower(text.p[i]);
    }
    out->host[text.n] = '\0';
    return true;
}

/* What is between the brackets. */
static bool parse_v6(struct ebb_str text, struct ebb_http_authority *out)
{
    char copy[INET6_ADDRSTRLEN];
    struct in6_addr address;

    if (!text.n || text.n >= sizeof copy || memchr(text.p, '\0', text.n))
        return false;
    memcpy(copy, text.p, text.n);
    copy[text.n] = '\0';
    return inet_pton(AF_INET6, copy, &address) == 1 && inet_ntop(AF_INET6, &address, out->host, sizeof out->host);
}

/* Length of the host part, brackets included; 0: none. */
static size_t host_length(struct ebb_str text)
{
    const char *end;

    if (!text.n)
        return 0;
    end = memchr(text.p, text.p[0] == '[' ? ']' : ':', text.n);
    if (text.p[0] == '[')
        return end ? (size_t)(end - text.p) + 1 : 0;
    return end ? (size_t)(end - text.p) : text.n;
}

bool ebb_http_authority_parse(struct ebb_str text, int default_port, struct ebb_http_authority *out)
{
    size_t n = host_length(text);
    bool good;

    out->port = -1;
    out->host[0] = '\0';
    if (!n)
        return false;
    if (text.p[0] == '[')
        good = parse_v6((struct ebb_str){text.p + 1, n - 2}, out);
    else
        good = parse_name((struct ebb_str){text.p, n}, out);
    if (!good || n == text.n)
        return good;
    return text.p[n] == ':' && parse_port((struct ebb_str){text.p + n + 1, text.n - n - 1}, default_port, &out->port);
}

bool ebb_http_authority_is_equal(const struct ebb_http_authority *a, const struct ebb_http_authority *b)
{
    return a->port == b->port && strcmp(a->host, b->host) == 0;
}

static bool skip_scheme(struct ebb_str *text, const char *scheme)
{
    size_t n = strlen(scheme);

    if (text->n < n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (lower(text->p[i]) != scheme[i])
            return false;
    text->p += n;
    text->n -= n;
    return true;
}

bool ebb_http_origin_parse(struct ebb_str text, struct ebb_http_authority *out)
{
    if (skip_scheme(&text, "https://"))
        return ebb_http_authority_parse(text, 443, out);
    return skip_scheme(&text, "http://") && ebb_http_authority_parse(text, 80, out);
}

bool ebb_http_hosts_have(const struct ebb_strs *hosts, const struct ebb_http_authority *a)
{
    struct ebb_http_authority name;

    for (size_t i = 0; hosts && i < hosts->count; i++)
        if (ebb_http_authority_parse(ebb_str_of(hosts->items[i]), 0, &name) && !strcmp(name.host, a->host) &&
            (name.port < 0 || name.port == a->port))
            return true;
    return false;
}

static bool is_target_text(struct ebb_str text)
{
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] <= ' ' || text.p[i] > '~' || text.p[i] == '#')
            return false;
        if (text.p[i] != '%')
            continue;
        if (text.n - i < 3 || !is_hex(text.p[i + 1]) || !is_hex(text.p[i + 2]))
            return false;
        if (text.p[i + 1] == '0' && text.p[i + 2] == '0')
            return false;
    }
    return true;
}

static void split_query(struct ebb_str text, struct ebb_http_target *out)
{
    const char *mark = text.n ? memchr(text.p, '?', text.n) : NULL;

    out->path = text;
    out->query = (struct ebb_str){text.p + text.n, 0};
    if (mark) {
        out->path.n = (size_t)(mark - text.p);
        out->query = (struct ebb_str){mark + 1, text.n - out->path.n - 1};
    }
    if (!out->path.n)
        out->path = EBB_STR("/");
}

bool ebb_http_target_parse(struct ebb_str text, struct ebb_http_target *out)
{
    size_t n = 0;

    memset(out, 0, sizeof *out);
    if (!text.n || !is_target_text(text))
        return false;
    if (text.p[0] != '/' && !(text.n == 1 && text.p[0] == '*')) {
        out->is_tls = skip_scheme(&text, "https://");
        if (!out->is_tls && !skip_scheme(&text, "http://"))
            return false;
        while (n < text.n && text.p[n] != '/' && text.p[n] != '?')
            n++;
        out->authority = (struct ebb_str){text.p, n};
        text = (struct ebb_str){text.p + n, text.n - n};
    }
    split_query(text, out);
    return true;
}
