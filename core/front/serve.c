/* SPDX-License-Identifier: Apache-2.0
 *
 * ebb serve: the daemon. Its log goes to standard error, one line each.
 */
#include <stdio.h>
#include <string.h>

#include "base/time.h"
#include "front/cli.h"
#include "front/commands.h"
#include "service/daemon.h"

static const struct ebb_option OPTIONS[] = {
    {"listen", 0, "ADDRESS", NULL, false, "address and port, instead of serve.listen"},
    {"log-format", 0, "FORMAT", "text|json", false, "lines of the log (default text)"},
    {"log-level", 0, "LEVEL", "error|warn|info|debug", false, "least level that is logged (default info)"},
    EBB_OPTIONS_END,
};

static const struct ebb_example EXAMPLES[] = {
    {"ebb serve", "run with ./ebb.lua until SIGTERM"},
    {"ebb serve --listen 127.0.0.1:9000 --log-format json", "another port, a log for machines"},
    {NULL, NULL},
};

static const char *const LEVELS[] = {"error", "warn", "info", "debug"};

struct field {
    const char *name, *text;
};

static void fields_of(const struct ebb_daemon_line *line, struct field out[4])
{
    out[0] = (struct field){"job", line->job};
    out[1] = (struct field){"run", line->run};
    out[2] = (struct field){"policy", line->policy};
    out[3] = (struct field){"table", line->table};
}

static void make_json(const struct ebb_daemon_line *line, const char *now, struct ebb_buf *out)
{
    struct field fields[4];
    struct ebb_jsonw w;

    fields_of(line, fields);
    ebb_jsonw_init(&w, out);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kstr(&w, "ts", now);
    ebb_jsonw_kstr(&w, "level", LEVELS[line->level]);
    ebb_jsonw_kstr(&w, "msg", line->message);
    for (size_t i = 0; i < 4; i++)
        if (fields[i].text)
            ebb_jsonw_kstr(&w, fields[i].name, fields[i].text);
    ebb_jsonw_end(&w, '}');
}

static void make_text(const struct ebb_daemon_line *line, const char *now, struct ebb_buf *out)
{
    struct field fields[4];

    fields_of(line, fields);
    ebb_buf_printf(out, "%s %-5s %s", now, LEVELS[line->level], line->message);
    for (size_t i = 0; i < 4; i++)
        if (fields[i].text) {
            ebb_buf_printf(out, " %s=", fields[i].name);
            ebb_text_escape(out, fields[i].text, strlen(fields[i].text));
        }
}

/* Called by many threads: a line is one write. */
static void write_line(void *data, const struct ebb_daemon_line *line)
{
    const bool *is_json = data;
    struct ebb_clock clock = ebb_clock_system();
    struct ebb_buf text, now;

    ebb_buf_init(&text, 65536);
    ebb_buf_init(&now, 64);
    ebb_time_iso(&now, ebb_clock_now(&clock));
    if (*is_json)
        make_json(line, ebb_buf_cstr(&now), &text);
    else
        make_text(line, ebb_buf_cstr(&now), &text);
    ebb_buf_putc(&text, '\n');
    if (!text.bad)
        fwrite(text.data, 1, text.len, stderr);
    ebb_buf_fini(&text);
    ebb_buf_fini(&now);
}

static int run(struct ebb_cli *cli, struct ebb_err *err)
{
    bool is_json = ebb_args_choice(&cli->args, "log-format", 0) == 1;
    struct ebb_daemon_options o;
    const char *listen = ebb_args_get(&cli->args, "listen");

    if (listen && ebb_serve_check_listen(listen, err))
        return ebb_err_as(err, EBB_EUSAGE, "--listen");
    memset(&o, 0, sizeof o);
    o.config = ebb_args_get(&cli->args, "config");
    o.state_dir = ebb_args_get(&cli->args, "state");
    o.listen = listen;
    o.level = (enum ebb_log_level)ebb_args_choice(&cli->args, "log-level", EBB_LOG_INFO);
    o.line = write_line;
    o.data = &is_json;
    o.clock = ebb_clock_system();
    return ebb_daemon_run(&o, err);
}

const struct ebb_command ebb_command_serve = {
    .name = "serve",
    .args = "",
    .summary = "the daemon: runs policies when they are due, serves HTTP",
    .about = "Looks at tables when something is due or changed, carries out what bindings allow, and can be asked and "
             "steered over HTTP (127.0.0.1:8490 unless configured otherwise). One process works on a state folder; "
             "another one waits until it is gone. SIGTERM lets what runs end at a safe point, SIGHUP reloads "
             "configuration and policies.",
    .has_signals = true,
    .options = OPTIONS,
    .examples = EXAMPLES,
    .run = run,
};
