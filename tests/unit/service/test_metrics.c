/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "service/metrics.h"

struct fixture {
    struct ebb_metrics *metrics;
    struct ebb_buf text;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    assert_int_equal(ebb_metrics_new(&f->metrics, NULL), 0);
    ebb_buf_init(&f->text, 1 << 20);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    ebb_metrics_free(f->metrics);
    ebb_buf_fini(&f->text);
    free(f);
    return 0;
}

static const char *text(struct fixture *f)
{
    ebb_buf_reset(&f->text);
    assert_int_equal(ebb_metrics_write(f->metrics, &f->text, NULL), 0);
    return ebb_buf_cstr(&f->text);
}

/* A whole line of the text. */
static void expect(struct fixture *f, const char *line)
{
    char with_ends[300];

    snprintf(with_ends, sizeof with_ends, "\n%s\n", line);
    if (!strstr(text(f), with_ends))
        fail_msg("no line %s in\n%s", line, text(f));
}

static double number(struct fixture *f, const char *name)
{
    char start[100];
    const char *at;

    snprintf(start, sizeof start, "\n%s ", name);
    at = strstr(text(f), start);
    if (!at)
        fail_msg("no %s", name);
    return strtod(at + strlen(start), NULL);
}

static void test_zero(void **state)
{
    struct fixture *f = *state;

    expect(f, "# HELP ebb_files_moved_total Files moved to quarantine\n# TYPE ebb_files_moved_total counter\n"
              "ebb_files_moved_total 0");
    expect(f, "# TYPE ebb_decisions_total counter\n# HELP ebb_decisions_unchanged_total Evaluations skipped, since "
              "nothing read had changed");
    expect(f, "ebb_job_duration_seconds_bucket{le=\"+Inf\"} 0\nebb_job_duration_seconds_sum 0\n"
              "ebb_job_duration_seconds_count 0");
    expect(f, "ebb_build_info{version=\"" EBB_VERSION "\"} 1");
}

static void test_counters_and_gauges(void **state)
{
    struct fixture *f = *state;

    ebb_metrics_add(f->metrics, EBB_METRIC_FILES_MOVED, NULL, 3);
    ebb_metrics_add(f->metrics, EBB_METRIC_FILES_MOVED, NULL, 4000000000);
    ebb_metrics_add(f->metrics, EBB_METRIC_FILES_MOVED, NULL, -1); /* counters never fall */
    expect(f, "ebb_files_moved_total 4000000003");
    ebb_metrics_add(f->metrics, EBB_METRIC_DECISIONS, "run", 1);
    ebb_metrics_add(f->metrics, EBB_METRIC_DECISIONS, "skip", 2);
    ebb_metrics_add(f->metrics, EBB_METRIC_DECISIONS, "run", 1);
    expect(f, "ebb_decisions_total{verdict=\"run\"} 2\nebb_decisions_total{verdict=\"skip\"} 2");
    ebb_metrics_set(f->metrics, EBB_METRIC_JOBS, "queued", 7);
    ebb_metrics_add(f->metrics, EBB_METRIC_JOBS, "queued", -2);
    expect(f, "ebb_jobs{state=\"queued\"} 5");
    ebb_metrics_set(f->metrics, EBB_METRIC_LOOP_LAG, NULL, 0.25);
    expect(f, "ebb_loop_lag_seconds 0.25");
    ebb_metrics_set(f->metrics, EBB_METRIC_LOOP_LAG, NULL, NAN);
    expect(f, "ebb_loop_lag_seconds NaN");
    ebb_metrics_set(f->metrics, EBB_METRIC_LOOP_LAG, NULL, -INFINITY);
    expect(f, "ebb_loop_lag_seconds -Inf");
    ebb_metrics_set(f->metrics, EBB_METRIC_GENERATION, NULL, 1782000000.123);
    expect(f, "ebb_generation_timestamp_seconds 1782000000.123");
}

static void test_histogram(void **state)
{
    struct fixture *f = *state;
    const double seconds[] = {0.005, 0.0051, 1, 3600, 3601, 1e9, -5, 0};

    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++)
        ebb_metrics_observe(f->metrics, EBB_METRIC_JOB_SECONDS, seconds[i]);
    expect(f, "ebb_job_duration_seconds_bucket{le=\"0.005\"} 3");
    expect(f, "ebb_job_duration_seconds_bucket{le=\"0.01\"} 4");
    expect(f, "ebb_job_duration_seconds_bucket{le=\"0.5\"} 4");
    expect(f, "ebb_job_duration_seconds_bucket{le=\"1\"} 5");
    expect(f, "ebb_job_duration_seconds_bucket{le=\"3600\"} 6");
    expect(f, "ebb_job_duration_seconds_bucket{le=\"+Inf\"} 8");
    expect(f, "ebb_job_duration_seconds_count 8");
    assert_true(fabs(number(f, "ebb_job_duration_seconds_sum") - 1000007202.0101) < 1);
    ebb_metrics_observe(f->metrics, EBB_METRIC_JOB_SECONDS, NAN);
    assert_true(number(f, "ebb_job_duration_seconds_sum") > 1e9);
}

static void test_wrong_kind(void **state)
{
    struct fixture *f = *state;

    ebb_metrics_observe(f->metrics, EBB_METRIC_FILES_MOVED, 1);
    ebb_metrics_add(f->metrics, EBB_METRIC_JOB_SECONDS, NULL, 1);
    ebb_metrics_set(f->metrics, EBB_METRIC_JOB_SECONDS, NULL, 1);
    expect(f, "ebb_files_moved_total 0");
    expect(f, "ebb_job_duration_seconds_count 0");
}

static void test_labels_are_bounded_and_escaped(void **state)
{
    struct fixture *f = *state;
    char label[200];

    ebb_metrics_add(f->metrics, EBB_METRIC_RELOADS, "a\"b\\c\nd", 1);
    expect(f, "ebb_reloads_total{result=\"a\\\"b\\\\c\\nd\"} 1");
    ebb_metrics_add(f->metrics, EBB_METRIC_RELOADS, "\xff", 1);
    expect(f, "ebb_reloads_total{result=\"other\"} 1");
    ebb_metrics_add(f->metrics, EBB_METRIC_RELOADS, NULL, 1);
    expect(f, "ebb_reloads_total{result=\"\"} 1");
    for (int i = 0; i < 46; i++) {
        snprintf(label, sizeof label, "%d", i);
        ebb_metrics_add(f->metrics, EBB_METRIC_HTTP_REQUESTS, label, 1);
    }
    expect(f, "ebb_http_requests_total{code=\"31\"} 1");
    expect(f, "ebb_http_requests_total{code=\"other\"} 14");
    assert_null(strstr(text(f), "code=\"32\""));
    memset(label, 'x', sizeof label - 1);
    label[sizeof label - 1] = '\0';
    ebb_metrics_add(f->metrics, EBB_METRIC_EVENTS, label, 1);
    ebb_metrics_add(f->metrics, EBB_METRIC_EVENTS, label, 1);
    label[64] = '\0';
    ebb_metrics_add(f->metrics, EBB_METRIC_EVENTS, label, 1);
    snprintf(label + 64, sizeof label - 64, "%s", "\"} 3");
    assert_non_null(strstr(text(f), label));
}

static void *add_many(void *data)
{
    struct fixture *f = data;
    char label[20];

    for (int i = 0; i < 20000; i++) {
        ebb_metrics_add(f->metrics, EBB_METRIC_FILES_MOVED, NULL, 1);
        snprintf(label, sizeof label, "%d", i % 40);
        ebb_metrics_add(f->metrics, EBB_METRIC_HTTP_REQUESTS, label, 1);
        ebb_metrics_observe(f->metrics, EBB_METRIC_HTTP_SECONDS, 0.5);
        ebb_metrics_set(f->metrics, EBB_METRIC_TABLES, NULL, i);
    }
    return NULL;
}

static double sum_of(const char *text, const char *start)
{
    double sum = 0;

    for (const char *at = strstr(text, start); at; at = strstr(at + 1, start))
        sum += strtod(strchr(at, '}') + 1, NULL);
    return sum;
}

static void test_threads(void **state)
{
    struct fixture *f = *state;
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add_many, f), 0);
    for (int i = 0; i < 20; i++)
        text(f);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    expect(f, "ebb_files_moved_total 80000");
    expect(f, "ebb_http_request_duration_seconds_sum 40000");
    expect(f, "ebb_http_request_duration_seconds_count 80000");
    assert_true(sum_of(text(f), "\nebb_http_requests_total{") == 80000);
}

static void test_process(void **state)
{
    struct fixture *f = *state;
    double fds = number(f, "process_open_fds");
    int fd = dup(0);

    assert_true(number(f, "process_open_fds") == fds + 1);
    close(fd);
    assert_true(number(f, "process_resident_memory_bytes") > 1 << 20);
    assert_true(number(f, "process_virtual_memory_bytes") > 1 << 20);
    assert_true(fabs(number(f, "process_start_time_seconds") - (double)time(NULL)) < 3600);
    assert_true(number(f, "process_cpu_seconds_total") >= 0);
    assert_true(number(f, "process_max_fds") >= fds);
}

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);

    return n > m && !strcmp(name + n - m, end);
}

/* The rules that promtool checks: counters and only they end in _total, units are base units, names are snake case. */
static void test_names(void **state)
{
#define ROW(symbol, name, type, label, help) {name, #type, label, help},
    static const char *const rows[][4] = {EBB_METRICS(ROW)};
#undef ROW
    static const char *const wrong[] = {"milliseconds", "_ms", "minutes", "kilobytes", "megabytes", "percent"};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *name = rows[i][0];

        assert_int_equal(ends_with(name, "_total"), !strcmp(rows[i][1], "COUNTER"));
        assert_int_equal(strncmp(name, "ebb_", 4), 0);
        for (const char *p = name; *p; p++)
            assert_true(islower(*p) || *p == '_');
        for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++)
            assert_null(strstr(name, wrong[w]));
        if (!strcmp(rows[i][1], "HISTOGRAM"))
            assert_true(ends_with(name, "_seconds") && !rows[i][2][0]);
        assert_true(isupper(rows[i][3][0]) || isdigit(rows[i][3][0]));
        assert_null(strpbrk(rows[i][3], "\\\n"));
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(name, rows[j][0]);
    }
}

static void test_all_are_documented(void **state)
{
#define NAME(symbol, name, type, label, help) name,
    static const char *const names[] = {EBB_METRICS(NAME)};
#undef NAME
    struct fixture *f = *state;
    FILE *file = fopen(EBB_SOURCE_DIR "/docs/operations.md", "re");
    char quoted[100], line[2000];

    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        ebb_buf_puts(&f->text, line);
    fclose(file);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(quoted, sizeof quoted, "\n| `%s` |", names[i]);
        if (!strstr(ebb_buf_cstr(&f->text), quoted))
            fail_msg("docs/operations.md: no row of %s", names[i]);
    }
}

static void test_none(void **state)
{
    struct fixture *f = *state;
    struct ebb_buf tiny;

    ebb_metrics_add(NULL, EBB_METRIC_DECISIONS, "run", 1);
    ebb_metrics_set(NULL, EBB_METRIC_TABLES, NULL, 1);
    ebb_metrics_observe(NULL, EBB_METRIC_JOB_SECONDS, 1);
    ebb_metrics_free(NULL);
    ebb_buf_reset(&f->text);
    assert_int_equal(ebb_metrics_write(NULL, &f->text, NULL), 0);
    assert_non_null(strstr(ebb_buf_cstr(&f->text), "ebb_build_info"));
    ebb_buf_init(&tiny, 100);
    assert_int_equal(ebb_metrics_write(f->metrics, &tiny, NULL), -EBB_ELIMIT);
    ebb_buf_fini(&tiny);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_zero, setup, teardown),
        cmocka_unit_test_setup_teardown(test_counters_and_gauges, setup, teardown),
        cmocka_unit_test_setup_teardown(test_histogram, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wrong_kind, setup, teardown),
        cmocka_unit_test_setup_teardown(test_labels_are_bounded_and_escaped, setup, teardown),
        cmocka_unit_test_setup_teardown(test_threads, setup, teardown),
        cmocka_unit_test_setup_teardown(test_process, setup, teardown),
        cmocka_unit_test_setup_teardown(test_names, setup, teardown),
        cmocka_unit_test_setup_teardown(test_all_are_documented, setup, teardown),
        cmocka_unit_test_setup_teardown(test_none, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
