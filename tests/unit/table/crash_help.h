/* SPDX-License-Identifier: Apache-2.0
 *
 * Crashes. The program runs itself once for each numbered step of an apply, a restore and a purge, is killed there, and
 * then looks at what is left: no live file is gone, no file is lost, and the work can be ended. Needs a build with
 * failpoints.
 */
#ifndef TEST_CRASH_HELP_H
#define TEST_CRASH_HELP_H

#include "table_help.h"

#include <sys/wait.h>

#define MAX_STEPS 2000

/* ---- the child: one command on an existing fixture ---- */

static inline void adopt(struct table_fixture *f, const char *top)
{
    memset(f, 0, sizeof *f);
    snprintf(f->top, sizeof f->top, "%s", top);
    snprintf(f->location, sizeof f->location, "%s/wh/ns/t", f->top);
    snprintf(f->uri, sizeof f->uri, "file:%s", f->location);
    snprintf(f->state, sizeof f->state, "%s/state", f->top);
    open_site(f);
}

static inline int child_apply(struct table_fixture *f, const char *plan, bool is_delete)
{
    struct ebb_apply_options options = apply_options();
    struct ebb_apply_result r;
    int rc;

    options.batch_count = 2;
    options.delete_for_good = is_delete;
    rc = ebb_apply(&f->site, plan, &options, &r, &f->err);
    ebb_apply_result_fini(&r);
    return rc;
}

static inline int child_restore(struct table_fixture *f, const char *run)
{
    struct ebb_restore_result r;
    int rc = ebb_restore(&f->site, run, NULL, &r, &f->err);

    ebb_restore_result_fini(&r);
    return rc;
}

static inline int child_resume(struct table_fixture *f, const char *run)
{
    struct ebb_apply_result r;
    int rc = ebb_resume(&f->site, run, &r, &f->err);

    ebb_apply_result_fini(&r);
    return rc;
}

static inline int child_purge(struct table_fixture *f, const char *run)
{
    struct ebb_purge_options options = {0, false};
    struct ebb_purge_result r;
    struct ebb_strs runs;
    int rc;

    ebb_strs_init(&runs);
    rc = ebb_strs_add(&runs, run, &f->err);
    if (!rc)
        rc = ebb_purge(&f->site, &runs, &options, &r, &f->err);
    ebb_strs_fini(&runs);
    ebb_purge_result_fini(&r);
    return rc;
}

static inline int child_main(char **argv)
{
    struct table_fixture f;
    int rc = -1;

    adopt(&f, argv[1]);
    if (strcmp(argv[2], "apply") == 0)
        rc = child_apply(&f, argv[3], false);
    else if (strcmp(argv[2], "delete") == 0)
        rc = child_apply(&f, argv[3], true);
    else if (strcmp(argv[2], "resume") == 0)
        rc = child_resume(&f, argv[3]);
    else if (strcmp(argv[2], "restore") == 0)
        rc = child_restore(&f, argv[3]);
    else if (strcmp(argv[2], "purge") == 0)
        rc = child_purge(&f, argv[3]);
    if (rc)
        fprintf(stderr, "child: %s %s: %s\n", argv[2], ebb_error_code(f.err.error), f.err.message);
    close_site(&f);
    return rc ? 1 : 0;
}

/* ---- the parent ---- */

/* Run a command in a child that is killed at step n. True when it was killed; else it must have succeeded. */
static inline bool crashes(struct table_fixture *f, const char *command, const char *arg, int n)
{
    char number[16];
    int status;
    pid_t pid;

    close_site(f);
    snprintf(number, sizeof number, "%d", n);
    pid = fork();
    assert_true(pid >= 0);
    if (!pid) {
        setenv("EBB_FAILPOINT", number, 1);
        execl("/proc/self/exe", "crash", f->top, command, arg, (char *)NULL);
        _exit(127);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    open_site(f);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        return true;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("%s, step %d: ended with %d", command, n, status);
    return false;
}

static inline int take_run(void *data, const struct ebb_record *record, struct ebb_err *err)
{
    (void)err;
    snprintf(data, 40, "%s", record->id);
    return 0;
}

/* The one run that the store knows, or "". */
static inline void find_run(struct table_fixture *f, char run[40])
{
    struct ebb_record_filter filter = {0};

    run[0] = '\0';
    assert_ok(f, ebb_store_list(f->store, EBB_RECORD_RUN, &filter, take_run, run, &f->err));
}

static const char *const STRAYS[] = {"data/a.parquet", "data/p=1/b.parquet", "data/p=2/c.parquet"};
#define STRAY_COUNT (sizeof STRAYS / sizeof STRAYS[0])

static inline struct table_fixture *make_littered(void)
{
    struct table_fixture *f = make_table();

    for (size_t i = 0; i < STRAY_COUNT; i++)
        put_file(f, STRAYS[i]);
    put_file(f, "data/live.parquet");
    put_file(f, "data/p=1/live.parquet");
    commit_names(f, "data/live.parquet data/p=1/live.parquet");
    make_plan(f);
    return f;
}

static inline void assert_live(struct table_fixture *f)
{
    assert_true(holds(f, "data/live.parquet", "data/live.parquet"));
    assert_true(holds(f, "data/p=1/live.parquet", "data/p=1/live.parquet"));
}

/* Every stray is whole at exactly one of its two names. */
static inline void assert_none_lost(struct table_fixture *f, const char *run, int step)
{
    char name[512];

    for (size_t i = 0; i < STRAY_COUNT; i++) {
        bool old = holds(f, STRAYS[i], STRAYS[i]);
        bool new = run[0] && holds(f, in_quarantine(run, STRAYS[i], name), STRAYS[i]);

        if (old == new)
            fail_msg("step %d: %s is %s", step, STRAYS[i], old ? "at both names" : "lost");
    }
}

static inline void resume_or_apply(struct table_fixture *f, const char *run)
{
    struct ebb_apply_options options = apply_options();
    struct ebb_apply_result r;

    if (!run[0]) {
        assert_ok(f, ebb_apply(&f->site, f->plan, &options, &r, &f->err));
    } else if (!has_status(f, run, "done")) {
        assert_ok(f, ebb_resume(&f->site, run, &r, &f->err));
    } else {
        return;
    }
    assert_string_equal(r.status, "done");
    ebb_apply_result_fini(&r);
}

static inline void assert_all_gone(struct table_fixture *f)
{
    for (size_t i = 0; i < STRAY_COUNT; i++)
        assert_false(has_file(f, STRAYS[i]));
}

static inline void need_failpoints(void)
{
#ifndef EBB_FAILPOINTS
    skip();
#endif
}

#endif
