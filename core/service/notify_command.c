/* SPDX-License-Identifier: Apache-2.0
 *
 * A notice as a program that is run: no shell, JSON on standard input, a small environment, a minute. What it prints is
 * bounded and told at debug level only.
 */
#include "engine/mask.h"
#include "service/notify_priv.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define OUTPUT_WAIT_MS 1000 /* for what its children may still hold open */
#define OUTPUT_MAX 2048
#define ENV_MAX 8

struct ebb__notify_command {
    struct ebb__notify_item *item;
    uv_process_t process;
    uv_pipe_t in, out, err;
    uv_timer_t timer;
    uv_write_t write;
    unsigned open; /* handles */
    bool is_running, is_late, is_killed;
    int64_t status;
    int signal;
    char output[OUTPUT_MAX + 1];
    size_t output_bytes;
    char scratch[4096];
};

/* Without what the configuration took for a secret: a program may print its arguments. */
static void say_output(struct ebb__notify_command *c)
{
    const struct ebb__notify_item *item = c->item;
    struct ebb_buf masked;

    ebb_buf_init(&masked, (size_t)4 * OUTPUT_MAX);
    c->output[c->output_bytes] = '\0';
    if (!ebb_mask_text(&item->target->secrets, c->output, &masked, NULL))
        ebb_log_say(&item->notify->log, EBB_LOG_DEBUG, "notice: %s: says %s", item->target->label,
                    ebb_buf_cstr(&masked));
    ebb_buf_fini(&masked);
}

static void tell_end(struct ebb__notify_command *c)
{
    struct ebb__notify_item *item = c->item;
    const char *label = item->target->label;

    if (c->output_bytes)
        say_output(c);
    item->err = (struct ebb_err){0};
    if (c->is_late)
        ebb_err_set(&item->err, EBB_EIO, "%s: took longer than %u ms", label, item->notify->command_ms);
    else if (c->is_killed)
        ebb_err_set(&item->err, EBB_ECANCELLED, "%s: cancelled", label);
    else if (c->signal)
        ebb_err_set(&item->err, EBB_EIO, "%s: ended by signal %d", label, c->signal);
    else if (c->status)
        ebb_err_set(&item->err, EBB_EIO, "%s: exit status %d", label, (int)c->status);
}

static void handle_closed(uv_handle_t *handle)
{
    struct ebb__notify_command *c = handle->data;
    struct ebb__notify_item *item = c->item;

    if (--c->open)
        return;
    if (item) {
        item->command = NULL;
        tell_end(c);
    }
    free(c);
    if (item)
        ebb__notify_tried(item);
}

static void close_one(void *handle)
{
    if (!uv_is_closing(handle))
        uv_close(handle, handle_closed);
}

static void close_all(struct ebb__notify_command *c)
{
    close_one(&c->process);
    close_one(&c->in);
    close_one(&c->out);
    close_one(&c->err);
    close_one(&c->timer);
}

/* The program leads a group of its own: its children end with it. */
static void kill_all(struct ebb__notify_command *c)
{
    if (!c->is_running)
        return;
    kill(-c->process.pid, SIGKILL);
    uv_process_kill(&c->process, SIGKILL);
}

void ebb__notify_command_kill(struct ebb__notify_command *c)
{
    c->is_killed = true;
    kill_all(c);
}

static void timed(uv_timer_t *timer)
{
    struct ebb__notify_command *c = timer->data;

    if (!c->is_running) {
        close_all(c);
        return;
    }
    c->is_late = true;
    kill_all(c);
}

static bool is_ended(const uv_pipe_t *pipe)
{
    return uv_is_closing((const uv_handle_t *)pipe);
}

static void exited(uv_process_t *process, int64_t status, int signal)
{
    struct ebb__notify_command *c = process->data;

    c->is_running = false;
    c->status = status;
    c->signal = signal;
    if (is_ended(&c->out) && is_ended(&c->err))
        close_all(c);
    else
        uv_timer_start(&c->timer, timed, OUTPUT_WAIT_MS, 0);
}

static void give_room(uv_handle_t *handle, size_t wanted, uv_buf_t *buf)
{
    struct ebb__notify_command *c = handle->data;

    (void)wanted;
    *buf = uv_buf_init(c->scratch, sizeof c->scratch);
}

static void was_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct ebb__notify_command *c = stream->data;
    size_t room = OUTPUT_MAX - c->output_bytes, take = n > 0 ? (size_t)n : 0;

    if (take > room)
        take = room;
    memcpy(c->output + c->output_bytes, buf->base ? buf->base : "", take);
    c->output_bytes += take;
    if (n >= 0)
        return;
    close_one(stream);
    if (!c->is_running && is_ended(&c->out) && is_ended(&c->err))
        close_all(c);
}

static void was_written(uv_write_t *write, int status)
{
    struct ebb__notify_command *c = write->data;

    (void)status; /* it need not read */
    close_one(&c->in);
}

static void make_env(char *env[ENV_MAX], char *texts[ENV_MAX])
{
    static const char *const names[] = {"PATH", "HOME", "USER", "LANG", "TZ", NULL};
    size_t n = 0;

    for (size_t i = 0; names[i]; i++) {
        const char *value = getenv(names[i]);
        struct ebb_buf b;

        if (!value)
            continue;
        ebb_buf_init(&b, 65536);
        ebb_buf_printf(&b, "%s=%s", names[i], value);
        texts[n] = ebb_buf_take(&b);
        ebb_buf_fini(&b);
        if (texts[n])
            n++;
    }
    texts[n] = NULL;
    memcpy(env, texts, ENV_MAX * sizeof *env);
}

static int spawn(struct ebb__notify_command *c, char **args)
{
    char *env[ENV_MAX] = {0}, *texts[ENV_MAX] = {0};
    uv_stdio_container_t stdio[3] = {
        {.flags = UV_CREATE_PIPE | UV_READABLE_PIPE, .data.stream = (uv_stream_t *)&c->in},
        {.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&c->out},
        {.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&c->err},
    };
    uv_process_options_t options = {.exit_cb = exited,
                                    .file = args[0],
                                    .args = args,
                                    .env = env,
                                    .cwd = "/",
                                    .flags = UV_PROCESS_DETACHED,
                                    .stdio_count = 3,
                                    .stdio = stdio};
    int rc;

    make_env(env, texts);
    rc = uv_spawn(c->item->notify->loop, &c->process, &options);
    for (size_t i = 0; i < ENV_MAX; i++)
        free(texts[i]);
    return rc;
}

static void init_handles(struct ebb__notify_command *c, uv_loop_t *loop)
{
    uv_pipe_init(loop, &c->in, 0);
    uv_pipe_init(loop, &c->out, 0);
    uv_pipe_init(loop, &c->err, 0);
    uv_timer_init(loop, &c->timer);
    c->process.data = c->in.data = c->out.data = c->err.data = c->timer.data = c->write.data = c;
    c->open = 5;
}

static void begin(struct ebb__notify_command *c)
{
    struct ebb__notify_item *item = c->item;
    uv_buf_t payload = uv_buf_init(item->payload, (unsigned)strlen(item->payload));

    item->command = c;
    c->is_running = true;
    uv_timer_start(&c->timer, timed, item->notify->command_ms, 0);
    if (uv_write(&c->write, (uv_stream_t *)&c->in, &payload, 1, was_written))
        close_one(&c->in);
    uv_read_start((uv_stream_t *)&c->out, give_room, was_read);
    uv_read_start((uv_stream_t *)&c->err, give_room, was_read);
}

int ebb__notify_command_start(struct ebb__notify_item *item, struct ebb_err *err)
{
    const struct ebb_strs *command = &item->target->command;
    struct ebb__notify_command *c = calloc(1, sizeof *c);
    char **args = calloc(command->count + 1, sizeof *args);
    int rc;

    if (!c || !args) {
        free(c);
        free(args);
        return ebb_err_nomem(err);
    }
    c->item = item;
    init_handles(c, item->notify->loop);
    memcpy(args, command->items, command->count * sizeof *args);
    rc = spawn(c, args);
    free(args);
    if (!rc) {
        begin(c);
        return 0;
    }
    c->item = NULL; /* nobody is told later */
    close_all(c);
    return ebb_err_set(err, EBB_EIO, "%s: %s", item->target->label, uv_strerror(rc));
}
