/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/store_scope.h"
#include "store_help.h"

struct listing {
    struct ebb_store *store; /* to write to, NULL */
    int count, end_after;
    char last[40], json[40];
};

static int see(void *data, const char *key, const char *json, struct ebb_err *err)
{
    struct listing *l = data;

    assert_true(strcmp(key, l->last) > 0);
    snprintf(l->last, sizeof l->last, "%s", key);
    snprintf(l->json, sizeof l->json, "%s", json);
    if (++l->count == l->end_after)
        return ebb_err_set(err, EBB_ECANCELLED, "enough");
    return l->store ? ebb_store_put_value(l->store, "many", key, NULL, err) : 0;
}

static void put(struct fixture *f, const char *scope, const char *key, const char *json)
{
    assert_int_equal(ebb_store_put_value(f->store, scope, key, json, &f->err), 0);
}

static int list(struct fixture *f, const char *scope, struct listing *l)
{
    return ebb_store_list_values(f->store, scope, see, l, &f->err);
}

static void open_with_many(struct fixture *f)
{
    char key[40];

    assert_int_equal(ebb_store_open(f->dir, &f->store, &f->err), 0);
    put(f, "before", "k", "{}");
    put(f, "zafter", "k", "{}");
    for (int i = 199; i >= 0; i--) {
        snprintf(key, sizeof key, "k-%03d", i);
        put(f, "many", key, i == 199 ? "{\"last\":true}" : "{}");
    }
}

static void test_by_key(void **state)
{
    struct fixture *f = *state;
    struct listing l = {0}, none = {0}, some = {.end_after = 100};

    open_with_many(f);
    assert_int_equal(list(f, "many", &l), 0);
    assert_int_equal(l.count, 200);
    assert_string_equal(l.json, "{\"last\":true}");
    assert_int_equal(list(f, "man", &none), 0);
    assert_int_equal(none.count, 0);
    assert_int_equal(list(f, "many", &some), -EBB_ECANCELLED);
    assert_int_equal(some.count, 100);
}

static void test_deleted_while_listed(void **state)
{
    struct fixture *f = *state;
    struct listing l = {0}, after = {0}, other = {0};

    open_with_many(f);
    l.store = f->store;
    assert_int_equal(list(f, "many", &l), 0);
    assert_int_equal(l.count, 200);
    assert_int_equal(list(f, "many", &after), 0);
    assert_int_equal(after.count, 0);
    assert_int_equal(list(f, "before", &other), 0);
    assert_int_equal(other.count, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_by_key, setup, teardown),
        cmocka_unit_test_setup_teardown(test_deleted_while_listed, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
