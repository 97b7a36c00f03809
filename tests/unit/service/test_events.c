/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "service/events.h"

#define NOW ((int64_t)1790000000000) /* 2026-09-21T14:13:20Z */

struct headers {
    const char *const *pairs; /* name, value, …, NULL */
};

static const char *header_of(void *data, const char *name)
{
    const struct headers *h = data;

    for (size_t i = 0; h->pairs && h->pairs[i]; i += 2)
        if (!strcmp(h->pairs[i], name))
            return h->pairs[i + 1];
    return NULL;
}

static int parse(const char *type, const char *const *pairs, const char *body, struct ebb_event_list *list,
                 struct ebb_err *err)
{
    struct headers h = {pairs};

    return ebb_events_parse(type, header_of, &h, ebb_str_of(body), NOW, list, err);
}

/* "source|id|type|table|at - now|json;" of each. */
static void expect_events(const char *type, const char *const *pairs, const char *body, const char *right)
{
    struct ebb_event_list list;
    struct ebb_err err = {0};
    struct ebb_buf text;

    ebb_buf_init(&text, 65536);
    assert_int_equal(parse(type, pairs, body, &list, &err), 0);
    for (size_t i = 0; i < list.count; i++) {
        const struct ebb_event *e = &list.items[i];

        assert_int_equal(e->received_ms, NOW);
        ebb_buf_printf(&text, "%s|%s|%s|%s|%lld|%s;", e->source, e->id, e->type, e->table, (long long)(e->at_ms - NOW),
                       e->json);
    }
    assert_string_equal(ebb_buf_cstr(&text), right);
    ebb_buf_fini(&text);
    ebb_event_list_fini(&list);
    ebb_event_list_fini(&list);
}

static void expect_refused(const char *type, const char *const *pairs, const char *body, const char *part)
{
    struct ebb_event_list list;
    struct ebb_err err = {0};
    int rc = parse(type, pairs, body, &list, &err);

    if (rc != -EBB_EUSAGE || !strstr(err.message, part))
        print_error("%s: rc %d, \"%s\", not \"%s\"\n", body, rc, err.message, part);
    assert_int_equal(rc, -EBB_EUSAGE);
    assert_non_null(strstr(err.message, part));
    assert_int_equal(list.count, 0);
}

#define JSON "application/json"
#define CLOUD "application/cloudevents+json"
#define BATCH "application/cloudevents-batch+json"

static void test_own_events(void **state)
{
    (void)state;
    expect_events(JSON, NULL,
                  "{\"source\":\"spark\",\"id\":\"1\",\"type\":\"commit.failed\",\"table\":\"lake.db.t\","
                  "\"at\":\"2026-09-21T14:13:19Z\",\"files_written\":212,\"deep\":{\"a\":[1,null]}}",
                  "spark|1|commit.failed|lake.db.t|-1000|{\"files_written\":212,\"deep\":{\"a\":[1,null]}};");
    expect_events("application/json; charset=utf-8", NULL,
                  "[{\"source\":\"s\",\"id\":\"1\",\"type\":\"x\",\"at\":1790000000005},"
                  "{\"source\":\"s\",\"id\":\"2\",\"type\":\"y\",\"table\":\"\"}]",
                  "s|1|x||5|{};s|2|y||0|{};");
    expect_events(JSON, NULL, "[]", "");
}

static void test_an_event_without_an_id_is_known_by_its_text(void **state)
{
    struct ebb_event_list a, b, c;
    struct ebb_err err;

    (void)state;
    assert_int_equal(parse(JSON, NULL, "{\"source\":\"s\",\"type\":\"x\",\"n\":1}", &a, &err), 0);
    assert_int_equal(parse(JSON, NULL, "[{\"source\":\"s\",\"type\":\"x\",\"n\":1}]", &b, &err), 0);
    assert_int_equal(parse(JSON, NULL, "{\"source\":\"s\",\"type\":\"x\",\"n\":2}", &c, &err), 0);
    assert_int_equal(strlen(a.items[0].id), 34);
    assert_string_equal(a.items[0].id, b.items[0].id);
    assert_string_not_equal(a.items[0].id, c.items[0].id);
    ebb_event_list_fini(&a);
    ebb_event_list_fini(&b);
    ebb_event_list_fini(&c);
}

static void test_bad_events_name_the_member(void **state)
{
    static const struct {
        const char *body, *part;
    } CASES[] = {
        {"", "body"},
        {"7", "an event or an array of events"},
        {"{", "body"},
        {"[{\"source\":\"s\",\"type\":\"x\"},7]", "events[1]: is no object"},
        {"{\"type\":\"x\"}", "event.source: is missing"},
        {"{\"source\":\"\",\"type\":\"x\"}", "event.source: is empty"},
        {"{\"source\":7,\"type\":\"x\"}", "source"},
        {"{\"source\":\"s\"}", "event.type: is missing"},
        {"[{\"source\":\"s\",\"type\":\"x\"},{\"source\":\"s\",\"type\":\"No Type\"}]",
         "events[1].type: is no event type"},
        {"{\"source\":\"s\",\"type\":\"Commit\"}", "event.type"},
        {"{\"source\":\"s\",\"type\":\"x\",\"id\":\"\"}", "event.id: is empty"},
        {"{\"source\":\"s\\u0001\",\"type\":\"x\"}", "event.source: has a control character"},
        {"{\"source\":\"s\\u0000\",\"type\":\"x\"}", "source"},
        {"{\"source\":\"s\",\"type\":\"x\",\"table\":\"t\"}", "event.table"},
        {"{\"source\":\"s\",\"type\":\"x\",\"table\":\"a..b\"}", "event.table"},
        {"{\"source\":\"s\",\"type\":\"x\",\"table\":\".a.b\"}", "event.table"},
        {"{\"source\":\"s\",\"type\":\"x\",\"table\":[\"a\",\"b\"]}", "table"},
        {"{\"source\":\"s\",\"type\":\"x\",\"at\":\"yesterday\"}", "event.at"},
        {"{\"source\":\"s\",\"type\":\"x\",\"at\":\"2026-09-21T14:13:20\"}", "event.at"}, /* no zone */
        {"{\"source\":\"s\",\"type\":\"x\",\"at\":\"2026-09-22T14:13:21Z\"}", "event.at: lies more than a day ahead"},
        {"{\"source\":\"s\",\"type\":\"x\",\"at\":-1}", "event.at: lies before 1970"},
        {"{\"source\":\"s\",\"type\":\"x\",\"at\":1.5}", "at"},
        {"{\"source\":\"s\",\"type\":\"x\",\"seq\":1}", "seq: is not given by the sender"},
        {"{\"source\":\"s\",\"type\":\"x\",\"received\":1}", "received: is not given by the sender"},
        {"{\"source\":\"s\",\"type\":\"x\",\"a\":1,\"a\":2}", "repeated"},
        {"{\"source\":\"s\",\"source\":\"s\",\"type\":\"x\"}", "repeated"},
        {"{\"source\":\"s\",\"type\":\"x\",\"a\":{\"b\":1,\"b\":2}}", "repeated"},
        {"{\"source\":\"s\",\"type\":\"x\",\"\":1}", "name"},
        {"{\"source\":\"s\",\"type\":\"x\",\"a\":[[[[[[[[[[1]]]]]]]]]]}", "event"}, /* too deep */
        {"{\"source\":\"s\",\"type\":\"x\"} x", "body"},
        {"{\"source\":\"\xff\",\"type\":\"x\"}", "body"},
        {"\xef\xbb\xbf{\"source\":\"s\",\"type\":\"x\"}", "body"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++)
        expect_refused(JSON, NULL, CASES[i].body, CASES[i].part);
    expect_refused("text/plain", NULL, "{}", "content type");
    expect_refused("application/jsonx", NULL, "{}", "content type");
    expect_refused(NULL, NULL, "{}", "content type");
}

static void repeat(struct ebb_buf *out, const char *text, int count)
{
    for (int i = 0; i < count; i++) {
        if (i)
            ebb_buf_putc(out, ',');
        ebb_buf_puts(out, text);
    }
}

static void test_bounds(void **state)
{
    struct ebb_event_list list;
    struct ebb_err err;
    struct ebb_buf body;

    (void)state;
    ebb_buf_init(&body, 64 << 20);
    ebb_buf_putc(&body, '[');
    repeat(&body, "{\"source\":\"s\",\"type\":\"x\"}", 10000);
    ebb_buf_putc(&body, ']');
    assert_int_equal(parse(JSON, NULL, ebb_buf_cstr(&body), &list, &err), 0);
    assert_int_equal(list.count, 10000);
    ebb_event_list_fini(&list);
    ebb_buf_reset(&body);
    ebb_buf_putc(&body, '[');
    repeat(&body, "{\"source\":\"s\",\"type\":\"x\"}", 10001);
    ebb_buf_putc(&body, ']');
    expect_refused(JSON, NULL, ebb_buf_cstr(&body), "more than 10000");
    ebb_buf_reset(&body);
    ebb_buf_puts(&body, "{\"source\":\"s\",\"type\":\"x\",\"a\":[");
    repeat(&body, "0", 600);
    ebb_buf_puts(&body, "]}");
    expect_refused(JSON, NULL, ebb_buf_cstr(&body), "event");
    ebb_buf_reset(&body);
    ebb_buf_puts(&body, "{\"source\":\"s\",\"type\":\"x\",\"a\":[");
    repeat(&body,
           "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
           "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"",
           400);
    ebb_buf_puts(&body, "]}");
    expect_refused(JSON, NULL, ebb_buf_cstr(&body), "longer than 64 KiB");
    ebb_buf_fini(&body);
}

static void test_cloud_events(void **state)
{
    (void)state;
    expect_events(
        CLOUD, NULL,
        "{\"specversion\":\"1.0\",\"id\":\"7\",\"source\":\"/spark\",\"type\":\"commit.failed\","
        "\"time\":\"2026-09-21T14:13:19Z\",\"subject\":\"lake.db.t\",\"datacontenttype\":\"application/json\","
        "\"data\":{\"files_written\":3,\"id\":\"theirs\",\"at\":1}}",
        "/spark|7|commit.failed|lake.db.t|-1000|{\"files_written\":3,\"attributes\":{\"datacontenttype\":"
        "\"application/json\",\"subject\":\"lake.db.t\"}};");
    expect_events(
        BATCH, NULL,
        "[{\"specversion\":\"1.0\",\"id\":\"1\",\"source\":\"s\",\"type\":\"x\",\"table\":\"a.b\",\"data\":7},"
        "{\"specversion\":\"1.0\",\"id\":\"2\",\"source\":\"s\",\"type\":\"x\",\"table\":\"a.b\","
        "\"data\":{\"table\":\"c.d\",\"attributes\":1},\"n\":5}]",
        "s|1|x|a.b|0|{\"data\":7};s|2|x|c.d|0|{\"attributes\":1};");
    expect_events(CLOUD, NULL,
                  "{\"specversion\":\"1.0\",\"id\":\"1\",\"source\":\"s\",\"type\":\"x\",\"subject\":\"no table\","
                  "\"data_base64\":\"AAA=\"}",
                  "s|1|x||0|{\"data_base64\":\"AAA=\",\"attributes\":{\"subject\":\"no table\"}};");
    expect_refused(CLOUD, NULL, "[]", "an event is wanted");
    expect_refused(BATCH, NULL, "{}", "an array of events is wanted");
    expect_refused(CLOUD, NULL, "{\"id\":\"1\",\"source\":\"s\",\"type\":\"x\"}", "event.specversion");
    expect_refused(CLOUD, NULL, "{\"specversion\":\"0.3\",\"id\":\"1\",\"source\":\"s\",\"type\":\"x\"}",
                   "specversion");
    expect_refused(CLOUD, NULL, "{\"specversion\":\"1.0\",\"source\":\"s\",\"type\":\"x\"}", "event.id: is missing");
    expect_refused(CLOUD, NULL, "{\"specversion\":\"1.0\",\"id\":\"1\",\"source\":\"s\",\"type\":\"x\",\"Bad_Name\":1}",
                   "attributes");
    expect_refused(CLOUD, NULL, "{\"specversion\":\"1.0\",\"id\":\"1\",\"source\":\"s\",\"type\":\"x\",\"n\":{}}",
                   "n:");
    expect_refused(BATCH, NULL,
                   "[{\"specversion\":\"1.0\",\"id\":\"1\",\"source\":\"s\",\"type\":\"x\"},"
                   "{\"specversion\":\"1.0\",\"id\":\"1\",\"source\":\"s\",\"type\":\"x\",\"time\":\"now\"}]",
                   "events[1].time");
}

static void test_cloud_events_in_headers(void **state)
{
    static const char *const RIGHT[] = {"ce-specversion",
                                        "1.0",
                                        "ce-id",
                                        "a%20b",
                                        "ce-source",
                                        "s%C3%A9",
                                        "ce-type",
                                        "x.y",
                                        "ce-subject",
                                        "lake.db.t",
                                        "ce-time",
                                        "2026-09-21T14:13:19Z",
                                        NULL};
    static const char *const BAD_CODE[] = {"ce-specversion", "1.0", "ce-id", "a%2", "ce-source", "s",
                                           "ce-type",        "x",   NULL};
    static const char *const BAD_UTF8[] = {"ce-specversion", "1.0", "ce-id", "%ff", "ce-source", "s",
                                           "ce-type",        "x",   NULL};
    static const char *const NUL[] = {"ce-specversion", "1.0", "ce-id", "%00", "ce-source", "s", "ce-type", "x", NULL};
    static const char *const PLAIN[] = {"ce-specversion", "1.0", "ce-id", "1", "ce-source", "s", "ce-type", "x", NULL};

    (void)state;
    expect_events(JSON, RIGHT, "{\"n\":1}",
                  "s\xc3\xa9|a b|x.y|lake.db.t|-1000|{\"n\":1,\"attributes\":{\"subject\":\"lake.db.t\"}};");
    expect_events("", PLAIN, "", "s|1|x||0|{};");
    expect_events("text/plain", PLAIN, "some \"text\"", "s|1|x||0|{\"data\":\"some \\\"text\\\"\"};");
    expect_refused("text/plain", PLAIN, "\xff", "neither JSON nor UTF-8");
    expect_refused(JSON, PLAIN, "{\"a\":", "body");
    expect_refused(JSON, BAD_CODE, "", "ce-id");
    expect_refused(JSON, BAD_UTF8, "", "ce-id");
    expect_refused(JSON, NUL, "", "ce-id");
}

/* As a writer with the REST catalog sends it. */
static const char COMMIT[] =
    "{\"report-type\":\"commit-report\",\"table-name\":\"prod.db.t\",\"snapshot-id\":4321,\"sequence-number\":7,"
    "\"operation\":\"append\",\"metrics\":{\"total-duration\":{\"count\":1,\"time-unit\":\"nanoseconds\","
    "\"total-duration\":123456},\"attempts\":{\"unit\":\"count\",\"value\":2},\"added-data-files\":{\"unit\":\"count\","
    "\"value\":5}},\"metadata\":{\"engine-name\":\"spark\"}}";

static void test_reports(void **state)
{
    static const char SCAN[] =
        "{\"report-type\":\"scan-report\",\"table-name\":\"t\",\"snapshot-id\":4321,\"filter\":{\"type\":\"eq\","
        "\"term\":"
        "\"secret\",\"value\":1},\"schema-id\":0,\"projected-field-ids\":[1],\"projected-field-names\":[\"a\"],"
        "\"metrics\":{\"result-data-files\":{\"unit\":\"count\",\"value\":3}},\"metadata\":{}}";
    struct ebb_event_list list, again, other;
    struct ebb_err err;

    (void)state;
    assert_int_equal(ebb_events_of_report("lake.db.t", ebb_str_of(COMMIT), NOW, &list, &err), 0);
    assert_int_equal(list.count, 1);
    assert_string_equal(list.items[0].type, "commit.reported");
    assert_string_equal(list.items[0].table, "lake.db.t");
    assert_string_equal(
        list.items[0].json,
        "{\"snapshot_id\":4321,\"sequence\":7,\"operation\":\"append\",\"metrics\":{\"total_duration\":123456,"
        "\"attempts\":2,\"added_data_files\":5}}");
    assert_int_equal(ebb_events_of_report("lake.db.t", ebb_str_of(COMMIT), NOW + 5, &again, &err), 0);
    assert_string_equal(list.items[0].id, again.items[0].id);
    assert_int_equal(ebb_events_of_report("lake.db.u", ebb_str_of(COMMIT), NOW, &other, &err), 0);
    assert_string_not_equal(list.items[0].id, other.items[0].id);
    ebb_event_list_fini(&list);
    ebb_event_list_fini(&again);
    ebb_event_list_fini(&other);
    assert_int_equal(ebb_events_of_report("lake.db.t", ebb_str_of(SCAN), NOW, &list, &err), 0);
    assert_string_equal(list.items[0].type, "scan.reported");
    assert_string_equal(list.items[0].json, "{\"snapshot_id\":4321,\"metrics\":{\"result_data_files\":3}}");
    ebb_event_list_fini(&list);
}

static void test_bad_reports(void **state)
{
    static const struct {
        const char *body, *part;
    } CASES[] = {
        {"[]", "report"},
        {"{}", "report.report-type: is missing"},
        {"{\"report-type\":\"x\",\"table-name\":\"t\",\"snapshot-id\":1,\"metrics\":{}}", "report.report-type"},
        {"{\"report-type\":\"scan-report\",\"snapshot-id\":1,\"metrics\":{}}", "report.table-name"},
        {"{\"report-type\":\"scan-report\",\"table-name\":\"t\",\"metrics\":{}}", "report.snapshot-id"},
        {"{\"report-type\":\"scan-report\",\"table-name\":\"t\",\"snapshot-id\":1}", "report.metrics"},
        {"{\"report-type\":\"commit-report\",\"table-name\":\"t\",\"snapshot-id\":1,\"metrics\":{}}",
         "sequence-number"},
        {"{\"report-type\":\"scan-report\",\"table-name\":\"t\",\"snapshot-id\":1,\"metrics\":{\"a\":{}}}",
         "metrics.a"},
        {"{\"report-type\":\"scan-report\",\"table-name\":\"t\",\"snapshot-id\":\"1\",\"metrics\":{}}", "snapshot-id"},
        {"{\"report-type\":\"scan-report\",\"table-name\":\"t\",\"snapshot-id\":1,\"metrics\":{\"a\":7}}", "a"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct ebb_event_list list;
        struct ebb_err err = {0};

        assert_int_equal(ebb_events_of_report("lake.db.t", ebb_str_of(CASES[i].body), NOW, &list, &err), -EBB_EUSAGE);
        if (!strstr(err.message, CASES[i].part))
            print_error("%s: \"%s\"\n", CASES[i].body, err.message);
        assert_non_null(strstr(err.message, CASES[i].part));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_events),
        cmocka_unit_test(test_an_event_without_an_id_is_known_by_its_text),
        cmocka_unit_test(test_bad_events_name_the_member),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_cloud_events),
        cmocka_unit_test(test_cloud_events_in_headers),
        cmocka_unit_test(test_reports),
        cmocka_unit_test(test_bad_reports),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
