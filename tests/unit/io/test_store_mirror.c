/* SPDX-License-Identifier: Apache-2.0
 *
 * Objects that are the image of another server's: what is brought up to date, what is left alone, and that it is all or
 * nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "io/store_objects.h"
#include "store_help.h"

#define PREFIX "grav."
#define MANY 300 /* more than a page */

static struct ebb_strs ties;

static int set(void **state)
{
    ebb_strs_init(&ties);
    return setup(state);
}

static int unset(void **state)
{
    ebb_strs_fini(&ties);
    return teardown(state);
}

static void add_tie(const char *place)
{
    assert_int_equal(ebb_strs_add(&ties, place, NULL), 0);
}

static int mirror(struct fixture *f, const struct ebb_object_image *images, size_t count, bool is_dry, bool *changed)
{
    return ebb_store_mirror_objects(f->store, EBB_OBJECT_REMOTE_POLICY, PREFIX, images, count, 7, is_dry, changed,
                                    &f->err);
}

static void expect_mirrored(struct fixture *f, const struct ebb_object_image *images, size_t count, bool right)
{
    bool changed;

    assert_int_equal(mirror(f, images, count, false, &changed), 0);
    assert_int_equal(changed, right);
}

static void expect_count(struct fixture *f, const char *prefix, int64_t right)
{
    int64_t count = -1;

    assert_int_equal(ebb_store_count_mirrored(f->store, prefix, &count, &f->err), 0);
    assert_int_equal(count, right);
}

static int note(void *data, const struct ebb_object *o, struct ebb_err *err)
{
    (void)err;
    ebb_buf_printf(data, "%s %s;", o->name, o->json);
    return 0;
}

static void expect(struct fixture *f, enum ebb_object_kind kind, const char *right)
{
    struct ebb_buf text;

    ebb_buf_init(&text, 1 << 20);
    assert_int_equal(ebb_store_list_objects(f->store, kind, note, &text, &f->err), 0);
    assert_string_equal(ebb_buf_cstr(&text), right);
    ebb_buf_fini(&text);
}

static void put(struct fixture *f, enum ebb_object_kind kind, const char *name)
{
    struct ebb_object o = {.kind = kind, .name = name, .json = "{}", .creator = "", .modifier = ""};

    assert_int_equal(ebb_store_add_object(f->store, &o, &f->err), 0);
}

/* ---- tests ---- */

static void test_it_becomes_what_the_server_has(void **state)
{
    struct fixture *f = *state;
    const struct ebb_object_image first[] = {{PREFIX "a", "1", &ties}, {PREFIX "b", "2", &ties}};
    const struct ebb_object_image second[] = {{PREFIX "b", "3", &ties}, {PREFIX "c", "4", &ties}};

    open_store(f);
    expect_mirrored(f, NULL, 0, false);
    expect_mirrored(f, first, 2, true);
    expect_mirrored(f, first, 2, false);
    expect(f, EBB_OBJECT_REMOTE_POLICY, PREFIX "a 1;" PREFIX "b 2;");
    expect_mirrored(f, second, 2, true);
    expect(f, EBB_OBJECT_REMOTE_POLICY, PREFIX "b 3;" PREFIX "c 4;");
    expect_mirrored(f, NULL, 0, true);
    expect(f, EBB_OBJECT_REMOTE_POLICY, "");
    expect_count(f, PREFIX, 3);
}

static void test_others_stay(void **state)
{
    struct fixture *f = *state;
    const struct ebb_object_image one = {PREFIX "a", "1", &ties};

    open_store(f);
    put(f, EBB_OBJECT_REMOTE_POLICY, "grav2.a");
    put(f, EBB_OBJECT_REMOTE_POLICY, "gra.a");
    put(f, EBB_OBJECT_POLICY, PREFIX "a");
    expect_mirrored(f, &one, 1, true);
    expect_mirrored(f, NULL, 0, true);
    expect(f, EBB_OBJECT_REMOTE_POLICY, "grav2.a {};gra.a {};");
    expect(f, EBB_OBJECT_POLICY, PREFIX "a {};");
    expect_count(f, "grav2.", 0);
}

static void test_ties_are_part_of_it(void **state)
{
    struct fixture *f = *state;
    const struct ebb_object_image one = {PREFIX "a", "1", &ties};
    char place[64];
    struct ebb_strs have;

    open_store(f);
    add_tie("table c.s.a b");
    expect_mirrored(f, &one, 1, true);
    expect_mirrored(f, &one, 1, false);
    for (int i = 0; i < MANY; i++) {
        snprintf(place, sizeof place, "table c.s.t%03d", i);
        add_tie(place);
    }
    expect_mirrored(f, &one, 1, true);
    expect_mirrored(f, &one, 1, false);
    ebb_strs_init(&have);
    assert_int_equal(ebb_store_object_ties(f->store, EBB_OBJECT_REMOTE_POLICY, PREFIX "a", &have, &f->err), 0);
    assert_int_equal(have.count, ties.count);
    for (size_t i = 0; i < have.count; i++)
        assert_string_equal(have.items[i], ties.items[i]);
    ebb_strs_fini(&have);
}

static void test_a_dry_look_changes_nothing(void **state)
{
    struct fixture *f = *state;
    const struct ebb_object_image one = {PREFIX "a", "1", &ties};
    bool changed;

    open_store(f);
    assert_int_equal(mirror(f, &one, 1, true, &changed), 0);
    assert_true(changed);
    expect(f, EBB_OBJECT_REMOTE_POLICY, "");
    expect_count(f, PREFIX, 0);
    expect_mirrored(f, &one, 1, true);
    assert_int_equal(mirror(f, &one, 1, true, &changed), 0);
    assert_false(changed);
}

static void test_all_or_nothing(void **state)
{
    struct fixture *f = *state;
    const struct ebb_object_image one = {PREFIX "a", "1", &ties};
    const struct ebb_object_image twice[] = {{PREFIX "b", "1", &ties}, {PREFIX "b", "2", &ties}};
    bool changed;

    open_store(f);
    expect_mirrored(f, &one, 1, true);
    assert_int_equal(mirror(f, twice, 2, false, &changed), -EBB_EEXIST);
    assert_false(changed);
    expect(f, EBB_OBJECT_REMOTE_POLICY, PREFIX "a 1;");
    expect_count(f, PREFIX, 1);
}

static void test_there_are_bounds(void **state)
{
    static struct ebb_object_image images[EBB_OBJECTS_MAX + 1];
    static char names[EBB_OBJECTS_MAX + 1][16];
    struct fixture *f = *state;
    bool changed;

    open_store(f);
    for (int i = 0; i <= EBB_OBJECTS_MAX; i++) {
        snprintf(names[i], sizeof names[i], PREFIX "%05d", i);
        images[i] = (struct ebb_object_image){names[i], "{}", &ties};
    }
    assert_int_equal(mirror(f, images, EBB_OBJECTS_MAX + 1, false, &changed), -EBB_ELIMIT);
    expect(f, EBB_OBJECT_REMOTE_POLICY, "");
    expect_mirrored(f, images, EBB_OBJECTS_MAX, true);
    expect_mirrored(f, images, EBB_OBJECTS_MAX, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_it_becomes_what_the_server_has, set, unset),
        cmocka_unit_test_setup_teardown(test_others_stay, set, unset),
        cmocka_unit_test_setup_teardown(test_ties_are_part_of_it, set, unset),
        cmocka_unit_test_setup_teardown(test_a_dry_look_changes_nothing, set, unset),
        cmocka_unit_test_setup_teardown(test_all_or_nothing, set, unset),
        cmocka_unit_test_setup_teardown(test_there_are_bounds, set, unset),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
