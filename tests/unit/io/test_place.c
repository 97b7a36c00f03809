/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>

#include "place_help.h"

static void test_names(void **state)
{
    struct place_fixture *f = *state;
    static const char *const bad[] = {"",   "/",    "/etc/passwd", "a/",    "a//b", ".",
                                      "..", "../x", "a/../b",      "a/./b", "a/.."};
    struct ebb_stat st;
    struct ebb_buf b;
    bool cut;

    ebb_buf_init(&b, 100);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(ebb_place_stat(f->place, bad[i], &st, &f->err), -EBB_EBAD_LOCATION);
        assert_int_equal(ebb_place_read(f->place, bad[i], 10, &b, &cut, &f->err), -EBB_EBAD_LOCATION);
        assert_int_equal(ebb_place_create(f->place, bad[i], "", 0, &f->err), -EBB_EBAD_LOCATION);
        assert_int_equal(ebb_place_unlink(f->place, bad[i], &f->err), -EBB_EBAD_LOCATION);
        assert_int_equal(ebb_place_make_dirs(f->place, bad[i], true, &f->err), -EBB_EBAD_LOCATION);
        assert_int_equal(ebb_place_move(f->place, "ok", f->place, bad[i], &f->err), -EBB_EBAD_LOCATION);
    }
    ebb_buf_fini(&b);
}

static void test_open(void **state)
{
    struct place_fixture *f = *state;
    struct ebb_place *p;
    struct ebb_stat st;
    char path[200], real[200];

    fixture_file(f, "file", "x");
    fixture_dir(f, "folder");
    fixture_link(f, "alias", "folder");
    snprintf(path, sizeof path, "%s/absent", f->path);
    assert_int_equal(ebb_place_open(f->storage, path, EBB_PLACE_READ, &p, &f->err), -EBB_ENOENT);
    snprintf(path, sizeof path, "%s/file", f->path);
    assert_int_equal(ebb_place_open(f->storage, path, EBB_PLACE_READ, &p, &f->err), -EBB_EIO);
    assert_int_equal(ebb_place_open(f->storage, "s3://b/t", EBB_PLACE_READ, &p, &f->err), -EBB_ESCHEME);
    assert_null(p);
    snprintf(path, sizeof path, "file:%s/alias", f->path);
    snprintf(real, sizeof real, "%s/folder", f->path);
    assert_int_equal(ebb_place_open(f->storage, path, EBB_PLACE_READ, &p, &f->err), 0);
    assert_string_equal(ebb_place_uri(p), path);
    assert_string_equal(ebb_place_local(p), real);
    assert_int_equal(ebb_place_stat_root(p, &st, &f->err), 0);
    assert_false(st.is_file);
    assert_true(st.ino);
    ebb_place_close(p);
    ebb_place_close(NULL);
}

static void test_read_only(void **state)
{
    struct place_fixture *f = *state;
    struct ebb_place *p;
    int64_t ms;

    assert_int_equal(ebb_place_open(f->storage, f->path, EBB_PLACE_READ, &p, &f->err), 0);
    assert_int_equal(ebb_place_make_dirs(p, "a", true, &f->err), -EBB_EINTERNAL);
    assert_int_equal(ebb_place_create(p, "a", "", 0, &f->err), -EBB_EINTERNAL);
    assert_int_equal(ebb_place_append(p, "a", "", 0, true, &f->err), -EBB_EINTERNAL);
    assert_int_equal(ebb_place_replace(p, "a", "", 0, &f->err), -EBB_EINTERNAL);
    assert_int_equal(ebb_place_move(p, "a", f->place, "b", &f->err), -EBB_EINTERNAL);
    assert_int_equal(ebb_place_move(f->place, "a", p, "b", &f->err), -EBB_EINTERNAL);
    assert_int_equal(ebb_place_sync_dir(p, "", &f->err), -EBB_EINTERNAL);
    assert_int_equal(ebb_place_unlink(p, "a", &f->err), -EBB_EINTERNAL);
    assert_int_equal(ebb_place_remove_dir(p, "a", &f->err), -EBB_EINTERNAL);
    assert_int_equal(ebb_place_clock_ms(p, "a", &ms, &f->err), -EBB_EINTERNAL);
    assert_false(fixture_has(f, "a"));
    ebb_place_close(p);
}

static void test_stat(void **state)
{
    struct place_fixture *f = *state;
    struct ebb_stat st;

    fixture_dir(f, "d");
    fixture_file(f, "d/file", "123");
    fixture_link(f, "link", "d");
    fixture_link(f, "d/alias", "file");
    fixture_run(f, "touch -d @1700000000.5 d/file; ln d/file d/hard");
    assert_int_equal(ebb_place_stat(f->place, "d/file", &st, &f->err), 0);
    assert_true(st.is_file);
    assert_int_equal(st.size_bytes, 3);
    assert_int_equal(st.mtime_ns, INT64_C(1700000000500000000));
    assert_true(st.ctime_ns > st.mtime_ns);
    assert_int_equal(st.link_count, 2);
    assert_int_equal(ebb_place_stat(f->place, "d/alias", &st, &f->err), 0);
    assert_false(st.is_file);
    assert_int_equal(ebb_place_stat(f->place, "d/none", &st, &f->err), -EBB_ENOENT);
    assert_int_equal(ebb_place_stat(f->place, "none/x", &st, &f->err), -EBB_ENOENT);
    assert_int_equal(ebb_place_stat(f->place, "d/file/x", &st, &f->err), -EBB_ENOENT);
    assert_int_equal(ebb_place_stat(f->place, "link/file", &st, &f->err), -EBB_EIO);
    assert_non_null(strstr(f->err.message, "link/file"));
}

static void test_identity(void **state)
{
    struct ebb_stat st = {
        .size_bytes = 3, .mtime_ns = 7, .ctime_ns = -5, .dev = 66305, .ino = UINT64_MAX, .is_file = true};
    char id[EBB_STAT_ID_MAX];

    (void)state;
    ebb_stat_id(&st, id);
    assert_string_equal(id, "66305:18446744073709551615:-5");
    st.ctime_ns = 99;
    assert_true(ebb_stat_is_moved(&st, id, 3, 7));
    assert_false(ebb_stat_is_moved(&st, id, 4, 7));
    assert_false(ebb_stat_is_moved(&st, id, 3, 8));
    assert_false(ebb_stat_is_moved(&st, "66305:1:-5", 3, 7));
    assert_false(ebb_stat_is_moved(&st, "", 3, 7));
    assert_false(ebb_stat_is_moved(&st, "66305:18446744073709551615", 3, 7));
    st.ino = 1;
    assert_false(ebb_stat_is_moved(&st, "66305:18:-5", 3, 7));
    assert_true(ebb_stat_is_moved(&st, "66305:1:0", 3, 7));
    st.is_file = false;
    assert_false(ebb_stat_is_moved(&st, "66305:1:0", 3, 7));
}

static void test_read(void **state)
{
    struct place_fixture *f = *state;
    struct ebb_buf b;
    bool cut;

    ebb_buf_init(&b, 100);
    fixture_dir(f, "d");
    fixture_file(f, "d/file", "0123456789");
    fixture_link(f, "d/alias", "file");
    assert_int_equal(mkfifoat(f->dir, "d/fifo", 0600), 0);
    assert_int_equal(ebb_place_read(f->place, "d/file", 100, &b, &cut, &f->err), 0);
    assert_string_equal(ebb_buf_cstr(&b), "0123456789");
    assert_false(cut);
    assert_int_equal(ebb_place_read(f->place, "d/file", 10, &b, &cut, &f->err), 0);
    assert_false(cut);
    assert_int_equal(ebb_place_read(f->place, "d/file", 4, &b, &cut, &f->err), 0);
    assert_string_equal(ebb_buf_cstr(&b), "0123");
    assert_true(cut);
    assert_int_equal(ebb_place_read(f->place, "d/file", 0, &b, NULL, &f->err), 0);
    assert_int_equal(b.len, 0);
    assert_int_equal(ebb_place_read(f->place, "d/alias", 100, &b, &cut, &f->err), -EBB_EIO);
    assert_int_equal(ebb_place_read(f->place, "d/fifo", 100, &b, &cut, &f->err), -EBB_EIO);
    assert_int_equal(ebb_place_read(f->place, "d", 100, &b, &cut, &f->err), -EBB_EIO);
    assert_int_equal(ebb_place_read(f->place, "d/none", 100, &b, &cut, &f->err), -EBB_ENOENT);
    assert_int_equal(ebb_place_read(f->place, "d/file/x", 100, &b, &cut, &f->err), -EBB_ENOENT);
    ebb_buf_fini(&b);
}

/* Case SL8: what a link leads to. */
static void test_links(void **state)
{
    struct place_fixture *f = *state;
    struct ebb_buf b;
    char want[200];

    ebb_buf_init(&b, 8192);
    fixture_dir(f, "data");
    fixture_file(f, "data/real.parquet", "x");
    fixture_link(f, "data/alias.parquet", "real.parquet");
    fixture_link(f, "data/nowhere", "gone/x");
    fixture_link(f, "data/through", "real.parquet/x");
    fixture_link(f, "data/loop", "loop");
    snprintf(want, sizeof want, "%s/data/real.parquet", f->path);
    assert_int_equal(ebb_place_resolve_link(f->place, "data/alias.parquet", &b, &f->err), 0);
    assert_string_equal(ebb_buf_cstr(&b), want);
    assert_int_equal(ebb_place_resolve_link(f->place, "data/nowhere", &b, &f->err), -EBB_ENOENT);
    assert_int_equal(ebb_place_resolve_link(f->place, "data/through", &b, &f->err), -EBB_ENOENT);
    assert_int_equal(ebb_place_resolve_link(f->place, "data/loop", &b, &f->err), -EBB_EIO);
    ebb_buf_reset(&b);
    assert_int_equal(ebb_place_read_link(f->place, "data/nowhere", &b, &f->err), 0);
    assert_string_equal(ebb_buf_cstr(&b), "gone/x");
    assert_int_equal(ebb_place_read_link(f->place, "data/real.parquet", &b, &f->err), -EBB_EIO);
    assert_int_equal(ebb_place_read_link(f->place, "data/none", &b, &f->err), -EBB_ENOENT);
    fixture_run(f, "mv ../root ../other && mkdir ../root && cp -a data ../root/ 2>/dev/null; true");
    assert_int_equal(ebb_place_resolve_link(f->place, "data/alias.parquet", &b, &f->err), -EBB_EIO);
    ebb_buf_fini(&b);
}

static void test_case_probe(void **state)
{
    struct place_fixture *f = *state;
    bool insensitive = true;

    assert_int_equal(ebb_place_is_case_insensitive(f->place, &insensitive, &f->err), 0);
    assert_false(insensitive);
    fixture_file(f, "123", "x");
    assert_int_equal(ebb_place_is_case_insensitive(f->place, &insensitive, &f->err), 0);
    assert_false(insensitive);
    fixture_file(f, "Data.parquet", "x");
    fixture_run(f, "ln Data.parquet dATA.PARQUET"); /* two names of one file prove nothing */
    assert_int_equal(ebb_place_is_case_insensitive(f->place, &insensitive, &f->err), 0);
    assert_false(insensitive);
}

static void test_make_dirs(void **state)
{
    struct place_fixture *f = *state;
    struct stat st;

    fixture_file(f, "file", "x");
    fixture_link(f, "out", "/tmp");
    assert_int_equal(ebb_place_make_dirs(f->place, ".q/run/data/p=1", true, &f->err), 0);
    assert_int_equal(ebb_place_make_dirs(f->place, ".q/run/data/p=1", true, &f->err), 0);
    assert_int_equal(fstatat(f->dir, ".q/run/data/p=1", &st, 0), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    umask(022);
    assert_int_equal(ebb_place_make_dirs(f->place, "open/x", false, &f->err), 0);
    assert_int_equal(fstatat(f->dir, "open", &st, 0), 0);
    assert_int_equal(st.st_mode & 07777, 0755);
    assert_int_equal(ebb_place_make_dirs(f->place, "file/x", true, &f->err), -EBB_EIO);
    assert_int_equal(ebb_place_make_dirs(f->place, "out/ebb-must-not-exist", true, &f->err), -EBB_EIO);
    assert_int_equal(access("/tmp/ebb-must-not-exist", F_OK), -1);
}

static void expect_content(struct place_fixture *f, const char *name, const char *text)
{
    struct ebb_buf b;

    ebb_buf_init(&b, 1000);
    assert_int_equal(ebb_place_read(f->place, name, 1000, &b, NULL, &f->err), 0);
    assert_string_equal(ebb_buf_cstr(&b), text);
    ebb_buf_fini(&b);
}

static void test_write(void **state)
{
    struct place_fixture *f = *state;
    struct stat st;

    fixture_dir(f, "d");
    fixture_link(f, "d/link", "../elsewhere");
    assert_int_equal(ebb_place_create(f->place, "d/new", "one", 3, &f->err), 0);
    assert_int_equal(ebb_place_create(f->place, "d/new", "two", 3, &f->err), -EBB_EEXIST);
    assert_int_equal(ebb_place_create(f->place, "d/link", "two", 3, &f->err), -EBB_EEXIST);
    assert_int_equal(ebb_place_create(f->place, "none/new", "two", 3, &f->err), -EBB_ENOENT);
    expect_content(f, "d/new", "one");
    assert_int_equal(fstatat(f->dir, "d/new", &st, 0), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(ebb_place_append(f->place, "d/log", "a\n", 2, false, &f->err), 0);
    assert_int_equal(ebb_place_append(f->place, "d/log", "b\n", 2, true, &f->err), 0);
    expect_content(f, "d/log", "a\nb\n");
    assert_int_equal(ebb_place_append(f->place, "d/link", "b\n", 2, true, &f->err), -EBB_EIO);
    assert_int_equal(ebb_place_append(f->place, "d", "b\n", 2, true, &f->err), -EBB_EIO);
    assert_int_equal(ebb_place_replace(f->place, "d/log", "c", 1, &f->err), 0);
    expect_content(f, "d/log", "c");
    assert_int_equal(ebb_place_replace(f->place, "d/link", "c", 1, &f->err), 0);
    assert_false(fixture_has(f, "elsewhere"));
    expect_content(f, "d/link", "c");
    fixture_dir(f, "d/sub");
    assert_int_equal(ebb_place_replace(f->place, "d/sub", "c", 1, &f->err), -EBB_EIO);
    fixture_run(f, "test \"$(ls -A d | wc -l)\" = 4"); /* no temporary file stays */
    assert_int_equal(ebb_place_sync_dir(f->place, "d", &f->err), 0);
    assert_int_equal(ebb_place_sync_dir(f->place, "", &f->err), 0);
    assert_int_equal(ebb_place_sync_dir(f->place, "none", &f->err), -EBB_ENOENT);
}

static void check_move(struct place_fixture *f)
{
    struct ebb_stat before, after;
    char id[EBB_STAT_ID_MAX];

    assert_int_equal(ebb_place_stat(f->place, "a/file", &before, &f->err), 0);
    ebb_stat_id(&before, id);
    assert_int_equal(ebb_place_move(f->place, "a/file", f->place, "b/taken", &f->err), -EBB_EEXIST);
    assert_int_equal(ebb_place_move(f->place, "a/file", f->place, "b/taken-link", &f->err), -EBB_EEXIST);
    assert_int_equal(ebb_place_move(f->place, "a/file", f->place, "a/file", &f->err), -EBB_EEXIST);
    assert_true(fixture_has(f, "a/file"));
    assert_int_equal(ebb_place_move(f->place, "a/none", f->place, "b/x", &f->err), -EBB_ENOENT);
    assert_int_equal(ebb_place_move(f->place, "none/none", f->place, "b/x", &f->err), -EBB_ENOENT);
    assert_int_equal(ebb_place_move(f->place, "a/file", f->place, "none/x", &f->err), -EBB_EIO);
    assert_int_equal(ebb_place_move(f->place, "a/file", f->place, "link/x", &f->err), -EBB_EIO);
    assert_int_equal(ebb_place_move(f->place, "link/taken", f->place, "a/x", &f->err), -EBB_EIO);
    assert_int_equal(ebb_place_move(f->place, "a/file", f->place, "b/moved", &f->err), 0);
    assert_false(fixture_has(f, "a/file"));
    assert_int_equal(ebb_place_stat(f->place, "b/moved", &after, &f->err), 0);
    assert_true(ebb_stat_is_moved(&after, id, before.size_bytes, before.mtime_ns));
    assert_int_equal(ebb_place_move(f->place, "b/moved", f->place, "a/file", &f->err), 0);
}

static void make_move(struct place_fixture *f)
{
    fixture_dir(f, "a");
    fixture_dir(f, "b");
    fixture_file(f, "a/file", "content");
    fixture_file(f, "b/taken", "other");
    fixture_link(f, "b/taken-link", "nowhere");
    fixture_link(f, "link", "b");
}

static void test_move(void **state)
{
    struct place_fixture *f = *state;

    make_move(f);
    check_move(f);
    expect_content(f, "b/taken", "other");
}

/* A file system without RENAME_NOREPLACE answers EINVAL; the move is then a second link and the removal of the first.
 */
static void test_move_by_link(void **state)
{
    struct place_fixture *f = *state;
    static const int answers[] = {EINVAL, ENOSYS};
    int status;

    make_move(f);
    for (size_t i = 0; i < 2; i++) {
        pid_t pid = fork();

        if (!pid) {
            if (!deny_syscall(SYS_renameat2, answers[i]))
                _exit(77);
            check_move(f);
            if (!deny_syscall(SYS_linkat, EPERM))
                _exit(77);
            if (ebb_place_move(f->place, "a/file", f->place, "b/x", &f->err) != -EBB_EUNSUPPORTED)
                _exit(8);
            _exit(0);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        if (WEXITSTATUS(status) == 77)
            skip();
        assert_int_equal(status, 0);
        assert_true(fixture_has(f, "a/file"));
    }
}

/* Where the right to remove is missing nothing changes, and it is told. */
static void test_move_rights(void **state)
{
    struct place_fixture *f = *state;
    int status;
    pid_t pid;

    make_move(f);
    fixture_run(f, "chmod 555 a && chmod 777 b");
    pid = fork();
    if (!pid) {
        if (getuid() == 0 && (setgid(65534) || setuid(65534)))
            _exit(9);
        if (ebb_place_move(f->place, "a/file", f->place, "b/x", &f->err) != -EBB_EPERMISSION)
            _exit(8);
        if (ebb_place_unlink(f->place, "a/file", &f->err) != -EBB_EPERMISSION)
            _exit(7);
        _exit(fixture_has(f, "b/x") ? 6 : 0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    fixture_run(f, "chmod 755 a");
    assert_int_equal(status, 0);
    assert_true(fixture_has(f, "a/file"));
}

/* Between two places; and to another file system, where nothing is copied. */
static void test_move_between(void **state)
{
    struct place_fixture *f = *state;
    struct ebb_place *p;
    char path[200], shm[] = "/dev/shm/ebb-place-XXXXXX";

    make_move(f);
    snprintf(path, sizeof path, "%s/b", f->path);
    assert_int_equal(ebb_place_open(f->storage, path, EBB_PLACE_WRITE, &p, &f->err), 0);
    assert_int_equal(ebb_place_move(f->place, "a/file", p, "moved", &f->err), 0);
    assert_true(fixture_has(f, "b/moved"));
    ebb_place_close(p);
    if (!mkdtemp(shm))
        skip();
    assert_int_equal(ebb_place_open(f->storage, shm, EBB_PLACE_WRITE, &p, &f->err), 0);
    assert_int_equal(ebb_place_move(f->place, "b/moved", p, "x", &f->err), -EBB_EUNSUPPORTED);
    assert_non_null(strstr(f->err.message, "cross-device"));
    assert_true(fixture_has(f, "b/moved"));
    ebb_place_close(p);
    assert_int_equal(rmdir(shm), 0);
}

/* Cases EN2, DL7, DL8. */
static void test_unlink(void **state)
{
    struct place_fixture *f = *state;

    fixture_dir(f, "d");
    fixture_dir(f, "d/full");
    fixture_file(f, "d/full/x", "x");
    fixture_file(f, "d/part=a%20b", "x");
    fixture_file(f, "d/part=a b", "x");
    fixture_link(f, "d/link", "full");
    assert_int_equal(ebb_place_unlink(f->place, "d/part=a%20b", &f->err), 0);
    assert_true(fixture_has(f, "d/part=a b"));
    assert_int_equal(ebb_place_unlink(f->place, "d/part=a%20b", &f->err), -EBB_ENOENT);
    assert_int_equal(ebb_place_unlink(f->place, "d/full", &f->err), -EBB_EIO);
    assert_int_equal(ebb_place_unlink(f->place, "d/link/x", &f->err), -EBB_EIO);
    assert_true(fixture_has(f, "d/full/x"));
    assert_int_equal(ebb_place_unlink(f->place, "d/link", &f->err), 0);
    assert_int_equal(ebb_place_remove_dir(f->place, "d/full", &f->err), -EBB_EEXIST);
    assert_true(fixture_has(f, "d/full/x"));
    assert_int_equal(ebb_place_unlink(f->place, "d/full/x", &f->err), 0);
    assert_int_equal(ebb_place_remove_dir(f->place, "d/full", &f->err), 0);
    assert_int_equal(ebb_place_remove_dir(f->place, "d/full", &f->err), -EBB_ENOENT);
    assert_int_equal(ebb_place_remove_dir(f->place, "d/part=a b", &f->err), -EBB_EIO);
}

static void test_clock(void **state)
{
    struct place_fixture *f = *state;
    struct ebb_clock clock = ebb_clock_system();
    int64_t ms = 0, now = ebb_clock_now(&clock);

    assert_int_equal(ebb_place_clock_ms(f->place, "probe", &ms, &f->err), 0);
    assert_true(ms > now - 5000 && ms < now + 60000);
    assert_false(fixture_has(f, "probe"));
    fixture_file(f, "probe", "x");
    assert_int_equal(ebb_place_clock_ms(f->place, "probe", &ms, &f->err), -EBB_EEXIST);
    assert_true(fixture_has(f, "probe"));
}

static void test_storage(void **state)
{
    struct place_fixture *f = *state;
    struct ebb_buf b;
    struct ebb_stat st;
    char path[200];

    ebb_buf_init(&b, 10);
    fixture_file(f, "ten", "0123456789");
    fixture_file(f, "eleven", "0123456789A");
    fixture_link(f, "alias", "ten");
    assert_int_equal(mkfifoat(f->dir, "fifo", 0600), 0);
    assert_int_equal(ebb_uri_map_add(f->map, "s3://bucket/t", f->path, &f->err), 0);
    assert_ptr_equal(ebb_storage_map(f->storage), f->map);
    assert_int_equal(ebb_storage_read(f->storage, "s3://bucket/t/ten", &b, &st, &f->err), 0);
    assert_string_equal(ebb_buf_cstr(&b), "0123456789");
    assert_int_equal(st.size_bytes, 10);
    assert_int_equal(ebb_storage_read(f->storage, "s3://bucket/t/eleven", &b, NULL, &f->err), -EBB_ELIMIT);
    assert_non_null(strstr(f->err.message, "s3://bucket/t/eleven"));
    assert_int_equal(ebb_storage_read_head(f->storage, "s3://bucket/t/eleven", 3, &b, &f->err), 0);
    assert_string_equal(ebb_buf_cstr(&b), "012");
    assert_int_equal(ebb_storage_read_head(f->storage, "s3://bucket/t/eleven", 300, &b, &f->err), 0);
    assert_int_equal(b.len, 10);
    assert_int_equal(ebb_storage_read(f->storage, "s3://bucket/t/fifo", &b, NULL, &f->err), -EBB_EIO);
    assert_int_equal(ebb_storage_read(f->storage, "s3://bucket/t", &b, NULL, &f->err), -EBB_EIO);
    assert_int_equal(ebb_storage_read(f->storage, "s3://bucket/t/none", &b, NULL, &f->err), -EBB_ENOENT);
    assert_int_equal(ebb_storage_read(f->storage, "s3://bucket/t/ten/x", &b, NULL, &f->err), -EBB_ENOENT);
    assert_int_equal(ebb_storage_read(f->storage, "oss://lake/t/x", &b, NULL, &f->err), -EBB_ESCHEME);
    assert_int_equal(ebb_storage_read(f->storage, "file:/dev/null", &b, NULL, &f->err), -EBB_EIO);
    snprintf(path, sizeof path, "file://%s/alias", f->path);
    assert_int_equal(ebb_storage_read(f->storage, path, &b, &st, &f->err), 0);
    assert_true(st.is_file);
    assert_int_equal(ebb_storage_stat(f->storage, path, &st, &f->err), 0);
    assert_false(st.is_file);
    assert_int_equal(ebb_storage_stat(f->storage, "s3://bucket/t/none", &st, &f->err), -EBB_ENOENT);
    /* Files of the kernel say size 0 and have content all the same. */
    assert_int_equal(ebb_storage_read_head(f->storage, "/proc/self/stat", 5, &b, &f->err), 0);
    assert_int_equal(b.len, 5);
    ebb_buf_fini(&b);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_names),
        T(test_open),
        T(test_read_only),
        T(test_stat),
        T(test_read),
        T(test_links),
        T(test_case_probe),
        T(test_make_dirs),
        T(test_write),
        T(test_move),
        T(test_move_by_link),
        T(test_move_rights),
        T(test_move_between),
        T(test_unlink),
        T(test_clock),
        T(test_storage),
        cmocka_unit_test(test_identity),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
