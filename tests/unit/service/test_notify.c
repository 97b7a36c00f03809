/* SPDX-License-Identifier: Apache-2.0
 *
 * Notices over a real store, a scripted server and small programs. URLs and headers are secrets: neither log nor store
 * may have them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include "../io/scripted_server.h"
#include "engine/value.h"
#include "io/store_scope.h"
#include "service/notify.h"

#define SECRET "s3cr3t"
#define READ                                                                                                           \
    {                                                                                                                  \
        STEP_READ, NULL, 0                                                                                             \
    }
#define SEND(text)                                                                                                     \
    {                                                                                                                  \
        STEP_SEND, text, 0                                                                                             \
    }
#define END                                                                                                            \
    {                                                                                                                  \
        STEP_END, NULL, 0                                                                                              \
    }
#define AGAIN                                                                                                          \
    {                                                                                                                  \
        STEP_AGAIN, NULL, 0                                                                                            \
    }
#define DAY_MS ((int64_t)24 * 3600 * 1000)

static const struct step takes[] = {READ, SEND("HTTP/1.1 204 No Content\r\n\r\n"), AGAIN};
static const struct step denies[] = {READ, SEND("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"), AGAIN};
static const struct step stalls[] = {READ, {STEP_STALL, NULL, 0}};

struct fixture {
    uv_loop_t loop;
    char dir[64], state[100], url[200];
    struct ebb_config config;
    struct ebb_notify_config ways[3];
    struct ebb_notify_options options;
    struct ebb_http_client *client;
    struct ebb_notify *notify; /* NULL: closed */
    struct ebb_metrics *metrics;
    int64_t now_ms;
    char log[40000];
    struct scripted_server server;
    bool is_serving, is_told_closed;
    struct ebb_err err;
};

static void log_write(void *data, enum ebb_log_level level, const char *message)
{
    static const char *const names[] = {"error", "warn", "info", "debug"};
    struct fixture *f = data;
    size_t n = strlen(f->log);

    snprintf(f->log + n, sizeof f->log - n, "%s: %s\n", names[level], message);
}

static void told_closed(void *data)
{
    ((struct fixture *)data)->is_told_closed = true;
}

static void open_notify(struct fixture *f)
{
    struct ebb_http_client_options options = {.proxy = "", .log = f->options.log};

    assert_int_equal(ebb_http_client_new(&f->loop, &options, &f->client, &f->err), 0);
    f->options.client = f->client;
    assert_int_equal(ebb_notify_new(&f->loop, &f->options, &f->notify, &f->err), 0);
    f->is_told_closed = false;
}

static void client_of(void *data)
{
    struct fixture *f = data;

    ebb_http_client_close(f->client, told_closed, f);
}

static void close_notify(struct fixture *f)
{
    ebb_notify_close(f->notify, 50, client_of, f);
    uv_run(&f->loop, UV_RUN_DEFAULT);
    assert_true(f->is_told_closed);
    f->notify = NULL;
}

static void start_server(struct fixture *f, const struct step *const *scripts, size_t count)
{
    server_start(&f->server, scripts, count);
    f->is_serving = true;
    snprintf(f->url, sizeof f->url, "http://u:" SECRET "@127.0.0.1:%d/" SECRET "?k=" SECRET, f->server.port);
}
#define SERVE(f, ...)                                                                                                  \
    const struct step *const scripts[] = {__VA_ARGS__};                                                                \
    start_server(f, scripts, sizeof scripts / sizeof *scripts)

static void stop_server(struct fixture *f)
{
    if (f->is_serving)
        server_stop(&f->server);
    f->is_serving = false;
}

static void add(struct ebb_strs *list, const char *text)
{
    assert_int_equal(ebb_strs_add(list, text, NULL), 0);
}

static struct ebb_notify_config *add_way(struct fixture *f)
{
    return &f->ways[f->config.serve.notify_count++];
}

static struct ebb_notify_config *add_webhook(struct fixture *f)
{
    struct ebb_notify_config *way = add_way(f);

    way->url = f->url;
    add(&way->headers, "Authorization: Bearer " SECRET);
    return way;
}

/* A script of the shell's, but run by itself: notices know no shell. */
static void add_command(struct fixture *f, const char *script)
{
    struct ebb_notify_config *way = add_way(f);
    char path[200], text[2000];
    int fd, n;

    snprintf(path, sizeof path, "%s/tell", f->dir);
    n = snprintf(text, sizeof text, "#!/bin/sh\ncd %s\n%s\n", f->dir, script);
    fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0700);
    assert_int_equal(write(fd, text, (size_t)n), n);
    close(fd);
    add(&way->command, path);
    add(&way->command, "one word");
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    alarm(120);
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(uv_loop_init(&f->loop), 0);
    snprintf(f->dir, sizeof f->dir, "/tmp/ebb-notify-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    snprintf(f->state, sizeof f->state, "%s/state", f->dir);
    f->now_ms = 1782000000000;
    f->config.serve.notify = f->ways;
    assert_int_equal(ebb_metrics_new(&f->metrics, NULL), 0);
    f->options = (struct ebb_notify_options){.config = &f->config,
                                             .state_dir = f->state,
                                             .metrics = f->metrics,
                                             .log = {log_write, f, EBB_LOG_DEBUG},
                                             .clock = ebb_clock_fixed(&f->now_ms),
                                             .first_wait_ms = 20};
    *state = f;
    return 0;
}

static void expect_no_secret_in(const char *path)
{
    struct ebb_buf bytes;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;

    if (fd < 0)
        return;
    assert_int_equal(fstat(fd, &st), 0);
    ebb_buf_init(&bytes, 100 << 20);
    if (st.st_size && read(fd, ebb_buf_reserve(&bytes, (size_t)st.st_size), (size_t)st.st_size) == st.st_size)
        assert_null(memmem(bytes.data, (size_t)st.st_size, SECRET, strlen(SECRET)));
    close(fd);
    ebb_buf_fini(&bytes);
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    char command[200];

    if (f->notify)
        close_notify(f);
    uv_run(&f->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&f->loop), 0);
    stop_server(f);
    assert_null(strstr(f->log, SECRET));
    snprintf(command, sizeof command, "%s/ebb.db", f->state);
    expect_no_secret_in(command);
    snprintf(command, sizeof command, "%s/ebb.db-wal", f->state);
    expect_no_secret_in(command);
    for (size_t i = 0; i < f->config.serve.notify_count; i++) {
        ebb_strs_fini(&f->ways[i].command);
        ebb_strs_fini(&f->ways[i].headers);
        ebb_strs_fini(&f->ways[i].on);
    }
    ebb_metrics_free(f->metrics);
    assert_int_equal(chdir("/"), 0);
    for (const char *const *name =
             (const char *const[]){"state/ebb.db", "state/ebb.db-wal", "state/ebb.db-shm", "state/ebb.db.lock", "tell",
                                   "got", "env", "args", "pid", "count", "state", NULL};
         *name; name++) {
        snprintf(command, sizeof command, "%s/%s", f->dir, *name);
        remove(command);
    }
    assert_int_equal(rmdir(f->dir), 0);
    free(f);
    return 0;
}

static void tell(struct fixture *f, const char *kind, const char *key)
{
    struct ebb_notice notice = {.kind = kind,
                                .key = key,
                                .policy = "weekly",
                                .table = "lake.sales.orders",
                                .id = "p-1",
                                .message = "the plan is held: \"too many\" files",
                                .hint = "ebb show p-1",
                                .at_ms = 1782000000000};

    ebb_notify_tell(f->notify, &notice);
}

static double counted(struct fixture *f, const char *result)
{
    char name[100];
    struct ebb_buf b;
    const char *at;
    double value;

    snprintf(name, sizeof name, "\nebb_notices_total{result=\"%s\"} ", result);
    ebb_buf_init(&b, 1 << 20);
    assert_int_equal(ebb_metrics_write(f->metrics, &b, NULL), 0);
    at = strstr(ebb_buf_cstr(&b), name);
    value = at ? strtod(at + strlen(name), NULL) : 0;
    ebb_buf_fini(&b);
    return value;
}

static void wait_for(struct fixture *f, const char *result, double count)
{
    while (counted(f, result) < count)
        uv_run(&f->loop, UV_RUN_ONCE);
}

/* ---- what the store says ---- */

struct stored {
    int count, waiting, told, given_up;
    int64_t tries;
};

static int see(void *data, const char *key, const char *json, struct ebb_err *err)
{
    struct stored *s = data;
    struct ebb_value *value;
    const char *state;

    (void)err;
    assert_int_equal(strlen(key), 32);
    assert_int_equal(ebb_value_of_json("notice", json, strlen(json), NULL, &value, NULL), 0);
    state = ebb_value_text_of(value, "state");
    s->count++;
    s->waiting += !strcmp(state, "waiting");
    s->told += !strcmp(state, "told");
    s->given_up += !strcmp(state, "given-up");
    s->tries += ebb_value_int_of(value, "tries", 0);
    assert_int_equal(ebb_value_get(value, "notice") != NULL, !strcmp(state, "waiting"));
    ebb_value_free(value);
    return 0;
}

/* Closes the notices first. */
static struct stored stored(struct fixture *f)
{
    struct stored s = {0};
    struct ebb_store *store;

    if (f->notify)
        close_notify(f);
    assert_int_equal(ebb_store_open(f->state, &store, &f->err), 0);
    assert_int_equal(ebb_store_list_values(store, "notice", see, &s, &f->err), 0);
    ebb_store_close(store);
    return s;
}

/* ---- webhooks ---- */

static void test_webhook(void **state)
{
    struct fixture *f = *state;
    struct stored s;
    char host[256] = "", line[400];

    SERVE(f, takes);
    add_webhook(f);
    open_notify(f);
    tell(f, "held", "held p-1");
    wait_for(f, "told", 1);
    gethostname(host, sizeof host - 1);
    snprintf(line, sizeof line,
             "\r\n\r\n{\"kind\":\"held\",\"policy\":\"weekly\",\"table\":\"lake.sales.orders\",\"id\":\"p-1\","
             "\"message\":\"the plan is held: \\\"too many\\\" files\",\"hint\":\"ebb show p-1\","
             "\"at\":\"2026-06-21T00:00:00Z\",\"host\":\"%s\",\"key\":\"held p-1\"}",
             host);
    assert_true(server_saw(&f->server, line));
    assert_true(server_saw(&f->server, "POST /" SECRET "?k=" SECRET));
    assert_true(server_saw(&f->server, "\r\nContent-Type: application/json\r\n"));
    assert_true(server_saw(&f->server, "\r\nAuthorization: Bearer " SECRET "\r\n"));
    assert_true(server_saw(&f->server, "\r\nIdempotency-Key: "));
    s = stored(f);
    assert_int_equal(s.count, 1);
    assert_int_equal(s.told, 1);
}

static void test_told_once(void **state)
{
    struct fixture *f = *state;

    SERVE(f, takes);
    add_webhook(f);
    open_notify(f);
    tell(f, "held", "held p-1");
    tell(f, "held", "held p-1");
    wait_for(f, "told", 1);
    tell(f, "held", "held p-1");
    tell(f, "refused", "held p-1"); /* another matter */
    tell(f, "held", "held p-2");
    wait_for(f, "told", 3);
    wait_for(f, "duplicate", 2);
    close_notify(f);
    open_notify(f);
    tell(f, "held", "held p-1");
    wait_for(f, "duplicate", 3);
    close_notify(f);
    assert_int_equal(f->server.requests, 3);
}

static void test_kinds(void **state)
{
    static const struct step *const scripts[] = {takes};
    struct fixture *f = *state;
    struct ebb_notify_config *way;

    start_server(f, scripts, 1);
    way = add_webhook(f);
    add(&way->on, "held");
    add(&way->on, "purge-due");
    open_notify(f);
    tell(f, "failed", "failed job-1");
    tell(f, "purge-due", "purge-due r-1");
    wait_for(f, "told", 1);
    assert_true(server_saw(&f->server, "\"kind\":\"purge-due\""));
    close_notify(f);
    assert_int_equal(f->server.requests, 1);
}

static void test_nowhere(void **state)
{
    struct fixture *f = *state;

    open_notify(f);
    tell(f, "held", "held p-1");
    assert_int_equal(stored(f).count, 0);
}

static void test_busy_server(void **state)
{
    static const struct step busy[] = {READ, SEND("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"),
                                       READ, SEND("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"),
                                       READ, SEND("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"),
                                       READ, SEND("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
                                       END};
    struct fixture *f = *state;

    SERVE(f, busy);
    add_webhook(f);
    open_notify(f);
    tell(f, "held", "held p-1");
    wait_for(f, "told", 1);
    assert_int_equal(f->server.requests, 4);
    assert_true(counted(f, "failed") == 0); /* the client itself repeats */
}

static void test_tried_again(void **state)
{
    static const struct step denies_twice[] = {READ, SEND("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n"), END};
    struct fixture *f = *state;
    struct stored s;

    SERVE(f, denies_twice, denies_twice, takes);
    add_webhook(f);
    open_notify(f);
    tell(f, "held", "held p-1");
    wait_for(f, "told", 1);
    assert_true(counted(f, "failed") == 2);
    assert_non_null(strstr(f->log, "warn: notice: held not told: 127.0.0.1:"));
    assert_non_null(strstr(f->log, "status 403"));
    s = stored(f);
    assert_int_equal(s.told, 1);
    assert_int_equal(s.tries, 3);
}

static void take_key(struct fixture *f, char key[64])
{
    const char *at;

    pthread_mutex_lock(&f->server.mutex);
    at = strstr(f->server.last, "Idempotency-Key: ");
    snprintf(key, 64, "%.32s", at ? at + 17 : "none");
    pthread_mutex_unlock(&f->server.mutex);
}

static void test_told_after_a_restart(void **state)
{
    struct fixture *f = *state;
    char key[64], again[64];

    SERVE(f, stalls, takes);
    add_webhook(f);
    open_notify(f);
    tell(f, "held", "held p-1");
    while (f->server.requests < 1)
        uv_run(&f->loop, UV_RUN_ONCE);
    take_key(f, key);
    assert_int_equal(stored(f).waiting, 1);
    open_notify(f);
    wait_for(f, "told", 1); /* nobody told it again */
    take_key(f, again);
    assert_string_equal(key, again);
    assert_true(server_saw(&f->server, "\"key\":\"held p-1\""));
    assert_int_equal(stored(f).told, 1);
    assert_int_equal(f->server.requests, 2);
}

static void test_given_up(void **state)
{
    struct fixture *f = *state;
    struct stored s;

    f->options.first_wait_ms = 4;
    SERVE(f, denies);
    add_webhook(f);
    open_notify(f);
    tell(f, "held", "held p-1");
    wait_for(f, "failed", 6); /* it is not for the number of tries */
    f->now_ms += DAY_MS;
    wait_for(f, "given-up", 1);
    assert_non_null(strstr(f->log, "error: notice: held is given up after "));
    s = stored(f);
    assert_int_equal(s.given_up, 1);
    open_notify(f);
    tell(f, "held", "held p-1");
    wait_for(f, "duplicate", 1);
}

/* A step of the clock alone is no day. */
static void test_not_given_up_for_a_step_of_the_clock(void **state)
{
    struct fixture *f = *state;

    SERVE(f, denies, takes);
    add_webhook(f);
    open_notify(f);
    tell(f, "held", "held p-1");
    f->now_ms += 31 * DAY_MS;
    wait_for(f, "failed", 2);
    assert_true(counted(f, "given-up") == 0);
}

static void test_what_was_told_is_forgotten_at_last(void **state)
{
    struct fixture *f = *state;

    SERVE(f, takes);
    add_webhook(f);
    open_notify(f);
    tell(f, "held", "held p-1");
    wait_for(f, "told", 1);
    close_notify(f);
    f->now_ms += 89 * DAY_MS;
    open_notify(f);
    assert_int_equal(stored(f).count, 1);
    f->now_ms += 2 * DAY_MS;
    open_notify(f);
    assert_int_equal(stored(f).count, 0);
}

static void test_another_configuration(void **state)
{
    struct fixture *f = *state;

    f->options.first_wait_ms = 1;
    SERVE(f, denies);
    add_webhook(f);
    open_notify(f);
    tell(f, "held", "held p-1");
    wait_for(f, "failed", 2);
    f->config.serve.notify_count = 0;
    assert_int_equal(ebb_notify_configure(f->notify, &f->config, &f->err), 0);
    tell(f, "held", "held p-2");
    assert_int_equal(stored(f).waiting, 1); /* for the target that may come back */
    stop_server(f);
    f->config.serve.notify_count = 1;
    open_notify(f);
    wait_for(f, "failed", 3);
}

/* A secret that was exchanged is used at the next try. */
static void test_other_headers(void **state)
{
    static const struct step denies_once[] = {READ, SEND("HTTP/1.1 401 Who\r\nContent-Length: 0\r\n\r\n"), END};
    struct fixture *f = *state;
    struct ebb_notify_config *way;

    f->options.first_wait_ms = 100;
    SERVE(f, denies_once, takes);
    way = add_webhook(f);
    open_notify(f);
    tell(f, "held", "held p-1");
    wait_for(f, "failed", 1);
    ebb_strs_fini(&way->headers);
    add(&way->headers, "Authorization: Bearer other-" SECRET);
    assert_int_equal(ebb_notify_configure(f->notify, &f->config, &f->err), 0);
    wait_for(f, "told", 1);
    assert_true(server_saw(&f->server, "\r\nAuthorization: Bearer other-" SECRET "\r\n"));
}

static void test_many_at_once(void **state)
{
    struct fixture *f = *state;
    char key[40];

    SERVE(f, takes);
    add_webhook(f);
    open_notify(f);
    for (int i = 0; i < 30; i++) {
        snprintf(key, sizeof key, "held p-%d", i);
        tell(f, "held", key);
    }
    wait_for(f, "told", 30);
    assert_in_range(f->server.most, 1, 4);
    assert_int_equal(stored(f).told, 30);
}

static void test_too_many(void **state)
{
    struct fixture *f = *state;
    char key[40];

    SERVE(f, stalls);
    add_webhook(f);
    open_notify(f);
    for (int i = 0; i < 1010; i++) {
        snprintf(key, sizeof key, "held p-%d", i);
        tell(f, "held", key);
    }
    assert_true(counted(f, "dropped") == 10);
    assert_non_null(strstr(f->log, "error: notice: too many wait"));
    assert_ptr_equal(strstr(strstr(f->log, "too many") + 1, "too many"), NULL); /* said once */
}

/* People are told even if nothing can be recorded. */
static void test_no_store(void **state)
{
    struct fixture *f = *state;

    SERVE(f, takes);
    add_webhook(f);
    f->options.state_dir = "/dev/null/state";
    open_notify(f);
    tell(f, "failed", "failed job-1");
    wait_for(f, "told", 1);
    assert_non_null(strstr(f->log, "error: notice: notices: the store cannot be opened; it is told all the same"));
}

static void test_close_at_once(void **state)
{
    struct fixture *f = *state;

    SERVE(f, takes);
    add_webhook(f);
    open_notify(f);
    tell(f, "held", "held p-1");
    assert_int_equal(stored(f).waiting, 1);
}

/* ---- commands ---- */

static char *content(struct fixture *f, const char *name)
{
    static char text[4000];
    char path[200];
    FILE *file;
    size_t n;

    snprintf(path, sizeof path, "%s/%s", f->dir, name);
    file = fopen(path, "r");
    n = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[n] = '\0';
    if (file)
        fclose(file);
    return text;
}

static void test_command(void **state)
{
    struct fixture *f = *state;
    const char *text;

    setenv("EBB_TOKEN", SECRET, 1);
    add_command(f, "cat > got; env > env; echo \"$# $1\" > args; echo said; echo more >&2");
    open_notify(f);
    tell(f, "held", "held p-1");
    wait_for(f, "told", 1);
    unsetenv("EBB_TOKEN");
    text = content(f, "got");
    assert_ptr_equal(strstr(text, "{\"kind\":\"held\",\"policy\":\"weekly\""), text);
    assert_string_equal(content(f, "args"), "1 one word\n");
    text = content(f, "env");
    assert_non_null(strstr(text, "PATH="));
    assert_null(strstr(text, "EBB_TOKEN"));
    assert_non_null(strstr(f->log, "debug: notice: tell: says "));
    assert_null(strstr(f->log, "info: notice: tell: says"));
    assert_int_equal(stored(f).told, 1);
}

static void test_command_that_fails(void **state)
{
    struct fixture *f = *state;

    add_command(f, "echo x >> count; [ $(wc -l < count) = 3 ] || exit 7");
    open_notify(f);
    tell(f, "held", "held p-1");
    wait_for(f, "told", 1);
    assert_non_null(strstr(f->log, "warn: notice: held not told: tell: exit status 7"));
    assert_string_equal(content(f, "count"), "x\nx\nx\n");
}

static void test_command_that_is_not_there(void **state)
{
    struct fixture *f = *state;

    add_command(f, "");
    f->ways[0].command.items[0][strlen(f->ways[0].command.items[0]) - 1] = 'x';
    open_notify(f);
    tell(f, "held", "held p-1");
    wait_for(f, "failed", 2);
    assert_non_null(strstr(f->log, "no such file or directory"));
}

static bool is_alive(struct fixture *f)
{
    int pid = (int)strtol(content(f, "pid"), NULL, 10);

    assert_true(pid > 1);
    return kill(pid, 0) == 0 || errno != ESRCH;
}

/* A zombie that its new parent did not collect yet is alive to kill(). */
static void expect_gone(struct fixture *f)
{
    for (int i = 0; i < 500 && is_alive(f); i++)
        usleep(10000);
    if (is_alive(f)) {
        char path[64], text[400] = "";
        FILE *file;

        snprintf(path, sizeof path, "/proc/%d/stat", (int)strtol(content(f, "pid"), NULL, 10));
        file = fopen(path, "r");
        assert_true(!file || (fgets(text, sizeof text, file) && strstr(text, ") Z ")));
        if (file)
            fclose(file);
    }
}

static void test_command_that_takes_too_long(void **state)
{
    struct fixture *f = *state;

    f->options.command_ms = 2000;
    add_command(f, "sleep 1000 & echo $! > pid; wait");
    open_notify(f);
    tell(f, "held", "held p-1");
    wait_for(f, "failed", 1);
    assert_non_null(strstr(f->log, "tell: took longer than 2000 ms"));
    expect_gone(f); /* its child too */
}

static void test_command_that_leaves_a_child(void **state)
{
    struct fixture *f = *state;

    add_command(f, "sleep 1000 & echo $! > pid; echo done");
    open_notify(f);
    tell(f, "held", "held p-1");
    wait_for(f, "told", 1); /* though its output is still held open */
    assert_true(is_alive(f));
    kill((pid_t)strtol(content(f, "pid"), NULL, 10), SIGKILL);
}

static void test_command_that_talks_much_and_reads_nothing(void **state)
{
    struct fixture *f = *state;

    add_command(f, "exec <&-; head -c 3000000 /dev/zero | tr '\\0' x; head -c 3000000 /dev/zero | tr '\\0' y >&2");
    open_notify(f);
    tell(f, "held", "held p-1");
    wait_for(f, "told", 1);
    assert_in_range(strlen(f->log), 1000, 5000);
}

static void test_close_while_a_command_runs(void **state)
{
    struct fixture *f = *state;

    add_command(f, "echo $$ > pid; exec sleep 1000");
    open_notify(f);
    tell(f, "held", "held p-1");
    while (!*content(f, "pid"))
        uv_run(&f->loop, UV_RUN_NOWAIT);
    assert_int_equal(stored(f).waiting, 1);
    expect_gone(f);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_webhook),
        CASE(test_told_once),
        CASE(test_kinds),
        CASE(test_nowhere),
        CASE(test_busy_server),
        CASE(test_tried_again),
        CASE(test_told_after_a_restart),
        CASE(test_given_up),
        CASE(test_not_given_up_for_a_step_of_the_clock),
        CASE(test_what_was_told_is_forgotten_at_last),
        CASE(test_another_configuration),
        CASE(test_other_headers),
        CASE(test_many_at_once),
        CASE(test_too_many),
        CASE(test_no_store),
        CASE(test_close_at_once),
        CASE(test_command),
        CASE(test_command_that_fails),
        CASE(test_command_that_is_not_there),
        CASE(test_command_that_takes_too_long),
        CASE(test_command_that_leaves_a_child),
        CASE(test_command_that_talks_much_and_reads_nothing),
        CASE(test_close_while_a_command_runs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
