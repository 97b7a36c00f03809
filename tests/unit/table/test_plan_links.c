/* SPDX-License-Identifier: Apache-2.0 */
#include "scan_help.h"

static void put_link(struct table_fixture *f, const char *to, const char *name)
{
    char path[512];

    path_of(f, name, path);
    assert_int_equal(symlink(to, path), 0);
}

/* Case SL8. */
static void test_a_link_to_a_file(void **state)
{
    struct table_fixture *f = *state;
    struct scan *s = scan_new();

    put_file(f, "data/real.parquet");
    put_file(f, "data/stray.parquet");
    put_link(f, "real.parquet", "data/alias.parquet");
    put_link(f, "stray.parquet", "data/unused.parquet");
    commit_names(f, "data/alias.parquet");
    assert_candidates(f, s, "data/stray.parquet");
    assert_int_equal(s->result.summary.links, 2);
    scan_free(s);
}

static void test_chains_folders_and_loops(void **state)
{
    struct table_fixture *f = *state;
    struct scan *s = scan_new();
    char outside[256];

    put_file(f, "data/far.parquet");
    put_file(f, "data/p/f.parquet");
    put_file(f, "data/q/g.parquet");
    put_file(f, "data/q/stray.parquet");
    put_file(f, "data/up.parquet");
    put_file(f, "data/out.parquet");
    put_link(f, "c2", "data/c1");
    put_link(f, "far.parquet", "data/c2");
    put_link(f, "p", "data/l");
    put_link(f, "../q", "data/p/inner");
    put_link(f, "..", "data/loop");
    put_link(f, "me", "data/me");
    snprintf(outside, sizeof outside, "%s/outside", f->top);
    assert_int_equal(symlink(f->location, outside), 0);
    put_link(f, outside, "data/far-round");
    commit_names(f, "data/c1 data/l/f.parquet data/l/inner/g.parquet data/loop/data/loop/data/up.parquet "
                    "data/far-round/data/out.parquet");
    assert_candidates(f, s, "data/q/stray.parquet");
    scan_free(s);
}

static void test_links_that_lead_nowhere(void **state)
{
    struct table_fixture *f = *state;
    struct scan *s = scan_new();

    put_file(f, "data/a.parquet");
    put_link(f, "nowhere", "data/gone");
    put_link(f, "me", "data/me");
    assert_candidates(f, s, "data/a.parquet");
    commit_names(f, "data/gone/f.parquet");
    assert_error(f, scan_run(f, s, NULL), ELINK_IN_USE);
    commit_names(f, "data/gone");
    assert_error(f, scan_run(f, s, NULL), ELINK_IN_USE);
    commit_names(f, "data/me/f.parquet");
    assert_error(f, scan_run(f, s, NULL), ELINK_IN_USE);
    commit_names(f, "data/gone2/f.parquet data/g");
    assert_candidates(f, s, "data/a.parquet");
    scan_free(s);
}

/* A link may have led to any of the listed files before it was turned. */
static void test_a_link_that_was_turned(void **state)
{
    struct table_fixture *f = *state;
    struct scan *s = scan_new();

    put_file(f, "data/p/f.parquet");
    put_file(f, "data/q/other.parquet");
    put_link(f, "q", "data/l");
    commit_names(f, "data/l/f.parquet");
    assert_error(f, scan_run(f, s, NULL), ELINK_IN_USE);
    scan_free(s);
}

/* The link stands where the scan does not come by. */
static void test_links_elsewhere_in_the_table(void **state)
{
    struct table_fixture *f = *state;
    struct scan *s = scan_new();
    char location[300], place[300];

    put_file(f, "data/p/f.parquet");
    put_file(f, "data/p/g.parquet");
    put_file(f, "data/p/stray.parquet");
    put_file(f, "links/x");
    put_link(f, "../data/p", "links/p");
    put_link(f, "../data/p/g.parquet", "links/g.parquet");
    commit_names(f, "links/p/f.parquet links/g.parquet");
    assert_candidates(f, s, "data/p/stray.parquet links/x");
    snprintf(location, sizeof location, "%s/data", f->uri);
    s->options.location = location;
    assert_candidates(f, s, "data/p/stray.parquet");
    s->options.location = NULL;
    snprintf(place, sizeof place, "%s/links", f->uri);
    assert_ok(f, ebb_strs_add(&s->options.protect.exclude, place, &f->err));
    assert_candidates(f, s, "data/p/stray.parquet");
    scan_free(s);
}

static void test_very_many_links(void **state)
{
    struct table_fixture *f = *state;
    struct scan *s = scan_new();
    char name[64];

    put_file(f, "data/real.parquet");
    put_file(f, "data/stray.parquet");
    for (int i = 0; i < 20000; i++) {
        snprintf(name, sizeof name, "data/l%d", i);
        put_link(f, "real.parquet", name);
    }
    commit_names(f, "data/l19999");
    assert_candidates(f, s, "data/stray.parquet");
    scan_free(s);
}

static void test_names_of_others_through_links(void **state)
{
    struct table_fixture *f = *state;
    struct scan *s = scan_new();
    char location[256], name[256], folder[128];

    put_file(f, "data/real.parquet");
    put_file(f, "data/stray.parquet");
    put_link(f, "real.parquet", "data/alias.parquet");
    snprintf(folder, sizeof folder, "%s/wh/ns/n", f->top);
    snprintf(location, sizeof location, "file:%s", folder);
    snprintf(name, sizeof name, "%s/data/alias.parquet", f->uri);
    other_table(f, "wh/ns/n", UUID_B, location, name);
    assert_candidates(f, s, "data/real.parquet data/stray.parquet");
    assert_ok(f, ebb_strs_add(&s->options.protect.with, folder, &f->err));
    assert_candidates(f, s, "data/stray.parquet");
    scan_free(s);
}

/* The first commit through the link comes while we list. */
static bool commit_now(void *data, struct ebb_str dir, struct ebb_str name)
{
    struct table_fixture *f = data;

    (void)dir;
    (void)name;
    if (f->version == 1)
        commit_names(f, "data/alias.parquet");
    return false;
}

static void test_a_commit_through_a_link_while_listing(void **state)
{
    struct table_fixture *f = *state;
    struct scan *s = scan_new();

    put_file(f, "data/real.parquet");
    put_link(f, "real.parquet", "data/alias.parquet");
    s->options.keeps = commit_now;
    s->options.keeps_data = f;
    assert_candidates(f, s, "");
    scan_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_link_to_a_file, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_chains_folders_and_loops, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_links_that_lead_nowhere, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_a_link_that_was_turned, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_links_elsewhere_in_the_table, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_very_many_links, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_names_of_others_through_links, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_a_commit_through_a_link_while_listing, table_setup, table_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
