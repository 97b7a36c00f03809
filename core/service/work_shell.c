/* SPDX-License-Identifier: Apache-2.0 */
#include "service/shell_priv.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/file.h"

#define JOBS_KEPT 200
#define ARGUMENTS_MAX 4096

/* One job. */
struct shell {
    const struct ebb_work_context *context;
    const struct ebb_job_record *job;
    struct ebb_value *json;
    struct ebb_buf folder, mark_file; /* jobs/<id>, jobs/<id>.pid */
    struct ebb_strs argv, env;
    struct ebb__child child;
};

static int name_files(struct shell *s, struct ebb_err *err)
{
    const char *state = ebb_store_dir(ebb_workspace_site(s->context->ws)->store);
    int rc;

    ebb_buf_printf(&s->folder, "%s/jobs", state);
    rc = ebb_buf_check(&s->folder, "folder of the job", err);
    if (!rc)
        rc = ebb_file_make_dirs(ebb_buf_cstr(&s->folder), err);
    if (rc)
        return rc;
    ebb__shell_prune(ebb_buf_cstr(&s->folder), JOBS_KEPT);
    ebb_buf_printf(&s->folder, "/%s", s->job->id);
    ebb_buf_printf(&s->mark_file, "%s.pid", ebb_buf_cstr(&s->folder));
    return ebb_buf_check(&s->mark_file, "folder of the job", err);
}

/* What a process that died left behind. */
static int end_before(struct shell *s, struct ebb_err *err)
{
    struct ebb_buf mark;
    bool lived = false;

    ebb_buf_init(&mark, 256);
    if (!ebb_file_read(ebb_buf_cstr(&s->mark_file), &mark, NULL))
        ebb__child_kill(ebb_buf_cstr(&mark), &lived);
    unlink(ebb_buf_cstr(&s->mark_file));
    ebb_buf_fini(&mark);
    return ebb_err_set(err, EBB_ECANCELLED, "%s: the process that had started it ended%s", s->job->id,
                       lived ? "; what it had started was killed" : "");
}

static int make_folder(struct shell *s, struct ebb_err *err)
{
    if (!mkdir(ebb_buf_cstr(&s->folder), 0700))
        return 0;
    if (errno == EEXIST)
        return end_before(s, err);
    return ebb_err_errno(err, errno, "%s", ebb_buf_cstr(&s->folder));
}

static int add_pair(struct ebb_strs *env, const char *name, const char *value, struct ebb_err *err)
{
    struct ebb_buf text;
    int rc;

    ebb_buf_init(&text, (size_t)1024 * 1024);
    ebb_buf_printf(&text, "%s=%s", name, value);
    rc = ebb_buf_check(&text, name, err);
    if (!rc)
        rc = ebb_strs_add(env, ebb_buf_cstr(&text), err);
    ebb_buf_fini(&text);
    return rc;
}

static int fill_env(struct shell *s, struct ebb_err *err)
{
    const struct ebb_value *given = ebb_value_get(s->json, "environments");
    int rc = add_pair(&s->env, "PATH", "/usr/local/bin:/usr/bin:/bin", err);

    if (!rc)
        rc = add_pair(&s->env, "HOME", ebb_buf_cstr(&s->folder), err);
    if (!rc)
        rc = add_pair(&s->env, "EBB_JOB", s->job->id, err);
    for (size_t i = 0; !rc && i < ebb_value_get_count(given); i++) {
        const char *value = ebb_value_get_str(ebb_value_get_at(given, i));

        rc = ebb_shell_check_variable(ebb_value_get_key(given, i).p, err);
        if (!rc)
            rc = add_pair(&s->env, ebb_value_get_key(given, i).p, value ? value : "", err);
    }
    return rc;
}

static int fill_argv(struct shell *s, struct ebb_err *err)
{
    const char *executable = ebb_value_text_of(s->json, "executable");
    const struct ebb_value *arguments = ebb_value_get(s->json, "arguments");
    int rc;

    if (!executable)
        return ebb_err_set(err, EBB_EUSAGE, "%s: executable: is missing", s->job->id);
    rc = ebb_shell_check_executable(s->context->executables, executable, err);
    if (!rc && ebb_value_get_count(arguments) > ARGUMENTS_MAX)
        rc = ebb_err_set(err, EBB_ELIMIT, "%s: more than %d arguments", s->job->id, ARGUMENTS_MAX);
    if (!rc)
        rc = ebb_strs_add(&s->argv, executable, err);
    for (size_t i = 0; !rc && i < ebb_value_get_count(arguments); i++) {
        const char *text = ebb_value_get_str(ebb_value_get_at(arguments, i));

        rc = ebb_strs_add(&s->argv, text ? text : "", err);
    }
    return rc;
}

static char **pointers(const struct ebb_strs *list)
{
    char **out = calloc(list->count + 1, sizeof *out);

    for (size_t i = 0; out && i < list->count; i++)
        out[i] = list->items[i];
    return out;
}

/* A child that can't be marked could not be found after a crash: it does not go on. */
static int start(struct shell *s, struct ebb_err *err)
{
    char **argv = pointers(&s->argv), **env = pointers(&s->env);
    struct ebb_buf mark;
    int rc = argv && env ? 0 : ebb_err_nomem(err);

    ebb_buf_init(&mark, 256);
    if (!rc)
        rc = ebb__child_start(ebb_buf_cstr(&s->folder), argv, env, &s->child, err);
    if (!rc) {
        rc = ebb__child_mark(s->child.pid, &mark, err);
        if (!rc)
            rc = ebb_file_replace(ebb_buf_cstr(&s->mark_file), mark.data, mark.len, err);
        if (rc)
            ebb__child_end(&s->child, true);
    }
    ebb_buf_fini(&mark);
    free(argv);
    free(env);
    return rc;
}

static bool is_late(const struct shell *s)
{
    const struct ebb_clock *clock = &ebb_workspace_site(s->context->ws)->clock;

    return s->job->deadline_ms > 0 && ebb_clock_now(clock) > s->job->deadline_ms;
}

/* Wait for its end; *stopped: it was cancelled or late. */
static int follow(struct shell *s, bool *stopped, bool *late)
{
    int64_t kill_ms = INT64_MAX;

    while (!ebb__child_wait(&s->child, 50)) {
        *late = *late || is_late(s);
        if (!*stopped && (*late || (s->context->cancelled && atomic_load(s->context->cancelled)))) {
            *stopped = true;
            kill_ms = ebb_clock_elapsed_ms() + EBB__SHELL_GRACE_MS;
            kill(-s->child.pid, SIGTERM);
        }
        if (ebb_clock_elapsed_ms() >= kill_ms)
            kill(-s->child.pid, SIGKILL);
    }
    return ebb__child_end(&s->child, *stopped);
}

static void judge(const struct shell *s, int status, bool stopped, bool late, struct ebb_work_result *out)
{
    out->state = EBB_JOB_FAILED;
    if (late)
        ebb_err_set(&out->err, EBB_ECANCELLED, "%s: its time was over", s->job->id);
    else if (stopped) {
        out->state = EBB_JOB_CANCELLED;
        ebb_err_set(&out->err, EBB_ECANCELLED, "%s: was cancelled", s->job->id);
    } else if (WIFSIGNALED(status))
        ebb_err_set(&out->err, EBB_EIO, "%s: ended by signal %d", s->argv.items[0], WTERMSIG(status));
    else if (WEXITSTATUS(status))
        ebb_err_set(&out->err, EBB_EIO, "%s: exit status %d", s->argv.items[0], WEXITSTATUS(status));
    else
        out->state = EBB_JOB_SUCCEEDED;
}

static int prepare(struct shell *s, struct ebb_err *err)
{
    int rc = ebb_value_of_json(s->job->id, s->job->json, strlen(s->job->json), NULL, &s->json, err);

    if (!rc)
        rc = name_files(s, err);
    if (!rc)
        rc = make_folder(s, err);
    if (!rc)
        rc = fill_argv(s, err);
    if (!rc)
        rc = fill_env(s, err);
    return rc ? rc : start(s, err);
}

void ebb_shell_run(const struct ebb_work_context *context, const struct ebb_job_record *job,
                   struct ebb_work_result *out)
{
    struct shell s = {.context = context, .job = job};
    bool stopped = false, late = false;

    memset(out, 0, sizeof *out);
    ebb_buf_init(&s.folder, 4096);
    ebb_buf_init(&s.mark_file, 4096);
    ebb_strs_init(&s.argv);
    ebb_strs_init(&s.env);
    out->state = EBB_JOB_FAILED;
    if (!prepare(&s, &out->err)) {
        int status = follow(&s, &stopped, &late);

        judge(&s, status, stopped, late, out);
        unlink(ebb_buf_cstr(&s.mark_file));
    }
    ebb_strs_fini(&s.env);
    ebb_strs_fini(&s.argv);
    ebb_buf_fini(&s.mark_file);
    ebb_buf_fini(&s.folder);
    ebb_value_free(s.json);
}
