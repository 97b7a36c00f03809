/* SPDX-License-Identifier: Apache-2.0
 *
 * busted in a process of its own. No shell is asked.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "front/test.h"
#include "io/file.h"
#include "service/pass.h"

#define REPORT_MAX_BYTES ((size_t)64 << 20)
#define DEPTH_MAX 16
#define POLL_NS 10000000L
#define PATIENCE_POLLS 200 /* between asking it to end and ending it */

struct spawned {
    struct ebb_strs args, env;
    char program[4096];
    char report[4096];
};

/* ---- what is run ---- */

static bool is_spec(const char *path)
{
    size_t n = strlen(path);

    return n > 9 && !strcmp(path + n - 9, "_spec.lua");
}

/* Whether a spec lies in a folder or below; links to folders are not followed. */
static bool has_spec(const char *dir, int depth)
{
    DIR *d = opendir(dir);
    bool found = false;
    struct dirent *e;
    struct stat st;
    char path[PATH_MAX];

    while (d && !found && (e = readdir(d)) != NULL) {
        if (e->d_name[0] == '.' || snprintf(path, sizeof path, "%s/%s", dir, e->d_name) >= (int)sizeof path ||
            lstat(path, &st))
            continue;
        found = S_ISDIR(st.st_mode) ? depth < DEPTH_MAX && has_spec(path, depth + 1) : is_spec(e->d_name);
    }
    if (d)
        closedir(d);
    return found;
}

/* Whether another path that was given holds this one too: each spec runs once. */
static bool is_covered(const struct ebb_strs *paths, size_t index)
{
    char own[PATH_MAX], other[PATH_MAX];

    if (!realpath(paths->items[index], own))
        return false;
    for (size_t i = 0; i < paths->count; i++) {
        size_t n;

        if (i == index || !realpath(paths->items[i], other))
            continue;
        n = strlen(other);
        if (!strncmp(own, other, n) && (own[n] == '/' || (!own[n] && i < index)))
            return true;
    }
    return false;
}

/* The path as busted is to see it: a policy stands for its spec. */
static int add_path(const char *path, struct ebb_strs *args, struct ebb_err *err)
{
    char spec[4096];
    size_t n = strlen(path);
    bool is_option = path[0] == '-';
    struct stat st;

    if (strchr(path, ','))
        return ebb_err_set(err, EBB_EUSAGE, "%s: busted takes no path with a comma", path);
    if (stat(path, &st))
        return ebb_err_set(err, EBB_EUSAGE, "%s: no such file or folder", path);
    if (S_ISDIR(st.st_mode) && !has_spec(path, 0))
        return ebb_err_set(err, EBB_EUSAGE, "%s: there is no spec (*_spec.lua) in it", path);
    if (S_ISDIR(st.st_mode) || is_spec(path))
        snprintf(spec, sizeof spec, "%s%s", is_option ? "./" : "", path);
    else if (n > 4 && !strcmp(path + n - 4, ".lua"))
        snprintf(spec, sizeof spec, "%s%.*s_spec.lua", is_option ? "./" : "", (int)(n - 4), path);
    else
        return ebb_err_set(err, EBB_EUSAGE, "%s: neither a folder nor a policy nor a spec", path);
    if (stat(spec, &st))
        return ebb_err_set(err, EBB_EUSAGE, "%s: there is no spec %s beside it", path, spec);
    return ebb_strs_add(args, spec, err);
}

static bool find_on_path(const char *program, char out[4096])
{
    const char *path = getenv("PATH");

    for (path = path ? path : "/usr/bin:/bin"; *path;) {
        size_t n = strcspn(path, ":");

        if (n && snprintf(out, 4096, "%.*s/%s", (int)n, path, program) < 4096 && !access(out, X_OK))
            return true;
        path += n + (path[n] == ':');
    }
    return false;
}

/* Whether the first line hands the file to a Lua, whichever that is. */
static bool is_lua_script(const char *file)
{
    char line[256];
    FILE *f = fopen(file, "re");
    bool is_lua = f && fgets(line, sizeof line, f) && !strncmp(line, "#!", 2) && strstr(line, "lua");

    if (f)
        fclose(f);
    return is_lua;
}

/* busted's own first line may name another version than the one that the module is for. */
static int add_program(struct spawned *s, struct ebb_err *err)
{
    char busted[4096];
    int rc = 0;

    if (!find_on_path("busted", busted)) {
        rc = ebb_err_set(err, EBB_EIO, "busted: not found on PATH; it runs the specs");
        ebb_err_hint(err, "on Debian: apt install lua-busted");
        return rc;
    }
    if (!is_lua_script(busted)) {
        snprintf(s->program, sizeof s->program, "%s", busted);
        return ebb_strs_add(&s->args, busted, err);
    }
    if (!find_on_path("lua5.4", s->program) && !find_on_path("lua", s->program)) {
        rc = ebb_err_set(err, EBB_EIO, "lua5.4: not found on PATH; busted needs it");
        ebb_err_hint(err, "on Debian: apt install lua5.4");
        return rc;
    }
    rc = ebb_strs_add(&s->args, s->program, err);
    return rc ? rc : ebb_strs_add(&s->args, busted, err);
}

static int add_format(struct ebb_strs *list, struct ebb_err *err, const char *format, const char *text)
{
    struct ebb_buf b;
    int rc;

    ebb_buf_init(&b, 65536);
    for (; *format; format++)
        if (*format == '@')
            ebb_buf_puts(&b, text);
        else
            ebb_buf_putc(&b, *format);
    rc = ebb_buf_check(&b, "argument", err);
    if (!rc)
        rc = ebb_strs_add(list, ebb_buf_cstr(&b), err);
    ebb_buf_fini(&b);
    return rc;
}

/* Beside the program: lua/ in a build folder, lib/lua/5.4 where it is installed; else where Lua looks anyway. */
static int add_module_path(struct ebb_strs *args, struct ebb_err *err)
{
    static const char *const BELOW[] = {"lua", "../lib/lua/5.4"};
    char exe[4096], file[8192], *slash;
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);

    if (n <= 0)
        return 0;
    exe[n] = '\0';
    slash = strrchr(exe, '/');
    if (slash)
        *slash = '\0';
    for (size_t i = 0; i < sizeof BELOW / sizeof *BELOW; i++) {
        snprintf(file, sizeof file, "%s/%s/ebb.so", exe, BELOW[i]);
        if (access(file, R_OK))
            continue;
        snprintf(file, sizeof file, "%s/%s", exe, BELOW[i]);
        return add_format(args, err, "--cpath=@/?.so", file);
    }
    return 0;
}

static int add_args(struct spawned *s, const struct ebb_test_options *o, struct ebb_err *err)
{
    struct ebb_buf data;
    int rc = add_program(s, err);

    ebb_buf_init(&data, 65536);
    ebb_pass_data_dir(&data);
    if (!rc)
        rc = add_format(&s->args, err, "--lpath=@/scripts/lua/?.lua", ebb_buf_cstr(&data));
    if (!rc)
        rc = add_module_path(&s->args, err);
    if (!rc)
        rc = add_format(&s->args, err, "--output=@/scripts/lua/ebb/report.lua", ebb_buf_cstr(&data));
    if (!rc)
        rc = ebb_strs_add(&s->args, "--pattern=_spec%.lua$", err);
    for (size_t i = 0; !rc && i < o->paths->count; i++)
        if (!is_covered(o->paths, i))
            rc = add_path(o->paths->items[i], &s->args, err);
    ebb_buf_fini(&data);
    return rc;
}

/* Our environment, but for what an outer run may have left there. */
static int add_env(struct spawned *s, const struct ebb_test_options *o, struct ebb_err *err)
{
    int rc = 0;

    for (char **e = environ; !rc && e && *e; e++)
        if (strncmp(*e, "EBB_TEST_", 9))
            rc = ebb_strs_add(&s->env, *e, err);
    if (!rc)
        rc = add_format(&s->env, err, "EBB_TEST_REPORT=@", s->report);
    if (!rc && o->filter)
        rc = add_format(&s->env, err, "EBB_TEST_FILTER=@", o->filter);
    if (!rc && o->update_golden)
        rc = ebb_strs_add(&s->env, "EBB_TEST_UPDATE_GOLDEN=1", err);
    return rc;
}

/* ---- the process ---- */

/* The list with a NULL at its end, as exec wants it; borrows the texts. */
static char **vector(const struct ebb_strs *list)
{
    char **v = calloc(list->count + 1, sizeof *v);

    for (size_t i = 0; v && i < list->count; i++)
        v[i] = list->items[i];
    return v;
}

/* Signals that we hold back or ignore are the child's own again. */
static int start(struct spawned *s, bool is_silent, pid_t *pid)
{
    char **args = vector(&s->args), **env = vector(&s->env);
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t none, all;
    int rc = ENOMEM;

    sigemptyset(&none);
    sigemptyset(&all);
    sigaddset(&all, SIGPIPE);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &all);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    if (is_silent)
        posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
    if (args && env)
        rc = posix_spawn(pid, s->program, &files, &attr, args, env);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    free(args);
    free(env);
    return rc;
}

/* Wait for its end; when we are told to stop it is told too, and then not asked again. */
static int wait_for(pid_t pid, const atomic_bool *cancelled, int *status)
{
    const struct timespec pause = {0, POLL_NS};
    int told = 0;

    for (;;) {
        pid_t done = waitpid(pid, status, WNOHANG);

        if (done == pid)
            return 0;
        if (done < 0 && errno != EINTR)
            return errno;
        if (cancelled && atomic_load(cancelled)) {
            if (told == 0)
                kill(pid, SIGTERM);
            if (told == PATIENCE_POLLS)
                kill(pid, SIGKILL);
            told++;
        }
        nanosleep(&pause, NULL);
    }
}

static int judge(int status, const struct ebb_value *report, struct ebb_err *err)
{
    int rc = 0;

    if (WIFSIGNALED(status))
        return ebb_err_set(err, EBB_EIO, "busted: ended by signal %d", WTERMSIG(status));
    if (!report) {
        rc = ebb_err_set(err, EBB_EIO, "busted: ended with status %d before it could tell anything",
                         WEXITSTATUS(status));
        ebb_err_hint(err, "what it said stands above; it needs Lua 5.4 and the Lua module of ebb");
    } else if (WEXITSTATUS(status) && !ebb_test_count(report, "failed")) {
        rc = ebb_err_set(err, EBB_EIO, "busted: ended with status %d although no test failed", WEXITSTATUS(status));
    }
    return rc;
}

static int read_report(const char *file, struct ebb_value **out, struct ebb_err *err)
{
    struct ebb_buf text;
    int rc;

    ebb_buf_init(&text, REPORT_MAX_BYTES);
    rc = ebb_file_read(file, &text, err);
    if (!rc && text.len)
        rc = ebb_value_of_json("report of busted", text.data, text.len, NULL, out, err);
    ebb_buf_fini(&text);
    return rc;
}

static int run(struct spawned *s, const struct ebb_test_options *o, struct ebb_value **report, struct ebb_err *err)
{
    int status = 0, rc = add_args(s, o, err), failed;
    pid_t pid;

    if (!rc)
        rc = add_env(s, o, err);
    if (rc)
        return rc;
    failed = start(s, o->is_silent, &pid);
    if (!failed)
        failed = wait_for(pid, o->cancelled, &status);
    if (failed) {
        ebb_err_errno(err, failed, "%s: can't be run", s->program);
        return ebb_err_as(err, EBB_EIO, NULL);
    }
    if (o->cancelled && atomic_load(o->cancelled))
        return ebb_err_set(err, EBB_ECANCELLED, "ebb test: interrupted");
    rc = read_report(s->report, report, err);
    return rc ? rc : judge(status, *report, err);
}

static int make_report_file(char out[4096], struct ebb_err *err)
{
    const char *tmp = getenv("TMPDIR");
    int fd;

    if (snprintf(out, 4096, "%s/ebb-test-XXXXXX", tmp && tmp[0] == '/' ? tmp : "/tmp") >= 4096)
        return ebb_err_set(err, EBB_EUSAGE, "TMPDIR: too long");
    fd = mkostemp(out, O_CLOEXEC);
    if (fd < 0)
        return ebb_err_errno(err, errno, "%s: making a file", out);
    close(fd);
    return 0;
}

int ebb_test_run(const struct ebb_test_options *options, struct ebb_value **report, struct ebb_err *err)
{
    struct spawned s;
    int rc;

    *report = NULL;
    memset(&s, 0, sizeof s);
    ebb_strs_init(&s.args);
    ebb_strs_init(&s.env);
    rc = make_report_file(s.report, err);
    if (!rc) {
        rc = run(&s, options, report, err);
        unlink(s.report);
    }
    if (rc) {
        ebb_value_free(*report);
        *report = NULL;
    }
    ebb_strs_fini(&s.args);
    ebb_strs_fini(&s.env);
    return rc;
}
