/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>

#include "store_help.h"

static void test_each_taking_raises_the_epoch(void **state)
{
    struct fixture *f = *state;
    int64_t epoch = 0;

    open_store(f);
    assert_int_equal(ebb_store_lead(f->store, &epoch, &f->err), 0);
    assert_int_equal(epoch, 1);
    ebb_store_resign(f->store);
    ebb_store_resign(f->store);
    assert_int_equal(ebb_store_lead(f->store, &epoch, &f->err), 0);
    assert_int_equal(epoch, 2);
    ebb_store_close(f->store); /* gives it back */
    open_store(f);
    assert_int_equal(ebb_store_lead(f->store, &epoch, &f->err), 0);
    assert_int_equal(epoch, 3);
}

static void test_one_connection_at_a_time(void **state)
{
    struct fixture *f = *state;
    struct ebb_store *other;
    int64_t epoch = 0, none = -7;
    char pid[24];

    open_store(f);
    assert_int_equal(ebb_store_open(f->dir, &other, &f->err), 0);
    assert_int_equal(ebb_store_lead(f->store, &epoch, &f->err), 0);
    assert_int_equal(ebb_store_lead(other, &none, &f->err), -EBB_ELOCKED);
    assert_true(f->err.retryable);
    assert_int_equal(none, -7);
    snprintf(pid, sizeof pid, "pid %ld", (long)getpid());
    assert_non_null(strstr(f->err.message, pid));
    ebb_store_resign(f->store);
    assert_int_equal(ebb_store_lead(other, &epoch, &f->err), 0);
    assert_int_equal(epoch, 2);
    ebb_store_close(other);
}

/* A child takes it, says so, and waits to be killed. */
static void lead_and_wait(const char *dir, int told)
{
    struct ebb_store *store;
    struct ebb_err err;
    int64_t epoch;

    if (ebb_store_open(dir, &store, &err) || ebb_store_lead(store, &epoch, &err) || write(told, "x", 1) != 1)
        _exit(1);
    for (;;)
        pause();
}

static void test_a_killed_leader_gives_way(void **state)
{
    struct fixture *f = *state;
    int64_t epoch = 0;
    int pipe_fds[2];
    char byte;
    pid_t pid;

    assert_int_equal(pipe(pipe_fds), 0);
    pid = fork();
    if (pid == 0)
        lead_and_wait(f->dir, pipe_fds[1]);
    assert_int_equal(read(pipe_fds[0], &byte, 1), 1);
    open_store(f);
    assert_int_equal(ebb_store_lead(f->store, &epoch, &f->err), -EBB_ELOCKED);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_int_equal(ebb_store_lead(f->store, &epoch, &f->err), 0);
    assert_int_equal(epoch, 2); /* greater than that of the one before */
    close(pipe_fds[0]);
    close(pipe_fds[1]);
}

static void test_a_link_is_not_followed(void **state)
{
    struct fixture *f = *state;
    int64_t epoch;
    char name[160];

    open_store(f);
    snprintf(name, sizeof name, "%s/ebb.serve.lock", f->dir);
    assert_int_equal(symlink("/dev/null", name), 0);
    assert_true(ebb_store_lead(f->store, &epoch, &f->err) < 0);
    assert_non_null(strstr(f->err.message, "ebb.serve.lock"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_each_taking_raises_the_epoch, setup, teardown),
        cmocka_unit_test_setup_teardown(test_one_connection_at_a_time, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_killed_leader_gives_way, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_link_is_not_followed, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
