/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>

#include "base/buf.h"

static void a_new_buffer_is_empty(void **state)
{
    struct ebb_buf b;

    (void)state;
    ebb_buf_init(&b, 10);
    assert_string_equal(ebb_buf_cstr(&b), "");
    assert_int_equal(ebb_buf_str(&b).n, 0);
    assert_null(b.data);
    assert_int_equal(ebb_buf_check(&b, "x", NULL), 0);
    ebb_buf_fini(&b);
    ebb_buf_fini(&b);
}

static void appends_keep_the_end_nul(void **state)
{
    struct ebb_buf b;

    (void)state;
    ebb_buf_init(&b, 1000);
    for (int i = 0; i < 300; i++) {
        ebb_buf_putc(&b, 'x');
        assert_int_equal(b.data[b.len], '\0');
    }
    ebb_buf_printf(&b, "%d-%s", 42, "abc");
    ebb_buf_append(&b, "\0y", 2);
    ebb_buf_add_str(&b, EBB_STR("z"));
    ebb_buf_append(&b, NULL, 0);
    assert_int_equal(b.len, 309);
    assert_memory_equal(b.data + 300, "42-abc\0yz", 10);
    ebb_buf_fini(&b);
}

static void the_limit_is_exact(void **state)
{
    struct ebb_buf b;
    struct ebb_err err;

    (void)state;
    ebb_buf_init(&b, 5);
    ebb_buf_puts(&b, "12345");
    assert_int_equal(ebb_buf_check(&b, "x", &err), 0);
    ebb_buf_putc(&b, '6');
    assert_int_equal(ebb_buf_check(&b, "thing", &err), -EBB_ELIMIT);
    assert_string_equal(err.message, "thing: longer than 5 bytes");
    assert_string_equal(ebb_buf_cstr(&b), "12345");
    ebb_buf_append(&b, NULL, 0);
    ebb_buf_printf(&b, "%s", "");
    assert_true(b.bad);
    assert_null(ebb_buf_take(&b));
    ebb_buf_reset(&b);
    ebb_buf_puts(&b, "ab");
    assert_int_equal(ebb_buf_check(&b, "x", &err), 0);
    assert_string_equal(ebb_buf_cstr(&b), "ab");
    ebb_buf_fini(&b);
}

/* One append far over the limit is a limit, not a lack of memory. */
static void one_big_append_is_a_limit(void **state)
{
    struct ebb_buf b;

    (void)state;
    ebb_buf_init(&b, 100);
    assert_null(ebb_buf_reserve(&b, SIZE_MAX));
    assert_int_equal(ebb_buf_check(&b, "x", NULL), -EBB_ELIMIT);
    ebb_buf_fini(&b);
}

static void taken_memory_is_the_callers(void **state)
{
    struct ebb_buf b;
    char *text;

    (void)state;
    ebb_buf_init(&b, 100);
    text = ebb_buf_take(&b);
    assert_string_equal(text, "");
    free(text);
    ebb_buf_puts(&b, "abc");
    text = ebb_buf_take(&b);
    assert_string_equal(text, "abc");
    assert_int_equal(b.len, 0);
    free(text);
    ebb_buf_fini(&b);
}

static void slices_compare_as_bytes(void **state)
{
    (void)state;
    assert_true(ebb_str_compare(EBB_STR("a"), EBB_STR("b")) < 0);
    assert_true(ebb_str_compare(EBB_STR("a"), EBB_STR("ab")) < 0);
    assert_true(ebb_str_compare(EBB_STR("\xff"), EBB_STR("a")) > 0);
    assert_int_equal(ebb_str_compare(EBB_STR("a"), EBB_STR("a")), 0);
    assert_int_equal(ebb_str_compare((struct ebb_str){NULL, 0}, EBB_STR("")), 0);
    assert_true(ebb_str_has_prefix(EBB_STR("abc"), EBB_STR("ab")));
    assert_true(ebb_str_has_prefix(EBB_STR("abc"), (struct ebb_str){NULL, 0}));
    assert_false(ebb_str_has_prefix(EBB_STR("a"), EBB_STR("ab")));
    assert_false(ebb_str_is_equal(EBB_STR("a"), EBB_STR("ab")));
}

static void lists_own_their_strings(void **state)
{
    struct ebb_strs s;
    char name[] = "n0";

    (void)state;
    ebb_strs_init(&s);
    for (int i = 0; i < 10; i++) {
        name[1] = (char)('0' + i);
        assert_int_equal(ebb_strs_add(&s, name, NULL), 0);
    }
    assert_int_equal(ebb_strs_addn(&s, "xyz", 2, NULL), 0);
    assert_int_equal(ebb_strs_addn(&s, NULL, 0, NULL), 0);
    assert_int_equal(s.count, 12);
    assert_true(ebb_strs_has(&s, "n0"));
    assert_true(ebb_strs_has(&s, "xy"));
    assert_true(ebb_strs_has(&s, ""));
    assert_false(ebb_strs_has(&s, "xyz"));
    ebb_strs_fini(&s);
    assert_int_equal(s.count, 0);
}

static void arena_is_zeroed_and_aligned(void **state)
{
    struct ebb_arena a;

    (void)state;
    ebb_arena_init(&a, 1 << 20);
    for (size_t i = 0; i < 2000; i++) {
        unsigned char *p = ebb_arena_alloc(&a, i % 100);

        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 16, 0);
        for (size_t k = 0; k < i % 100; k++) {
            assert_int_equal(p[k], 0);
            p[k] = 0xAA;
        }
    }
    assert_string_equal(ebb_arena_dup(&a, "hello!", 5), "hello");
    assert_string_equal(ebb_arena_dup(&a, NULL, 0), "");
    ebb_arena_fini(&a);
    ebb_arena_fini(&a);
}

static void arena_has_a_limit(void **state)
{
    struct ebb_arena a;
    size_t got = 0;

    (void)state;
    ebb_arena_init(&a, 1000);
    while (ebb_arena_alloc(&a, 100))
        got++;
    assert_in_range(got, 1, 10);
    assert_null(ebb_arena_alloc(&a, SIZE_MAX));
    assert_null(ebb_arena_dup(&a, "x", SIZE_MAX));
    ebb_arena_fini(&a);
    ebb_arena_init(&a, SIZE_MAX);
    assert_null(ebb_arena_alloc(&a, SIZE_MAX - 16));
    assert_null(ebb_arena_alloc(&a, SIZE_MAX - 40));
    ebb_arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_buffer_is_empty),       cmocka_unit_test(appends_keep_the_end_nul),
        cmocka_unit_test(the_limit_is_exact),          cmocka_unit_test(one_big_append_is_a_limit),
        cmocka_unit_test(taken_memory_is_the_callers), cmocka_unit_test(slices_compare_as_bytes),
        cmocka_unit_test(lists_own_their_strings),     cmocka_unit_test(arena_is_zeroed_and_aligned),
        cmocka_unit_test(arena_has_a_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Sizes near SIZE_MAX are asked for on purpose: they must give NULL, not a report. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}
