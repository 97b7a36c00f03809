/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "place_help.h"

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* What a walk saw, as lines "<kind letter> <path>", sorted. */
struct seen {
    struct ebb_strs lines;
    struct ebb_strs dirs;
    struct place_fixture *f;
    const char *not_into;                    /* enter says no */
    void (*action)(struct place_fixture *f); /* run once, at the first file below data */
    char dir[256];
    int stat_rc;
    int stop_after;
};

static bool on_enter(void *data, struct ebb_str dir)
{
    struct seen *s = data;

    return !s->not_into || !ebb_str_is_equal(dir, ebb_str_of(s->not_into));
}

static int on_dir(void *data, struct ebb_str dir, struct ebb_err *err)
{
    struct seen *s = data;

    snprintf(s->dir, sizeof s->dir, "%.*s", (int)dir.n, dir.p ? dir.p : "");
    return ebb_strs_addn(&s->dirs, dir.p, dir.n, err);
}

static int on_entry(void *data, const struct ebb_walk_entry *e, struct ebb_err *err)
{
    struct seen *s = data;
    char line[1024];

    assert_true(ebb_str_is_equal(e->dir, ebb_str_of(s->dir)));
    snprintf(line, sizeof line, "%c %.*s%s%.*s", "FLMO"[e->kind], (int)e -> dir.n, e->dir.n ? e->dir.p : "",
             e->dir.n ? "/" : "", (int)e->name.n, e->name.p);
    if (s->stop_after && (int)s->lines.count + 1 >= s->stop_after)
        return ebb_err_set(err, EBB_ECANCELLED, "stopped");
    return ebb_strs_add(&s->lines, line, err);
}

static const struct ebb_walk_ops OPS = {on_enter, on_dir, on_entry};

static void seen_fini(struct seen *s)
{
    ebb_strs_fini(&s->lines);
    ebb_strs_fini(&s->dirs);
}

static int walk(struct place_fixture *f, const char *below, struct seen *s)
{
    int rc;

    s->f = f;
    ebb_strs_init(&s->lines);
    ebb_strs_init(&s->dirs);
    rc = ebb_place_walk(f->place, below, &OPS, s, &f->err);
    if (s->lines.count)
        qsort(s->lines.items, s->lines.count, sizeof *s->lines.items, compare);
    return rc;
}

static void expect_lines(const struct seen *s, const char *const *lines, size_t n)
{
    for (size_t i = 0; i < n && i < s->lines.count; i++)
        assert_string_equal(s->lines.items[i], lines[i]);
    assert_int_equal(s->lines.count, n);
}
#define EXPECT_LINES(s, ...)                                                                                           \
    expect_lines(s, (const char *const[]){__VA_ARGS__},                                                                \
                 sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static void make_tree(struct place_fixture *f)
{
    fixture_dir(f, "data");
    fixture_dir(f, "data/p=1");
    fixture_dir(f, "data/p=2");
    fixture_dir(f, "data/empty");
    fixture_file(f, "top", "x");
    fixture_file(f, "data/a.parquet", "x");
    fixture_file(f, "data/p=1/b.parquet", "x");
    fixture_file(f, "data/p=2/c.parquet", "x");
    fixture_link(f, "data/alias", "a.parquet");
    fixture_link(f, "data/up", "../..");
    fixture_link(f, "data/dangling", "nowhere");
    assert_int_equal(mkfifoat(f->dir, "data/fifo", 0600), 0);
}

static void test_kinds(void **state)
{
    struct place_fixture *f = *state;
    struct seen s = {0};

    make_tree(f);
    assert_int_equal(walk(f, "", &s), 0);
    EXPECT_LINES(&s, "F data/a.parquet", "F data/p=1/b.parquet", "F data/p=2/c.parquet", "F top", "L data/alias",
                 "L data/dangling", "L data/up", "O data/fifo");
    assert_int_equal(s.dirs.count, 5);
    seen_fini(&s);
}

static void test_below_and_enter(void **state)
{
    struct place_fixture *f = *state;
    struct seen s = {.not_into = "data/p=1"};

    make_tree(f);
    assert_int_equal(walk(f, "data", &s), 0);
    EXPECT_LINES(&s, "F data/a.parquet", "F data/p=2/c.parquet", "L data/alias", "L data/dangling", "L data/up",
                 "O data/fifo");
    seen_fini(&s);
    assert_int_equal(walk(f, "data/p=2", &s), 0);
    EXPECT_LINES(&s, "F data/p=2/c.parquet");
    seen_fini(&s);
}

static void test_bad_start(void **state)
{
    struct place_fixture *f = *state;
    static const char *const bad[] = {"/data", "data/", "data//p=1", "../x", "data/..", ".", "data/./p=1"};
    struct seen s = {0};

    make_tree(f);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(walk(f, bad[i], &s), -EBB_EBAD_LOCATION);
    assert_int_equal(walk(f, "absent", &s), -EBB_ENOENT);
    assert_int_equal(walk(f, "top", &s), -EBB_EIO);
    assert_int_equal(walk(f, "data/up", &s), -EBB_EIO);
    seen_fini(&s);
}

static void test_stop(void **state)
{
    struct place_fixture *f = *state;
    struct seen s = {.stop_after = 3};

    make_tree(f);
    assert_int_equal(walk(f, "", &s), -EBB_ECANCELLED);
    assert_string_equal(f->err.message, "stopped");
    assert_int_equal(s.lines.count, 2);
    seen_fini(&s);
}

static void remove_folders(struct place_fixture *f)
{
    fixture_run(f, "rm -rf data/p=1 data/p=2 data/empty");
}

/* A folder that becomes a link to a folder elsewhere while its parent is listed. */
static void swap_for_link(struct place_fixture *f)
{
    fixture_run(f, "mv data/sub ../moved-aside && ln -s ../../moved-aside data/sub");
}

static int act_on_entry(void *data, const struct ebb_walk_entry *e, struct ebb_err *err)
{
    struct seen *s = data;
    struct ebb_stat st;

    if (e->kind == EBB_WALK_LINK) {
        s->stat_rc = ebb_walk_stat(e, &st, err);
        assert_false(st.is_file);
        return on_entry(data, e, err);
    }
    if (s->action)
        s->action(s->f);
    s->action = NULL;
    return on_entry(data, e, err);
}

/* Case LS1 (a): removed between the listing of its parent and entering it. */
static void test_vanished(void **state)
{
    struct place_fixture *f = *state;
    struct ebb_walk_ops ops = OPS;
    struct seen s = {.f = f, .action = remove_folders};

    make_tree(f);
    fixture_run(f, "rm data/alias data/up data/dangling data/fifo");
    ops.entry = act_on_entry;
    assert_int_equal(ebb_place_walk(f->place, "data", &ops, &s, &f->err), 0);
    EXPECT_LINES(&s, "F data/a.parquet");
    assert_int_equal(s.dirs.count, 1);
    assert_false(fixture_has(f, "data/p=1"));
    seen_fini(&s);
}

static void test_replaced_by_link(void **state)
{
    struct place_fixture *f = *state;
    struct ebb_walk_ops ops = OPS;
    struct seen s = {.f = f, .action = swap_for_link, .stat_rc = -1};

    fixture_dir(f, "data");
    fixture_dir(f, "data/sub");
    fixture_file(f, "data/sub/never", "x");
    fixture_file(f, "data/file", "x");
    ops.entry = act_on_entry;
    assert_int_equal(ebb_place_walk(f->place, "", &ops, &s, &f->err), 0);
    qsort(s.lines.items, s.lines.count, sizeof *s.lines.items, compare);
    EXPECT_LINES(&s, "F data/file", "L data/sub");
    assert_int_equal(s.stat_rc, 0);
    seen_fini(&s);
}

/* Case LS1 (b). Root may read everything, so the walk is done as nobody. */
static void test_unreadable(void **state)
{
    struct place_fixture *f = *state;
    struct seen s = {0};
    int status;
    pid_t pid;

    make_tree(f);
    fixture_run(f, "chmod 755 . && chmod 0 data/p=1");
    pid = fork();
    if (!pid) {
        if (getuid() == 0 && (setgid(65534) || setuid(65534)))
            _exit(9);
        if (walk(f, "", &s) != -EBB_EPERMISSION)
            _exit(8);
        seen_fini(&s);
        _exit(strstr(f->err.message, "data/p=1: cannot list") ? 0 : 7);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    fixture_run(f, "chmod 700 data/p=1");
    assert_int_equal(status, 0);
}

/* Case LS1 (c): the kernel reports EIO for getdents64. */
static void test_io_error(void **state)
{
    struct place_fixture *f = *state;
    struct seen s = {0};
    int status;
    pid_t pid;

    make_tree(f);
    pid = fork();
    if (!pid) {
        if (!deny_syscall(SYS_getdents64, EIO))
            _exit(77);
        if (walk(f, "data", &s) != -EBB_EIO)
            _exit(8);
        _exit(strstr(f->err.message, "data: cannot list") ? 0 : 7);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(status, 0);
}

static int mount_child(struct place_fixture *f)
{
    char path[4200];
    struct seen s = {0};
    struct ebb_stat st;
    static const char *const want[] = {"F data/p=1/b.parquet", "L data/alias", "L data/dangling", "L data/up",
                                       "M data/empty",         "M data/p=2"};

    if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
        return 77;
    snprintf(path, sizeof path, "%s/data/p=2", f->path);
    if (mount("none", path, "tmpfs", 0, NULL))
        return 77;
    snprintf(path, sizeof path, "%s/data/empty", f->path);
    if (mount(f->path, path, NULL, MS_BIND, NULL)) /* same device, still another mount */
        return 77;
    fixture_run(f, "rm data/a.parquet data/fifo top; echo x > data/p=2/hidden");
    fixture_reopen(f);
    if (walk(f, "", &s) || s.lines.count != 6)
        return 8;
    for (size_t i = 0; i < 6; i++)
        if (strcmp(s.lines.items[i], want[i]))
            return 7;
    seen_fini(&s);
    if (ebb_place_stat(f->place, "data/p=2/hidden", &st, &f->err) != -EBB_EIO)
        return 6;
    if (ebb_place_move(f->place, "data/p=1/b.parquet", f->place, "data/p=2/b", &f->err) != -EBB_EUNSUPPORTED)
        return 5;
    return strstr(f->err.message, "cross-device") ? 0 : 4;
}

static void test_mounts(void **state)
{
    struct place_fixture *f = *state;
    int status;
    pid_t pid;

    for (int without_openat2 = 0; without_openat2 < 2; without_openat2++) {
        fixture_run(f, "rm -rf data");
        make_tree(f);
        pid = fork();
        if (!pid) {
            if (without_openat2 && !deny_syscall(SYS_openat2, ENOSYS))
                _exit(77);
            _exit(mount_child(f));
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        if (WEXITSTATUS(status) == 77)
            skip();
        assert_int_equal(status, 0);
    }
}

/* Without openat2 (ENOSYS, or EPERM from a sandbox) nothing else changes. */
static void test_without_openat2(void **state)
{
    struct place_fixture *f = *state;
    int status;
    pid_t pid;

    make_tree(f);
    pid = fork();
    if (!pid) {
        struct seen s = {0}, link = {.f = f, .action = swap_for_link, .stat_rc = -1};
        struct ebb_walk_ops ops = OPS;

        if (!deny_syscall(SYS_openat2, EPERM))
            _exit(77);
        fixture_reopen(f);
        if (walk(f, "", &s) || s.lines.count != 8 || s.dirs.count != 5)
            _exit(8);
        if (walk(f, "data/up", &s) != -EBB_EIO)
            _exit(7);
        seen_fini(&s);
        fixture_run(f, "rm -rf data top && mkdir -p data/sub && touch data/sub/never data/file");
        ops.entry = act_on_entry;
        if (ebb_place_walk(f->place, "", &ops, &link, &f->err) || link.lines.count != 2 || link.stat_rc)
            _exit(6);
        seen_fini(&link);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(status, 0);
}

struct deep {
    size_t files, longest;
};

static int deep_entry(void *data, const struct ebb_walk_entry *e, struct ebb_err *err)
{
    struct deep *d = data;
    struct ebb_stat st;
    int rc = ebb_walk_stat(e, &st, err);

    d->files++;
    d->longest = e->dir.n > d->longest ? e->dir.n : d->longest;
    return rc;
}

/* 600 folders deep: the path is four times PATH_MAX. */
static void make_deep(struct place_fixture *f, const char *name)
{
    int dir = dup(f->dir);

    for (int i = 0; i < 600; i++) {
        int next;

        assert_int_equal(mkdirat(dir, name, 0700), 0);
        next = openat(dir, name, O_RDONLY | O_DIRECTORY);
        assert_true(next >= 0);
        close(dir);
        dir = next;
    }
    close(openat(dir, "file", O_CREAT | O_WRONLY, 0600));
    close(dir);
}

static void test_deep(void **state)
{
    struct place_fixture *f = *state;
    struct ebb_str name = EBB_STR("abcdefghijklmnopqrstuvwxyz-");
    struct deep d = {0, 0};
    struct ebb_buf path;
    struct ebb_stat st;

    make_deep(f, name.p);
    assert_int_equal(ebb_place_walk(f->place, "", &(struct ebb_walk_ops){NULL, NULL, deep_entry}, &d, &f->err), 0);
    assert_int_equal(d.files, 1);
    assert_int_equal(d.longest, 600 * (name.n + 1) - 1);
    ebb_buf_init(&path, 100000);
    for (int i = 0; i < 600; i++)
        ebb_buf_printf(&path, "%s/", name.p);
    ebb_buf_puts(&path, "file");
    assert_int_equal(ebb_place_stat(f->place, path.data, &st, &f->err), 0);
    assert_true(st.is_file);
    assert_int_equal(ebb_place_unlink(f->place, path.data, &f->err), 0);
    assert_int_equal(ebb_place_unlink(f->place, path.data, &f->err), -EBB_ENOENT);
    ebb_buf_fini(&path);
}

static int count_entry(void *data, const struct ebb_walk_entry *e, struct ebb_err *err)
{
    (void)err;
    *(size_t *)data += e->kind == EBB_WALK_FILE;
    return 0;
}

/* A walk of 1000 files in 10 folders makes no stat call: it works where none is allowed. */
static void test_no_stat(void **state)
{
    struct place_fixture *f = *state;
    int status;
    pid_t pid;

    fixture_run(f, "for d in 0 1 2 3 4 5 6 7 8 9; do mkdir $d; for i in $(seq 100); do : > $d/$i; done; done");
    pid = fork();
    if (!pid) {
        static const long denied[] = {SYS_statx, SYS_newfstatat, SYS_fstat};
        size_t files = 0;

        for (size_t i = 0; i < sizeof denied / sizeof *denied; i++)
            if (!deny_syscall(denied[i], EIO))
                _exit(77);
        if (ebb_place_walk(f->place, "", &(struct ebb_walk_ops){NULL, NULL, count_entry}, &files, &f->err))
            _exit(8);
        _exit(files == 1000 ? 0 : 7);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(status, 0);
}

static int stat_entry(void *data, const struct ebb_walk_entry *e, struct ebb_err *err)
{
    struct place_fixture *f = data;
    struct ebb_stat st;

    if (ebb_str_is_equal(e->name, EBB_STR("goes"))) {
        assert_int_equal(unlinkat(f->dir, "d/goes", 0), 0);
        assert_int_equal(ebb_walk_stat(e, &st, err), -EBB_ENOENT);
        return 0;
    }
    assert_int_equal(ebb_walk_stat(e, &st, err), 0);
    assert_int_equal(st.size_bytes, 5);
    assert_true(st.is_file);
    assert_int_equal(st.mtime_ns, INT64_C(1700000000123456789));
    return 0;
}

static void test_walk_stat(void **state)
{
    struct place_fixture *f = *state;

    fixture_dir(f, "d");
    fixture_file(f, "d/goes", "");
    fixture_file(f, "d/stays", "12345");
    fixture_run(f, "touch -d @1700000000.123456789 d/stays");
    assert_int_equal(ebb_place_walk(f->place, "d", &(struct ebb_walk_ops){NULL, NULL, stat_entry}, f, &f->err), 0);
}

/* Names are bytes: three different names of one look, line feeds, bytes that are not UTF-8. */
static void test_odd_names(void **state)
{
    struct place_fixture *f = *state;
    struct seen s = {0};

    fixture_file(f, "file", "x");
    fixture_file(f, "file?.txt", "x");
    fixture_file(f, "file%3F.txt", "x");
    fixture_file(f, "a\nb", "x");
    fixture_file(f, "\xff\xfe", "x");
    fixture_file(f, "...", "x");
    assert_int_equal(walk(f, "", &s), 0);
    EXPECT_LINES(&s, "F ...", "F a\nb", "F file", "F file%3F.txt", "F file?.txt", "F \xff\xfe");
    seen_fini(&s);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_kinds),     T(test_below_and_enter),  T(test_bad_start),  T(test_stop),
        T(test_vanished),  T(test_replaced_by_link), T(test_unreadable), T(test_io_error),
        T(test_mounts),    T(test_without_openat2),  T(test_deep),       T(test_no_stat),
        T(test_walk_stat), T(test_odd_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
