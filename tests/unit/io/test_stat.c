/* SPDX-License-Identifier: Apache-2.0
 *
 * Identities: by inode locally, by ETag and whole seconds in object stores.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "io/place.h"

static void test_ids(void **state)
{
    struct ebb_stat file = {.size_bytes = 3, .mtime_ns = 5, .ctime_ns = 7, .dev = 1, .ino = 2, .is_file = true};
    struct ebb_stat object = {.size_bytes = 3, .mtime_ns = 1767323045000000000, .is_file = true, .etag = "\"d41d\""};
    char id[EBB_STAT_ID_MAX];

    (void)state;
    ebb_stat_id(&file, id);
    assert_string_equal(id, "1:2:7");
    ebb_stat_id(&object, id);
    assert_string_equal(id, "\"d41d\":1767323045");
}

static void test_moved(void **state)
{
    struct ebb_stat object = {.size_bytes = 3, .mtime_ns = 9000000000, .is_file = true, .etag = "\"a-2\""};

    (void)state;
    assert_true(ebb_stat_is_moved(&object, "\"a-2\":9", 3, 9000000000));
    assert_false(ebb_stat_is_moved(&object, "\"a\":5", 3, 5000000000));
    snprintf(object.moved_id, sizeof object.moved_id,
             "\"a\":5"); /* copies may have another ETag, and have another time */
    assert_true(ebb_stat_is_moved(&object, "\"a\":5", 3, 5000000000));
    assert_false(ebb_stat_is_moved(&object, "\"a\":5", 4, 5000000000));
    assert_false(ebb_stat_is_moved(&object, "\"a\":6", 3, 5000000000));
}

/* Objects have no inode: two of them are never one file, and what storage tells nothing of is never the same. */
static void test_same(void **state)
{
    struct ebb_stat a = {.size_bytes = 3, .mtime_ns = 9, .is_file = true, .etag = "\"a\""}, b = a;
    struct ebb_stat nothing = {.is_file = true};
    struct ebb_stat file = {.ino = 4, .dev = 1, .is_file = true}, link = file;

    (void)state;
    assert_true(ebb_stat_is_same(&a, &b));
    assert_false(ebb_stat_is_one(&a, &b));
    b.etag[1] = 'b';
    assert_false(ebb_stat_is_same(&a, &b));
    assert_false(ebb_stat_is_same(&nothing, &nothing));
    assert_false(ebb_stat_is_one(&nothing, &nothing));
    assert_true(ebb_stat_is_one(&file, &link));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ids), cmocka_unit_test(test_moved),
                                       cmocka_unit_test(test_same)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
