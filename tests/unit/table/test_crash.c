/* SPDX-License-Identifier: Apache-2.0
 *
 * An apply and its resumption, killed at every step.
 */
#include "crash_help.h"

static void test_apply_killed_at_every_step(void **state)
{
    bool killed = true;
    char run[40];
    int n;

    (void)state;
    need_failpoints();
    for (n = 1; killed && n < MAX_STEPS; n++) {
        struct table_fixture *f = make_littered();

        killed = crashes(f, "apply", f->plan, n);
        find_run(f, run);
        assert_live(f);
        assert_none_lost(f, run, n);
        resume_or_apply(f, run);
        assert_live(f);
        assert_all_gone(f);
        find_run(f, run);
        assert_none_lost(f, run, n);
        remove_table(f);
    }
    assert_true(n > 60); /* the steps are there */
}

static void test_delete_killed_at_every_step(void **state)
{
    bool killed = true;
    char run[40];
    int n;

    (void)state;
    need_failpoints();
    for (n = 1; killed && n < MAX_STEPS; n++) {
        struct table_fixture *f = make_littered();

        killed = crashes(f, "delete", f->plan, n);
        find_run(f, run);
        assert_live(f);
        resume_or_apply(f, run);
        assert_live(f);
        assert_all_gone(f);
        remove_table(f);
    }
    assert_true(n > 60);
}

static void test_resume_killed_at_every_step(void **state)
{
    bool killed = true;
    char run[40];
    int n;

    (void)state;
    need_failpoints();
    for (n = 1; killed && n < MAX_STEPS; n++) {
        struct table_fixture *f = make_littered();

        assert_true(crashes(f, "apply", f->plan, 40)); /* in the middle */
        find_run(f, run);
        assert_true(has_status(f, run, "started"));
        killed = crashes(f, "resume", run, n);
        assert_live(f);
        assert_none_lost(f, run, n);
        resume_or_apply(f, run);
        assert_live(f);
        assert_all_gone(f);
        remove_table(f);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_apply_killed_at_every_step),
        cmocka_unit_test(test_delete_killed_at_every_step),
        cmocka_unit_test(test_resume_killed_at_every_step),
    };

    if (argc == 4)
        return child_main(argv);
    return cmocka_run_group_tests_name("crash", tests, NULL, NULL);
}
