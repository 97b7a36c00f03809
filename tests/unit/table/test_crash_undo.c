/* SPDX-License-Identifier: Apache-2.0
 *
 * Undoing and purging: after a crash at every step of an apply, and killed at every step themselves.
 */
#include "crash_help.h"

static void test_undo_after_a_crash_at_every_step(void **state)
{
    bool killed = true;
    char run[40];
    int n;

    (void)state;
    need_failpoints();
    for (n = 1; killed && n < MAX_STEPS; n++) {
        struct table_fixture *f = make_littered();
        struct ebb_restore_result back;

        killed = crashes(f, "apply", f->plan, n);
        find_run(f, run);
        if (run[0]) {
            assert_ok(f, ebb_restore(&f->site, run, NULL, &back, &f->err));
            ebb_restore_result_fini(&back);
        }
        for (size_t i = 0; i < STRAY_COUNT; i++)
            assert_true(holds(f, STRAYS[i], STRAYS[i]));
        assert_live(f);
        remove_table(f);
    }
}

static void test_undo_without_state_after_a_crash_at_every_step(void **state)
{
    bool killed = true;
    char run[40], uri[512], name[512];
    int n;

    (void)state;
    need_failpoints();
    for (n = 1; killed && n < MAX_STEPS; n++) {
        struct table_fixture *f = make_littered();
        struct ebb_restore_result back;

        killed = crashes(f, "apply", f->plan, n);
        find_run(f, run);
        f->site.store = NULL;
        f->site.audit = NULL;
        if (run[0] && has_file(f, in_quarantine(run, "run.jsonl", name))) {
            snprintf(uri, sizeof uri, "%s/.ebb-quarantine/%s", f->uri, run);
            assert_ok(f, ebb_restore_from(&f->site, uri, NULL, &back, &f->err));
            ebb_restore_result_fini(&back);
        }
        for (size_t i = 0; i < STRAY_COUNT; i++)
            assert_true(holds(f, STRAYS[i], STRAYS[i]));
        remove_table(f);
    }
}

static void test_restore_killed_at_every_step(void **state)
{
    bool killed = true;
    char run[40];
    int n;

    (void)state;
    need_failpoints();
    for (n = 1; killed && n < MAX_STEPS; n++) {
        struct table_fixture *f = make_littered();
        struct ebb_restore_result back;

        resume_or_apply(f, "");
        find_run(f, run);
        killed = crashes(f, "restore", run, n);
        assert_none_lost(f, run, n);
        assert_ok(f, ebb_restore(&f->site, run, NULL, &back, &f->err));
        ebb_restore_result_fini(&back);
        for (size_t i = 0; i < STRAY_COUNT; i++)
            assert_true(holds(f, STRAYS[i], STRAYS[i]));
        assert_true(has_status(f, run, "restored"));
        remove_table(f);
    }
}

static void test_purge_killed_at_every_step(void **state)
{
    bool killed = true;
    char run[40];
    int n;

    (void)state;
    need_failpoints();
    for (n = 1; killed && n < MAX_STEPS; n++) {
        struct table_fixture *f = make_littered();

        resume_or_apply(f, "");
        find_run(f, run);
        killed = crashes(f, "purge", run, n);
        assert_live(f);
        if (!has_status(f, run, "purged")) {
            assert_false(crashes(f, "purge", run, 0));
            assert_false(has_file(f, ".ebb-quarantine"));
        }
        assert_true(has_status(f, run, "purged"));
        assert_live(f);
        remove_table(f);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_undo_after_a_crash_at_every_step),
        cmocka_unit_test(test_undo_without_state_after_a_crash_at_every_step),
        cmocka_unit_test(test_restore_killed_at_every_step),
        cmocka_unit_test(test_purge_killed_at_every_step),
    };

    if (argc == 4)
        return child_main(argv);
    return cmocka_run_group_tests_name("crash_undo", tests, NULL, NULL);
}
