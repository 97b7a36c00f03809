/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

struct said {
    int count;
    enum ebb_log_level level;
    char message[8200];
};

static void remember(void *data, enum ebb_log_level level, const char *message)
{
    struct said *said = data;

    said->count++;
    said->level = level;
    snprintf(said->message, sizeof said->message, "%s", message);
}

static void test_system_clock(void **state)
{
    struct ebb_clock clock = ebb_clock_system();
    int64_t before_s = time(NULL), now_ms = ebb_clock_now(&clock);

    (void)state;
    assert_in_range(now_ms / 1000, before_s - 1, before_s + 60);
}

static void test_fixed_clock(void **state)
{
    int64_t now_ms = -1;
    struct ebb_clock clock = ebb_clock_fixed(&now_ms);

    (void)state;
    assert_true(ebb_clock_now(&clock) == -1);
    now_ms = INT64_C(1768003200000);
    assert_true(ebb_clock_now(&clock) == INT64_C(1768003200000));
    assert_true(ebb_clock_now(&clock) == INT64_C(1768003200000));
}

static void test_log_levels(void **state)
{
    struct said said = {0};
    struct ebb_log log = {remember, &said, EBB_LOG_WARN};

    (void)state;
    ebb_log_say(&log, EBB_LOG_INFO, "not made");
    ebb_log_say(&log, EBB_LOG_DEBUG, "not made");
    assert_int_equal(said.count, 0);
    ebb_log_say(&log, EBB_LOG_WARN, "%d files", 3);
    assert_int_equal(said.count, 1);
    assert_int_equal(said.level, EBB_LOG_WARN);
    assert_string_equal(said.message, "3 files");
    ebb_log_say(&log, EBB_LOG_ERROR, "bad");
    assert_int_equal(said.count, 2);
}

static void test_log_silence(void **state)
{
    struct ebb_log log = {NULL, NULL, EBB_LOG_DEBUG};

    (void)state;
    ebb_log_say(&log, EBB_LOG_ERROR, "nobody hears");
    ebb_log_say(NULL, EBB_LOG_ERROR, "nobody hears");
}

/* One line, whatever a file name holds; and never longer than the log allows. */
static void test_log_escapes_and_cuts(void **state)
{
    struct said said = {0};
    struct ebb_log log = {remember, &said, EBB_LOG_DEBUG};
    char longest[5000];

    (void)state;
    ebb_log_say(&log, EBB_LOG_INFO, "file %s", "a\nb\x1b[31m\xff");
    assert_string_equal(said.message, "file a\\x0ab\\x1b[31m\\xff");
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    ebb_log_say(&log, EBB_LOG_INFO, "%s", longest);
    assert_in_range(strlen(said.message), 1000, 4999);
    memset(longest, '\n', sizeof longest - 1);
    ebb_log_say(&log, EBB_LOG_INFO, "%s", longest);
    assert_null(strchr(said.message, '\n'));
    assert_int_equal(said.count, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_system_clock),         cmocka_unit_test(test_fixed_clock),
        cmocka_unit_test(test_log_levels),           cmocka_unit_test(test_log_silence),
        cmocka_unit_test(test_log_escapes_and_cuts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
