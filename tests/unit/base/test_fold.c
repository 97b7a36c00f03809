/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/fold.h"

static void check(const char *name, const char *want)
{
    struct ebb_buf out;

    ebb_buf_init(&out, 4096);
    ebb_path_fold(ebb_str_of(name), &out);
    assert_string_equal(ebb_buf_cstr(&out), want);
    ebb_buf_fini(&out);
}

static void test_names_fold_alike(void **state)
{
    (void)state;
    check("/t/data/Live.PARQUET", "/t/data/live.parquet");
    check("/t/p=a%2Fb/f", "/t/p=a/b/f");
    check("/t/p=%2520/f", "/t/p= /f");
    check("/t/a+b", "/t/a b");
    check("/t/caf\xC3\xA9", "/t/cafe");  /* U+00E9 */
    check("/t/cafe\xCC\x81", "/t/cafe"); /* e, U+0301 */
    check("/t/cafe%CC%81", "/t/cafe");
    check("/t/\xC5\xBB\xC5\xBC\xC4\xB0\xC5\xBE", "/t/zziz"); /* Z with dot, z with dot, I with dot, z caron */
    check("/t/\xE6\x97\xA5", "/t/\xE6\x97\xA5");
    check("/t/50%", "/t/50%");
    check("/t/%zz%4", "/t/%zz%4");
    check("/t/\xC3", "/t/\xC3");
    check("", "");
}

static void test_the_usual_name_is_its_own_fold(void **state)
{
    (void)state;
    assert_true(ebb_path_is_folded(EBB_STR("/wh/t/data/ts_day=2026-01-01/00000-1-ab.parquet")));
    assert_false(ebb_path_is_folded(EBB_STR("/wh/T")));
    assert_false(ebb_path_is_folded(EBB_STR("/wh/a%20")));
    assert_false(ebb_path_is_folded(EBB_STR("/wh/a+b")));
    assert_false(ebb_path_is_folded(EBB_STR("/wh/\xC3\xA9")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_fold_alike),
        cmocka_unit_test(test_the_usual_name_is_its_own_fold),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
