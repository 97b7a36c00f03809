/* SPDX-License-Identifier: Apache-2.0 */
#include "table_help.h"

#include <sys/wait.h>

#include "table/lock_text_priv.h"
#include "table/quarantine.h"
#include "table/run_lock.h"

struct lock_fixture {
    struct table_fixture *t;
    struct ebb_place *place;
    struct ebb_run_lock a, b;
};

static int setup(void **state)
{
    struct lock_fixture *l = calloc(1, sizeof *l);

    assert_non_null(l);
    l->t = make_table();
    assert_ok(l->t, ebb_place_open(l->t->storage, l->t->uri, EBB_PLACE_WRITE, &l->place, &l->t->err));
    *state = l;
    return 0;
}

static int teardown(void **state)
{
    struct lock_fixture *l = *state;

    ebb_run_lock_release(&l->a);
    ebb_run_lock_release(&l->b);
    ebb_place_close(l->place);
    remove_table(l->t);
    free(l);
    return 0;
}

static int take(struct lock_fixture *l, const char *run, struct ebb_run_lock *lock)
{
    return ebb_run_lock_take(l->place, &l->t->site.clock, run, lock, &l->t->err);
}

static bool is_locked(struct lock_fixture *l)
{
    return has_file(l->t, EBB_QUARANTINE_LOCK);
}

/* Put a lock file there by hand. */
static void put_lock(struct lock_fixture *l, const struct ebb__lock_text *text)
{
    struct ebb_buf bytes;
    char path[512];

    ebb_buf_init(&bytes, EBB_LOCK_MAX_BYTES);
    ebb__lock_text_write(text, &bytes);
    path_of(l->t, EBB_QUARANTINE_LOCK, path);
    make_parents(path);
    write_path(path, ebb_buf_cstr(&bytes));
    ebb_buf_fini(&bytes);
}

static struct ebb__lock_text someone(struct lock_fixture *l, int64_t lives_ms)
{
    struct ebb__lock_text text;

    memset(&text, 0, sizeof text);
    snprintf(text.holder.host, sizeof text.holder.host, "elsewhere");
    snprintf(text.run, sizeof text.run, "r-other");
    text.epoch = 5;
    text.expires_ms = ebb_clock_now(&l->t->site.clock) + lives_ms;
    return text;
}

static void test_one_holder_at_a_time(void **state)
{
    struct lock_fixture *l = *state;

    assert_ok(l->t, take(l, "r-a", &l->a));
    assert_true(is_locked(l));
    assert_ok(l->t, ebb_run_lock_check(&l->a, &l->t->err));
    assert_error(l->t, take(l, "r-b", &l->b), ELOCKED);
    assert_non_null(strstr(l->t->err.message, "r-a"));
    assert_true(l->t->err.retryable);
    ebb_run_lock_release(&l->a);
    assert_false(is_locked(l));
    assert_false(has_file(l->t, EBB_QUARANTINE_DIR));
    assert_ok(l->t, take(l, "r-b", &l->b));
    assert_string_equal(l->b.old_holder, "");
}

static void test_the_quarantine_folder_is_private(void **state)
{
    struct lock_fixture *l = *state;
    char path[512];
    struct stat st;

    assert_ok(l->t, take(l, "r-a", &l->a));
    path_of(l->t, EBB_QUARANTINE_DIR, path);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
}

static void test_a_living_lock_is_respected(void **state)
{
    struct lock_fixture *l = *state;
    struct ebb__lock_text text = someone(l, 60000);

    put_lock(l, &text);
    assert_error(l->t, take(l, "r-a", &l->a), ELOCKED);
    assert_true(is_locked(l));
}

static void test_an_expired_lock_is_taken_over(void **state)
{
    struct lock_fixture *l = *state;
    struct ebb__lock_text text = someone(l, -1000);

    put_lock(l, &text);
    assert_ok(l->t, take(l, "r-a", &l->a));
    assert_non_null(strstr(l->a.old_holder, "r-other"));
    assert_non_null(strstr(l->a.old_holder, "elsewhere"));
    assert_true(l->a.epoch > text.epoch);
    assert_ok(l->t, ebb_run_lock_check(&l->a, &l->t->err));
    ebb_run_lock_release(&l->a);
    assert_false(has_file(l->t, EBB_QUARANTINE_DIR)); /* the old lock is not left aside */
}

static void test_epochs_grow(void **state)
{
    struct lock_fixture *l = *state;
    struct ebb__lock_text text = someone(l, -1000);

    text.epoch = ebb_clock_now(&l->t->site.clock) + HOUR_MS;
    put_lock(l, &text);
    assert_ok(l->t, take(l, "r-a", &l->a));
    assert_int_equal(l->a.epoch, text.epoch + 1);
}

/* A process of this host that lived once. */
static void get_dead_holder(struct ebb__holder *out)
{
    int ends[2], status;
    pid_t pid;

    assert_int_equal(pipe(ends), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (!pid) {
        ebb__holder_self(out);
        _exit(write(ends[1], out, sizeof *out) == (ssize_t)sizeof *out ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(read(ends[0], out, sizeof *out), sizeof *out);
    close(ends[0]);
    close(ends[1]);
}

static void test_the_lock_of_a_dead_process_is_taken_over(void **state)
{
    struct lock_fixture *l = *state;
    struct ebb__lock_text text = someone(l, 600000);

    get_dead_holder(&text.holder);
    put_lock(l, &text);
    assert_ok(l->t, take(l, "r-a", &l->a));
}

static void test_death_is_proved_only_where_it_can_be_seen(void **state)
{
    struct lock_fixture *l = *state;
    struct ebb__lock_text text = someone(l, 600000);
    struct ebb__holder dead;

    get_dead_holder(&dead);
    assert_true(ebb__holder_is_gone(&dead));
    text.holder = dead;
    snprintf(text.holder.boot, sizeof text.holder.boot, "another boot"); /* another machine of the same name */
    assert_false(ebb__holder_is_gone(&text.holder));
    text.holder = dead;
    snprintf(text.holder.space, sizeof text.holder.space, "pid:[1]"); /* a container on this machine */
    assert_false(ebb__holder_is_gone(&text.holder));
    put_lock(l, &text);
    assert_error(l->t, take(l, "r-a", &l->a), ELOCKED);
    text.holder = dead;
    text.holder.start = 0; /* not known */
    assert_false(ebb__holder_is_gone(&text.holder));
    ebb__holder_self(&text.holder);
    assert_false(ebb__holder_is_gone(&text.holder));
    text.holder.start++; /* the number was given to another process since */
    assert_true(ebb__holder_is_gone(&text.holder));
}

static void test_a_torn_lock_counts_from_its_time(void **state)
{
    struct lock_fixture *l = *state;
    char path[512];

    path_of(l->t, EBB_QUARANTINE_LOCK, path);
    make_parents(path);
    write_path(path, "{\"host\":\"h\",\"pi");
    assert_error(l->t, take(l, "r-a", &l->a), ELOCKED);
    set_age(path, EBB_LOCK_LIFE_MS + 5000);
    assert_ok(l->t, take(l, "r-a", &l->a));
}

static void test_check_sees_that_it_was_lost(void **state)
{
    struct lock_fixture *l = *state;
    struct ebb__lock_text text = someone(l, 60000);
    char path[512];

    assert_ok(l->t, take(l, "r-a", &l->a));
    put_lock(l, &text);
    assert_error(l->t, ebb_run_lock_check(&l->a, &l->t->err), ELOCKED);
    ebb_run_lock_release(&l->a);
    assert_true(is_locked(l)); /* theirs */
    path_of(l->t, EBB_QUARANTINE_LOCK, path);
    assert_int_equal(unlink(path), 0);
    assert_ok(l->t, take(l, "r-a", &l->a));
    assert_int_equal(unlink(path), 0);
    assert_error(l->t, ebb_run_lock_check(&l->a, &l->t->err), ELOCKED);
}

static void test_the_same_run_with_another_epoch_is_another_holder(void **state)
{
    struct lock_fixture *l = *state;
    struct ebb__lock_text text = someone(l, 60000);

    assert_ok(l->t, take(l, "r-a", &l->a));
    snprintf(text.run, sizeof text.run, "r-a");
    text.epoch = l->a.epoch + 1;
    put_lock(l, &text);
    assert_error(l->t, ebb_run_lock_check(&l->a, &l->t->err), ELOCKED);
}

static void test_it_is_renewed_when_half_is_gone(void **state)
{
    struct lock_fixture *l = *state;
    int64_t first;

    assert_ok(l->t, take(l, "r-a", &l->a));
    first = l->a.expires_ms;
    l->t->shift_ms = EBB_LOCK_LIFE_MS / 4;
    assert_ok(l->t, ebb_run_lock_check(&l->a, &l->t->err));
    assert_int_equal(l->a.expires_ms, first);
    l->t->shift_ms = EBB_LOCK_LIFE_MS / 2 + 1000;
    assert_ok(l->t, ebb_run_lock_check(&l->a, &l->t->err));
    assert_true(l->a.expires_ms >= first + EBB_LOCK_LIFE_MS / 2);
    l->t->shift_ms = EBB_LOCK_LIFE_MS;
    assert_ok(l->t, ebb_run_lock_check(&l->a, &l->t->err));
}

static void test_a_sleeper_finds_it_expired(void **state)
{
    struct lock_fixture *l = *state;

    assert_ok(l->t, take(l, "r-a", &l->a));
    l->t->shift_ms = EBB_LOCK_LIFE_MS + 1000;
    assert_error(l->t, ebb_run_lock_check(&l->a, &l->t->err), ELOCKED);
}

static void test_a_skewed_clock_is_refused(void **state)
{
    struct lock_fixture *l = *state;

    l->t->shift_ms = EBB_LOCK_MAX_SKEW_MS + 60000;
    assert_error(l->t, take(l, "r-a", &l->a), ECLOCK);
    l->t->shift_ms = -(EBB_LOCK_MAX_SKEW_MS + 60000);
    assert_error(l->t, take(l, "r-a", &l->a), ECLOCK);
    assert_false(is_locked(l));
    l->t->shift_ms = EBB_LOCK_MAX_SKEW_MS - 60000;
    assert_ok(l->t, take(l, "r-a", &l->a));
    l->t->shift_ms = 0;
}

static void test_bad_lock_texts(void **state)
{
    static const char *const BAD[] = {
        "",
        "{",
        "[]",
        "{}",
        "{\"run\":\"r\",\"epoch\":1}",
        "{\"run\":\"r\",\"epoch\":0,\"expires\":1}",
        "{\"run\":\"r\",\"epoch\":1,\"expires\":-1}",
        "{\"run\":5,\"epoch\":1,\"expires\":1}",
        "{\"run\":\"r\",\"epoch\":\"1\",\"expires\":1}",
        "{\"run\":\"r\",\"epoch\":1,\"expires\":1} x",
        "{\"run\":\"r\",\"run\":\"s\",\"epoch\":1,\"expires\":1}",
        "{\"run\":\"a-run-id-that-is-much-longer-than-any-id-can-ever-be\",\"epoch\":1,\"expires\":1}",
    };
    struct ebb__lock_text text;

    (void)state;
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++)
        if (ebb__lock_text_parse(ebb_str_of(BAD[i]), &text, NULL) == 0)
            fail_msg("taken: %s", BAD[i]);
    assert_int_equal(
        ebb__lock_text_parse(EBB_STR("{\"run\":\"r\",\"epoch\":7,\"expires\":9,\"new\":{\"a\":[1]}}"), &text, NULL), 0);
    assert_int_equal(text.epoch, 7);
    assert_string_equal(text.run, "r");
}

/* Several processes want the lock that a dead one left: exactly one may get it at a time. */
static void test_many_who_take_over(void **state)
{
    struct lock_fixture *l = *state;
    struct ebb__lock_text text = someone(l, -1000);
    int won = 0, status;
    pid_t pids[8];

    put_lock(l, &text);
    for (int i = 0; i < 8; i++) {
        pids[i] = fork();
        assert_true(pids[i] >= 0);
        if (!pids[i]) {
            char run[16];

            snprintf(run, sizeof run, "r-%d", i);
            _exit(ebb_run_lock_take(l->place, &l->t->site.clock, run, &l->a, NULL) == 0 &&
                          ebb_run_lock_check(&l->a, NULL) == 0
                      ? 0
                      : 1);
        }
    }
    for (int i = 0; i < 8; i++) {
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        won += WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    assert_true(won >= 1); /* winners exit without release: one who comes later may prove them dead */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_one_holder_at_a_time),
        TEST(test_the_quarantine_folder_is_private),
        TEST(test_a_living_lock_is_respected),
        TEST(test_an_expired_lock_is_taken_over),
        TEST(test_epochs_grow),
        TEST(test_the_lock_of_a_dead_process_is_taken_over),
        TEST(test_death_is_proved_only_where_it_can_be_seen),
        TEST(test_a_torn_lock_counts_from_its_time),
        TEST(test_check_sees_that_it_was_lost),
        TEST(test_the_same_run_with_another_epoch_is_another_holder),
        TEST(test_it_is_renewed_when_half_is_gone),
        TEST(test_a_sleeper_finds_it_expired),
        TEST(test_a_skewed_clock_is_refused),
        TEST(test_many_who_take_over),
        cmocka_unit_test(test_bad_lock_texts),
    };

    return cmocka_run_group_tests_name("run_lock", tests, NULL, NULL);
}
