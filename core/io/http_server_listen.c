/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/http_server_priv.h"

enum { BACKLOG = 512 };

static int parse_address(const char *text, struct sockaddr_in6 *out, socklen_t *n, struct ebb_err *err)
{
    struct ebb_http_authority a;
    int rc;

    memset(out, 0, sizeof *out);
    if (!ebb_http_authority_parse(ebb_str_of(text), 0, &a) || a.port < 0)
        return ebb_err_set(err, EBB_EUSAGE, "address \"%s\": is not like 127.0.0.1:8490 or [::1]:8490", text);
    if (text[0] == '[') {
        *n = sizeof(struct sockaddr_in6);
        rc = uv_ip6_addr(a.host, a.port, out);
    } else {
        *n = sizeof(struct sockaddr_in);
        rc = uv_ip4_addr(strcmp(a.host, "localhost") ? a.host : "127.0.0.1", a.port, (void *)out);
    }
    if (rc)
        return ebb_err_set(err, EBB_EUSAGE, "address \"%s\": names an interface by its numeric address", text);
    return 0;
}

static int bind_new(const char *text, int *fd, struct ebb_err *err)
{
    static const int on = 1;
    struct sockaddr_in6 address;
    socklen_t n = 0;
    int rc = parse_address(text, &address, &n, err);

    if (rc)
        return rc;
    *fd = socket(((struct sockaddr *)&address)->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (*fd < 0)
        return ebb_err_errno(err, errno, "address \"%s\"", text);
    setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (!bind(*fd, (struct sockaddr *)&address, n) && !listen(*fd, BACKLOG))
        return 0;
    rc = errno;
    close(*fd);
    *fd = -1;
    ebb_err_set(err, EBB_EIO, "address \"%s\": %s", text, strerror(rc));
    if (rc == EADDRINUSE)
        ebb_err_hint(err, "another process listens there; choose another address with serve.listen");
    return -EBB_EIO;
}

/* A socket of the service manager must be one that strangers can be heard on. */
static int take_over(int fd, struct ebb_err *err)
{
    int type = 0, listens = 0, flags;
    socklen_t n = sizeof type, m = sizeof listens;

    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &n) || getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &m))
        return ebb_err_set(err, EBB_EIO, "socket %d: %s", fd, strerror(errno));
    if (type != SOCK_STREAM || !listens)
        return ebb_err_set(err, EBB_EUSAGE, "socket %d: is not a listening stream socket", fd);
    flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) || fcntl(fd, F_SETFD, FD_CLOEXEC))
        return ebb_err_set(err, EBB_EIO, "socket %d: %s", fd, strerror(errno));
    return 0;
}

int ebb__httpd_listen(const struct ebb_http_server_options *options, int *fd, struct ebb_err *err)
{
    *fd = options->fd;
    return *fd >= 0 ? take_over(*fd, err) : bind_new(options->listen, fd, err);
}

int ebb_http_bound(int fd, char *text, size_t n, struct ebb_err *err)
{
    struct sockaddr_in6 address = {0};
    char host[INET6_ADDRSTRLEN] = "";
    socklen_t m = sizeof address;
    bool is_v6;

    if (getsockname(fd, (void *)&address, &m))
        return ebb_err_set(err, EBB_EIO, "socket %d: %s", fd, strerror(errno));
    is_v6 = address.sin6_family == AF_INET6;
    if (!is_v6 && address.sin6_family != AF_INET)
        return ebb_err_set(err, EBB_EUSAGE, "socket %d: is not an internet socket", fd);
    if (is_v6)
        uv_ip6_name(&address, host, sizeof host);
    else
        uv_ip4_name((void *)&address, host, sizeof host);
    snprintf(text, n, is_v6 ? "[%s]:%u" : "%s:%u", host, ntohs(address.sin6_port));
    return 0;
}
