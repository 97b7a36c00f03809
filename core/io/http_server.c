/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/file.h"
#include "io/http_server_priv.h"

enum {
    CONNECTIONS = 512,
    CONNECTIONS_PER_ADDRESS = 64,
    HEADER_BYTES = 32 * 1024,
    BODY_BYTES = 8 * 1024 * 1024,
    REQUEST_MS = 30000,
    IDLE_MS = 30000,
    REQUESTS_PER_S = 1000,
    SWEEP_MS = 250,
    POOL_EXTRA = 16 * 1024,
    PEM_MAX = 1024 * 1024,
    SPINS_MAX = 64,
    SPIN_MS = 5
};

/* TLS 1.2 and 1.3, forward secrecy, authenticated ciphers. */
static const char tls_priorities[] = "SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-RSA:-CIPHER-ALL:+AES-256-GCM:"
                                     "+CHACHA20-POLY1305:+AES-128-GCM:-MAC-ALL:+AEAD:%SERVER_PRECEDENCE";

/* ---- the loop ---- */

static void finish(struct ebb_http_server *server);

static bool is_done(const struct ebb_http_server *server)
{
    return server->is_closing && !server->is_ended && !server->conns;
}

static void on_timer(uv_timer_t *timer);
static void on_poll(uv_poll_t *poll, int status, int events);

/* libmicrohttpd asks to be called at once as long as a connection has something left, also where only its peer can go
 * on, and as long as a connection waits that can't be accepted for want of descriptors; that must not keep a processor
 * busy. True after many runs right after each other that did nothing. */
static bool spins(struct ebb_http_server *server)
{
    uint64_t now = uv_now(server->loop);

    server->spins = server->has_progressed || now - server->run_ms > SPIN_MS ? 0 : server->spins + 1;
    server->run_ms = now;
    return server->spins > SPINS_MAX;
}

static void rest(struct ebb_http_server *server)
{
    server->spins = 0;
    uv_poll_stop(&server->poll);
    uv_timer_start(&server->timer, on_timer, SPIN_MS, 0);
}

static void await(struct ebb_http_server *server)
{
    MHD_UNSIGNED_LONG_LONG wait_ms;

    if (!uv_is_active((uv_handle_t *)&server->poll))
        uv_poll_start(&server->poll, UV_READABLE, on_poll);
    if (server->has_resumed)
        ebb__httpd_wake(server);
    else if (MHD_get_timeout(server->mhd, &wait_ms) == MHD_YES)
        uv_timer_start(&server->timer, on_timer, wait_ms, 0);
    else
        uv_timer_stop(&server->timer);
    if (server->conns && !uv_is_active((uv_handle_t *)&server->sweep))
        uv_timer_again(&server->sweep);
}

static void run(struct ebb_http_server *server)
{
    server->has_progressed = server->has_resumed = false;
    MHD_run(server->mhd);
    if (is_done(server))
        finish(server);
    else if (spins(server))
        rest(server);
    else
        await(server);
}

static void on_timer(uv_timer_t *timer)
{
    run(timer->data);
}

void ebb__httpd_wake(struct ebb_http_server *server)
{
    server->has_resumed = true;
    if (!server->is_ended)
        uv_timer_start(&server->timer, on_timer, 0, 0);
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    run(poll->data);
}

static void on_sweep(uv_timer_t *timer)
{
    struct ebb_http_server *server = timer->data;

    ebb__httpd_conns_sweep(server);
    if (!server->conns)
        uv_timer_stop(timer);
}

/* ---- opening ---- */

static void limits_default(struct ebb_http_limits *l)
{
    l->connections = l->connections ? l->connections : CONNECTIONS;
    l->connections_per_address = l->connections_per_address ? l->connections_per_address : CONNECTIONS_PER_ADDRESS;
    l->header_bytes = l->header_bytes ? l->header_bytes : HEADER_BYTES;
    l->body_bytes = l->body_bytes ? l->body_bytes : BODY_BYTES;
    l->request_ms = l->request_ms ? l->request_ms : REQUEST_MS;
    l->idle_ms = l->idle_ms ? l->idle_ms : IDLE_MS;
    l->requests_per_s = l->requests_per_s ? l->requests_per_s : REQUESTS_PER_S;
}

__attribute__((format(printf, 2, 0))) static void on_message(void *data, const char *format, va_list args)
{
    struct ebb_http_server *server = data;
    size_t n;

    vsnprintf(server->message, sizeof server->message, format, args);
    n = strlen(server->message);
    if (n && server->message[n - 1] == '\n')
        server->message[n - 1] = '\0';
    ebb_log_say(&server->options.log, EBB_LOG_DEBUG, "http: %s", server->message);
}

static size_t keep_uri(void *data, struct MHD_Connection *mhd, char *text)
{
    (void)data;
    (void)mhd;
    return strlen(text);
}

static struct MHD_Daemon *start(struct ebb_http_server *server, int fd, struct MHD_OptionItem *tls)
{
    const struct ebb_http_limits *limits = &server->options.limits;
    unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;

    if (server->is_tls)
        flags |= MHD_USE_TLS;
    return MHD_start_daemon(
        flags, 0, ebb__httpd_accept, server, ebb__httpd_access, server, MHD_OPTION_EXTERNAL_LOGGER, on_message, server,
        MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, limits->connections, MHD_OPTION_CONNECTION_TIMEOUT,
        (limits->idle_ms - 1) / 1000 + 1, MHD_OPTION_CONNECTION_MEMORY_LIMIT, limits->header_bytes * 2 + POOL_EXTRA,
        MHD_OPTION_URI_LOG_CALLBACK, ebb__httpd_uri, server, MHD_OPTION_UNESCAPE_CALLBACK, keep_uri, server,
        MHD_OPTION_NOTIFY_COMPLETED, ebb__httpd_notify_completed, server, MHD_OPTION_NOTIFY_CONNECTION,
        ebb__httpd_notify_connection, server, MHD_OPTION_ARRAY, tls, MHD_OPTION_END);
}

static int read_pem(const char *path, struct ebb_buf *out, struct ebb_err *err)
{
    return ebb_file_read(path, out, err) ? ebb_err_as(err, EBB_ECONFIG, NULL) : 0;
}

static void forget(struct ebb_buf *secret)
{
    if (secret->data)
        explicit_bzero(secret->data, secret->cap);
    ebb_buf_fini(secret);
}

static int start_tls(struct ebb_http_server *server, int fd, struct ebb_err *err)
{
    struct ebb_buf cert, key;
    int rc;

    ebb_buf_init(&cert, PEM_MAX);
    ebb_buf_init(&key, PEM_MAX);
    rc = read_pem(server->options.cert, &cert, err);
    if (!rc)
        rc = read_pem(server->options.key, &key, err);
    if (!rc) {
        struct MHD_OptionItem tls[] = {{MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)ebb_buf_cstr(&cert)},
                                       {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)ebb_buf_cstr(&key)},
                                       {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)tls_priorities},
                                       {MHD_OPTION_END, 0, NULL}};

        server->mhd = start(server, fd, tls);
        if (!server->mhd)
            rc = ebb_err_set(err, EBB_ECONFIG, "certificate %s with key %s: %s", server->options.cert,
                             server->options.key, server->message);
    }
    forget(&key);
    ebb_buf_fini(&cert);
    return rc;
}

static int start_plain(struct ebb_http_server *server, int fd, struct ebb_err *err)
{
    struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};

    server->mhd = start(server, fd, none);
    return server->mhd ? 0 : ebb_err_set(err, EBB_EIO, "server at %s: %s", server->address, server->message);
}

/* libmicrohttpd closes a socket on some of its failures and on others not, so it has one of its own. */
static int start_with(struct ebb_http_server *server, int fd, struct ebb_err *err)
{
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);

    if (own < 0)
        return ebb_err_errno(err, errno, "server at %s", server->address);
    return server->is_tls ? start_tls(server, own, err) : start_plain(server, own, err);
}

static int start_daemon(struct ebb_http_server *server, struct ebb_err *err)
{
    int fd, rc = ebb__httpd_listen(&server->options, &fd, err);

    if (!rc)
        rc = ebb_http_bound(fd, server->address, sizeof server->address, err);
    if (!rc)
        rc = start_with(server, fd, err);
    if (fd >= 0 && (!rc || fd != server->options.fd))
        close(fd);
    return rc;
}

static int watch(struct ebb_http_server *server, struct ebb_err *err)
{
    int fd = MHD_get_daemon_info(server->mhd, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    unsigned period = server->options.limits.request_ms / 4 + 1;
    int rc = uv_poll_init(server->loop, &server->poll, fd);

    if (rc)
        return ebb_err_set(err, EBB_EIO, "server at %s: %s", server->address, uv_strerror(rc));
    uv_timer_init(server->loop, &server->timer);
    uv_timer_init(server->loop, &server->sweep);
    uv_timer_init(server->loop, &server->grace);
    server->poll.data = server->timer.data = server->sweep.data = server->grace.data = server;
    server->open_handles = 4;
    period = period < SWEEP_MS ? period : SWEEP_MS;
    uv_timer_start(&server->sweep, on_sweep, period, period);
    run(server);
    return 0;
}

static void server_free(struct ebb_http_server *server)
{
    ebb__httpd_addresses_fini(&server->addresses);
    ebb_strs_fini(&server->hosts);
    free(server);
}

static bool is_version(const char *version, const char *wanted)
{
    return !strncmp(version, wanted, strlen(wanted));
}

int ebb_http_server_open(uv_loop_t *loop, const struct ebb_http_server_options *options, struct ebb_http_server **out,
                         struct ebb_err *err)
{
    struct ebb_http_server *server = calloc(1, sizeof *server);
    int rc = 0;

    *out = NULL;
    if (!server)
        return ebb_err_nomem(err);
    server->loop = loop;
    server->options = *options;
    server->is_tls = options->cert != NULL;
    server->is_layout_known = is_version(MHD_get_version(), "0.9.75") || is_version(MHD_get_version(), "0.9.76");
    limits_default(&server->options.limits);
    ebb__httpd_addresses_init(&server->addresses);
    ebb_strs_init(&server->hosts);
    for (size_t i = 0; !rc && options->hosts && i < options->hosts->count; i++)
        rc = ebb_strs_add(&server->hosts, options->hosts->items[i], err);
    if (!rc)
        rc = start_daemon(server, err);
    if (!rc)
        rc = watch(server, err);
    if (rc) {
        if (server->mhd)
            MHD_stop_daemon(server->mhd);
        server_free(server);
        return rc;
    }
    server->options.listen = server->options.cert = server->options.key = NULL; /* not ours */
    server->options.hosts = NULL;
    *out = server;
    return 0;
}

const char *ebb_http_server_address(const struct ebb_http_server *server)
{
    return server->address;
}

void ebb_http_server_counts(const struct ebb_http_server *server, struct ebb_http_counts *out)
{
    *out = server->counts;
}

/* ---- closing ---- */

void ebb__httpd_handle_closed(struct ebb_http_server *server)
{
    void (*closed)(void *) = server->closed;
    void *data = server->closed_data;

    if (--server->open_handles)
        return;
    server_free(server);
    if (closed)
        closed(data);
}

static void on_handle_closed(uv_handle_t *handle)
{
    ebb__httpd_handle_closed(handle->data);
}

/* Not inside of MHD_run's callbacks. */
static void finish(struct ebb_http_server *server)
{
    struct ebb__httpd_conn *next;

    if (server->is_ended)
        return;
    server->is_ended = true;
    uv_poll_stop(&server->poll);
    for (struct ebb__httpd_conn *conn = server->conns; conn; conn = next) {
        next = conn->next;
        ebb__httpd_conn_end(conn);
    }
    MHD_stop_daemon(server->mhd);
    ebb__httpd_lingers_end(server);
    uv_close((uv_handle_t *)&server->poll, on_handle_closed);
    uv_close((uv_handle_t *)&server->timer, on_handle_closed);
    uv_close((uv_handle_t *)&server->sweep, on_handle_closed);
    uv_close((uv_handle_t *)&server->grace, on_handle_closed);
}

static void on_grace(uv_timer_t *timer)
{
    finish(timer->data);
}

void ebb_http_server_close(struct ebb_http_server *server, unsigned grace_ms, void (*closed)(void *data), void *data)
{
    int fd = MHD_quiesce_daemon(server->mhd);

    server->is_closing = true;
    server->closed = closed;
    server->closed_data = data;
    if (fd >= 0)
        close(fd);
    for (struct ebb__httpd_conn *conn = server->conns; conn; conn = conn->next)
        if (!conn->x || conn->x->stage < EBB__HTTPD_HANDED)
            ebb__httpd_conn_end(conn);
    uv_timer_start(&server->grace, on_grace, grace_ms, 0);
    uv_timer_start(&server->timer, on_timer, 0, 0);
}
