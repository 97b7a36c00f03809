/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "service/generation_priv.h"

struct fixture {
    char dir[64], config[128];
    struct ebb_generation *g;
    struct ebb_diagnostics diags;
    struct ebb_err err;
};

/* text, with the first "%s" of it replaced. */
static void put(const struct fixture *f, const char *name, const char *text, const char *arg)
{
    char path[256];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", f->dir, name);
    file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%.*s%s%s", (int)(strstr(text, "%s") - text), text, arg, strstr(text, "%s") + 2);
    fclose(file);
}

#define POLICY                                                                                                         \
    "return policy { api = 1, name = \"%s\", triggers = { time.every { \"1h\", anchor = \"epoch\" } },\n"              \
    "decide = function(t, ctx) return skip(all {}) end }"

static void put_policy(const struct fixture *f, const char *name)
{
    char file[64];

    snprintf(file, sizeof file, "p/%s.lua", name);
    put(f, file, POLICY, name);
}

static void drop_policy(const struct fixture *f, const char *name)
{
    char path[256];

    snprintf(path, sizeof path, "%s/p/%s.lua", f->dir, name);
    unlink(path);
}

static void bind(const struct fixture *f, const char *bindings)
{
    put(f, "ebb.lua", "return { policies = \"./p\", bind = { %s } }", bindings);
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    char path[256];

    assert_non_null(f);
    snprintf(f->dir, sizeof f->dir, "/tmp/ebb-generation-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    snprintf(f->config, sizeof f->config, "%s/ebb.lua", f->dir);
    snprintf(path, sizeof path, "%s/p", f->dir);
    assert_int_equal(mkdir(path, 0700), 0);
    ebb_diagnostics_init(&f->diags);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    static const char *const NAMES[] = {"a", "b", "c", "d", "e", "f", "bad"};
    struct fixture *f = *state;
    char path[256];

    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        drop_policy(f, NAMES[i]);
    snprintf(path, sizeof path, "%s/p", f->dir);
    rmdir(path);
    unlink(f->config);
    rmdir(f->dir);
    ebb_diagnostics_fini(&f->diags);
    ebb_generation_unref(f->g);
    free(f);
    return 0;
}

static int load(struct fixture *f, const struct ebb_generation *before, bool force, struct ebb_generation **out)
{
    struct ebb_generation_options o = {f->config, NULL, before, force, 12345};

    ebb_diagnostics_fini(&f->diags);
    return ebb_generation_load(&o, out, &f->diags, &f->err);
}

static void test_whole(void **state)
{
    struct fixture *f = *state;
    struct ebb_generation *again = NULL;

    put_policy(f, "a");
    put_policy(f, "b");
    bind(f,
         "{ policy = \"b\", tables = { \"c.**\" } }, { policy = \"a\", tables = { \"c.x.*\" }, mode = \"enforce\" }");
    assert_int_equal(load(f, NULL, false, &f->g), 0);
    assert_int_equal(f->g->policy_count, 2);
    assert_int_equal(f->g->bound_count, 2);
    assert_string_equal(f->g->bound[0].binding->policy, "b");
    assert_string_equal(ebb_policy_get_name(f->g->bound[1].policy), "a");
    assert_int_equal(f->g->loaded_ms, 12345);
    assert_int_equal(strlen(f->g->hash), 7 + 64);
    assert_non_null(ebb_generation_find(f->g, "a"));
    assert_null(ebb_generation_find(f->g, "z"));
    assert_int_equal(load(f, f->g, false, &again), 0);
    assert_string_equal(again->hash, f->g->hash);
    ebb_generation_unref(again);
}

static void test_hash_tells_changes(void **state)
{
    static const char *const BINDINGS[] = {"{ policy = \"a\", tables = { \"c.**\" } }",
                                           "{ policy = \"a\", tables = { \"c.*\" } }"};
    struct fixture *f = *state;
    struct ebb_generation *other = NULL;

    put_policy(f, "a");
    bind(f, BINDINGS[0]);
    assert_int_equal(load(f, NULL, false, &f->g), 0);
    bind(f, BINDINGS[1]);
    assert_int_equal(load(f, f->g, false, &other), 0);
    assert_string_not_equal(other->hash, f->g->hash);
    ebb_generation_unref(other);
    bind(f, BINDINGS[0]);
    put_policy(f, "b");
    assert_int_equal(load(f, f->g, false, &other), 0);
    assert_string_not_equal(other->hash, f->g->hash);
    ebb_generation_unref(other);
}

static void refuse(struct fixture *f, enum ebb_error error, const char *file)
{
    struct ebb_generation *g = (void *)f;

    assert_int_equal(load(f, NULL, false, &g), -(int)error);
    assert_null(g);
    assert_int_equal(f->err.error, error);
    assert_true(f->diags.error_count > 0);
    assert_non_null(strstr(f->diags.items[0].file, file));
}

static void test_any_error_is_one(void **state)
{
    struct fixture *f = *state;

    put_policy(f, "a");
    bind(f, "{ policy = \"nobody\", tables = { \"c.**\" } }");
    refuse(f, EBB_ECONFIG, "ebb.lua");
    bind(f, "{ policy = \"a\", params = { none = 1 } }");
    refuse(f, EBB_ECONFIG, "ebb.lua");
    bind(f, "{ policy = \"a\", tables = { \"c.**\" } }");
    put(f, "p/bad.lua", "return policy {%s", "");
    refuse(f, EBB_EPOLICY_ERROR, "bad.lua");
    assert_int_equal(f->diags.items[0].line, 1);
    put(f, "p/bad.lua", POLICY, "a");
    refuse(f, EBB_EPOLICY_SCHEMA, "");
    put(f, "ebb.lua", "return {%s", "");
    drop_policy(f, "bad");
    refuse(f, EBB_ECONFIG_SYNTAX, "ebb.lua");
}

static void test_vanished(void **state)
{
    static const char *const NAMES[] = {"a", "b", "c", "d", "e", "f"};
    struct fixture *f = *state;
    struct ebb_generation *less = NULL;

    for (size_t i = 0; i < 6; i++)
        put_policy(f, NAMES[i]);
    bind(f, "");
    assert_int_equal(load(f, NULL, false, &f->g), 0);
    for (size_t i = 0; i < 4; i++)
        drop_policy(f, NAMES[i]);
    assert_int_equal(load(f, f->g, false, &less), 0); /* four of six */
    drop_policy(f, "e");
    ebb_generation_unref(less);
    less = NULL;
    assert_int_equal(load(f, f->g, false, &less), -EBB_EREFUSED); /* five of six */
    assert_null(less);
    assert_non_null(strstr(f->err.message, "5 of 6"));
    assert_int_equal(load(f, f->g, true, &less), 0);
    drop_policy(f, "f");
    ebb_generation_unref(f->g);
    f->g = less;
    assert_int_equal(load(f, f->g, false, &less), -EBB_EREFUSED); /* all of one */
}

static enum ebb__policy_change change(const struct ebb_generation *a, const struct ebb_generation *b, const char *name)
{
    enum ebb__policy_change out = EBB__POLICY_SAME;

    assert_int_equal(ebb__policy_change(a, b, name, &out, NULL), 0);
    return out;
}

static void test_changes(void **state)
{
    struct fixture *f = *state;
    struct ebb_generation *after = NULL;

    put_policy(f, "a");
    put_policy(f, "b");
    put_policy(f, "c");
    put_policy(f, "d");
    bind(f, "{ policy = \"a\" }, { policy = \"b\" }, { policy = \"c\" }, { policy = \"d\" }");
    assert_int_equal(load(f, NULL, false, &f->g), 0);
    put(f, "p/b.lua", POLICY "-- another", "b");
    bind(f, "{ policy = \"a\" }, { policy = \"b\" }, { policy = \"c\", mode = \"approve\" }");
    assert_int_equal(load(f, f->g, false, &after), 0);
    assert_int_equal(change(f->g, after, "a"), EBB__POLICY_SAME);
    assert_int_equal(change(f->g, after, "b"), EBB__POLICY_CHANGED);
    assert_int_equal(change(f->g, after, "c"), EBB__POLICY_CHANGED);
    assert_int_equal(change(f->g, after, "d"), EBB__POLICY_REMOVED);
    ebb_generation_unref(after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_whole, setup, teardown),
        cmocka_unit_test_setup_teardown(test_hash_tells_changes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_any_error_is_one, setup, teardown),
        cmocka_unit_test_setup_teardown(test_vanished, setup, teardown),
        cmocka_unit_test_setup_teardown(test_changes, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
