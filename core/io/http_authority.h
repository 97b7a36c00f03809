/* SPDX-License-Identifier: Apache-2.0
 *
 * What a request says about where it goes and where it comes from: Host, Origin and the request's target, taken apart
 * strictly (RFC 9112 section 3, RFC 3986, RFC 6454). Pure functions over hostile text.
 */
#ifndef EBB_IO_HTTP_AUTHORITY_H
#define EBB_IO_HTTP_AUTHORITY_H

#include "base/buf.h"

#define EBB_HTTP_HOST_MAX 255

struct ebb_http_authority {
    char host[EBB_HTTP_HOST_MAX + 1]; /* lower case; an IPv6 address without brackets, in its canonical form */
    int port;                         /* -1: none, or the scheme's own */
};

/* "host", "host:port", "[address]:port". False when it is anything else: user information, an empty host or port,
 * characters that no name has. A port that equals default_port counts as none; 0: no port does. */
bool ebb_http_authority_parse(struct ebb_str text, int default_port, struct ebb_http_authority *out);
bool ebb_http_authority_is_equal(const struct ebb_http_authority *a, const struct ebb_http_authority *b);
/* The value of an Origin header, "https://host:port". False for "null", other schemes, and anything after the
 * authority. */
bool ebb_http_origin_parse(struct ebb_str text, struct ebb_http_authority *out);
/* Whether one of the names ("host", "[address]", each also with a port, which must be the same then) is a's. */
bool ebb_http_hosts_have(const struct ebb_strs *hosts, const struct ebb_http_authority *a);

/* A request's target, borrowed from its text. */
struct ebb_http_target {
    struct ebb_str authority; /* of an absolute target, else p is NULL */
    bool is_tls;              /* an absolute target's scheme is https */
    struct ebb_str path;      /* "/" at least; "*" as it is */
    struct ebb_str query;     /* without '?'; empty when there is none */
};
/* "/path?query", "http://authority/path?query" or "*". False for every other form, for characters that are not
 * printable ASCII, '#', a '%' without two hexadecimal digits, and "%00". */
bool ebb_http_target_parse(struct ebb_str text, struct ebb_http_target *out);

#endif
