/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "io/store_events.h"
#include "io/store_priv.h"
#include "store_help.h"

static struct ebb_event event(const char *source, const char *id, const char *type, const char *table, int64_t at_ms)
{
    struct ebb_event e = {0, source, id, type, table, at_ms, 1000, "{\"n\":1}"};

    return e;
}

static int note(void *data, const struct ebb_event *e, struct ebb_err *err)
{
    (void)err;
    ebb_buf_printf(data, "%s/%s ", e->source, e->id);
    return 0;
}

static int note_all(void *data, const struct ebb_event *e, struct ebb_err *err)
{
    (void)err;
    ebb_buf_printf(data, "%lld %s %s %s %s %lld %lld %s", (long long)e->seq, e->source, e->id, e->type, e->table,
                   (long long)e->at_ms, (long long)e->received_ms, e->json);
    return 0;
}

static void expect_list(struct fixture *f, const struct ebb_event_filter *filter, const char *right)
{
    struct ebb_buf text;

    ebb_buf_init(&text, 4096);
    assert_int_equal(ebb_store_list_events(f->store, filter, note, &text, &f->err), 0);
    assert_string_equal(ebb_buf_cstr(&text), right);
    ebb_buf_fini(&text);
}

static void put_some(struct fixture *f)
{
    struct ebb_event events[] = {
        event("a", "1", "commit.failed", "lake.db.t", 500),
        event("a", "2", "table.changed", "lake.db.t", 100), /* told later, though it happened before */
        event("b", "1", "commit.failed", "lake.db.u", 700),
        event("b", "3", "commit.failed", "", 800),
    };
    size_t fresh = 0;

    assert_int_equal(ebb_store_put_events(f->store, events, 4, NULL, &fresh, &f->err), 0);
    assert_int_equal(fresh, 4);
}

static void test_each_is_in_once(void **state)
{
    struct fixture *f = *state;
    struct ebb_event again[] = {
        event("a", "9", "x", "", 1),
        event("a", "1", "another.type", "lake.db.other", 9), /* the first delivery counts */
        event("a", "9", "x", "", 1),                         /* twice in one batch */
        event("c", "1", "x", "", 1),                         /* the id of another source */
    };
    bool is_new[4];
    size_t fresh = 99;

    open_store(f);
    put_some(f);
    assert_int_equal(ebb_store_put_events(f->store, again, 4, is_new, &fresh, &f->err), 0);
    assert_int_equal(fresh, 2);
    assert_true(is_new[0] && !is_new[1] && !is_new[2] && is_new[3]);
    expect_list(f, NULL, "a/1 a/2 b/1 b/3 a/9 c/1 ");
    expect_list(f, &(struct ebb_event_filter){.table = "lake.db.other"}, "");
}

static void test_an_event_comes_back_as_it_was(void **state)
{
    struct fixture *f = *state;
    struct ebb_buf text;

    open_store(f);
    put_some(f);
    ebb_buf_init(&text, 4096);
    assert_int_equal(ebb_store_list_events(f->store, &(struct ebb_event_filter){.source = "b", .limit = 1}, note_all,
                                           &text, &f->err),
                     0);
    assert_string_equal(ebb_buf_cstr(&text), "3 b 1 commit.failed lake.db.u 700 1000 {\"n\":1}");
    ebb_buf_fini(&text);
}

static void test_lists_are_filtered(void **state)
{
    struct fixture *f = *state;

    open_store(f);
    put_some(f);
    expect_list(f, &(struct ebb_event_filter){.table = "lake.db.t"}, "a/1 a/2 ");
    expect_list(f, &(struct ebb_event_filter){.table = "lake.*"}, "a/1 a/2 b/1 ");
    expect_list(f, &(struct ebb_event_filter){.table = "lake.db.t", .type = "commit.failed"}, "a/1 ");
    expect_list(f, &(struct ebb_event_filter){.type = "commit.failed"}, "a/1 b/1 b/3 ");
    expect_list(f, &(struct ebb_event_filter){.since_ms = 500}, "a/1 b/1 b/3 ");
    expect_list(f, &(struct ebb_event_filter){.after_seq = 1, .limit = 2}, "a/2 b/1 ");
    expect_list(f, &(struct ebb_event_filter){.newest_first = true, .limit = 2}, "b/3 b/1 ");
    expect_list(f, &(struct ebb_event_filter){.newest_first = true, .after_seq = 3}, "a/2 a/1 ");
}

static void test_types_of_a_table(void **state)
{
    struct fixture *f = *state;
    struct ebb_strs types;

    open_store(f);
    put_some(f);
    ebb_strs_init(&types);
    assert_int_equal(ebb_store_event_types(f->store, "lake.db.t", &types, &f->err), 0);
    assert_int_equal(types.count, 2);
    assert_string_equal(types.items[0], "commit.failed");
    assert_string_equal(types.items[1], "table.changed");
    assert_int_equal(ebb_store_event_types(f->store, "", &types, &f->err), 0);
    assert_int_equal(ebb_store_event_types(f->store, "lake.db.*", &types, &f->err), 0);
    assert_int_equal(types.count, 2);
    ebb_strs_fini(&types);
}

static void test_a_failing_store_takes_none(void **state)
{
    struct fixture *f = *state;
    struct ebb_event events[] = {event("a", "1", "x", "", 1), event("a", "2", "x", "", 1)};
    bool is_new[2] = {true, true};
    size_t fresh = 9;

    open_store(f);
    assert_int_equal(sqlite3_exec(f->store->db,
                                  "CREATE TRIGGER no BEFORE INSERT ON event WHEN new.id = '2'"
                                  " BEGIN SELECT raise(ABORT, 'no'); END",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    assert_true(ebb_store_put_events(f->store, events, 2, is_new, &fresh, &f->err) < 0);
    assert_int_equal(fresh, 0);
    assert_false(is_new[0] || is_new[1]);
    expect_list(f, NULL, "");
}

static void test_many_are_listed(void **state)
{
    struct fixture *f = *state;
    struct ebb_event events[500];
    char ids[500][8];
    struct ebb_buf text;
    size_t fresh;

    open_store(f);
    for (int i = 0; i < 500; i++) {
        snprintf(ids[i], sizeof ids[i], "%03d", i);
        events[i] = event("s", ids[i], "x", "lake.db.t", i);
    }
    assert_int_equal(ebb_store_put_events(f->store, events, 500, NULL, &fresh, &f->err), 0);
    ebb_buf_init(&text, 65536);
    assert_int_equal(ebb_store_list_events(f->store, NULL, note, &text, &f->err), 0);
    assert_int_equal(text.len, 500 * 6);
    assert_int_equal(memcmp(ebb_buf_cstr(&text) + 499 * 6, "s/499 ", 6), 0);
    ebb_buf_fini(&text);
}

static void test_a_search_has_an_end(void **state)
{
    enum { COUNT = 5000 };
    static struct ebb_event events[COUNT];
    static char ids[COUNT][8];
    const struct ebb_event_filter none = {.table = "*none*"};
    struct fixture *f = *state;
    size_t fresh = 0;
    int rc;

    open_store(f);
    for (int i = 0; i < COUNT; i++) {
        snprintf(ids[i], sizeof ids[i], "%d", i);
        events[i] = event("a", ids[i], "table.changed", "lake.db.t", i);
    }
    assert_int_equal(ebb_store_put_events(f->store, events, COUNT, NULL, &fresh, &f->err), 0);
    ebb_store_limit(f->store, 1);
    rc = ebb_store_list_events(f->store, &none, note, NULL, &f->err);
    assert_int_equal(rc, -EBB_ECANCELLED);
    assert_non_null(strstr(f->err.message, "this took too long"));
    ebb_store_limit(f->store, INT64_MAX);
    expect_list(f, &none, "");
    ebb_store_limit(f->store, 0);
    expect_list(f, &none, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_search_has_an_end, setup, teardown),
        cmocka_unit_test_setup_teardown(test_each_is_in_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_an_event_comes_back_as_it_was, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lists_are_filtered, setup, teardown),
        cmocka_unit_test_setup_teardown(test_types_of_a_table, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_failing_store_takes_none, setup, teardown),
        cmocka_unit_test_setup_teardown(test_many_are_listed, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
