/* SPDX-License-Identifier: Apache-2.0 */
#include "scan_help.h"

#include "base/text.h"

struct protection {
    struct ebb_protect_options options;
    struct ebb_table *table;
    struct ebb_protect *p;
};

static int open_protection(struct table_fixture *f, struct protection *t)
{
    t->p = NULL;
    t->table = NULL;
    assert_ok(f, ebb_table_open(&f->site, f->location, &t->table, &f->err));
    return ebb_protect_new(&f->site, t->table, &t->options, &t->p, &f->err);
}

static void close_protection(struct protection *t)
{
    ebb_protect_free(t->p);
    ebb_table_free(t->table);
}

static int judge(struct table_fixture *f, struct protection *t, const char *uri, enum ebb_judged *out)
{
    return ebb_protect_judge(t->p, ebb_str_of(uri), out, &f->err);
}

static enum ebb_judged verdict(struct table_fixture *f, struct protection *t, const char *name)
{
    enum ebb_judged out = EBB_JUDGED_FREE;
    char uri[512];

    snprintf(uri, sizeof uri, "%s/%s", f->uri, name);
    assert_ok(f, judge(f, t, uri, &out));
    return out;
}

static void test_judges(void **state)
{
    struct table_fixture *f = *state;
    struct protection t;
    enum ebb_judged out;

    ebb_protect_options_init(&t.options);
    commit_names(f, "data/live.parquet");
    assert_ok(f, open_protection(f, &t));
    assert_int_equal(verdict(f, &t, "data/live.parquet"), EBB_JUDGED_REACHABLE);
    assert_int_equal(verdict(f, &t, "data//./live.parquet"), EBB_JUDGED_REACHABLE);
    assert_int_equal(verdict(f, &t, "data/live.parquet.crc"), EBB_JUDGED_FREE);
    assert_int_equal(verdict(f, &t, "metadata/v1.metadata.json"), EBB_JUDGED_REACHABLE);
    assert_int_equal(verdict(f, &t, "metadata/v2.metadata.json"), EBB_JUDGED_REACHABLE);
    assert_int_equal(verdict(f, &t, "metadata/version-hint.text"), EBB_JUDGED_REACHABLE);
    assert_int_equal(verdict(f, &t, "metadata/version-hint.txt"), EBB_JUDGED_REACHABLE);
    assert_int_equal(judge(f, &t, "", &out), -EBB_ELOCATION);
    assert_int_equal(judge(f, &t, "file:/../x", &out), -EBB_ELOCATION);
    close_protection(&t);
}

static void test_conflicts(void **state)
{
    static const struct {
        enum ebb_mismatch_mode mode;
        int error;
        enum ebb_judged verdict;
    } CASES[] = {{EBB_MISMATCH_ERROR, EBB_EPREFIX_CONFLICT, EBB_JUDGED_FREE},
                 {EBB_MISMATCH_IGNORE, 0, EBB_JUDGED_CONFLICT},
                 {EBB_MISMATCH_DELETE, 0, EBB_JUDGED_FREE}};
    struct table_fixture *f = *state;
    struct protection t;
    char uri[256];

    commit_names(f, "data/a.parquet");
    snprintf(uri, sizeof uri, "gs://b%s/data/a.parquet", f->location);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        enum ebb_judged out = EBB_JUDGED_FREE;

        ebb_protect_options_init(&t.options);
        t.options.mismatch = CASES[i].mode;
        assert_ok(f, open_protection(f, &t));
        assert_int_equal(judge(f, &t, uri, &out), -CASES[i].error);
        if (!CASES[i].error)
            assert_int_equal(out, CASES[i].verdict);
        close_protection(&t);
    }
}

static void test_equals(void **state)
{
    struct table_fixture *f = *state;
    struct protection t;
    enum ebb_judged out;
    char uri[256];

    commit_names(f, "data/a.parquet");
    snprintf(uri, sizeof uri, "mine://host%s/data/a.parquet", f->location);
    ebb_protect_options_init(&t.options);
    assert_ok(f, ebb_strs_add(&t.options.equal_schemes, "mine=file", &f->err));
    assert_ok(f, ebb_strs_add(&t.options.equal_authorities, "host=", &f->err));
    assert_ok(f, open_protection(f, &t));
    assert_ok(f, judge(f, &t, uri, &out));
    assert_int_equal(out, EBB_JUDGED_REACHABLE);
    close_protection(&t);
    assert_ok(f, ebb_strs_add(&t.options.equal_schemes, "nothing", &f->err));
    assert_error(f, open_protection(f, &t), EUSAGE);
    close_protection(&t);
    ebb_protect_options_fini(&t.options);
}

/* Case IF1: a commit after the load. */
static void test_refresh(void **state)
{
    struct table_fixture *f = *state;
    struct protection t;
    bool changed = true;

    ebb_protect_options_init(&t.options);
    assert_ok(f, open_protection(f, &t));
    assert_int_equal(verdict(f, &t, "data/a.parquet"), EBB_JUDGED_FREE);
    assert_ok(f, ebb_protect_refresh(t.p, &changed, &f->err));
    assert_false(changed);
    commit_names(f, "data/a.parquet");
    assert_ok(f, ebb_protect_refresh(t.p, &changed, &f->err));
    assert_true(changed);
    assert_int_equal(verdict(f, &t, "data/a.parquet"), EBB_JUDGED_REACHABLE);
    commit_names(f, "data/b.parquet");
    assert_ok(f, ebb_protect_refresh(t.p, &changed, &f->err));
    assert_int_equal(verdict(f, &t, "data/a.parquet"), EBB_JUDGED_REACHABLE); /* a set only grows */
    assert_int_equal(verdict(f, &t, "data/b.parquet"), EBB_JUDGED_REACHABLE);
    commit_as(f, UUID_B, "");
    assert_error(f, ebb_protect_refresh(t.p, &changed, &f->err), EMETADATA_CHANGED);
    close_protection(&t);
}

static void test_gc_disabled_later(void **state)
{
    struct table_fixture *f = *state;
    struct protection t;
    char command[600];
    bool changed;

    ebb_protect_options_init(&t.options);
    assert_ok(f, open_protection(f, &t));
    commit_names(f, "");
    snprintf(command, sizeof command,
             "sed -i 's/\"properties\":{}/\"properties\":{\"gc.enabled\":\"no\"}/' %s/metadata/v%d.metadata.json",
             f->location, f->version);
    assert_int_equal(system(command), 0);
    assert_error(f, ebb_protect_refresh(t.p, &changed, &f->err), EGC_DISABLED);
    close_protection(&t);
    assert_error(f, open_protection(f, &t), EGC_DISABLED);
    close_protection(&t);
}

static void test_uuids(void **state)
{
    struct table_fixture *f = *state;
    struct protection t;

    ebb_protect_options_init(&t.options);
    assert_ok(f, ebb_strs_add(&t.options.dropped, "ABCDEF99-2222-4333-8444-555555555555", &f->err));
    assert_ok(f, open_protection(f, &t));
    assert_true(ebb_protect_is_known_uuid(t.p, UUID_A));
    assert_true(ebb_protect_is_known_uuid(t.p, "abcdef99-2222-4333-8444-555555555555"));
    assert_false(ebb_protect_is_known_uuid(t.p, UUID_B));
    close_protection(&t);
    ebb_protect_options_fini(&t.options);
}

/* What a plan's header keeps is what apply gets. */
static void test_options_there_and_back(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_protect_options given, back;
    struct ebb_jsonw w;
    struct ebb_buf json;

    ebb_protect_options_init(&given);
    ebb_protect_options_init(&back);
    given.mismatch = EBB_MISMATCH_IGNORE;
    given.keep_deleted_entries = true;
    given.scanned = strdup("s3://b/t/\"x\"");
    assert_ok(f, ebb_strs_add(&given.equal_schemes, "a,b=c", &f->err));
    assert_ok(f, ebb_strs_add(&given.equal_authorities, "h=", &f->err));
    assert_ok(f, ebb_strs_add(&given.with, "c.n.t", &f->err));
    assert_ok(f, ebb_strs_add(&given.dropped, UUID_B, &f->err));
    assert_ok(f, ebb_strs_add(&given.read_also, "file:/x", &f->err));
    assert_ok(f, ebb_strs_add(&given.exclude, "file:/y", &f->err));
    ebb_buf_init(&json, 65536);
    ebb_jsonw_init(&w, &json);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kstr(&w, "unknown", "x");
    ebb_protect_options_write(&given, &w);
    ebb_jsonw_end(&w, '}');
    assert_ok(f, ebb_protect_options_read(ebb_buf_str(&json), &back, &f->err));
    assert_int_equal(back.mismatch, EBB_MISMATCH_IGNORE);
    assert_true(back.keep_deleted_entries);
    assert_string_equal(back.scanned, given.scanned);
    assert_string_equal(back.equal_schemes.items[0], "a,b=c");
    assert_string_equal(back.equal_authorities.items[0], "h=");
    assert_string_equal(back.with.items[0], "c.n.t");
    assert_string_equal(back.dropped.items[0], UUID_B);
    assert_string_equal(back.read_also.items[0], "file:/x");
    assert_string_equal(back.exclude.items[0], "file:/y");
    ebb_protect_options_fini(&given);
    ebb_protect_options_fini(&back);
    ebb_buf_fini(&json);
}

static void test_damaged_options(void **state)
{
    static const char *const TEXTS[] = {"",
                                        "[]",
                                        "{\"exclude\":\"x\"}",
                                        "{\"with\":[1]}",
                                        "{\"prefix_mismatch\":\"maybe\"}",
                                        "{\"scanned\":7}",
                                        "{\"keep_deleted_entries\":\"yes\"}",
                                        "{\"exclude\":[\"a\"",
                                        "{\"exclude\":[],\"exclude\":[]}"};
    struct table_fixture *f = *state;

    for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++) {
        struct ebb_protect_options back;

        ebb_protect_options_init(&back);
        assert_error(f, ebb_protect_options_read(ebb_str_of(TEXTS[i]), &back, &f->err), EPLAN);
        ebb_protect_options_fini(&back);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_judges, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_conflicts, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_equals, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_refresh, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_gc_disabled_later, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_uuids, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_options_there_and_back, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_damaged_options, table_setup, table_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
