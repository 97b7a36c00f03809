/* SPDX-License-Identifier: Apache-2.0 */
#include "scan_help.h"

#define UUID_C "77777777-2222-4333-8444-555555555555"

static int protect(struct table_fixture *f, const struct ebb_protect_options *given, struct ebb_protect **out,
                   struct ebb_table **t)
{
    static const struct ebb_protect_options NONE;

    *out = NULL;
    assert_ok(f, ebb_table_open(&f->site, f->location, t, &f->err));
    return ebb_protect_new(&f->site, *t, given ? given : &NONE, out, &f->err);
}

static int try_protect(struct table_fixture *f, const struct ebb_protect_options *given)
{
    struct ebb_protect *p;
    struct ebb_table *t = NULL;
    int rc = protect(f, given, &p, &t);

    ebb_protect_free(p);
    ebb_table_free(t);
    return rc;
}

static void test_a_neighbour_in_the_catalog(void **state)
{
    static const struct {
        const char *folder; /* below TOP */
        const char *names;  /* below the location; "" none */
        int error;
    } CASES[] = {
        {"wh/ns/t/sub/n", "", EBB_EFOREIGN_TABLE},
        {"wh/ns/t2", "", 0},
        {"wh/ns/n", "data/given.parquet", EBB_EFOREIGN_TABLE},
        {"wh/other/n", "../t/data/given.parquet", EBB_EFOREIGN_TABLE},
    };
    struct table_fixture *f = *state;
    struct ebb_catalog *list[1];

    add_catalog(f, list);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        char location[256], name[512] = "", command[300];

        snprintf(location, sizeof location, "file:%s/%s", f->top, CASES[i].folder);
        if (CASES[i].names[0])
            snprintf(name, sizeof name, "%s/%s", f->uri, CASES[i].names);
        other_table(f, CASES[i].folder, UUID_B, location, name);
        if (try_protect(f, NULL) != -CASES[i].error)
            fail_msg("%s: %s", CASES[i].folder, f->err.message);
        snprintf(command, sizeof command, "rm -rf %s/%s", f->top, CASES[i].folder);
        assert_int_equal(system(command), 0);
    }
    ebb_catalog_free(list[0]);
}

static void test_one_that_comes_later(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_catalog *list[1];
    struct ebb_protect *p;
    struct ebb_table *t = NULL;
    char location[256];
    bool changed;

    add_catalog(f, list);
    assert_ok(f, protect(f, NULL, &p, &t));
    assert_string_equal(ebb_protect_ownership(p), "full");
    assert_ok(f, ebb_protect_refresh(p, &changed, &f->err));
    assert_false(changed);
    snprintf(location, sizeof location, "%s/data/n", f->uri);
    other_table(f, "wh/ns/t/data/n", UUID_B, location, "");
    assert_error(f, ebb_protect_refresh(p, &changed, &f->err), EFOREIGN_TABLE);
    ebb_protect_free(p);
    ebb_table_free(t);
    ebb_catalog_free(list[0]);
}

/* A neighbour elsewhere commits a file of ours. */
static void test_one_that_changes(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_catalog *list[1];
    struct ebb_protect *p;
    struct ebb_table *t = NULL;
    char location[256], name[256];
    bool changed;

    add_catalog(f, list);
    snprintf(location, sizeof location, "file:%s/wh/ns/n", f->top);
    other_table(f, "wh/ns/n", UUID_B, location, "");
    assert_ok(f, protect(f, NULL, &p, &t));
    snprintf(name, sizeof name, "%s/data/given.parquet", f->uri);
    other_table(f, "wh/ns/n", UUID_B, location, name);
    assert_error(f, ebb_protect_refresh(p, &changed, &f->err), EFOREIGN_TABLE);
    ebb_protect_free(p);
    ebb_table_free(t);
    ebb_catalog_free(list[0]);
}

static void test_outer_tables_are_protected(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_protect *p;
    struct ebb_table *t = NULL;
    enum ebb_judged verdict;
    char location[256], name[256];

    snprintf(location, sizeof location, "file:%s/wh", f->top);
    snprintf(name, sizeof name, "%s/data/outer.parquet", f->uri);
    other_table(f, "wh", UUID_B, location, name);
    assert_ok(f, protect(f, NULL, &p, &t));
    assert_ok(f, ebb_protect_judge(p, ebb_str_of(name), &verdict, &f->err));
    assert_int_equal(verdict, EBB_JUDGED_NEIGHBOUR);
    assert_true(ebb_protect_is_known_uuid(p, UUID_B));
    assert_false(ebb_protect_is_known_uuid(p, UUID_C));
    assert_string_equal(ebb_protect_ownership(p), "none");
    ebb_protect_free(p);
    ebb_table_free(t);
}

static void test_outer_that_cannot_be_read(void **state)
{
    struct table_fixture *f = *state;
    char command[256];

    snprintf(command, sizeof command, "mkdir -p %s/wh/metadata && echo x >%s/wh/metadata/v1.metadata.json", f->top,
             f->top);
    assert_int_equal(system(command), 0);
    assert_error(f, try_protect(f, NULL), EOWNERSHIP);
}

static void test_exclude(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_protect_options options;
    struct ebb_catalog *list[1];
    char place[256], link[256];

    add_catalog(f, list);
    snprintf(place, sizeof place, "%s/sub/n", f->uri);
    other_table(f, "wh/ns/t/sub/n", UUID_B, place, "");
    ebb_protect_options_init(&options);
    snprintf(place, sizeof place, "%s/su", f->uri);
    assert_ok(f, ebb_strs_add(&options.exclude, place, &f->err));
    assert_error(f, try_protect(f, &options), EFOREIGN_TABLE);
    snprintf(place, sizeof place, "%s/sub", f->uri);
    assert_ok(f, ebb_strs_add(&options.exclude, place, &f->err));
    assert_ok(f, try_protect(f, &options));
    /* the same folder by another name in the zone is listed: it must be left out under each */
    snprintf(place, sizeof place, "%s/wh/ns/t/sub", f->top);
    snprintf(link, sizeof link, "%s/wh/ns/t/real", f->top);
    assert_int_equal(rename(place, link), 0);
    assert_int_equal(symlink("real", place), 0);
    assert_error(f, try_protect(f, &options), EFOREIGN_TABLE);
    ebb_protect_options_fini(&options);
    ebb_catalog_free(list[0]);
}

static void test_with(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_protect_options options;
    struct ebb_catalog *list[1];
    struct ebb_protect *p;
    struct ebb_table *t = NULL;
    enum ebb_judged verdict;
    char location[256], name[256], folder[128];

    add_catalog(f, list);
    snprintf(folder, sizeof folder, "%s/wh/ns/n", f->top);
    snprintf(location, sizeof location, "file:%s", folder);
    snprintf(name, sizeof name, "%s/data/shared.parquet", f->uri);
    other_table(f, "wh/ns/n", UUID_B, location, name);
    ebb_protect_options_init(&options);
    assert_ok(f, ebb_strs_add(&options.with, folder, &f->err));
    assert_ok(f, protect(f, &options, &p, &t));
    assert_ok(f, ebb_protect_judge(p, ebb_str_of(name), &verdict, &f->err));
    assert_int_equal(verdict, EBB_JUDGED_NEIGHBOUR);
    ebb_protect_free(p);
    ebb_table_free(t);
    assert_ok(f, ebb_strs_add(&options.with, "files.ns.gone", &f->err));
    assert_error(f, try_protect(f, &options), ETABLE_NOT_FOUND);
    ebb_protect_options_fini(&options);
    ebb_catalog_free(list[0]);
}

/* A neighbour that can't be loaded owns its folder and the location that its metadata names. */
static void test_unloadable(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_catalog *list[1];
    char path[512], text[512];

    add_catalog(f, list);
    other_table(f, "wh/ns/n", UUID_B, "file:/elsewhere", "");
    assert_ok(f, try_protect(f, NULL));
    snprintf(path, sizeof path, "%s/wh/ns/n/metadata/v1.metadata.json", f->top);
    snprintf(text, sizeof text, "{\"format-version\":9,\"table-uuid\":\"" UUID_B "\",\"location\":\"%s/data/x\"}",
             f->uri);
    write_path(path, text);
    assert_error(f, try_protect(f, NULL), EFOREIGN_TABLE);
    snprintf(text, sizeof text, "{\"format-version\":9,\"table-uuid\":\"" UUID_B "\",\"location\":\"file:%s\"}",
             f->top);
    write_path(path, text);
    assert_error(f, try_protect(f, NULL), EFOREIGN_TABLE);
    assert_non_null(strstr(f->err.message, "can't be read"));
    ebb_catalog_free(list[0]);
}

/* A folder of a neighbour is a link into our location. */
static void test_a_link_in_a_neighbour(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_catalog *list[1];
    char location[256], name[256], path[256], target[256];

    add_catalog(f, list);
    snprintf(location, sizeof location, "file:%s/wh/ns/n", f->top);
    snprintf(name, sizeof name, "%s/deep/f.parquet", location);
    other_table(f, "wh/ns/n", UUID_B, location, "");
    assert_ok(f, try_protect(f, NULL));
    snprintf(path, sizeof path, "%s/wh/ns/n/deep", f->top);
    snprintf(target, sizeof target, "%s/data", f->location);
    assert_int_equal(symlink(target, path), 0);
    other_table(f, "wh/ns/n", UUID_B, location, name);
    assert_error(f, try_protect(f, NULL), EFOREIGN_TABLE);
    ebb_catalog_free(list[0]);
}

/* What was remembered of a neighbour between plans is compared with the places of today. */
static void test_remembered_neighbours(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_catalog *list[1];
    char location[256], name[256], path[256], target[256];

    add_catalog(f, list);
    snprintf(location, sizeof location, "file:%s/wh/ns/n", f->top);
    snprintf(name, sizeof name, "file:%s/elsewhere/f.parquet", f->top);
    other_table(f, "wh/ns/n", UUID_B, location, name);
    assert_ok(f, try_protect(f, NULL));
    assert_ok(f, try_protect(f, NULL));
    snprintf(path, sizeof path, "%s/elsewhere", f->top);
    snprintf(target, sizeof target, "%s/data", f->location);
    assert_int_equal(symlink(target, path), 0);
    assert_error(f, try_protect(f, NULL), EFOREIGN_TABLE);
    assert_int_equal(unlink(path), 0);
    snprintf(path, sizeof path, "%s/wh/ns/n/data", f->top);
    assert_int_equal(symlink(target, path), 0);
    assert_error(f, try_protect(f, NULL), EFOREIGN_TABLE);
    ebb_catalog_free(list[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_neighbour_in_the_catalog, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_one_that_comes_later, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_one_that_changes, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_outer_tables_are_protected, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_outer_that_cannot_be_read, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_exclude, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_with, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_unloadable, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_a_link_in_a_neighbour, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_remembered_neighbours, table_setup, table_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
