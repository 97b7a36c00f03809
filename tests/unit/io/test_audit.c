/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <openssl/sha.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/audit.h"
#include "io/file.h"

#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"

struct fixture {
    char dir[64];
    char file[96];
    struct ebb_audit *audit;
    struct ebb_buf text; /* of the log, after read_log */
    struct ebb_err err;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    if (!f)
        return -1;
    strncpy(f->dir, "/tmp/ebb-audit-XXXXXX", sizeof f->dir - 1);
    if (!mkdtemp(f->dir))
        return -1;
    snprintf(f->file, sizeof f->file, "%s/audit.jsonl", f->dir);
    ebb_buf_init(&f->text, (size_t)64 << 20);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    pid_t pid;

    ebb_audit_close(f->audit);
    ebb_buf_fini(&f->text);
    pid = fork();
    if (pid == 0) {
        execlp("rm", "rm", "-rf", "--", f->dir, (char *)NULL);
        _exit(127);
    }
    waitpid(pid, NULL, 0);
    free(f);
    return 0;
}

static void open_log(struct fixture *f)
{
    assert_int_equal(ebb_audit_open(f->dir, &f->audit, &f->err), 0);
}

static void close_log(struct fixture *f)
{
    ebb_audit_close(f->audit);
    f->audit = NULL;
}

static void say(struct fixture *f, const char *members)
{
    assert_int_equal(ebb_audit_add(f->audit, 1780272000000, members, &f->err), 0);
    assert_int_equal(ebb_audit_flush(f->audit, &f->err), 0);
}

static const char *read_log(struct fixture *f)
{
    ebb_buf_reset(&f->text);
    assert_int_equal(ebb_file_read(f->file, &f->text, &f->err), 0);
    return ebb_buf_cstr(&f->text);
}

static void write_log(struct fixture *f, const char *text, size_t n)
{
    int fd = open(f->file, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, n), (ssize_t)n);
    close(fd);
}

static void append_log(struct fixture *f, const char *text)
{
    int fd = open(f->file, O_WRONLY | O_APPEND);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

static int64_t verify(struct fixture *f)
{
    int64_t count = -1;

    assert_int_equal(ebb_audit_verify(f->dir, &count, &f->err), 0);
    return count;
}

static void hash(const char *line, size_t n, char out[65])
{
    unsigned char digest[32];

    SHA256((const unsigned char *)line, n, digest);
    for (int i = 0; i < 32; i++)
        snprintf(out + 2 * i, 3, "%02x", digest[i]);
}

static void test_lines_are_chained(void **state)
{
    struct fixture *f = *state;
    char want[512], first[256], digest[65];
    struct stat st;

    open_log(f);
    say(f, "\"event\":\"moved\",\"path\":\"a\"");
    say(f, "\"event\":\"back\"");
    snprintf(first, sizeof first,
             "{\"seq\":1,\"prev\":\"" ZEROS "\",\"at\":\"2026-06-01T00:00:00Z\",\"event\":\"moved\",\"path\":\"a\"}");
    hash(first, strlen(first), digest);
    snprintf(want, sizeof want, "%s\n{\"seq\":2,\"prev\":\"%s\",\"at\":\"2026-06-01T00:00:00Z\",\"event\":\"back\"}\n",
             first, digest);
    assert_string_equal(read_log(f), want);
    assert_int_equal(verify(f), 2);
    assert_int_equal(stat(f->file, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
}

static void test_nothing_is_written_before_flush(void **state)
{
    struct fixture *f = *state;

    open_log(f);
    assert_int_equal(ebb_audit_flush(f->audit, &f->err), 0);
    assert_int_equal(ebb_audit_add(f->audit, 0, "\"event\":\"a\"", &f->err), 0);
    assert_int_equal(ebb_audit_add(f->audit, 0, "\"event\":\"b\"", &f->err), 0);
    assert_int_equal(verify(f), 0);
    assert_int_equal(ebb_audit_flush(f->audit, &f->err), 0);
    assert_int_equal(verify(f), 2);
    assert_int_equal(ebb_audit_flush(f->audit, &f->err), 0);
    assert_int_equal(verify(f), 2);
}

static void test_a_missing_log_has_no_lines(void **state)
{
    assert_int_equal(verify(*state), 0);
}

static void test_chain_goes_on_after_reopening(void **state)
{
    struct fixture *f = *state;

    for (int i = 0; i < 4; i++) {
        open_log(f);
        say(f, "\"event\":\"x\"");
        close_log(f);
    }
    assert_int_equal(verify(f), 4);
}

static void test_two_writers_make_one_chain(void **state)
{
    struct fixture *f = *state;
    struct ebb_audit *other = NULL;

    open_log(f);
    assert_int_equal(ebb_audit_open(f->dir, &other, &f->err), 0);
    for (int i = 0; i < 5; i++) {
        say(f, "\"event\":\"mine\"");
        assert_int_equal(ebb_audit_add(other, 0, "\"event\":\"theirs\"", &f->err), 0);
        assert_int_equal(ebb_audit_flush(other, &f->err), 0);
    }
    ebb_audit_close(other);
    assert_int_equal(verify(f), 10);
}

static void test_processes_at_the_same_time(void **state)
{
    struct fixture *f = *state;
    pid_t pids[4];
    int status;

    for (int p = 0; p < 4; p++) {
        pids[p] = fork();
        if (pids[p])
            continue;
        if (ebb_audit_open(f->dir, &f->audit, NULL))
            _exit(1);
        for (int i = 0; i < 25; i++)
            if (ebb_audit_add(f->audit, i, "\"event\":\"x\"", NULL) || ebb_audit_flush(f->audit, NULL))
                _exit(2);
        _exit(0);
    }
    for (int p = 0; p < 4; p++) {
        waitpid(pids[p], &status, 0);
        assert_int_equal(status, 0);
    }
    assert_int_equal(verify(f), 100);
}

static void test_torn_line_is_kept_apart(void **state)
{
    struct fixture *f = *state;
    struct ebb_buf torn;
    char name[128];
    int64_t count;

    ebb_buf_init(&torn, 100);
    open_log(f);
    say(f, "\"event\":\"a\"");
    close_log(f);
    append_log(f, "{\"seq\":2,\"prev\":\"00");
    assert_int_equal(ebb_audit_verify(f->dir, &count, &f->err), -EBB_EAUDIT);
    assert_int_equal(count, 1);
    assert_non_null(strstr(f->err.message, "line 2"));
    open_log(f);
    assert_int_equal(verify(f), 2);
    assert_non_null(strstr(read_log(f), "\"event\":\"torn\""));
    snprintf(name, sizeof name, "%s.torn-2", f->file);
    assert_int_equal(ebb_file_read(name, &torn, &f->err), 0);
    assert_string_equal(ebb_buf_cstr(&torn), "{\"seq\":2,\"prev\":\"00");
    say(f, "\"event\":\"b\"");
    assert_int_equal(verify(f), 3);
    ebb_buf_fini(&torn);
}

static void test_torn_line_of_another_process_is_mended_in_flush(void **state)
{
    struct fixture *f = *state;

    open_log(f);
    say(f, "\"event\":\"a\"");
    append_log(f, "garb\1age");
    say(f, "\"event\":\"b\"");
    assert_int_equal(verify(f), 3); /* a, torn, b */
    assert_null(strstr(read_log(f), "garb"));
}

static void test_log_that_is_only_torn(void **state)
{
    struct fixture *f = *state;

    write_log(f, "{\"se", 4);
    open_log(f);
    assert_int_equal(verify(f), 1);
    assert_non_null(strstr(read_log(f), "audit.jsonl.torn-1"));
}

static void test_kept_torn_lines_are_never_overwritten(void **state)
{
    struct fixture *f = *state;
    char name[128];
    struct stat st;

    snprintf(name, sizeof name, "%s.torn-1", f->file);
    assert_int_equal(ebb_file_append(name, "old", 3, &f->err), 0);
    write_log(f, "new!", 4);
    open_log(f);
    assert_int_equal(stat(name, &st), 0);
    assert_int_equal(st.st_size, 3);
    snprintf(name, sizeof name, "%s.torn-1-2", f->file);
    assert_int_equal(stat(name, &st), 0);
    assert_int_equal(st.st_size, 4);
}

static void three_lines(struct fixture *f)
{
    open_log(f);
    say(f, "\"event\":\"a\"");
    say(f, "\"event\":\"b\"");
    say(f, "\"event\":\"c\"");
    close_log(f);
    read_log(f);
}

static void test_a_changed_line_is_found(void **state)
{
    struct fixture *f = *state;
    int64_t count;

    three_lines(f);
    *strstr(f->text.data, "\"a\"") = '\''; /* line 1 is wrong, line 2 tells */
    write_log(f, f->text.data, f->text.len);
    assert_int_equal(ebb_audit_verify(f->dir, &count, &f->err), -EBB_EAUDIT);
    assert_int_equal(count, 1);
    assert_non_null(strstr(f->err.message, "line 2"));
}

static void test_a_lost_line_is_found(void **state)
{
    struct fixture *f = *state;
    int64_t count;
    char *second, *third;

    three_lines(f);
    second = strchr(f->text.data, '\n') + 1;
    third = strchr(second, '\n') + 1;
    memmove(second, third, strlen(third) + 1);
    write_log(f, f->text.data, strlen(f->text.data));
    assert_int_equal(ebb_audit_verify(f->dir, &count, &f->err), -EBB_EAUDIT);
    assert_int_equal(count, 1);
    assert_int_equal(ebb_audit_open(f->dir, &f->audit, &f->err), -EBB_EAUDIT);
    assert_null(f->audit);
}

static void test_a_bad_end_is_refused(void **state)
{
    static const char *const BAD[] = {
        "\n",
        "hello\n",
        "{\"seq\":1}\n",
        "{\"seq\":2,\"prev\":\"" ZEROS "\",\"event\":\"a\"}\n",
        "{\"seq\":1,\"prev\":\"" ZEROS "\",\"event\":\"a\"\n",
        "{\"seq\":-1,\"prev\":\"" ZEROS "\",\"event\":\"a\"}\n",
        "{\"seq\":99999999999999999999,\"prev\":\"" ZEROS "\",\"event\":\"a\"}\n",
        "{\"seq\":0,\"prev\":\"" ZEROS "\",\"event\":\"a\"}\n",
        "x\n{\"seq\":1,\"prev\":\"" ZEROS "\",\"event\":\"a\"}\n",
        "x\n{\"seq\":2,\"prev\":\"" ZEROS "\",\"event\":\"a\"}\n",
    };
    struct fixture *f = *state;
    int64_t count;

    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        write_log(f, BAD[i], strlen(BAD[i]));
        assert_int_equal(ebb_audit_open(f->dir, &f->audit, &f->err), -EBB_EAUDIT);
        assert_int_equal(ebb_audit_verify(f->dir, &count, &f->err), -EBB_EAUDIT);
        assert_int_equal(count, 0);
        assert_string_equal(read_log(f), BAD[i]); /* nothing was touched */
    }
}

static void test_what_cannot_be_a_line_is_refused(void **state)
{
    struct fixture *f = *state;
    char *big = malloc(2 << 20);

    assert_non_null(big);
    memset(big, 'x', (2 << 20) - 1);
    big[0] = '"';
    big[(2 << 20) - 1] = '\0';
    open_log(f);
    assert_int_equal(ebb_audit_add(f->audit, 0, "\"a\":1\n", &f->err), -EBB_EINTERNAL);
    assert_int_equal(ebb_audit_add(f->audit, 0, "", &f->err), -EBB_EINTERNAL);
    assert_int_equal(ebb_audit_add(f->audit, 0, big, &f->err), -EBB_ELIMIT);
    free(big);
    say(f, "\"event\":\"a\"");
    assert_int_equal(verify(f), 1);
}

static void test_long_lines(void **state)
{
    struct fixture *f = *state;
    char *big = malloc(1 << 20);

    assert_non_null(big);
    memset(big, 'x', (1 << 20) - 1);
    memcpy(big, "\"k\":\"", 5);
    big[(1 << 20) - 2] = '"';
    big[(1 << 20) - 1] = '\0';
    for (int i = 0; i < 3; i++) {
        open_log(f);
        say(f, big);
        say(f, big);
        close_log(f);
    }
    free(big);
    assert_int_equal(verify(f), 6);
}

static void test_a_replaced_log_is_not_written(void **state)
{
    struct fixture *f = *state;
    char aside[128];

    open_log(f);
    say(f, "\"event\":\"a\"");
    snprintf(aside, sizeof aside, "%s.1", f->file);
    assert_int_equal(rename(f->file, aside), 0);
    assert_int_equal(ebb_audit_add(f->audit, 0, "\"event\":\"b\"", &f->err), 0);
    assert_int_equal(ebb_audit_flush(f->audit, &f->err), -EBB_EAUDIT);
}

static void test_a_failed_write_leaves_the_chain_whole(void **state)
{
    struct fixture *f = *state;
    struct rlimit old, small;

    open_log(f);
    say(f, "\"event\":\"a\"");
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    small = old;
    small.rlim_cur = 200; /* the second line does not fit */
    setrlimit(RLIMIT_FSIZE, &small);
    assert_int_equal(ebb_audit_add(f->audit, 0, "\"event\":\"b\"", &f->err), 0);
    assert_int_equal(ebb_audit_flush(f->audit, &f->err), -EBB_EIO);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_int_equal(verify(f), 1);
    assert_int_equal(ebb_audit_flush(f->audit, &f->err), 0); /* it was kept */
    assert_int_equal(verify(f), 2);
}

static void test_a_link_is_not_followed(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(symlink("elsewhere", f->file), 0);
    assert_int_not_equal(ebb_audit_open(f->dir, &f->audit, &f->err), 0);
    assert_int_equal(ebb_audit_open("/nowhere/at/all", &f->audit, &f->err), -EBB_ENOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_lines_are_chained, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nothing_is_written_before_flush, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_missing_log_has_no_lines, setup, teardown),
        cmocka_unit_test_setup_teardown(test_chain_goes_on_after_reopening, setup, teardown),
        cmocka_unit_test_setup_teardown(test_two_writers_make_one_chain, setup, teardown),
        cmocka_unit_test_setup_teardown(test_processes_at_the_same_time, setup, teardown),
        cmocka_unit_test_setup_teardown(test_torn_line_is_kept_apart, setup, teardown),
        cmocka_unit_test_setup_teardown(test_torn_line_of_another_process_is_mended_in_flush, setup, teardown),
        cmocka_unit_test_setup_teardown(test_log_that_is_only_torn, setup, teardown),
        cmocka_unit_test_setup_teardown(test_kept_torn_lines_are_never_overwritten, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_changed_line_is_found, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_lost_line_is_found, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_bad_end_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_cannot_be_a_line_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_long_lines, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_replaced_log_is_not_written, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_failed_write_leaves_the_chain_whole, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_link_is_not_followed, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
