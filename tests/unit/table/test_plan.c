/* SPDX-License-Identifier: Apache-2.0 */
#include "scan_help.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* A text in which '@' stands for the location. */
static void fill(char *out, size_t n, const char *text, const char *location)
{
    size_t at = 0;

    for (; *text; text++)
        at += (size_t)snprintf(out + at, n - at, "%.*s%s", *text == '@' ? 0 : 1, text, *text == '@' ? location : "");
    out[at] = '\0';
}

/* ---- what goes ---- */

static void test_what_goes(void **state)
{
    struct table_fixture *f = *state;
    struct scan *s = scan_new();

    put_file(f, "data/live.parquet");
    put_file(f, "data/stray.parquet");
    put_file(f, "data/_SUCCESS");
    put_file(f, "_temporary/0/x.parquet");
    put_file(f, ".ebb-quarantine/r/y.parquet");
    put_file(f, "stray.orc");
    put_file(f, "notes.txt");
    put_file(f, "data/p-1.plan");
    put_file_aged(f, "data/young.parquet", HOUR_MS);
    commit_names(f, "data/live.parquet");
    assert_candidates(f, s, "data/stray.parquet stray.orc");
    assert_int_equal(s->result.summary.hidden, 2);
    assert_int_equal(s->result.summary.too_young, 1);
    assert_int_equal(s->result.summary.kept, 2);
    assert_string_equal(s->result.ownership, "none");
    scan_free(s);
}

/* Equal to the cutoff stays; the last nanosecond before it is in the millisecond before. */
static void test_edge_of_the_cutoff(void **state)
{
    static const struct {
        const char *name;
        int64_t after_ns;
    } FILES[] = {{"data/a-before.parquet", -1},
                 {"data/b-equal.parquet", 0},
                 {"data/c-after.parquet", 1},
                 {"data/d-ms.parquet", -1000000}};
    struct table_fixture *f = *state;
    struct scan *s = scan_new();
    int64_t cutoff_s = time(NULL) - 5 * 24 * 3600;
    char text[64], path[512];
    time_t at = (time_t)cutoff_s;
    struct tm tm;

    for (size_t i = 0; i < sizeof FILES / sizeof FILES[0]; i++) {
        int64_t ns = cutoff_s * 1000000000 + FILES[i].after_ns;
        struct timespec times[2] = {{at, 0}, {ns / 1000000000, ns % 1000000000}};

        put_file(f, FILES[i].name);
        path_of(f, FILES[i].name, path);
        assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    }
    assert_non_null(gmtime_r(&at, &tm));
    assert_true(strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm) > 0);
    s->options.older_than = text;
    assert_candidates(f, s, "data/a-before.parquet data/d-ms.parquet");
    scan_free(s);
}

static void test_odd_times(void **state)
{
    static const struct {
        const char *name;
        struct timespec at;
    } FILES[] = {{"data/a.parquet", {0, 0}},
                 {"data/b.parquet", {-5, 0}},
                 {"data/c.parquet", {0, 999999}},
                 {"data/d.parquet", {0, 1000000}}};
    struct table_fixture *f = *state;
    struct scan *s = scan_new();
    char path[512];

    for (size_t i = 0; i < sizeof FILES / sizeof FILES[0]; i++) {
        struct timespec times[2] = {FILES[i].at, FILES[i].at};

        put_file(f, FILES[i].name);
        path_of(f, FILES[i].name, path);
        assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    }
    assert_candidates(f, s, "data/d.parquet");
    assert_int_equal(s->result.summary.kept, 3);
    scan_free(s);
}

static void test_skew(void **state)
{
    struct table_fixture *f = *state;
    struct scan *s = scan_new();

    put_file_aged(f, "data/ahead.parquet", -2 * HOUR_MS);
    put_file_aged(f, "data/h25.parquet", 25 * HOUR_MS);
    put_file_aged(f, "data/h27.parquet", 27 * HOUR_MS);
    s->options.older_than = "24h";
    assert_candidates(f, s, "data/h27.parquet");
    scan_free(s);
}

static void test_location(void **state)
{
    struct table_fixture *f = *state;
    struct scan *s = scan_new();
    char given[300];

    put_file(f, "data/a.parquet");
    put_file(f, "data2/b.parquet");
    s->options.location = given;
    snprintf(given, sizeof given, "%s/data//", f->uri);
    assert_candidates(f, s, "data/a.parquet");
    for (int i = 0; i < 6; i++) {
        static const char *const WRONG[] = {"@/../t/data", "@2", "@/data/..", "s3:/@", "data", "/"};

        fill(given, sizeof given, WRONG[i], f->uri);
        assert_error(f, scan_run(f, s, NULL), EOUTSIDE);
    }
    snprintf(given, sizeof given, "%s/gone", f->uri);
    assert_error(f, scan_run(f, s, NULL), ENOENT);
    assert_non_null(strstr(f->err.message, "there is no such folder"));
    scan_free(s);
}

static void test_exclude(void **state)
{
    struct table_fixture *f = *state;
    struct scan *s = scan_new();
    char link[256], place[300];

    put_file(f, "data/a.parquet");
    put_file(f, "data/p/b.parquet");
    put_file(f, "data/pp/c.parquet");
    snprintf(link, sizeof link, "%s/short", f->top);
    snprintf(place, sizeof place, "%s/data/p", f->location);
    assert_int_equal(symlink(place, link), 0);
    snprintf(place, sizeof place, "file:%s", link);
    assert_ok(f, ebb_strs_add(&s->options.protect.exclude, place, &f->err));
    assert_candidates(f, s, "data/a.parquet data/pp/c.parquet");
    snprintf(place, sizeof place, "%s/data/a.parquet", f->uri);
    assert_ok(f, ebb_strs_add(&s->options.protect.exclude, place, &f->err));
    assert_candidates(f, s, "data/pp/c.parquet");
    for (int i = 0; i < 3; i++) {
        static const char *const WRONG[] = {"@", "@2", "@/.."};
        struct scan *wrong = scan_new();

        fill(place, sizeof place, WRONG[i], f->uri);
        assert_ok(f, ebb_strs_add(&wrong->options.protect.exclude, place, &f->err));
        assert_error(f, scan_run(f, wrong, NULL), EUSAGE);
        scan_free(wrong);
    }
    scan_free(s);
}

/* ---- the world changes while we look ---- */

struct during {
    struct table_fixture *f;
    int step;
};

/* Called for the first unreferenced file: the table was loaded, its listing goes on. */
static bool commit_now(void *data, struct ebb_str dir, struct ebb_str name)
{
    struct during *d = data;

    (void)dir;
    (void)name;
    if (!d->step++)
        commit_names(d->f, "data/a.parquet data/b.parquet");
    return false;
}

/* Case IF1. */
static void test_commit_between_load_and_listing(void **state)
{
    struct table_fixture *f = *state;
    struct scan *s = scan_new();
    struct during during = {f, 0};

    put_file(f, "data/a.parquet");
    put_file(f, "data/b.parquet");
    put_file(f, "data/c.parquet");
    s->options.keeps = commit_now;
    s->options.keeps_data = &during;
    assert_candidates(f, s, "data/c.parquet");
    assert_true(during.step > 0);
    scan_free(s);
}

static bool neighbour_now(void *data, struct ebb_str dir, struct ebb_str name)
{
    struct during *d = data;
    char location[256];

    (void)dir;
    (void)name;
    snprintf(location, sizeof location, "%s/data/n", d->f->uri);
    if (!d->step++)
        other_table(d->f, "wh/ns/t/data/n", UUID_B, location, "");
    return false;
}

static void test_neighbour_between_load_and_refresh(void **state)
{
    struct table_fixture *f = *state;
    struct scan *s = scan_new();
    struct ebb_catalog *list[1];
    struct during during = {f, 0};

    add_catalog(f, list);
    put_file(f, "data/a.parquet");
    s->options.keeps = neighbour_now;
    s->options.keeps_data = &during;
    assert_error(f, scan_run(f, s, NULL), EFOREIGN_TABLE);
    assert_nothing_left(f);
    scan_free(s);
    ebb_catalog_free(list[0]);
}

static bool drop_now(void *data, struct ebb_str dir, struct ebb_str name)
{
    struct during *d = data;

    (void)dir;
    (void)name;
    if (!d->step++)
        commit_as(d->f, UUID_B, "");
    return false;
}

static void test_another_table_takes_the_name(void **state)
{
    struct table_fixture *f = *state;
    struct scan *s = scan_new();
    struct during during = {f, 0};
    char location[256];

    put_file(f, "data/a.parquet");
    snprintf(location, sizeof location, "%s/data", f->uri);
    s->options.location = location;
    s->options.keeps = drop_now;
    s->options.keeps_data = &during;
    assert_error(f, scan_run(f, s, NULL), EMETADATA_CHANGED);
    assert_nothing_left(f);
    scan_free(s);
}

/* ---- refusals ---- */

static void test_foreign_metadata(void **state)
{
    static const struct {
        const char *text;
        int error;
    } CASES[] = {
        {"{\"table-uuid\":\"" UUID_B "\"}", EBB_EFOREIGN_UUID},
        {"{\"table-uuid\":\"" UUID_A "\"}", 0},
        {"{\"format-version\":1,\"location\":\"@\"}", 0},
        {"{\"format-version\":1,\"location\":\"@/sub\"}", EBB_EFOREIGN_UUID},
        {"{\"table-uuid\":\"" UUID_B "\",\"x\":", EBB_EFOREIGN_UUID},
        {"{\"location\":\"file:/x\",", EBB_EFOREIGN_UUID},
        {"{}", 0},
        {"", 0},
        {"no JSON", 0},
        {"\x1f\x8b\x08", 0},
    };
    struct table_fixture *f = *state;

    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct scan *s = scan_new();
        char path[512], text[1024];

        put_file(f, "data/sub/metadata/v1.metadata.json");
        path_of(f, "data/sub/metadata/v1.metadata.json", path);
        fill(text, sizeof text, CASES[i].text, f->uri);
        write_path(path, text);
        set_age(path, TEN_DAYS_MS);
        if (scan_run(f, s, NULL) != -CASES[i].error)
            fail_msg("%s: %s", text, f->err.message);
        assert_int_equal(s->names.count, CASES[i].error ? 0 : 1);
        scan_free(s);
    }
}

/* The uuid stands behind 64 KiB; and behind 64 MiB, where nobody looks: then it is not called litter. */
static void test_foreign_metadata_with_a_late_uuid(void **state)
{
    static const size_t SIZES[] = {(size_t)70 << 10, (size_t)3 << 20, (size_t)65 << 20};
    struct table_fixture *f = *state;

    for (size_t i = 0; i < sizeof SIZES / sizeof SIZES[0]; i++) {
        struct scan *s = scan_new();
        char path[512];
        FILE *file;

        put_file(f, "data/sub/x.metadata.json");
        path_of(f, "data/sub/x.metadata.json", path);
        file = fopen(path, "w");
        assert_non_null(file);
        assert_true(fputs("{\"properties\":{\"x\":\"", file) >= 0);
        for (size_t n = 0; n < SIZES[i]; n += 64)
            assert_true(fputs("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", file) >= 0);
        assert_true(fputs("\"},\"table-uuid\":\"" UUID_B "\"}", file) >= 0);
        assert_int_equal(fclose(file), 0);
        assert_error(f, scan_run(f, s, NULL), EFOREIGN_UUID);
        scan_free(s);
    }
}

static void test_a_saved_metadata_file(void **state)
{
    struct table_fixture *f = *state;
    struct scan *s = scan_new();
    char command[800], saved[256];

    put_file(f, "data/a.parquet");
    snprintf(saved, sizeof saved, "%s/saved/v1.metadata.json", f->top);
    snprintf(command, sizeof command, "mkdir %s/saved && cp %s/metadata/v1.metadata.json %s", f->top, f->location,
             saved);
    assert_int_equal(system(command), 0);
    commit_names(f, "data/a.parquet");
    assert_error(f, scan_run(f, s, saved), EMETADATA_PLACE);
    snprintf(saved, sizeof saved, "%s/metadata/v1.metadata.json", f->location);
    assert_error(f, scan_run(f, s, saved), ENOT_CURRENT);
    assert_nothing_left(f);
    scan_free(s);
}

static void test_an_unreadable_folder(void **state)
{
    struct table_fixture *f = *state;
    char path[512];
    pid_t child;
    int status;

    put_file(f, "data/shut/a.parquet");
    path_of(f, "data/shut", path);
    assert_int_equal(chmod(path, 0), 0);
    if (geteuid()) {
        struct scan *s = scan_new();

        assert_error(f, scan_run(f, s, NULL), EPERMISSION);
        scan_free(s);
        return;
    }
    assert_int_equal(chmod(f->top, 0755), 0);
    child = fork(); /* root reads everything: ask as somebody else, without a store */
    if (child == 0) {
        struct scan *s = scan_new();
        char output[64];
        int rc;

        snprintf(output, sizeof output, "/tmp/ebb-shut-%d.plan", (int)getpid());
        s->options.output = output;
        f->site.store = NULL;
        if (setgid(65534) || setuid(65534))
            _exit(9);
        rc = ebb_plan_make(&f->site, f->location, &s->options, &s->result, &f->err);
        _exit(rc == -EBB_EPERMISSION && access(output, F_OK) ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* ---- what is written ---- */

static void test_fuses(void **state)
{
    static const struct {
        int64_t max_files;
        uint64_t max_bytes;
        double max_share;
        const char *held_by;
    } CASES[] = {{0, 0, 1, ""},  {3, 0, 1, ""},           {2, 0, 1, "max_files"},
                 {0, 42, 1, ""}, {0, 41, 1, "max_bytes"}, {0, 0, 0.5, "max_share"},
                 {0, 0, 0.6, ""}};
    struct table_fixture *f = *state;

    put_file(f, "data/a.parquet");
    put_file(f, "data/b.parquet");
    put_file(f, "data/c.parquet");
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct scan *s = scan_new();

        s->options.max_files = CASES[i].max_files;
        s->options.max_bytes = CASES[i].max_bytes;
        s->options.max_share = CASES[i].max_share;
        assert_ok(f, scan_run(f, s, NULL));
        assert_string_equal(s->result.summary.status, CASES[i].held_by[0] ? "held" : "ready");
        if (CASES[i].held_by[0])
            assert_string_equal(s->result.summary.held_by.items[0], CASES[i].held_by);
        scan_free(s);
    }
}

static void test_output(void **state)
{
    struct table_fixture *f = *state;
    struct scan *s = scan_new();
    char output[256], command[300];

    put_file(f, "data/a.parquet");
    snprintf(output, sizeof output, "%s/out.plan", f->top);
    s->options.output = output;
    assert_candidates(f, s, "data/a.parquet");
    assert_candidates(f, s, "data/a.parquet"); /* a plan may be made anew */
    write_path(output, "");
    assert_candidates(f, s, "data/a.parquet");
    write_path(output, "{\"ebb_run\":1}");
    assert_error(f, scan_run(f, s, NULL), EEXIST);
    snprintf(output, sizeof output, "%s/data", f->location);
    assert_error(f, scan_run(f, s, NULL), EEXIST);
    snprintf(output, sizeof output, "%s/nowhere/out.plan", f->top);
    assert_error(f, scan_run(f, s, NULL), ENOENT);
    snprintf(command, sizeof command, "test $(ls -A %s | grep -c tmp) = 0", f->top);
    assert_int_equal(system(command), 0);
    scan_free(s);
}

/* A store that fails: no plan without its record. */
static void test_no_record(void **state)
{
    struct table_fixture *f = *state;
    struct scan *s = scan_new();
    char database[512], path[512];
    struct rlimit kept, none = {0, 0};

    put_file(f, "data/a.parquet");
    snprintf(database, sizeof database, "%s/out", f->top);
    assert_int_equal(mkdir(database, 0700), 0);
    snprintf(path, sizeof path, "%s/out/p.plan", f->top);
    s->options.output = path;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &kept), 0);
    none.rlim_max = kept.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    assert_int_not_equal(scan_run(f, s, NULL), 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &kept), 0);
    snprintf(path, sizeof path, "test -z \"$(ls -A %s)\"", database);
    assert_int_equal(system(path), 0);
    scan_free(s);
}

static void test_cancelled(void **state)
{
    struct table_fixture *f = *state;
    struct scan *s = scan_new();
    atomic_bool cancelled = true;

    put_file(f, "data/a.parquet");
    f->site.cancelled = &cancelled;
    assert_error(f, scan_run(f, s, NULL), ECANCELLED);
    assert_nothing_left(f);
    scan_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_what_goes, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_edge_of_the_cutoff, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_odd_times, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_skew, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_location, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_exclude, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_commit_between_load_and_listing, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_neighbour_between_load_and_refresh, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_another_table_takes_the_name, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_foreign_metadata, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_foreign_metadata_with_a_late_uuid, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_a_saved_metadata_file, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_an_unreadable_folder, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_fuses, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_output, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_no_record, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_cancelled, table_setup, table_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
