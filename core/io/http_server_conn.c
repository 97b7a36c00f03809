/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "io/http_server_priv.h"

void ebb__httpd_address_text(const struct sockaddr *sa, char text[INET6_ADDRSTRLEN])
{
    const struct sockaddr_in *v4 = (const void *)sa;
    const struct sockaddr_in6 *v6 = (const void *)sa;

    text[0] = '\0';
    if (sa->sa_family == AF_INET)
        inet_ntop(AF_INET, &v4->sin_addr, text, INET6_ADDRSTRLEN);
    else if (sa->sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr))
        inet_ntop(AF_INET, v6->sin6_addr.s6_addr + 12, text, INET6_ADDRSTRLEN);
    else if (sa->sa_family == AF_INET6)
        inet_ntop(AF_INET6, &v6->sin6_addr, text, INET6_ADDRSTRLEN);
}

static bool is_loopback(const char *text)
{
    return strncmp(text, "127.", 4) == 0 || strcmp(text, "::1") == 0;
}

enum MHD_Result ebb__httpd_accept(void *data, const struct sockaddr *sa, socklen_t n)
{
    struct ebb_http_server *server = data;
    const struct ebb_http_limits *limits = &server->options.limits;
    struct ebb__httpd_address *from;

    (void)n;
    server->has_progressed = true;
    from = ebb__httpd_address_get(&server->addresses, sa, limits->requests_per_s, uv_now(server->loop));
    if (from && !server->is_closing && from->connections < limits->connections_per_address)
        return MHD_YES;
    server->counts.refused++;
    return MHD_NO;
}

static struct ebb__httpd_conn *conn_new(struct ebb_http_server *server, struct MHD_Connection *mhd)
{
    const struct sockaddr *sa = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr;
    struct ebb__httpd_conn *conn = calloc(1, sizeof *conn);
    struct sockaddr_in6 local = {0};
    socklen_t n = sizeof local;

    if (!conn)
        return NULL;
    conn->server = server;
    conn->fd = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    conn->from =
        ebb__httpd_address_get(&server->addresses, sa, server->options.limits.requests_per_s, uv_now(server->loop));
    if (!conn->from) {
        free(conn);
        return NULL;
    }
    ebb__httpd_address_text(sa, conn->peer);
    conn->is_loopback = is_loopback(conn->peer);
    if (!getsockname(conn->fd, (void *)&local, &n))
        ebb__httpd_address_text((const void *)&local, conn->local);
    return conn;
}

static void begin(struct ebb_http_server *server, struct MHD_Connection *mhd, void **context)
{
    struct ebb__httpd_conn *conn = conn_new(server, mhd);
    static const int on = 1;

    *context = conn;
    if (!conn) {
        shutdown(MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd, SHUT_RDWR);
        return;
    }
    setsockopt(conn->fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    conn->deadline_ms = uv_now(server->loop) + server->options.limits.request_ms;
    conn->from->connections++;
    conn->next = server->conns;
    if (conn->next)
        conn->next->prev = conn;
    server->conns = conn;
    server->counts.connections++;
    server->counts.connections_open++;
}

static void end(struct ebb_http_server *server, struct ebb__httpd_conn *conn)
{
    if (conn->lingers)
        ebb__httpd_linger_start(server, conn->fd);
    conn->from->connections--;
    *(conn->prev ? &conn->prev->next : &server->conns) = conn->next;
    if (conn->next)
        conn->next->prev = conn->prev;
    server->counts.connections_open--;
    free(conn);
    ebb__httpd_wake(server); /* at a limit libmicrohttpd listens again only when it runs again */
}

void ebb__httpd_notify_connection(void *data, struct MHD_Connection *mhd, void **context,
                                  enum MHD_ConnectionNotificationCode code)
{
    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        begin(data, mhd, context);
    else if (*context)
        end(data, *context);
}

void ebb__httpd_conn_end(struct ebb__httpd_conn *conn)
{
    if (conn->x) {
        conn->x->is_broken = true;
        ebb__httpd_resume(conn->x);
    }
    shutdown(conn->fd, SHUT_RDWR);
}

/* libmicrohttpd does not look at the socket of a stream that has nothing to say just now, and where the end of what a
 * peer says came together with its last bytes, it does not see that end. */
static bool is_gone(const struct ebb__httpd_conn *conn)
{
    struct pollfd p = {conn->fd, 0, 0};
    char byte;

    if (!conn->x || conn->x->stage < EBB__HTTPD_HANDED)
        return recv(conn->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
    return conn->x->is_stream && conn->x->is_suspended && poll(&p, 1, 0) == 1 && (p.revents & (POLLERR | POLLHUP));
}

void ebb__httpd_conns_sweep(struct ebb_http_server *server)
{
    uint64_t now = uv_now(server->loop);

    for (struct ebb__httpd_conn *conn = server->conns; conn; conn = conn->next)
        if ((conn->deadline_ms && conn->deadline_ms <= now) || is_gone(conn))
            ebb__httpd_conn_end(conn);
}
