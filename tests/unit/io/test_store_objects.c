/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "io/store_objects.h"
#include "store_help.h"

static void add(struct fixture *f, enum ebb_object_kind kind, const char *name)
{
    struct ebb_object o = {.kind = kind, .name = name, .json = "{}", .creator = "ann", .modifier = "", .created_ms = 5};

    assert_int_equal(ebb_store_add_object(f->store, &o, &f->err), 0);
}

static int note(void *data, const struct ebb_object *o, struct ebb_err *err)
{
    (void)err;
    ebb_buf_printf(data, "%lld %s %s %s %s %lld %lld;", (long long)o->number, o->name, o->json, o->creator, o->modifier,
                   (long long)o->created_ms, (long long)o->modified_ms);
    return 0;
}

static void expect_objects(struct fixture *f, enum ebb_object_kind kind, const char *right)
{
    struct ebb_buf text;

    ebb_buf_init(&text, 4096);
    assert_int_equal(ebb_store_list_objects(f->store, kind, note, &text, &f->err), 0);
    assert_string_equal(ebb_buf_cstr(&text), right);
    ebb_buf_fini(&text);
}

static void test_names_are_unique_in_a_kind(void **state)
{
    struct fixture *f = *state;
    struct ebb_object again = {.kind = EBB_OBJECT_POLICY, .name = "a", .json = "{}"};
    struct ebb_buf text;

    open_store(f);
    add(f, EBB_OBJECT_POLICY, "a");
    add(f, EBB_OBJECT_TEMPLATE, "a");
    add(f, EBB_OBJECT_POLICY, "it's \"b\"");
    assert_int_equal(ebb_store_add_object(f->store, &again, &f->err), -EBB_EEXIST);
    expect_objects(f, EBB_OBJECT_POLICY, "1 a {} ann  5 0;3 it's \"b\" {} ann  5 0;");
    ebb_buf_init(&text, 4096);
    assert_int_equal(ebb_store_get_object(f->store, EBB_OBJECT_TEMPLATE, "a", note, &text, &f->err), 0);
    assert_string_equal(ebb_buf_cstr(&text), "2 a {} ann  5 0;");
    assert_int_equal(ebb_store_get_object(f->store, EBB_OBJECT_TOKEN, "a", note, &text, &f->err), -EBB_ENOT_FOUND);
    ebb_buf_fini(&text);
}

/* Bounds from docs/rest-api.md: 10,000 of a kind, 1,000 tokens, 8 MiB of JSON. */
static void test_there_are_bounds(void **state)
{
    static char json[(4 << 20) + 1], longer[(5 << 20) + 1];
    struct fixture *f = *state;
    struct ebb_object o = {.kind = EBB_OBJECT_TOKEN, .json = "{}", .creator = "ann", .modifier = ""};
    char name[32];

    open_store(f);
    memset(json, 'x', sizeof json - 1);
    memset(longer, 'x', sizeof longer - 1);
    o.name = name;
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "t%d", i);
        assert_int_equal(ebb_store_add_object(f->store, &o, &f->err), 0);
    }
    o.name = "more";
    assert_int_equal(ebb_store_add_object(f->store, &o, &f->err), -EBB_ELIMIT);
    assert_int_equal(ebb_store_get_object(f->store, EBB_OBJECT_TOKEN, "more", note, NULL, &f->err), -EBB_ENOT_FOUND);
    o = (struct ebb_object){.kind = EBB_OBJECT_TEMPLATE, .name = "a", .json = json, .modifier = "ann"};
    assert_int_equal(ebb_store_add_object(f->store, &o, &f->err), 0);
    o.name = "b";
    assert_int_equal(ebb_store_add_object(f->store, &o, &f->err), 0);
    o.name = "c";
    o.json = "{}";
    assert_int_equal(ebb_store_add_object(f->store, &o, &f->err), -EBB_ELIMIT);
    o.name = "b";
    o.json = longer;
    assert_int_equal(ebb_store_change_object(f->store, "b", &o, &f->err), -EBB_ELIMIT);
    o.name = "d"; /* what does not become longer can be changed */
    o.json = json;
    assert_int_equal(ebb_store_change_object(f->store, "b", &o, &f->err), 0);
    o.kind = EBB_OBJECT_POLICY; /* each kind has its own */
    assert_int_equal(ebb_store_add_object(f->store, &o, &f->err), 0);
}

static void test_a_change_keeps_the_number(void **state)
{
    struct fixture *f = *state;
    struct ebb_object change = {
        .kind = EBB_OBJECT_POLICY, .name = "b", .json = "{\"x\":1}", .modifier = "bob", .modified_ms = 9};

    open_store(f);
    add(f, EBB_OBJECT_POLICY, "a");
    assert_int_equal(ebb_store_change_object(f->store, "a", &change, &f->err), 0);
    expect_objects(f, EBB_OBJECT_POLICY, "1 b {\"x\":1} ann bob 5 9;");
    assert_int_equal(ebb_store_change_object(f->store, "a", &change, &f->err), -EBB_ENOT_FOUND);
    add(f, EBB_OBJECT_POLICY, "a");
    assert_int_equal(ebb_store_change_object(f->store, "a", &change, &f->err), -EBB_EEXIST);
    expect_objects(f, EBB_OBJECT_POLICY, "1 b {\"x\":1} ann bob 5 9;2 a {} ann  5 0;");
}

static int tie(struct fixture *f, const char *place, const char *add_name, const char *remove_name)
{
    struct ebb_strs to_add, to_remove;
    int rc;

    ebb_strs_init(&to_add);
    ebb_strs_init(&to_remove);
    if (add_name)
        ebb_strs_add(&to_add, add_name, NULL);
    if (remove_name)
        ebb_strs_add(&to_remove, remove_name, NULL);
    rc = ebb_store_tie_objects(f->store, EBB_OBJECT_POLICY, "table", place, &to_add, &to_remove, &f->err);
    ebb_strs_fini(&to_add);
    ebb_strs_fini(&to_remove);
    return rc;
}

static void expect_tied(struct fixture *f, const char *place, const char *right)
{
    struct ebb_buf text;
    struct ebb_strs names;

    ebb_buf_init(&text, 4096);
    ebb_strs_init(&names);
    assert_int_equal(ebb_store_tied_objects(f->store, EBB_OBJECT_POLICY, "table", place, &names, &f->err), 0);
    for (size_t i = 0; i < names.count; i++)
        ebb_buf_printf(&text, "%s ", names.items[i]);
    assert_string_equal(ebb_buf_cstr(&text), right);
    ebb_strs_fini(&names);
    ebb_buf_fini(&text);
}

static void test_ties(void **state)
{
    struct fixture *f = *state;
    struct ebb_strs places;
    bool found = false;

    open_store(f);
    add(f, EBB_OBJECT_POLICY, "a");
    add(f, EBB_OBJECT_POLICY, "b");
    assert_int_equal(tie(f, "c.s.t", "a", NULL), 0);
    assert_int_equal(tie(f, "c.s.t", "unknown", NULL), 0); /* left out */
    expect_tied(f, "c.s.t", "a ");
    assert_int_equal(tie(f, "c.s.t", "a", "a"), -EBB_EEXIST); /* and nothing is done */
    expect_tied(f, "c.s.t", "a ");
    assert_int_equal(tie(f, "c.s.t", "b", "a"), 0);
    expect_tied(f, "c.s.t", "b ");
    assert_int_equal(tie(f, "c.s.u", "b", "a"), 0);
    ebb_strs_init(&places);
    assert_int_equal(ebb_store_object_ties(f->store, EBB_OBJECT_POLICY, "b", &places, &f->err), 0);
    assert_int_equal(places.count, 2);
    assert_string_equal(places.items[0], "table c.s.t");
    assert_string_equal(places.items[1], "table c.s.u");
    ebb_strs_fini(&places);
    assert_int_equal(ebb_store_drop_object(f->store, EBB_OBJECT_POLICY, "b", &found, &f->err), 0);
    assert_true(found);
    expect_tied(f, "c.s.t", "");
    assert_int_equal(ebb_store_drop_object(f->store, EBB_OBJECT_POLICY, "b", &found, &f->err), 0);
    assert_false(found);
}

static int note_statistic(void *data, const struct ebb_statistic *s, struct ebb_err *err)
{
    (void)err;
    ebb_buf_printf(data, "%s/%s=%s:%s:%s:%lld ", s->partition, s->name, s->json, s->creator, s->modifier,
                   (long long)s->created_ms);
    return 0;
}

static void expect_statistics(struct fixture *f, const struct ebb_statistic_filter *filter, const char *right)
{
    struct ebb_buf text;

    ebb_buf_init(&text, 4096);
    assert_int_equal(ebb_store_list_statistics(f->store, filter, note_statistic, &text, &f->err), 0);
    assert_string_equal(ebb_buf_cstr(&text), right);
    ebb_buf_fini(&text);
}

static void test_statistics(void **state)
{
    struct fixture *f = *state;
    struct ebb_statistic items[] = {{"c.s.t", "", "custom-n", "1", "ann", "", 5, 0},
                                    {"c.s.t", "p=1", "custom-n", "2", "ann", "", 5, 0},
                                    {"c.s.t", "p=2", "custom-n", "3", "ann", "", 5, 0},
                                    {"c.s.t", "p=3", "custom-a", "4", "ann", "", 5, 0},
                                    {"c.s.u", "", "custom-n", "9", "ann", "", 5, 0}};
    struct ebb_statistic change = {"c.s.t", "", "custom-n", "7", "bob", "bob", 8, 8};
    bool dropped = false;

    open_store(f);
    assert_int_equal(ebb_store_put_statistics(f->store, items, 5, &f->err), 0);
    assert_int_equal(ebb_store_put_statistics(f->store, &change, 1, &f->err), 0);
    expect_statistics(f, &(struct ebb_statistic_filter){.table = "c.s.t"}, "/custom-n=7:ann:bob:5 ");
    expect_statistics(f, &(struct ebb_statistic_filter){.table = "c.s.t", .of_partitions = true},
                      "p=1/custom-n=2:ann::5 p=2/custom-n=3:ann::5 p=3/custom-a=4:ann::5 ");
    expect_statistics(
        f, &(struct ebb_statistic_filter){.table = "c.s.t", .of_partitions = true, .from = "p=1", .to = "p=2"},
        "p=1/custom-n=2:ann::5 ");
    expect_statistics(f,
                      &(struct ebb_statistic_filter){.table = "c.s.t",
                                                     .of_partitions = true,
                                                     .from = "p=1",
                                                     .to = "p=2",
                                                     .is_from_open = true,
                                                     .is_to_closed = true},
                      "p=2/custom-n=3:ann::5 ");
    assert_int_equal(ebb_store_drop_statistics(f->store, items, 1, &dropped, &f->err), 0);
    assert_true(dropped);
    assert_int_equal(ebb_store_drop_statistics(f->store, items, 1, &dropped, &f->err), 0);
    assert_false(dropped);
    expect_statistics(f, &(struct ebb_statistic_filter){.table = "c.s.t"}, "");
}

/* 100,000 and 16 MiB of a table; what goes beyond is refused as a whole. */
static void test_statistics_have_bounds(void **state)
{
    enum { PER_PUT = 50001 };
    static char names[PER_PUT][16], json[(15 << 20) + 1];
    static struct ebb_statistic items[PER_PUT];
    struct fixture *f = *state;
    struct ebb_statistic one = {"c.s.u", "", "custom-n", json, "ann", "", 5, 0};

    open_store(f);
    memset(json, '1', sizeof json - 1);
    for (int i = 0; i < PER_PUT; i++) {
        snprintf(names[i], sizeof names[i], "custom-%d", i);
        items[i] = (struct ebb_statistic){"c.s.t", "", names[i], "1", "ann", "", 5, 0};
    }
    assert_int_equal(ebb_store_put_statistics(f->store, items, PER_PUT, &f->err), 0);
    for (int i = 0; i < PER_PUT; i++)
        items[i].partition = "p=1";
    assert_int_equal(ebb_store_put_statistics(f->store, items, PER_PUT, &f->err), -EBB_ELIMIT);
    expect_statistics(f, &(struct ebb_statistic_filter){.table = "c.s.t", .of_partitions = true}, "");
    assert_int_equal(ebb_store_put_statistics(f->store, items, PER_PUT - 2, &f->err), 0);
    assert_int_equal(ebb_store_put_statistics(f->store, &one, 1, &f->err), 0);
    assert_int_equal(ebb_store_put_statistics(f->store, &one, 1, &f->err), 0);
    one.name = "custom-m";
    assert_int_equal(ebb_store_put_statistics(f->store, &one, 1, &f->err), -EBB_ELIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_names_are_unique_in_a_kind, setup, teardown),
        cmocka_unit_test_setup_teardown(test_there_are_bounds, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_change_keeps_the_number, setup, teardown),
        cmocka_unit_test_setup_teardown(test_ties, setup, teardown),
        cmocka_unit_test_setup_teardown(test_statistics, setup, teardown),
        cmocka_unit_test_setup_teardown(test_statistics_have_bounds, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
