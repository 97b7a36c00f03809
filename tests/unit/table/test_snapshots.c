/* SPDX-License-Identifier: Apache-2.0
 *
 * A catalog that tells snapshots itself, and the metadata file that it points to.
 */
#include "table_help.h"

static void test_snapshots_that_disagree(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_table *t = NULL;
    struct ebb_table_ref ref;
    int64_t told[] = {7301987312340117781};

    assert_ok(f, ebb_table_ref_by_path(f->storage, f->location, &ref, &f->err));
    ref.has_snapshots = true; /* none, as in the file */
    assert_ok(f, ebb_table_open_ref(&f->site, &ref, &t, &f->err));
    ebb_table_free(t);
    ref.snapshots = told;
    ref.snapshot_count = 1;
    assert_error(f, ebb_table_open_ref(&f->site, &ref, &t, &f->err), EFEWER_SNAPSHOTS);
    ref.snapshots = NULL;
    ref.snapshot_count = 0;
    ebb_table_ref_fini(&ref);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_snapshots_that_disagree, table_setup, table_teardown)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
