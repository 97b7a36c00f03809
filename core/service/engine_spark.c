/* SPDX-License-Identifier: Apache-2.0
 *
 * spark-sql as a child: the statement in a file, settings in another, both 0600 in a folder that is its working folder
 * and goes when it is over; no shell. Its handle is the mark of the process.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "io/file.h"
#include "service/engine_priv.h"
#include "service/shell_priv.h"

#define OUTPUT_MAX_BYTES ((size_t)1 << 30)
#define SETTINGS_MAX_BYTES ((size_t)8 << 20)

extern char **environ;

struct spark {
    const struct ebb_engine_context *context;
    const struct ebb_engine_config *config;
    const struct ebb_engine_spec *spec;
    struct ebb_buf folder;
    char program[PATH_MAX];
    struct ebb__child child;
    bool has_child, is_over, was_asked_to_end;
    int status;
    int64_t kill_ms;
};

static int spark_open(const struct ebb_engine_context *context, void **run, struct ebb_err *err)
{
    const struct ebb_engine_config *config = &ebb_workspace_config(context->ws)->engines.spark;
    struct spark *s;

    *run = NULL;
    if (!config->is_set)
        return ebb_err_set(err, EBB_ECONFIG, "engine spark: is not configured (engines.spark)");
    s = calloc(1, sizeof *s);
    if (!s)
        return ebb_err_nomem(err);
    s->context = context;
    s->config = config;
    ebb_buf_init(&s->folder, 4096);
    *run = s;
    return 0;
}

/* ---- begin ---- */

static bool is_program(const char *path)
{
    struct stat st;

    return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

/* As a shell finds it, but by an absolute name: the child has another working folder. */
static int find_program(struct spark *s, struct ebb_err *err)
{
    const char *name = s->config->command.items[0], *path = getenv("PATH");
    char candidate[PATH_MAX];

    if (strchr(name, '/')) {
        if (realpath(name, candidate) && is_program(candidate) && name[0] == '/')
            snprintf(s->program, sizeof s->program, "%s", name);
        else if (is_program(candidate))
            memcpy(s->program, candidate, sizeof candidate);
    }
    for (const char *at = strchr(name, '/') ? NULL : path; at && *at && !s->program[0];) {
        size_t n = strcspn(at, ":");
        int length = snprintf(candidate, sizeof candidate, "%.*s/%s", (int)n, at, name);

        if (at[0] == '/' && length > 0 && (size_t)length < sizeof candidate && is_program(candidate))
            memcpy(s->program, candidate, sizeof candidate);
        at += n + (at[n] == ':');
    }
    if (s->program[0])
        return 0;
    ebb_err_set(err, EBB_ECONFIG, "engines.spark.command: %s: there is no such program", name);
    ebb_err_hint(err, "give its whole path, or put its folder into PATH");
    return -(int)EBB_ECONFIG;
}

static int put_file(const struct spark *s, const char *name, const struct ebb_buf *text, struct ebb_err *err)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%.4000s/%s", s->folder.data, name);
    return ebb_file_replace(path, text->data, text->len, err);
}

static int name_folder(struct spark *s, bool is_to_be, struct ebb_err *err)
{
    int rc;

    ebb_buf_printf(&s->folder, "%s/engines", ebb_store_dir(ebb_workspace_site(s->context->ws)->store));
    rc = ebb_buf_check(&s->folder, "folder of the run", err);
    if (!rc && is_to_be)
        rc = ebb_file_make_dirs(ebb_buf_cstr(&s->folder), err);
    ebb_buf_printf(&s->folder, "/%s", s->spec->key);
    return rc ? rc : ebb_buf_check(&s->folder, "folder of the run", err);
}

static int make_folder(struct spark *s, struct ebb_err *err)
{
    int rc = name_folder(s, true, err);

    if (!rc && mkdir(ebb_buf_cstr(&s->folder), 0700))
        rc = ebb_err_errno(err, errno, "%s", ebb_buf_cstr(&s->folder));
    return rc;
}

static int put_files(struct spark *s, struct ebb_err *err)
{
    struct ebb_buf text;
    int rc;

    ebb_buf_init(&text, SETTINGS_MAX_BYTES);
    rc = ebb__engine_properties(s->config, s->program, s->spec->session, &text, err);
    if (!rc)
        rc = put_file(s, "session.properties", &text, err);
    ebb_buf_reset(&text);
    ebb_buf_printf(&text, "%s;\n", s->spec->statement);
    if (!rc)
        rc = ebb_buf_check(&text, "statement", err);
    if (!rc)
        rc = put_file(s, "statement.sql", &text, err);
    ebb_buf_fini(&text);
    return rc;
}

static char **make_argv(const struct spark *s)
{
    static const char *const TAIL[] = {"--properties-file", "session.properties", "-S", "-f", "statement.sql"};
    size_t n = s->config->command.count, tail = sizeof TAIL / sizeof TAIL[0];
    char **argv = calloc(n + tail + 1, sizeof *argv);

    for (size_t i = 0; argv && i < n; i++)
        argv[i] = i ? s->config->command.items[i] : (char *)(uintptr_t)s->program;
    for (size_t i = 0; argv && i < tail; i++)
        argv[n + i] = (char *)(uintptr_t)TAIL[i];
    return argv;
}

/* The environment as it is, but texts are UTF-8. */
static char **make_env(void)
{
    static const char UTF8[] = "LC_ALL=C.UTF-8";
    size_t n = 0, kept = 0;
    char **env;

    while (environ && environ[n])
        n++;
    env = calloc(n + 2, sizeof *env);
    for (size_t i = 0; env && i < n; i++)
        if (strncmp(environ[i], "LC_ALL=", 7) != 0)
            env[kept++] = environ[i];
    if (env)
        env[kept] = (char *)(uintptr_t)UTF8;
    return env;
}

static int begin(struct spark *s, struct ebb_err *err)
{
    char **argv = make_argv(s), **env = make_env();
    struct ebb_buf mark;
    int rc = argv && env ? 0 : ebb_err_nomem(err);

    ebb_buf_init(&mark, 256);
    if (!rc)
        rc = ebb__child_start(ebb_buf_cstr(&s->folder), argv, env, &s->child, err);
    s->has_child = !rc;
    s->child.log_max = OUTPUT_MAX_BYTES;
    if (!rc)
        rc = ebb__child_mark(s->child.pid, &mark, err);
    if (!rc)
        rc = s->context->began(s->context->data, ebb_buf_cstr(&mark), err);
    if (rc && s->has_child) { /* nobody would find it again */
        ebb__child_end(&s->child, true);
        s->has_child = false;
    }
    ebb_buf_fini(&mark);
    free(argv);
    free(env);
    return rc;
}

static int spark_start(void *run, const struct ebb_engine_spec *spec, struct ebb_err *err)
{
    struct spark *s = run;
    int rc;

    s->spec = spec;
    if (!spec->statement)
        return ebb_err_set(err, EBB_EUNSUPPORTED, "engine spark: takes statements only");
    rc = ebb__engine_check_cli(spec->statement, err);
    if (!rc)
        rc = find_program(s, err);
    if (!rc)
        rc = make_folder(s, err);
    if (!rc)
        rc = put_files(s, err);
    return rc ? rc : begin(s, err);
}

/* What is left of it goes: its output could not be read any more. */
static int spark_attach(void *run, const char *handle, const struct ebb_engine_spec *spec, struct ebb_err *err)
{
    struct spark *s = run;
    bool lived = false;

    s->spec = spec;
    ebb__child_kill(handle, &lived);
    return name_folder(s, false, err);
}

/* ---- while it runs ---- */

static void name_file(const struct spark *s, const char *name, char out[PATH_MAX])
{
    snprintf(out, PATH_MAX, "%.4000s/%s", s->folder.data, name);
}

static enum ebb_engine_state failed(const struct spark *s, struct ebb_err *err)
{
    char file[PATH_MAX], told[512] = "";
    struct ebb_buf why;

    ebb_buf_init(&why, 4096);
    name_file(s, "error.log", file);
    ebb__engine_find_reason(file, &why);
    if (!why.len) { /* a script's own words come on its output */
        name_file(s, "output.log", file);
        ebb__engine_find_reason(file, &why);
    }
    ebb__engine_mask(s->context->ws, s->spec->session, ebb_buf_cstr(&why), told, sizeof told);
    if (WIFSIGNALED(s->status))
        ebb_err_set(err, EBB_EENGINE, "spark: ended by signal %d%s%s", WTERMSIG(s->status), told[0] ? ": " : "", told);
    else
        ebb_err_set(err, EBB_EENGINE, "spark: exit status %d%s%s", WEXITSTATUS(s->status), told[0] ? ": " : "", told);
    ebb_buf_fini(&why);
    return EBB_ENGINE_FAILED;
}

static int spark_poll(void *run, int wait_ms, enum ebb_engine_state *state, struct ebb_err *err)
{
    struct spark *s = run;

    if (!s->has_child) {
        *state = EBB_ENGINE_UNKNOWN;
        return 0;
    }
    if (!s->is_over && !ebb__child_wait(&s->child, wait_ms)) {
        if (s->was_asked_to_end && ebb_clock_elapsed_ms() >= s->kill_ms)
            kill(-s->child.pid, SIGKILL);
        *state = EBB_ENGINE_RUNNING;
        return 0;
    }
    if (!s->is_over)
        s->status = ebb__child_end(&s->child, true);
    s->is_over = true;
    if (s->was_asked_to_end)
        *state = EBB_ENGINE_CANCELLED;
    else if (s->status)
        *state = failed(s, err);
    else
        *state = EBB_ENGINE_SUCCEEDED;
    return 0;
}

static int spark_cancel(void *run, struct ebb_err *err)
{
    struct spark *s = run;

    (void)err;
    if (!s->has_child || s->is_over || s->was_asked_to_end)
        return 0;
    s->was_asked_to_end = true;
    s->kill_ms = ebb_clock_elapsed_ms() + EBB__SHELL_GRACE_MS;
    kill(-s->child.pid, SIGTERM);
    return 0;
}

static int spark_rows(void *run, ebb_engine_row_cb *cb, void *data, struct ebb_err *err)
{
    struct spark *s = run;
    char file[PATH_MAX];

    if (s->child.out_bytes >= s->child.log_max)
        return ebb_err_set(err, EBB_EENGINE, "spark: printed more than can be kept");
    name_file(s, "output.log", file);
    return ebb__engine_read_output(file, s->spec->column, cb, data, err);
}

static void spark_close(void *run)
{
    struct spark *s = run;

    if (!s)
        return;
    if (s->has_child && !s->is_over)
        ebb__child_end(&s->child, true);
    if (s->folder.len)
        ebb__shell_remove(ebb_buf_cstr(&s->folder));
    ebb_buf_fini(&s->folder);
    free(s);
}

const struct ebb_engine_driver ebb_engine_spark = {"spark",    spark_open,   spark_start, spark_attach,
                                                   spark_poll, spark_cancel, spark_rows,  spark_close};
