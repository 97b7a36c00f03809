/* SPDX-License-Identifier: Apache-2.0
 *
 * The HTTP side, and the file that tells where it is.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/time.h"
#include "io/file.h"
#include "service/daemon_priv.h"

#define PLACE "daemon.json"
#define LOCAL_TOKEN "ebb-serve" /* of whoever may read the state folder: for `ebb status` and `ebb reload` */

static void arrived(void *data, const struct ebb_strs *tables)
{
    struct ebb__daemon *d = data;

    for (size_t i = 0; i < tables->count; i++) {
        struct ebb__table *t = ebb__tables_find(&d->tables, tables->items[i]);

        if (!t)
            continue;
        t->listed_ms = INT64_MIN / 2;
        ebb__tables_queue(&d->tables, t);
    }
    ebb__daemon_look(d);
}

/* Whoever can't record an event can't record a job either. */
static void not_taken(void *data, const struct ebb_err *err)
{
    ebb__daemon_store_failed(data, err);
}

static int open_intake(struct ebb__daemon *d, struct ebb_err *err)
{
    struct ebb_intake_options o;

    memset(&o, 0, sizeof o);
    o.state_dir = d->state_dir;
    o.metrics = d->metrics;
    o.arrived = arrived;
    o.failed = not_taken;
    o.data = d;
    return ebb_intake_new(&d->loop, &o, &d->intake, err);
}

static int open_api(struct ebb__daemon *d, struct ebb_err *err)
{
    struct ebb_api_options o;

    memset(&o, 0, sizeof o);
    o.pool = d->api_pool;
    o.hub = d->hub;
    o.metrics = d->metrics;
    o.intake = d->intake;
    o.serve = &d->boot->config->serve;
    o.log = d->log;
    o.clock = d->clock;
    return ebb_api_new(&d->loop, &o, &d->api, err);
}

static int open_server(struct ebb__daemon *d, struct ebb_err *err)
{
    const struct ebb_serve_config *serve = &d->boot->config->serve;
    struct ebb_http_server_options o;
    int rc;

    memset(&o, 0, sizeof o);
    o.listen = d->options->listen ? d->options->listen : serve->listen;
    o.fd = ebb__systemd_socket();
    o.cert = serve->cert;
    o.key = serve->key;
    o.hosts = &serve->hosts;
    o.handler = ebb_api_handle;
    o.problem = ebb_api_server_problem;
    o.data = d->api;
    o.log = d->log;
    rc = ebb_http_server_open(&d->loop, &o, &d->server, err);
    if (!rc)
        snprintf(d->address, sizeof d->address, "%s", ebb_http_server_address(d->server));
    return rc;
}

/* Judged is where it will really listen: a socket that was handed over counts before --listen, and that before
 * serve.listen. */
static int check_listen(struct ebb__daemon *d, struct ebb_err *err)
{
    struct ebb_serve_config serve = d->boot->config->serve;
    const char *asked = d->options->listen ? d->options->listen : serve.listen;
    int fd = ebb__systemd_socket(), rc = 0;
    char bound[64];

    snprintf(bound, sizeof bound, "%s", asked);
    if (fd >= 0)
        rc = ebb_http_bound(fd, bound, sizeof bound, err);
    serve.listen = bound;
    return rc ? rc : ebb_auth_may_listen(d->lead_store, &serve, err);
}

static int make_token(struct ebb__daemon *d, struct ebb_err *err)
{
    int rc = ebb_token_revoke(d->lead_store, LOCAL_TOKEN, err);

    if (rc == -(int)EBB_ENOT_FOUND)
        rc = 0;
    if (!rc)
        rc = check_listen(d, err);
    if (rc || strcmp(d->boot->config->serve.auth, "token") != 0)
        return rc;
    return ebb_token_create(d->lead_store, LOCAL_TOKEN, EBB_ROLE_ADMIN, ebb__now(d), 0, "ebb serve", d->token, err);
}

void ebb__token_end(struct ebb__daemon *d)
{
    struct ebb_err err;

    if (d->token[0] && ebb_token_revoke(d->lead_store, LOCAL_TOKEN, &err))
        ebb__say(&d->log, EBB_LOG_WARN, NULL, "the token of this run can't be revoked: %s", err.message);
}

static int place_path(const char *state_dir, struct ebb_buf *out, struct ebb_err *err)
{
    ebb_buf_printf(out, "%s/" PLACE, state_dir);
    return ebb_buf_check(out, PLACE, err);
}

void ebb__place_write(struct ebb__daemon *d)
{
    struct ebb_buf path, text, started;
    struct ebb_jsonw w;
    struct ebb_err err;

    ebb_buf_init(&path, 65536);
    ebb_buf_init(&text, 65536);
    ebb_buf_init(&started, 64);
    ebb_time_iso(&started, d->started_ms);
    ebb_jsonw_init(&w, &text);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kint(&w, "pid", getpid());
    ebb_jsonw_kstr(&w, "address", d->address);
    ebb_jsonw_kstr(&w, "scheme", d->boot->config->serve.cert ? "https" : "http");
    ebb_jsonw_kstr(&w, "started", ebb_buf_cstr(&started));
    if (d->token[0])
        ebb_jsonw_kstr(&w, "token", d->token);
    if (d->boot->config->serve.cert)
        ebb_jsonw_kstr(&w, "cert", d->boot->config->serve.cert);
    ebb_jsonw_end(&w, '}');
    ebb_buf_putc(&text, '\n');
    if (place_path(d->state_dir, &path, &err) ||
        ebb_file_replace(ebb_buf_cstr(&path), ebb_buf_cstr(&text), text.len, &err))
        ebb__say(&d->log, EBB_LOG_WARN, NULL, "others can't find this daemon by its state folder: %s", err.message);
    ebb_buf_fini(&path);
    ebb_buf_fini(&text);
    ebb_buf_fini(&started);
}

void ebb__place_remove(struct ebb__daemon *d)
{
    struct ebb_buf path;

    ebb_buf_init(&path, 65536);
    if (place_path(d->state_dir, &path, NULL) == 0)
        unlink(ebb_buf_cstr(&path));
    ebb_buf_fini(&path);
}

static void take_text(const struct ebb_value *map, const char *key, char *out, size_t room)
{
    const char *text = ebb_value_text_of(map, key);

    snprintf(out, room, "%s", text ? text : "");
}

int ebb_daemon_find(const char *state_dir, struct ebb_daemon_place *out, struct ebb_err *err)
{
    struct ebb_value *map = NULL;
    struct ebb_buf path, text;
    int rc;

    memset(out, 0, sizeof *out);
    ebb_buf_init(&path, 65536);
    ebb_buf_init(&text, 65536);
    rc = ebb_workspace_state_dir(state_dir, &path, err);
    if (!rc) {
        ebb_buf_puts(&path, "/" PLACE);
        rc = ebb_buf_check(&path, PLACE, err);
    }
    if (!rc)
        rc = ebb_file_read(ebb_buf_cstr(&path), &text, err);
    if (!rc)
        rc = ebb_value_of_json(ebb_buf_cstr(&path), ebb_buf_cstr(&text), text.len, NULL, &map, err);
    out->pid = ebb_value_int_of(map, "pid", 0);
    take_text(map, "address", out->address, sizeof out->address);
    take_text(map, "scheme", out->scheme, sizeof out->scheme);
    take_text(map, "token", out->token, sizeof out->token);
    take_text(map, "cert", out->cert, sizeof out->cert);
    if (rc == -(int)EBB_ENOENT || (!rc && (out->pid <= 0 || (kill((pid_t)out->pid, 0) && errno == ESRCH)))) {
        rc = ebb_err_set(err, EBB_ENOT_FOUND, "daemon: none runs with the state folder of %s", ebb_buf_cstr(&path));
        ebb_err_hint(err, "ebb serve starts one; --state names another folder");
    }
    ebb_value_free(map);
    ebb_buf_fini(&path);
    ebb_buf_fini(&text);
    return rc;
}

/* Whoever can put another file in the place of one there has all that the daemon has. */
static void warn_of_others(struct ebb__daemon *d)
{
    struct stat st;

    if (!stat(d->state_dir, &st) && (st.st_mode & (S_IWGRP | S_IWOTH)))
        ebb__say(&d->log, EBB_LOG_WARN, NULL, "%s: others may write there (mode %04o): chmod 0700", d->state_dir,
                 (unsigned)(st.st_mode & 07777));
}

int ebb__daemon_serve(struct ebb__daemon *d, struct ebb_err *err)
{
    int rc = make_token(d, err);

    warn_of_others(d);
    if (!rc)
        rc = open_intake(d, err);
    if (!rc)
        rc = open_api(d, err);
    return rc ? rc : open_server(d, err);
}
