/* SPDX-License-Identifier: Apache-2.0
 *
 * A server on loopback that does with each connection what a script says, byte for byte: for tests of clients. Scripts
 * are given one for each connection, in the order in which they come; the last one holds for all further ones.
 */
#ifndef EBB_TESTS_SCRIPTED_SERVER_H
#define EBB_TESTS_SCRIPTED_SERVER_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum step_kind {
    STEP_END,     /* close in an orderly way */
    STEP_READ,    /* a whole request */
    STEP_SEND,    /* text */
    STEP_FILL,    /* n bytes */
    STEP_TRICKLE, /* a byte each 20 ms until the peer is gone */
    STEP_STALL,   /* until the peer is gone */
    STEP_RESET,   /* close with RST */
    STEP_AGAIN    /* from the beginning; ends when the peer is gone */
};
struct step {
    enum step_kind kind;
    const char *text;
    size_t n;
};
#define CONNECTIONS_MAX 64
#define REQUEST_MAX 8192
struct connection {
    struct scripted_server *server;
    pthread_t thread;
    int fd;
    const struct step *script;
};
struct scripted_server {
    int fd, port;
    pthread_t thread;
    const struct step *const *scripts;
    size_t script_count;
    struct connection connections[CONNECTIONS_MAX];
    atomic_int count;         /* of connections */
    atomic_int requests;      /* that were read */
    atomic_int working, most; /* requests that were read and not answered */
    pthread_mutex_t mutex;
    char last[REQUEST_MAX]; /* the last request, behind the lock */
};

static inline bool has_whole_request(const char *text, size_t n)
{
    const char *end = strstr(text, "\r\n\r\n"), *length = strcasestr(text, "\r\nContent-Length:");
    size_t body = length && end && length < end ? (size_t)strtoul(length + 17, NULL, 10) : 0;

    return end && n >= (size_t)(end - text) + 4 + body;
}

static inline bool read_request(struct connection *c)
{
    char text[REQUEST_MAX];
    size_t n = 0;

    text[0] = '\0';
    while (!has_whole_request(text, n)) {
        ssize_t got = n < sizeof text - 1 ? recv(c->fd, text + n, sizeof text - 1 - n, 0) : 0;

        if (got <= 0)
            return false;
        n += (size_t)got;
        text[n] = '\0';
    }
    pthread_mutex_lock(&c->server->mutex);
    memcpy(c->server->last, text, n + 1);
    pthread_mutex_unlock(&c->server->mutex);
    atomic_fetch_add(&c->server->requests, 1);
    return true;
}

static inline bool send_all(int fd, const char *text, size_t n)
{
    while (n) {
        ssize_t sent = send(fd, text, n, MSG_NOSIGNAL);

        if (sent <= 0)
            return false;
        text += sent;
        n -= (size_t)sent;
    }
    return true;
}

static inline bool fill(int fd, size_t n)
{
    char block[4096];

    memset(block, 'x', sizeof block);
    for (; n; n -= n < sizeof block ? n : sizeof block)
        if (!send_all(fd, block, n < sizeof block ? n : sizeof block))
            return false;
    return true;
}

static inline void stall(int fd)
{
    char byte;

    while (recv(fd, &byte, 1, 0) > 0)
        ;
}

static inline void reset_connection(int fd)
{
    struct linger hard = {1, 0};

    setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
}

static inline void count_working(struct scripted_server *server)
{
    int now = atomic_fetch_add(&server->working, 1) + 1, most = atomic_load(&server->most);

    while (most < now && !atomic_compare_exchange_weak(&server->most, &most, now))
        ;
}

static inline bool do_step(struct connection *c, const struct step *step, bool *is_working)
{
    if (*is_working && step->kind != STEP_STALL) {
        atomic_fetch_sub(&c->server->working, 1);
        *is_working = false;
    }
    switch (step->kind) {
    case STEP_READ:
        if (!read_request(c))
            return false;
        count_working(c->server);
        *is_working = true;
        return true;
    case STEP_SEND:
        return send_all(c->fd, step->text, strlen(step->text));
    case STEP_FILL:
        return fill(c->fd, step->n);
    case STEP_TRICKLE:
        while (send_all(c->fd, "x", 1))
            usleep(20000);
        return false;
    case STEP_STALL:
        stall(c->fd);
        return false;
    case STEP_RESET:
        reset_connection(c->fd);
        return false;
    default:
        return false;
    }
}

static inline void *serve_connection(void *data)
{
    struct connection *c = data;
    const struct step *step = c->script;
    bool is_working = false;

    while (step->kind == STEP_AGAIN || do_step(c, step, &is_working))
        step = step->kind == STEP_AGAIN ? c->script : step + 1;
    if (is_working)
        atomic_fetch_sub(&c->server->working, 1);
    if (step->kind == STEP_END) {
        shutdown(c->fd, SHUT_WR);
        stall(c->fd);
    }
    close(c->fd);
    return NULL;
}

static inline void *serve(void *data)
{
    struct scripted_server *s = data;

    for (;;) {
        int fd = accept(s->fd, NULL, NULL), n = atomic_load(&s->count);
        struct connection *c;

        if (fd < 0 || n == CONNECTIONS_MAX)
            return NULL;
        c = &s->connections[n];
        c->server = s;
        c->fd = fd;
        c->script = s->scripts[(size_t)n < s->script_count ? (size_t)n : s->script_count - 1];
        atomic_store(&s->count, n + 1);
        if (pthread_create(&c->thread, NULL, serve_connection, c))
            abort();
    }
}

static inline void server_start(struct scripted_server *s, const struct step *const *scripts, size_t count)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t n = sizeof at;

    memset(s, 0, sizeof *s);
    s->scripts = scripts;
    s->script_count = count;
    pthread_mutex_init(&s->mutex, NULL);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s->fd < 0 || bind(s->fd, (struct sockaddr *)&at, n) || listen(s->fd, 64) ||
        getsockname(s->fd, (struct sockaddr *)&at, &n) || pthread_create(&s->thread, NULL, serve, s))
        abort();
    s->port = ntohs(at.sin_port);
}

/* When the clients are gone. */
static inline void server_stop(struct scripted_server *s)
{
    shutdown(s->fd, SHUT_RDWR);
    pthread_join(s->thread, NULL);
    close(s->fd);
    for (int i = 0; i < atomic_load(&s->count); i++)
        pthread_join(s->connections[i].thread, NULL);
    pthread_mutex_destroy(&s->mutex);
}

static inline bool server_saw(struct scripted_server *s, const char *part)
{
    bool found;

    pthread_mutex_lock(&s->mutex);
    found = strstr(s->last, part) != NULL;
    pthread_mutex_unlock(&s->mutex);
    return found;
}

#endif
