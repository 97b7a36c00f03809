/* SPDX-License-Identifier: Apache-2.0 */
#include "table_help.h"

#include "table/plan_file.h"

static int open_plan(struct table_fixture *f, const char *plan)
{
    struct ebb_plan_file *file;
    int rc = ebb_plan_file_open(&f->site, plan, &file, &f->err);

    if (!rc)
        ebb_plan_file_close(file);
    return rc;
}

/* A copy of the plan, changed by a shell command that sees it as $P. */
static const char *changed(struct table_fixture *f, const char *command)
{
    static char path[256];
    char line[2048];

    snprintf(path, sizeof path, "%s/changed.plan", f->top);
    snprintf(line, sizeof line, "cp '%s' %s && P=%s && { %s; }", f->plan_path, path, path, command);
    assert_int_equal(system(line), 0);
    return path;
}

struct counted {
    int count;
    char last[512];
};

static int count_one(void *data, const struct ebb_plan_candidate *c, struct ebb_err *err)
{
    struct counted *n = data;

    (void)err;
    n->count++;
    snprintf(n->last, sizeof n->last, "%.*s", (int)c->path.n, c->path.p);
    return 0;
}

static void make_three(struct table_fixture *f)
{
    put_file(f, "data/a.parquet");
    put_file(f, "data/b.parquet");
    put_file(f, "data/c.parquet");
    make_plan(f);
}

static void test_a_plan_is_found_by_id_and_path(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_plan_file *file;
    struct counted n = {0, ""};
    char prefix[16];

    make_three(f);
    snprintf(prefix, sizeof prefix, "%.14s", f->plan);
    assert_ok(f, open_plan(f, f->plan));
    assert_ok(f, open_plan(f, prefix));
    assert_ok(f, ebb_plan_file_open(&f->site, f->plan_path, &file, &f->err));
    assert_string_equal(ebb_plan_file_header(file)->id, f->plan);
    assert_int_equal(ebb_plan_file_summary(file)->candidates, 3);
    assert_ok(f, ebb_plan_file_each(file, count_one, &n, &f->err));
    assert_int_equal(n.count, 3);
    assert_non_null(strstr(n.last, "data/c.parquet"));
    assert_ok(f, ebb_plan_file_each(file, count_one, &n, &f->err)); /* as often as wanted */
    assert_int_equal(n.count, 6);
    ebb_plan_file_close(file);
}

static void test_no_such_plan(void **state)
{
    struct table_fixture *f = *state;

    assert_error(f, open_plan(f, "p-00000000000000000000000000"), ENOT_FOUND);
    assert_error(f, open_plan(f, "/nowhere/x.plan"), ENOT_FOUND);
    assert_error(f, open_plan(f, f->top), EPLAN); /* a folder */
    f->site.store = NULL;
    assert_error(f, open_plan(f, "p-00000000000000000000000000"), ENOT_FOUND);
    f->site.store = f->store;
}

static void test_damage_is_found(void **state)
{
    struct table_fixture *f = *state;
    static const char *const DAMAGE[] = {
        ": > $P",                                              /* empty */
        "head -n 1 $P > $P.x; mv $P.x $P",                     /* only the header */
        "head -n -1 $P > $P.x; mv $P.x $P",                    /* no summary */
        "truncate -s -1 $P",                                   /* no last line feed */
        "truncate -s -40 $P",                                  /* cut in the summary */
        "sed -i 2d $P",                                        /* a line less */
        "sed -i 2p $P",                                        /* a line twice */
        "sed -i s/b.parquet/B.parquet/ $P",                    /* a byte changed */
        "sed -i s/older_than/older_tham/ $P",                  /* in the header */
        "printf '\\n' >> $P",                                  /* something behind */
        "tail -n 1 $P >> $P",                                  /* two summaries */
        "printf 'x' | dd of=$P conv=notrunc bs=1 2>/dev/null", /* first byte */
        "cat $P $P > $P.x; mv $P.x $P",
        "head -c 400000 /dev/zero >> $P",
    };

    make_three(f);
    for (size_t i = 0; i < sizeof DAMAGE / sizeof DAMAGE[0]; i++)
        if (open_plan(f, changed(f, DAMAGE[i])) != -EBB_EPLAN)
            fail_msg("not found: %s", DAMAGE[i]);
}

/* With a right hash, but false in itself. */
static void test_a_wrong_order_or_count_is_found(void **state)
{
    struct table_fixture *f = *state;
    static const char REHASH[] = "head -n -1 $P > $P.b; S=$(sha256sum < $P.b | cut -c1-64); tail -n 1 $P | sed -E "
                                 "s/sha256.:.[0-9a-f]+/sha256\\\":\\\"$S/ > $P.t; cat $P.b $P.t > $P";
    static const char *const CHANGES[] = {"sed -i 2d $P", "sed -i 2p $P", "sed -i '2{h;d};3G' $P",
                                          "sed -i '2s/\"size\":14/\"size\":15/' $P"};
    char command[1024];

    make_three(f);
    snprintf(command, sizeof command, "%s", REHASH);
    assert_ok(f, open_plan(f, changed(f, command))); /* the way itself is right */
    for (size_t i = 0; i < sizeof CHANGES / sizeof CHANGES[0]; i++) {
        snprintf(command, sizeof command, "%s; %s", CHANGES[i], REHASH);
        if (open_plan(f, changed(f, command)) != -EBB_EPLAN)
            fail_msg("not found: %s", CHANGES[i]);
    }
}

static void test_a_change_after_opening_is_seen(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_plan_file *file;
    struct counted n = {0, ""};
    char command[700];

    make_three(f);
    assert_ok(f, ebb_plan_file_open(&f->site, f->plan_path, &file, &f->err));
    snprintf(command, sizeof command, "sed 's/b.parquet/x.parquet/' '%s' > %s/x && cat %s/x > '%s'", f->plan_path,
             f->top, f->top, f->plan_path);
    assert_int_equal(system(command), 0); /* in place: the same inode */
    assert_error(f, ebb_plan_file_each(file, count_one, &n, &f->err), EPLAN);
    assert_int_equal(n.count, 0); /* nothing of the changed file was given out */
    ebb_plan_file_close(file);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, table_setup, table_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_plan_is_found_by_id_and_path),
        TEST(test_no_such_plan),
        TEST(test_damage_is_found),
        TEST(test_a_wrong_order_or_count_is_found),
        TEST(test_a_change_after_opening_is_seen),
    };

    return cmocka_run_group_tests_name("plan_file", tests, NULL, NULL);
}
