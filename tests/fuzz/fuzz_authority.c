/* SPDX-License-Identifier: Apache-2.0
 *
 * Host, Origin and targets from hostile bytes: what is taken is made of safe characters, stays what it is when it is
 * taken apart again, and no Origin is taken whose authority a Host could not be.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/http_authority.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_host(const char *host)
{
    require(host[0] != '\0' && strlen(host) <= EBB_HTTP_HOST_MAX);
    require(strspn(host, "abcdefghijklmnopqrstuvwxyz0123456789-._:") == strlen(host));
}

static void check_authority(struct ebb_str text)
{
    struct ebb_http_authority a, again;
    char written[EBB_HTTP_HOST_MAX + 16];
    bool is_v6;

    if (!ebb_http_authority_parse(text, 80, &a))
        return;
    check_host(a.host);
    require(a.port >= -1 && a.port <= 65535 && a.port != 80);
    is_v6 = strchr(a.host, ':') != NULL;
    if (a.port < 0)
        snprintf(written, sizeof written, is_v6 ? "[%s]" : "%s", a.host);
    else
        snprintf(written, sizeof written, is_v6 ? "[%s]:%d" : "%s:%d", a.host, a.port);
    require(ebb_http_authority_parse(ebb_str_of(written), 80, &again));
    require(ebb_http_authority_is_equal(&a, &again));
}

static void check_origin(struct ebb_str text)
{
    struct ebb_http_authority origin, host;
    const char *slashes;

    if (!ebb_http_origin_parse(text, &origin))
        return;
    slashes = memchr(text.p, '/', text.n);
    require(slashes != NULL);
    text.n -= (size_t)(slashes + 2 - text.p);
    text.p = slashes + 2;
    require(ebb_http_authority_parse(text, 0, &host) && !strcmp(host.host, origin.host));
}

static void check_target(struct ebb_str text)
{
    struct ebb_http_target t;

    if (!ebb_http_target_parse(text, &t))
        return;
    require(t.path.n > 0 && (t.path.p[0] == '/' || (t.path.n == 1 && t.path.p[0] == '*')));
    require(!memchr(t.path.p, '?', t.path.n));
    for (size_t i = 0; i < t.path.n; i++)
        require(t.path.p[i] > ' ' && t.path.p[i] < 0x7f && t.path.p[i] != '#');
    for (size_t i = 0; i < t.query.n; i++)
        require(t.query.p[i] > ' ' && t.query.p[i] < 0x7f && t.query.p[i] != '#');
    if (t.authority.p)
        check_authority(t.authority);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size ? size : 1);

    require(text != NULL);
    if (size)
        memcpy(text, data, size);
    check_authority((struct ebb_str){text, size});
    check_origin((struct ebb_str){text, size});
    check_target((struct ebb_str){text, size});
    free(text);
    return 0;
}
