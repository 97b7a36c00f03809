/* SPDX-License-Identifier: Apache-2.0
 *
 * A socket that is closed while bytes of its peer wait unread is reset, and the peer may lose the answer that explains
 * why. So a request that was refused with its body on the way keeps its socket, without libmicrohttpd, for a moment in
 * which what comes is thrown away.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/http_server_priv.h"

enum { READ_BYTES = 64 * 1024, BYTES_MAX = 16 * 1024 * 1024 };

struct ebb__httpd_linger {
    struct ebb__httpd_linger *prev, *next;
    struct ebb_http_server *server;
    uv_poll_t poll;
    uv_timer_t timer;
    unsigned open_handles;
    bool is_ending;
    int fd;
    size_t bytes;
};

static void on_closed(uv_handle_t *handle)
{
    struct ebb__httpd_linger *l = handle->data;
    struct ebb_http_server *server = l->server;

    if (--l->open_handles)
        return;
    *(l->prev ? &l->prev->next : &server->lingers) = l->next;
    if (l->next)
        l->next->prev = l->prev;
    server->linger_count--;
    close(l->fd);
    free(l);
    ebb__httpd_handle_closed(server);
}

static void end(struct ebb__httpd_linger *l)
{
    if (l->is_ending)
        return;
    l->is_ending = true;
    uv_close((uv_handle_t *)&l->poll, on_closed);
    uv_close((uv_handle_t *)&l->timer, on_closed);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    struct ebb__httpd_linger *l = poll->data;
    char bytes[READ_BYTES];
    ssize_t got = recv(l->fd, bytes, sizeof bytes, MSG_DONTWAIT);

    (void)events;
    if (got > 0)
        l->bytes += (size_t)got;
    if (status || !got || l->bytes > BYTES_MAX || (got < 0 && errno != EAGAIN && errno != EINTR))
        end(l);
}

static void on_timer(uv_timer_t *timer)
{
    end(timer->data);
}

static struct ebb__httpd_linger *linger_new(struct ebb_http_server *server, int fd)
{
    struct ebb__httpd_linger *l = calloc(1, sizeof *l);

    if (!l)
        return NULL;
    l->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    l->server = server;
    l->poll.data = l->timer.data = l;
    if (l->fd < 0 || uv_poll_init(server->loop, &l->poll, l->fd)) {
        if (l->fd >= 0)
            close(l->fd);
        free(l);
        return NULL;
    }
    uv_timer_init(server->loop, &l->timer);
    l->open_handles = 2;
    return l;
}

void ebb__httpd_linger_start(struct ebb_http_server *server, int fd)
{
    struct ebb__httpd_linger *l;

    if (server->is_ended || server->linger_count >= EBB__HTTPD_LINGERS_MAX)
        return;
    l = linger_new(server, fd);
    if (!l)
        return;
    l->next = server->lingers;
    if (l->next)
        l->next->prev = l;
    server->lingers = l;
    server->linger_count++;
    server->open_handles++;
    shutdown(l->fd, SHUT_WR);
    if (uv_poll_start(&l->poll, UV_READABLE, on_readable) ||
        uv_timer_start(&l->timer, on_timer, EBB__HTTPD_LINGER_MS, 0))
        end(l);
}

void ebb__httpd_lingers_end(struct ebb_http_server *server)
{
    for (struct ebb__httpd_linger *l = server->lingers; l; l = l->next)
        end(l);
}
