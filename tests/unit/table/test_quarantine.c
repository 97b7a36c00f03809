/* SPDX-License-Identifier: Apache-2.0 */
#include "table_help.h"

#include "table/quarantine.h"

struct q_fixture {
    struct table_fixture *t;
    struct ebb_place *place;
    struct ebb_quarantine q;
    struct ebb_plan_header plan;
};

static int setup(void **state)
{
    struct q_fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    f->t = make_table();
    assert_ok(f->t, ebb_place_open(f->t->storage, f->t->uri, EBB_PLACE_WRITE, &f->place, &f->t->err));
    assert_ok(f->t, ebb_quarantine_open(f->t->storage, f->place, NULL, "r-1", &f->q, &f->t->err));
    f->plan.id = "p-1";
    f->plan.catalog = "path";
    f->plan.namespace_ = "ns";
    f->plan.name = "t";
    f->plan.uuid = UUID_A;
    f->plan.location = f->plan.scanned = f->t->uri;
    f->plan.metadata = "file:/x/metadata/v1.metadata.json";
    f->plan.cutoff_ms = 1780272000000;
    f->plan.older_than = "3d";
    f->plan.ownership = "none";
    f->plan.listing = "";
    f->plan.engine_version = "0";
    f->plan.created_ms = 1780272000000;
    f->plan.limits = EBB_STR("{}");
    f->plan.options = EBB_STR("{\"table\":\"/x\",\"map\":[]}");
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct q_fixture *f = *state;

    ebb_quarantine_close(&f->q);
    ebb_place_close(f->place);
    remove_table(f->t);
    free(f);
    return 0;
}

/* What a reading gave. */
struct seen {
    int headers, files;
    char run[40], uuid[40];
    char path[8][256], target[8][256];
    int64_t seq[8];
};

static int see_header(void *data, const struct ebb_run_header *header, struct ebb_err *err)
{
    struct seen *s = data;

    (void)err;
    s->headers++;
    snprintf(s->run, sizeof s->run, "%s", header->run);
    snprintf(s->uuid, sizeof s->uuid, "%s", header->plan.uuid);
    return 0;
}

static int see_file(void *data, const struct ebb_run_file *file, struct ebb_err *err)
{
    struct seen *s = data;

    (void)err;
    if (s->files < 8) {
        snprintf(s->path[s->files], 256, "%.*s", (int)file->path.n, file->path.p);
        snprintf(s->target[s->files], 256, "%.*s", (int)file->target.n, file->target.p);
        s->seq[s->files] = file->seq;
    }
    s->files++;
    return 0;
}

static int read_all(struct q_fixture *f, struct seen *s)
{
    const struct ebb_run_reader reader = {see_header, see_file, s};

    memset(s, 0, sizeof *s);
    return ebb_quarantine_read(&f->q, &reader, &f->t->err);
}

static void add_file(struct q_fixture *f, int64_t seq, const char *target, bool is_after_stop)
{
    struct ebb_run_file file = {seq, EBB_STR("file:/x/t/data/a"), ebb_str_of(target), EBB_STR("1:2:3"), 10, 20};
    struct ebb_buf lines;

    ebb_buf_init(&lines, 4096);
    ebb_quarantine_write_file(&lines, &file);
    assert_ok(f->t, ebb_quarantine_append(&f->q, ebb_buf_str(&lines), is_after_stop, &f->t->err));
    ebb_buf_fini(&lines);
}

static void add_text(struct q_fixture *f, const char *text)
{
    char path[512];
    FILE *file;

    path_of(f->t, ".ebb-quarantine/r-1/run.jsonl", path);
    file = fopen(path, "a");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void begin(struct q_fixture *f)
{
    assert_ok(f->t, ebb_quarantine_begin(&f->q, "r-1", &f->plan, 1780272000000, &f->t->err));
}

static void test_what_is_written_is_read(void **state)
{
    struct q_fixture *f = *state;
    struct seen s;

    begin(f);
    add_file(f, 0, "data/a", false);
    add_file(f, 1, "data/odd \xff\n\"", false);
    begin(f); /* again: left alone */
    add_text(f, "{\"end\":\"done\",\"moved\":2}\n");
    assert_ok(f->t, read_all(f, &s));
    assert_int_equal(s.headers, 1);
    assert_string_equal(s.run, "r-1");
    assert_string_equal(s.uuid, UUID_A);
    assert_int_equal(s.files, 2);
    assert_string_equal(s.path[0], "file:/x/t/data/a");
    assert_string_equal(s.target[1], "data/odd \xff\n\"");
    assert_int_equal(s.seq[1], 1);
}

static void test_a_torn_last_line_is_left_out(void **state)
{
    struct q_fixture *f = *state;
    struct seen s;

    begin(f);
    add_file(f, 0, "data/a", false);
    add_text(f, "{\"seq\":1,\"path\":\"file:/x");
    assert_ok(f->t, read_all(f, &s));
    assert_int_equal(s.files, 1);
    add_file(f, 1, "data/b", true); /* a resumed run marks it and goes on */
    assert_ok(f->t, read_all(f, &s));
    assert_int_equal(s.files, 2);
    assert_string_equal(s.target[1], "data/b");
    add_file(f, 2, "data/c", true); /* a mark behind a whole line does no harm */
    assert_ok(f->t, read_all(f, &s));
    assert_int_equal(s.files, 3);
}

static void test_a_broken_line_is_an_error(void **state)
{
    struct q_fixture *f = *state;
    static const char *const BAD[] = {
        "not json\n",
        "{\"seq\":1,\"path\":\"file:/x\n",
        "{\"seq\":1}\n",
        "{\"seq\":1,\"path\":\"p\",\"target\":\"t\",\"size\":1,\"mtime\":1}\n",
        "{\"seq\":1,\"path\":\"p\",\"target\":\"../t\",\"size\":1,\"mtime\":1,\"id\":\"1:2:3\"}\n",
        "{\"seq\":1,\"path\":\"p\",\"target\":\"/t\",\"size\":1,\"mtime\":1,\"id\":\"1:2:3\"}\n",
        "{\"seq\":1,\"path\":\"p\",\"target\":\"a//t\",\"size\":1,\"mtime\":1,\"id\":\"1:2:3\"}\n",
        "{\"seq\":1,\"path\":\"p\",\"target\":\"t\",\"size\":-1,\"mtime\":1,\"id\":\"1:2:3\"}\n",
        "{\"seq\":1,\"path\":\"p\",\"target\":\"t\",\"size\":\"1\",\"mtime\":1,\"id\":\"1:2:3\"}\n",
        "{\"seq\":1,\"path\":\"p\\u0000q\",\"target\":\"t\",\"size\":1,\"mtime\":1,\"id\":\"1:2:3\"}\n",
        "{\"seq\":1,\"path_b64\":\"%%%\",\"target\":\"t\",\"size\":1,\"mtime\":1,\"id\":\"1:2:3\"}\n",
    };
    char path[512];
    struct seen s;

    path_of(f->t, ".ebb-quarantine/r-1/run.jsonl", path);
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        begin(f);
        add_text(f, BAD[i]);
        add_file(f, 9, "data/after", false);
        if (read_all(f, &s) != -EBB_EQUARANTINE)
            fail_msg("taken: %s", BAD[i]);
        assert_int_equal(unlink(path), 0);
    }
}

static void test_a_bad_first_line_is_an_error(void **state)
{
    struct q_fixture *f = *state;
    static const char *const BAD[] = {
        "",
        "{",
        "{}\n",
        "[]\n",
        "{\"ebb_run\":1,\"run\":\"r-1\"}\n",
        "{\"ebb_run\":1,\"run\":\"r-1\",\"plan\":{}}\n",
        "{\"ebb_run\":2,\"run\":\"r-1\",\"plan\":{}}\n",
    };
    struct seen s;
    const struct ebb_run_reader reader = {see_header, see_file, &s};

    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++)
        if (ebb_run_record_parse("r", ebb_str_of(BAD[i]), &reader, &f->t->err) != -EBB_EQUARANTINE)
            fail_msg("taken: %s", BAD[i]);
    assert_error(f->t, read_all(f, &s), EQUARANTINE); /* no record at all */
}

static void test_a_record_is_never_made_by_appending(void **state)
{
    struct q_fixture *f = *state;

    assert_ok(f->t, ebb_place_make_dirs(f->place, ".ebb-quarantine/r-1", true, &f->t->err));
    assert_error(f->t, ebb_quarantine_append(&f->q, EBB_STR("{}\n"), true, &f->t->err), ENOENT);
    assert_false(has_file(f->t, ".ebb-quarantine/r-1/run.jsonl"));
}

static void test_a_crash_in_the_first_line_is_no_record(void **state)
{
    struct q_fixture *f = *state;
    struct seen s;

    put_file(f->t, ".ebb-quarantine/r-1/run.jsonl.new"); /* what such a crash leaves */
    begin(f);
    assert_ok(f->t, read_all(f, &s));
    assert_false(has_file(f->t, ".ebb-quarantine/r-1/run.jsonl.new"));
}

static void test_run_ids_are_plain_names(void **state)
{
    struct q_fixture *f = *state;
    static const char *const BAD[] = {"", ".", "..", "a/b", "../r-1"};
    struct ebb_quarantine q;

    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++)
        if (ebb_quarantine_open(f->t->storage, f->place, NULL, BAD[i], &q, NULL) == 0)
            fail_msg("taken: %s", BAD[i]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_what_is_written_is_read),
        TEST(test_a_torn_last_line_is_left_out),
        TEST(test_a_broken_line_is_an_error),
        TEST(test_a_bad_first_line_is_an_error),
        TEST(test_a_record_is_never_made_by_appending),
        TEST(test_a_crash_in_the_first_line_is_no_record),
        TEST(test_run_ids_are_plain_names),
    };

    return cmocka_run_group_tests_name("quarantine", tests, NULL, NULL);
}
