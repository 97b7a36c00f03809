/* SPDX-License-Identifier: Apache-2.0
 *
 * What ebb makes of a Gravitino server's job templates and runs: which template is its own, which run came after which,
 * and when a start may have arrived though nobody said so.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../io/scripted_server.h"
#include "service/metalake.h"

#define NAME "ebb-x"

/* ---- templates ---- */

static struct ebb_value *made(void)
{
    const struct ebb_metalake_program program = {"/usr/bin/ebb", "/etc/ebb.lua", "/var/lib/ebb"};
    struct ebb_value *t = NULL;

    assert_int_equal(ebb_metalake_template(NAME, &program, &t, NULL), 0);
    return t;
}

/* The template with one place of its JSON written otherwise. */
static bool is_ours_with(const char *part, const char *other)
{
    struct ebb_value *t = made();
    struct ebb_buf json, text;
    const char *at;
    bool is_ours;

    ebb_buf_init(&json, 65536);
    ebb_buf_init(&text, 65536);
    assert_int_equal(ebb_value_to_json(t, &json, NULL), 0);
    ebb_value_free(t);
    at = strstr(ebb_buf_cstr(&json), part);
    assert_non_null(at);
    ebb_buf_append(&text, json.data, (size_t)(at - json.data));
    ebb_buf_puts(&text, other);
    ebb_buf_puts(&text, at + strlen(part));
    assert_int_equal(ebb_value_of_json("template", text.data, text.len, NULL, &t, NULL), 0);
    is_ours = ebb_metalake_is_ours(t);
    ebb_value_free(t);
    ebb_buf_fini(&text);
    ebb_buf_fini(&json);
    return is_ours;
}

static void test_our_template_is_known(void **state)
{
    (void)state;
    assert_true(is_ours_with("/usr/bin/ebb", "/opt/ebb"));
    assert_true(is_ours_with("\"--config\",\"/etc/ebb.lua\",\"--state\",\"/var/lib/ebb\",", ""));
    assert_true(is_ours_with("/etc/ebb.lua", "job"));
    assert_false(ebb_metalake_is_ours(NULL));
}

static void test_any_other_is_not(void **state)
{
    static const char *const OTHERS[][2] = {
        {"\"shell\"", "\"spark\""},
        {"\"scripts\":[]", "\"scripts\":[\"x\"]"},
        {"\"job\",", ""},
        {"\"job\",", "\"sql\","},
        {"\"job\",", "\"job\",\"job\","},
        {"\"remove-orphan-files\",", "\"remove-orphan-files\",\"--dry-run=false\","},
        {"\"--config\",\"/etc/ebb.lua\"", "\"--map\",\"a=b\""},
        {"\"--config\",\"/etc/ebb.lua\"", "\"--config\""},
        {"\"--dry-run={{dry_run}}\"", "\"--dry-run=false\""},
        {"\"--dry-run={{dry_run}}\"", "\"--dry-run={{dry_run}}\",\"-x\""},
        {",\"--dry-run={{dry_run}}\"", ""},
        {"\"--older-than={{older_than}}\"", "\"--older-than\",\"{{older_than}}\""},
        {"\"--older-than={{older_than}}\"", "\"--older-than={{location}}\""},
        {"\"--location={{location}}\"", "7"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof OTHERS / sizeof OTHERS[0]; i++)
        assert_false(is_ours_with(OTHERS[i][0], OTHERS[i][1]));
}

/* ---- runs ---- */

struct fixture {
    struct scripted_server server;
    struct step script[4];
    const struct step *scripts[1];
    char answer[8192];
    struct ebb_gravitino *g;
};

static void begin(struct fixture *f, const char *status, const char *body)
{
    const struct ebb_catalog_site site = {.clock = ebb_clock_system()};
    char uri[64];
    struct ebb_catalog_config config = {
        .name = "grav", .type = "gravitino", .uri = uri, .metalake = "ml", .user = "anna"};

    memset(f, 0, sizeof *f);
    snprintf(f->answer, sizeof f->answer, "HTTP/1.1 %s\r\nContent-Length: %zu\r\n\r\n%s", status, strlen(body), body);
    f->script[0] = (struct step){.kind = STEP_READ};
    f->script[1] = (struct step){.kind = status[0] ? STEP_SEND : STEP_RESET, .text = f->answer};
    f->script[2] = (struct step){.kind = STEP_AGAIN};
    f->scripts[0] = f->script;
    server_start(&f->server, f->scripts, 1);
    snprintf(uri, sizeof uri, "http://127.0.0.1:%d", f->server.port);
    assert_int_equal(ebb_gravitino_new(&config, &site, &f->g, NULL), 0);
}

static void end(struct fixture *f)
{
    ebb_gravitino_free(f->g);
    server_stop(&f->server);
}

#define RUN(id, name, by, at)                                                                                          \
    "{\"jobId\":\"" id "\",\"jobTemplateName\":\"" name "\",\"status\":\"queued\",\"audit\":{\"creator\":\"" by        \
    "\",\"createTime\":\"" at "\"}}"

static int find(const char *runs, const char *creator, const char *since, struct ebb_metalake_run *run, size_t *count,
                char newest[EBB_METALAKE_TIME])
{
    struct fixture f;
    char body[4096];
    int rc;

    snprintf(body, sizeof body, "{\"code\":0,\"jobs\":[%s]}", runs);
    begin(&f, "200 OK", body);
    memset(run, 0, sizeof *run);
    rc = ebb_metalake_find_runs(f.g, NAME, creator, since, run, count, newest, NULL);
    end(&f);
    return rc;
}

static void test_the_runs_after_an_instant(void **state)
{
    static const char RUNS[] =
        RUN("a", NAME, "anna", "2026-11-30T18:51:58Z") "," RUN("b", NAME, "anna", "2026-11-30T18:51:58.9Z") "," RUN(
            "c", NAME, "anna",
            "2026-11-30T18:51:58.95Z") "," RUN("d", NAME, "bert",
                                               "2026-11-30T18:51:59Z") "," RUN("e", "other", "anna",
                                                                               "2027-01-01T00:00:00Z");
    char newest[EBB_METALAKE_TIME];
    struct ebb_metalake_run run;
    size_t count;

    (void)state;
    assert_int_equal(find(RUNS, "anna", "", &run, &count, newest), 0);
    assert_int_equal(count, 3);
    assert_string_equal(run.id, "c");
    assert_string_equal(newest, "2026-11-30T18:51:59Z");
    assert_int_equal(find(RUNS, "anna", "2026-11-30T18:51:58.900000000Z", &run, &count, newest), 0);
    assert_int_equal(count, 1);
    assert_string_equal(run.id, "c");
    assert_int_equal(find(RUNS, "anna", "2026-11-30T18:51:58.95Z", &run, &count, newest), 0);
    assert_int_equal(count, 0);
    assert_int_equal(find(RUNS, NULL, "2026-11-30T18:51:58.949999999Z", &run, &count, newest), 0);
    assert_int_equal(count, 2);
    assert_string_equal(run.id, "d");
    assert_int_equal(find("", NULL, "", &run, &count, newest), 0);
    assert_string_equal(newest, "");
}

static void test_what_is_no_instant(void **state)
{
    static const char *const RUNS[] = {
        RUN("a", NAME, "anna", ""),
        RUN("a", NAME, "anna", "2026-11-30T18:51:58"),
        RUN("a", NAME, "anna", "2026-11-30T18:51:58+01:00"),
        RUN("a", NAME, "anna", "2026-11-30 18:51:58 Z"),
        RUN("a", NAME, "anna", "2026-11-30T18:51:58.1234567890123456789012345678Z"),
        RUN("a", NAME, "anna", "yesterday, in ParisZ"),
        RUN("a", NAME, "anna", "2026-11-30T18:51:5Z"),
        "{\"jobId\":\"a\",\"jobTemplateName\":\"" NAME "\",\"status\":\"queued\"}",
        RUN("", NAME, "anna", "2026-11-30T18:51:58Z"),
    };
    char newest[EBB_METALAKE_TIME];
    struct ebb_metalake_run run;
    size_t count;

    (void)state;
    for (size_t i = 0; i < sizeof RUNS / sizeof RUNS[0]; i++)
        assert_int_equal(find(RUNS[i], NULL, "", &run, &count, newest), -EBB_ECATALOG);
}

static bool is_lost(const char *status, const char *body, int *rc)
{
    struct ebb_value *values = ebb_value_new_map(NULL);
    struct ebb_metalake_run run;
    struct fixture f;
    bool lost;

    ebb_value_put_str(values, "a", "$1\\");
    begin(&f, status, body);
    *rc = ebb_metalake_run(f.g, NAME, values, &run, &lost, NULL);
    assert_true(server_saw(&f.server, "\"jobConf\":{\"a\":\"\\\\$1\\\\\\\\\"}"));
    assert_int_equal(f.server.requests, 1); /* never sent again */
    end(&f);
    ebb_value_free(values);
    return lost;
}

static void test_when_a_start_may_have_arrived(void **state)
{
    int rc;

    (void)state;
    assert_false(is_lost("200 OK", "{\"code\":0,\"job\":" RUN("a", NAME, "anna", "2026-11-30T18:51:58Z") "}", &rc) ||
                 rc);
    assert_true(is_lost("", "", &rc) && rc);
    assert_true(is_lost("200 OK", "{\"code\":0}", &rc) && rc == -EBB_ECATALOG);
    assert_true(is_lost("200 OK", "<html>", &rc) && rc == -EBB_ECATALOG);
    assert_true(is_lost("502 Bad Gateway", "<html>", &rc) && rc);
    assert_false(is_lost("404 Not Found", "{\"code\":1003,\"type\":\"NoSuchJobTemplateException\"}", &rc));
    assert_int_equal(rc, -EBB_ENOT_FOUND);
    assert_false(is_lost("500 Server Error", "{\"code\":1002,\"type\":\"RuntimeException\"}", &rc));
    assert_int_equal(rc, -EBB_ECATALOG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_our_template_is_known),         cmocka_unit_test(test_any_other_is_not),
        cmocka_unit_test(test_the_runs_after_an_instant),     cmocka_unit_test(test_what_is_no_instant),
        cmocka_unit_test(test_when_a_start_may_have_arrived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
