/* SPDX-License-Identifier: Apache-2.0
 *
 * A policy that goes by another name than its file says.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "engine/engine.h"
#include "engine/policy.h"

#define FILE_ EBB_SOURCE_DIR "/policies/iceberg_orphan_file_removal.lua"

static void test_another_name(void **state)
{
    struct ebb_policy *policy = NULL;
    struct ebb_settings *settings = NULL;
    struct ebb_err err;
    char bundle[80];

    (void)state;
    assert_int_equal(ebb_policy_load(FILE_, &policy, NULL, &err), 0);
    snprintf(bundle, sizeof bundle, "%s", ebb_policy_get_bundle(policy));
    assert_int_equal(ebb_policy_set_name(policy, "object:weekly", "object:daily", &err), 0);
    assert_string_equal(ebb_policy_get_name(policy), "object:weekly");
    assert_string_equal(ebb_policy_get_was(policy), "object:daily");
    assert_string_equal(ebb_policy_get_bundle(policy), bundle);
    assert_non_null(strstr(ebb_policy_get_manifest_json(policy), "\"name\":\"object:weekly\""));
    assert_null(strstr(ebb_policy_get_manifest_json(policy), "\"name\":\"iceberg-orphan-file-removal\""));
    assert_int_equal(ebb_policy_set_name(policy, "object:monthly", NULL, &err), 0);
    assert_null(ebb_policy_get_was(policy));
    assert_int_equal(ebb_settings_new(policy, NULL, NULL, &settings, &err), 0);
    assert_int_equal(ebb_value_int_of(ebb_settings_get_params(settings), "olderThanDays", 0), 3);
    ebb_settings_free(settings);
    ebb_policy_free(policy);
}

/* Names that a file can have, and those that are too long, are refused; nothing changes then. */
static void test_bad_names(void **state)
{
    static const char *const BAD[] = {"", "weekly",
                                      "object:a23456789-a23456789-a23456789-a23456789-a23456789-a23456789"};
    struct ebb_policy *policy = NULL;
    struct ebb_err err;

    (void)state;
    assert_int_equal(ebb_policy_load(FILE_, &policy, NULL, &err), 0);
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        assert_int_equal(ebb_policy_set_name(policy, BAD[i], NULL, &err), -(int)EBB_EUSAGE);
        assert_int_equal(ebb_policy_set_name(policy, "object:a", BAD[i], &err), -(int)EBB_EUSAGE);
    }
    assert_string_equal(ebb_policy_get_name(policy), "iceberg-orphan-file-removal");
    ebb_policy_free(policy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_another_name), cmocka_unit_test(test_bad_names)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
