/* SPDX-License-Identifier: Apache-2.0
 *
 * Jobs of kind shell: what may run, how it runs, how it is stopped, and what a crash leaves.
 */
#include "service_help.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "service/shell_priv.h"

struct shop {
    struct world w;
    struct ebb_strs allowed;
    struct ebb_work_context context;
    struct ebb_work_result result;
    atomic_bool cancelled;
    char script[512];
};

/* A script on the list. */
static void put_script(struct shop *s, const char *name, const char *text)
{
    world_put(&s->w, name, text);
    world_path(&s->w, name, s->script);
    assert_int_equal(chmod(s->script, 0755), 0);
    assert_int_equal(ebb_strs_add(&s->allowed, s->script, NULL), 0);
}

static void open_shop(struct shop *s)
{
    memset(s, 0, sizeof *s);
    open_world(&s->w);
    world_put(&s->w, "ebb.lua", "return {}");
    assert_ok(&s->w, try_open(&s->w, 0));
    ebb_strs_init(&s->allowed);
    s->context = (struct ebb_work_context){.ws = s->w.ws, .cancelled = &s->cancelled, .executables = &s->allowed};
}

static void close_shop(struct shop *s)
{
    ebb_strs_fini(&s->allowed);
    close_world(&s->w);
}

static void run(struct shop *s, const char *id, const char *more)
{
    char json[2048];
    struct ebb_job_record job = {.id = id, .kind = "shell", .attempt = 1, .policy = "", .parent = "", .json = json};

    snprintf(json, sizeof json, "{\"executable\":\"%s\"%s}", s->script, more);
    ebb_shell_run(&s->context, &job, &s->result);
}

static void log_of(const struct shop *s, const char *id, const char *name, char out[4096])
{
    char path[512], file[512];
    FILE *f;
    size_t n;

    snprintf(file, sizeof file, "state/jobs/%s/%s", id, name);
    world_path(&s->w, file, path);
    f = fopen(path, "r");
    assert_non_null(f);
    n = fread(out, 1, 4095, f);
    out[n] = '\0';
    fclose(f);
}

static void refused(const struct shop *s, const char *path, const char *why)
{
    struct ebb_err err;

    assert_int_equal(ebb_shell_check_executable(&s->allowed, path, &err), -(int)EBB_EPERMISSION);
    if (!strstr(err.message, why))
        fail_msg("no '%s' in %s", why, err.message);
}

static void test_executables(void **state)
{
    struct shop s;
    char other[512], link_[512];

    (void)state;
    open_shop(&s);
    put_script(&s, "bin/good", "#!/bin/sh\n");
    assert_int_equal(ebb_shell_check_executable(&s.allowed, s.script, NULL), 0);
    refused(&s, "/bin/true", "is not on the list");
    refused(&s, "good", "is not on the list");
    assert_int_equal(ebb_shell_check_executable(NULL, s.script, NULL), -(int)EBB_EPERMISSION);
    snprintf(other, sizeof other, "%s/../bin/good", s.w.top);
    ebb_strs_add(&s.allowed, other, NULL);
    refused(&s, other, "leads elsewhere");
    world_path(&s.w, "bin/link", link_);
    assert_int_equal(symlink(s.script, link_), 0);
    ebb_strs_add(&s.allowed, link_, NULL);
    refused(&s, link_, "leads elsewhere");
    ebb_strs_add(&s.allowed, s.w.top, NULL);
    refused(&s, s.w.top, "no regular file");
    chmod(s.script, 0775);
    refused(&s, s.script, "others can change it");
    chmod(s.script, 0644);
    refused(&s, s.script, "can't be executed");
    chmod(s.script, 0755);
    world_path(&s.w, "bin", other);
    chmod(other, 0777);
    refused(&s, s.script, "folder above");
    chmod(other, 0755);
    if (!geteuid()) { /* only root can give folders away */
        assert_int_equal(chown(other, 12345, 0), 0);
        refused(&s, s.script, "folder above");
        assert_int_equal(chown(other, 0, 12345), 0);
        chmod(other, 0775);
        refused(&s, s.script, "folder above");
        chmod(other, 0755);
        assert_int_equal(ebb_shell_check_executable(&s.allowed, s.script, NULL), 0);
    }
    unlink(s.script);
    refused(&s, s.script, "is not there");
    close_shop(&s);
}

static void test_variables(void **state)
{
    static const char *const BAD[] = {"",
                                      "1A",
                                      "A B",
                                      "A=B",
                                      "LD_PRELOAD",
                                      "ld_preload",
                                      "BASH_ENV",
                                      "ENV",
                                      "PATH",
                                      "PYTHONPATH",
                                      "PERL5OPT",
                                      "GIT_SSH",
                                      "IFS",
                                      "\xc3\xa9",
                                      "SPARK_SUBMIT_OPTS",
                                      "HADOOP_CLASSPATH",
                                      "SPARK_CONF_DIR",
                                      "HADOOP_HOME",
                                      "MAVEN_OPTS",
                                      "GRADLE_OPTS",
                                      "PYSPARK_DRIVER_PYTHON",
                                      "LESSOPEN",
                                      "ZDOTDIR",
                                      "RSYNC_RSH",
                                      "CVS_RSH",
                                      "SUDO_ASKPASS",
                                      "SYSTEMD_PAGER",
                                      "VISUAL",
                                      "MAKEFLAGS",
                                      "PROMPT_COMMAND",
                                      "KUBECONFIG",
                                      "AWS_CONFIG_FILE",
                                      "DOTNET_STARTUP_HOOKS",
                                      "_JAVA_OPTIONS",
                                      "JAVA_TOOL_OPTIONS",
                                      "NODE_OPTIONS",
                                      "RUBYOPT",
                                      "R_PROFILE_USER"};
    static const char *const GOOD[] = {"A",         "_x1",    "TABLE",      "SPARK_MASTER",
                                       "pathology", "OPTS_X", "AWS_REGION", "HOMES"};

    (void)state;
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++)
        assert_int_equal(ebb_shell_check_variable(BAD[i], NULL), -(int)EBB_EPERMISSION);
    for (size_t i = 0; i < sizeof GOOD / sizeof *GOOD; i++)
        assert_int_equal(ebb_shell_check_variable(GOOD[i], NULL), 0);
}

static void test_run(void **state)
{
    struct shop s;
    char text[4096], want[1024];

    (void)state;
    open_shop(&s);
    put_script(&s, "bin/show",
               "#!/bin/sh\nread x && echo stdin; printf '<%s>' \"$@\"; env | sort; pwd; ls /proc/self/fd | wc -l; echo "
               "no >&2\n");
    setenv("EBB_TEST_SECRET", "hunter2", 1);
    run(&s, "job-1", ",\"arguments\":[\"a b\",\"\",\"$(id)\"],\"environments\":{\"A\":\"x;y\"}");
    unsetenv("EBB_TEST_SECRET");
    assert_int_equal(s.result.state, EBB_JOB_SUCCEEDED);
    log_of(&s, "job-1", "output.log", text);
    snprintf(want, sizeof want,
             "<a b><><$(id)>A=x;y\nEBB_JOB=job-1\nHOME=%s/state/jobs/job-1\nPATH=/usr/local/bin:/usr/bin:/bin\nPWD=",
             s.w.top);
    assert_int_equal(strncmp(text, want, strlen(want)), 0);
    assert_null(strstr(text, "hunter2"));
    assert_null(strstr(text, "stdin"));
    assert_non_null(strstr(text, "/state/jobs/job-1\n4\n")); /* 0, 1, 2 and the folder that ls reads */
    log_of(&s, "job-1", "error.log", text);
    assert_string_equal(text, "no\n");
    run(&s, "job-2", ",\"environments\":{\"LD_PRELOAD\":\"/x\"}");
    assert_int_equal(s.result.state, EBB_JOB_FAILED);
    assert_int_equal(s.result.err.error, EBB_EPERMISSION);
    close_shop(&s);
}

static void test_failures(void **state)
{
    struct shop s;

    (void)state;
    open_shop(&s);
    put_script(&s, "bin/three", "#!/bin/sh\nexit 3\n");
    run(&s, "job-1", "");
    assert_int_equal(s.result.state, EBB_JOB_FAILED);
    assert_non_null(strstr(s.result.err.message, "exit status 3"));
    put_script(&s, "bin/killed", "#!/bin/sh\nkill -9 $$\n");
    run(&s, "job-2", "");
    assert_non_null(strstr(s.result.err.message, "signal 9"));
    put_script(&s, "bin/nothing", "\x01\x02");
    run(&s, "job-3", "");
    assert_int_equal(s.result.state, EBB_JOB_FAILED);
    snprintf(s.script, sizeof s.script, "/bin/true");
    run(&s, "job-4", "");
    assert_int_equal(s.result.err.error, EBB_EPERMISSION);
    close_shop(&s);
}

/* More than a megabyte is taken off the pipe and dropped: the child ends, the file stays small. */
static void test_much_output(void **state)
{
    struct shop s;
    char path[512];
    struct stat st;

    (void)state;
    open_shop(&s);
    put_script(&s, "bin/much", "#!/bin/sh\nhead -c 5000000 /dev/zero\n");
    run(&s, "job-1", "");
    assert_int_equal(s.result.state, EBB_JOB_SUCCEEDED);
    world_path(&s.w, "state/jobs/job-1/output.log", path);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, 1024 * 1024);
    close_shop(&s);
}

static void *cancel_when_begun(void *data)
{
    struct shop *s = data;
    char path[512];

    world_path(&s->w, "state/jobs/job-1/begun", path);
    while (access(path, F_OK))
        usleep(1000);
    atomic_store(&s->cancelled, true);
    return NULL;
}

static void test_cancel(void **state)
{
    struct shop s;
    pthread_t thread;
    char text[4096];

    (void)state;
    open_shop(&s);
    put_script(&s, "bin/long", "#!/bin/sh\ntrap 'echo term; exit 0' TERM\n(sleep 1000)&\ntouch begun\nwait\n");
    assert_int_equal(pthread_create(&thread, NULL, cancel_when_begun, &s), 0);
    run(&s, "job-1", "");
    pthread_join(thread, NULL);
    assert_int_equal(s.result.state, EBB_JOB_CANCELLED);
    log_of(&s, "job-1", "output.log", text);
    assert_string_equal(text, "term\n");
    close_shop(&s);
}

static void test_deadline(void **state)
{
    struct shop s;
    struct ebb_job_record job = {.id = "job-1", .kind = "shell", .attempt = 1, .deadline_ms = 1};
    char json[1024];

    (void)state;
    open_shop(&s);
    put_script(&s, "bin/long", "#!/bin/sh\nexec sleep 1000\n");
    snprintf(json, sizeof json, "{\"executable\":\"%s\"}", s.script);
    job.json = json;
    ebb_shell_run(&s.context, &job, &s.result);
    assert_int_equal(s.result.state, EBB_JOB_FAILED);
    assert_int_equal(s.result.err.error, EBB_ECANCELLED);
    close_shop(&s);
}

/* A process that died had a child, which still lives. */
static void test_crash(void **state)
{
    struct shop s;
    struct ebb_buf mark;
    char folder[512], file[512];
    pid_t pid;
    int status;

    (void)state;
    open_shop(&s);
    put_script(&s, "bin/long", "#!/bin/sh\ntouch again\n");
    world_put(&s.w, "state/jobs/job-1/output.log", "");
    pid = fork();
    if (!pid) {
        setpgid(0, 0);
        pause();
        _exit(0);
    }
    setpgid(pid, pid);
    ebb_buf_init(&mark, 256);
    assert_int_equal(ebb__child_mark(pid, &mark, NULL), 0);
    world_put(&s.w, "state/jobs/job-1.pid", ebb_buf_cstr(&mark));
    run(&s, "job-1", "");
    assert_int_equal(s.result.state, EBB_JOB_FAILED);
    assert_non_null(strstr(s.result.err.message, "was killed"));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    world_path(&s.w, "state/jobs/job-1/again", folder);
    assert_int_equal(access(folder, F_OK), -1);
    world_path(&s.w, "state/jobs/job-1.pid", file);
    assert_int_equal(access(file, F_OK), -1);
    ebb_buf_fini(&mark);
    close_shop(&s);
}

/* A number that another process has by now is left alone. */
static void test_other_process(void **state)
{
    char mark[64];
    bool lived = true;

    (void)state;
    snprintf(mark, sizeof mark, "%ld 1 other-boot\n", (long)getppid());
    ebb__child_kill(mark, &lived);
    assert_false(lived);
    ebb__child_kill("-1 1 x\n", &lived);
    assert_false(lived);
    ebb__child_kill("", &lived);
    assert_false(lived);
}

static void test_prune(void **state)
{
    struct shop s;
    char path[512], target[512];

    (void)state;
    open_shop(&s);
    world_put(&s.w, "kept/file", "x");
    world_put(&s.w, "state/jobs/job-1/a/b/c", "x");
    world_put(&s.w, "state/jobs/job-2/x", "x");
    world_put(&s.w, "state/jobs/job-2.pid", "x");
    world_put(&s.w, "state/jobs/job-3/x", "x");
    world_path(&s.w, "kept", target);
    world_path(&s.w, "state/jobs/job-1/link", path);
    assert_int_equal(symlink(target, path), 0);
    world_path(&s.w, "state/jobs", path);
    ebb__shell_prune(path, 1);
    world_path(&s.w, "state/jobs/job-1", path);
    assert_int_equal(access(path, F_OK), -1);
    world_path(&s.w, "state/jobs/job-2/x", path); /* it runs */
    assert_int_equal(access(path, F_OK), 0);
    world_path(&s.w, "state/jobs/job-3/x", path);
    assert_int_equal(access(path, F_OK), 0);
    world_path(&s.w, "kept/file", path);
    assert_int_equal(access(path, F_OK), 0);
    close_shop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_executables),   cmocka_unit_test(test_variables),
                                       cmocka_unit_test(test_run),           cmocka_unit_test(test_failures),
                                       cmocka_unit_test(test_much_output),   cmocka_unit_test(test_cancel),
                                       cmocka_unit_test(test_deadline),      cmocka_unit_test(test_crash),
                                       cmocka_unit_test(test_other_process), cmocka_unit_test(test_prune)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
