/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "base/err.h"

static void an_error_is_filled(void **state)
{
    struct ebb_err err;

    (void)state;
    memset(&err, 0x5A, sizeof err);
    assert_int_equal(ebb_err_set(&err, EBB_EOUTSIDE, "%s: %d", "x", 7), -EBB_EOUTSIDE);
    assert_int_equal(err.error, EBB_EOUTSIDE);
    assert_false(err.retryable);
    assert_string_equal(err.message, "x: 7");
    assert_string_equal(err.hint, "");
    ebb_err_hint(&err, "try %s", "y");
    assert_string_equal(err.hint, "try y");
    assert_int_equal(ebb_err_set(&err, EBB_EIO, "again: %s", err.message), -EBB_EIO);
    assert_string_equal(err.message, "again: x: 7");
    assert_string_equal(err.hint, "");
}

static void no_place_for_an_error_is_fine(void **state)
{
    (void)state;
    assert_int_equal(ebb_err_set(NULL, EBB_EIO, "x"), -EBB_EIO);
    assert_int_equal(ebb_err_errno(NULL, ENOENT, "x"), -EBB_ENOENT);
    assert_int_equal(ebb_err_nomem(NULL), -EBB_ENOMEM);
    assert_int_equal(ebb_err_as(NULL, EBB_EPLAN, "x"), -EBB_EPLAN);
    ebb_err_hint(NULL, "x");
}

static void system_errors_have_their_own_kind(void **state)
{
    static const struct {
        int number;
        enum ebb_error error;
    } KINDS[] = {
        {ENOSPC, EBB_ENOSPACE},   {EDQUOT, EBB_ENOSPACE}, {EACCES, EBB_EPERMISSION}, {EPERM, EBB_EPERMISSION},
        {EROFS, EBB_EPERMISSION}, {ENOENT, EBB_ENOENT},   {EEXIST, EBB_EEXIST},      {ENOMEM, EBB_ENOMEM},
        {EIO, EBB_EIO},           {ENOTDIR, EBB_EIO},
    };
    struct ebb_err err;

    (void)state;
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
        assert_int_equal(ebb_err_errno(&err, KINDS[i].number, "f"), -(int)KINDS[i].error);
    ebb_err_errno(&err, ENOENT, "open '%s'", "f");
    assert_string_equal(err.message, "open 'f': No such file or directory");
}

static void long_text_is_cut(void **state)
{
    struct ebb_err err;
    char text[3000];

    (void)state;
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    ebb_err_set(&err, EBB_EIO, "%s", text);
    assert_int_equal(strlen(err.message), EBB_ERR_MESSAGE_MAX - 1);
    ebb_err_hint(&err, "%s", text);
    assert_int_equal(strlen(err.hint), EBB_ERR_HINT_MAX - 1);
    ebb_err_errno(&err, EIO, "%s", text);
    assert_int_equal(strlen(err.message), EBB_ERR_MESSAGE_MAX - 1);
    ebb_err_as(&err, EBB_EPLAN, text);
    assert_int_equal(strlen(err.message), EBB_ERR_MESSAGE_MAX - 1);
}

static void the_kind_can_change(void **state)
{
    struct ebb_err err;

    (void)state;
    ebb_err_set(&err, EBB_ENOENT, "f: gone");
    ebb_err_hint(&err, "look");
    assert_int_equal(ebb_err_as(&err, EBB_EMANIFEST_MISSING, NULL), -EBB_EMANIFEST_MISSING);
    assert_string_equal(err.message, "f: gone");
    assert_int_equal(ebb_err_as(&err, EBB_EMETADATA, "table"), -EBB_EMETADATA);
    assert_int_equal(err.error, EBB_EMETADATA);
    assert_string_equal(err.message, "table: f: gone");
    assert_string_equal(err.hint, "look");
}

static void facts_are_never_null(void **state)
{
    (void)state;
    assert_string_equal(ebb_error_code(EBB_EOUTSIDE), "location.outside_table");
    assert_string_equal(ebb_error_class(EBB_EGC_DISABLED), "gc-disabled");
    assert_string_equal(ebb_error_class(EBB_EUSAGE), "");
    assert_int_equal(ebb_error_exit(EBB_EUSAGE), 64);
    assert_int_equal(ebb_error_exit(EBB_OK), 0);
    for (int i = -2; i < EBB_ERROR_COUNT + 2; i++) {
        assert_non_null(ebb_error_code((enum ebb_error)i));
        assert_non_null(ebb_error_class((enum ebb_error)i));
    }
    assert_string_equal(ebb_error_code(EBB_ERROR_COUNT), "internal");
}

static void codes_are_unique(void **state)
{
    (void)state;
    for (int i = 0; i < EBB_ERROR_COUNT; i++)
        for (int k = 0; k < i; k++)
            assert_string_not_equal(ebb_error_code((enum ebb_error)i), ebb_error_code((enum ebb_error)k));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_error_is_filled),
        cmocka_unit_test(no_place_for_an_error_is_fine),
        cmocka_unit_test(system_errors_have_their_own_kind),
        cmocka_unit_test(long_text_is_cut),
        cmocka_unit_test(the_kind_can_change),
        cmocka_unit_test(facts_are_never_null),
        cmocka_unit_test(codes_are_unique),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
