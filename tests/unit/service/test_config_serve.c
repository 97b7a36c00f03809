/* SPDX-License-Identifier: Apache-2.0
 *
 * serve = { … } of ebb.lua: every key, what is wrong with it, and what is shown of it.
 */
#include "config_help.h"

static void test_serve_defaults(void **state)
{
    struct ebb_config *c;
    struct ebb_err err = {0};

    (void)state;
    for (int k = 0; k < 3; k++) {
        if (k == 0)
            assert_int_equal(ebb_config_empty(&c, &err), 0);
        else
            c = good(k == 1 ? "return {}"
                            : "return { serve = { keep = {}, notify = {}, hosts = {}, executables = {} } }");
        assert_string_equal(c->serve.listen, "127.0.0.1:8490");
        assert_string_equal(c->serve.metalake, "default");
        assert_string_equal(c->serve.auth, "none");
        assert_false(c->serve.insecure || c->serve.purge);
        assert_true(!c->serve.cert && !c->serve.key);
        assert_int_equal(c->serve.hosts.count + c->serve.executables.count + c->serve.notify_count, 0);
        assert_int_equal(c->serve.jobs, 2);
        assert_int_equal(c->serve.poll_ms, 60000);
        assert_int_equal(c->serve.keep_decisions_ms, INT64_C(90) * 86400000);
        assert_int_equal(c->serve.keep_jobs_ms, INT64_C(90) * 86400000);
        assert_int_equal(c->serve.keep_events_ms, INT64_C(30) * 86400000);
        ebb_config_free(c);
    }
}

static void test_serve_everything(void **state)
{
    char path[256];
    struct ebb_config *c;

    (void)state;
    setenv("EBB_TEST_HOOK", "Bearer planted-1", 1);
    c = good(
        "return { serve = { listen = '[::1]:0', metalake = 'prod_1', auth = 'token', insecure = true,\n"
        "  tls = { cert = 'tls/c.pem', key = '/k.pem' }, hosts = { 'ebb.example', '[fd00::1]' },\n"
        "  executables = { '/usr/bin/true', 'bin/x' }, jobs = 64, poll = '1d', purge = true,\n"
        "  keep = { decisions = '1d', events = '2w', jobs = '3650d' },\n"
        "  notify = { { url = 'https://u:p@h.example:1/T0/s?t=1', headers = { Authorization = env 'EBB_TEST_HOOK', "
        "['X-A'] = 'b' },\n"
        "              on = { 'held', 'refused', 'failed', 'purge-due', 'paused' } },\n"
        "             { command = { 'bin/page', '--who', 'me' } } } } }");
    assert_string_equal(c->serve.listen, "[::1]:0");
    assert_string_equal(c->serve.metalake, "prod_1");
    assert_string_equal(c->serve.auth, "token");
    assert_true(c->serve.insecure && c->serve.purge);
    snprintf(path, sizeof path, "%s/tls/c.pem", top);
    assert_string_equal(c->serve.cert, path);
    assert_string_equal(c->serve.key, "/k.pem");
    assert_int_equal(c->serve.hosts.count, 2);
    assert_string_equal(c->serve.hosts.items[1], "[fd00::1]");
    snprintf(path, sizeof path, "%s/bin/x", top);
    assert_string_equal(c->serve.executables.items[0], "/usr/bin/true");
    assert_string_equal(c->serve.executables.items[1], path);
    assert_int_equal(c->serve.jobs, 64);
    assert_int_equal(c->serve.poll_ms, 86400000);
    assert_int_equal(c->serve.keep_decisions_ms, 86400000);
    assert_int_equal(c->serve.keep_events_ms, 14 * 86400000);
    assert_int_equal(c->serve.keep_jobs_ms, INT64_C(3650) * 86400000);
    assert_int_equal(c->serve.notify_count, 2);
    assert_string_equal(c->serve.notify[0].url, "https://u:p@h.example:1/T0/s?t=1");
    assert_int_equal(c->serve.notify[0].headers.count, 2);
    assert_string_equal(c->serve.notify[0].headers.items[0], "Authorization: Bearer planted-1");
    assert_int_equal(c->serve.notify[0].on.count, 5);
    assert_null(c->serve.notify[1].url);
    snprintf(path, sizeof path, "%s/bin/page", top);
    assert_string_equal(c->serve.notify[1].command.items[0], path);
    assert_int_equal(c->serve.notify[1].command.count, 3);
    assert_int_equal(c->serve.notify[1].on.count, 0); /* all */
    ebb_config_free(c);
}

static void test_listen(void **state)
{
    static const char *const GOOD[] = {"127.0.0.1:8490", "0.0.0.0:0", "[::1]:65535", "[::]:1", "[fe80::1]:80"};
    static const char *const WRONG[] = {"",
                                        "8490",
                                        ":8490",
                                        "127.0.0.1",
                                        "127.0.0.1:",
                                        "localhost:8490",
                                        "127.0.0.1:65536",
                                        "127.0.0.1:-1",
                                        "127.0.0.1:0x1",
                                        "127.0.0.1:000080",
                                        "::1:8490",
                                        "[::1]",
                                        "[::1]8490",
                                        "[127.0.0.1]:1",
                                        "[::1%lo]:1",
                                        "127.0.0.1:1 ",
                                        " 127.0.0.1:1",
                                        "127.1:80",
                                        "[]:1",
                                        "[:]:1",
                                        "http://127.0.0.1:80",
                                        "127.0.0.1:80:80"};

    (void)state;
    for (size_t i = 0; i < sizeof GOOD / sizeof *GOOD; i++)
        assert_int_equal(ebb_serve_check_listen(GOOD[i], NULL), 0);
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        struct ebb_err err = {0};

        if (ebb_serve_check_listen(WRONG[i], &err) != -(int)EBB_EUSAGE || !err.hint[0])
            fail_msg("listen: '%s' was taken", WRONG[i]);
    }
}

/* Nothing of what is secret is to be seen, everything else is, with its default. */
static void test_show(void **state)
{
    struct ebb_config *c;
    struct ebb_buf out;
    struct ebb_err err = {0};
    const char *text;

    (void)state;
    setenv("EBB_TEST_HOOK", "planted-hook", 1);
    setenv("EBB_TEST_ARG", "planted-arg", 1);
    c = good("return { catalogs = { f = { type = 'directory', path = '/w' } }, locations = { ['s3://a=b'] = '/mnt' },\n"
             "  bind = { { policy = 'a', params = { token = 'planted-param', days = 7 } } },\n"
             "  tables = { ['f.*'] = { allow_below_floor = true } },\n"
             "  serve = { notify = { { url = 'https://planted-user:x@h.example:1/planted-path?t=planted-query',\n"
             "    headers = { Authorization = 'Bearer ' .. env 'EBB_TEST_HOOK', ['X-A'] = 'planted-literal' } },\n"
             "    { command = { '/bin/page', '--key', env 'EBB_TEST_ARG' } } } } }");
    ebb_buf_init(&out, 65536);
    assert_int_equal(ebb_config_show(c, &out, &err), 0);
    text = ebb_buf_cstr(&out);
    if (strstr(text, "planted"))
        fail_msg("a secret is shown: %s", text);
    for (size_t i = 0; i < 12; i++) {
        static const char *const THERE[] = {"\"path\":\"/w\"",
                                            "\"s3://a=b\":\"/mnt\"",
                                            "\"token\":\"***\"",
                                            "\"days\":7",
                                            "\"mode\":\"observe\"",
                                            "\"f.*\":{\"allow_below_floor\":true}",
                                            "\"url\":\"https://***@h.example:1/***\"",
                                            "\"Authorization\":\"***\"",
                                            "[\"/bin/page\",\"--key\",\"***\"]",
                                            "\"poll\":\"1m\"",
                                            "\"decisions\":\"90d\"",
                                            "\"listen\":\"127.0.0.1:8490\""};

        if (!strstr(text, THERE[i]))
            fail_msg("%s is missing: %s", THERE[i], text);
    }
    ebb_buf_fini(&out);
    ebb_config_free(c);
}

#define SERVE(text) "return { serve = { " text " } }"
#define NOTIFY(text) SERVE("notify = { " text " }")
static const struct bad BAD_SERVE[] = {
    {"return { serve = 'x' }", EBB_ECONFIG, "serve: a table with named keys", ""},
    {"return { serve = { 1 } }", EBB_ECONFIG, "serve: a table with named keys", ""},
    {SERVE("listn = '127.0.0.1:1'"), EBB_ECONFIG_UNKNOWN_KEY, "serve.listn: unknown key", "listen"},
    {SERVE("pol = '1m'"), EBB_ECONFIG_UNKNOWN_KEY, "serve.pol: unknown key", "poll"},
    {SERVE("listen = 8490"), EBB_ECONFIG, "serve.listen: text is wanted", ""},
    {SERVE("listen = 'localhost:8490'"), EBB_ECONFIG, "serve.listen: an address and a port", "127.0.0.1:8490"},
    {SERVE("listen = '127.0.0.1:8490\\0x'"), EBB_ECONFIG, "serve.listen: text is wanted", ""},
    {SERVE("metalake = ''"), EBB_ECONFIG, "serve.metalake: text is wanted", ""},
    {SERVE("metalake = 'a/b'"), EBB_ECONFIG, "serve.metalake: letters", ""},
    {SERVE("metalake = '-a'"), EBB_ECONFIG, "serve.metalake: letters", ""},
    {SERVE("metalake = ('a'):rep(65)"), EBB_ECONFIG, "serve.metalake: letters", ""},
    {SERVE("auth = 'basic'"), EBB_ECONFIG, "serve.auth: none or token", ""},
    {SERVE("auth = false"), EBB_ECONFIG, "serve.auth: text is wanted", ""},
    {SERVE("insecure = 'true'"), EBB_ECONFIG, "serve.insecure: true or false", ""},
    {SERVE("purge = 1"), EBB_ECONFIG, "serve.purge: true or false", ""},
    {SERVE("tls = 'c.pem'"), EBB_ECONFIG, "serve.tls: a table with named keys", ""},
    {SERVE("tls = {}"), EBB_ECONFIG, "serve.tls.cert: is missing", ""},
    {SERVE("tls = { cert = 'c' }"), EBB_ECONFIG, "serve.tls.key: is missing", ""},
    {SERVE("tls = { cert = 'c', key = 'k', ca = 'a' }"), EBB_ECONFIG_UNKNOWN_KEY, "serve.tls.ca: unknown key", ""},
    {SERVE("hosts = 'h'"), EBB_ECONFIG, "serve.hosts: a list of texts", ""},
    {SERVE("hosts = { 'http://h' }"), EBB_ECONFIG, "serve.hosts: names of hosts", ""},
    {SERVE("hosts = { 'a b' }"), EBB_ECONFIG, "serve.hosts: names of hosts", ""},
    {SERVE("hosts = { '*' }"), EBB_ECONFIG, "serve.hosts: names of hosts", ""},
    {SERVE("executables = { 1 }"), EBB_ECONFIG, "serve.executables: a list of texts", ""},
    {SERVE("executables = true"), EBB_ECONFIG, "serve.executables: a list of texts", ""},
    {SERVE("jobs = 0"), EBB_ECONFIG, "serve.jobs: a whole number from 1 to 64", ""},
    {SERVE("jobs = 65"), EBB_ECONFIG, "serve.jobs: a whole number", ""},
    {SERVE("jobs = -1"), EBB_ECONFIG, "serve.jobs: a whole number", ""},
    {SERVE("jobs = 1.5"), EBB_ECONFIG, "serve.jobs: a whole number", ""},
    {SERVE("jobs = '2'"), EBB_ECONFIG, "serve.jobs: a whole number", ""},
    {SERVE("poll = 60"), EBB_ECONFIG, "serve.poll: a duration from \"1s\"", ""},
    {SERVE("poll = '60'"), EBB_ECONFIG, "serve.poll: a duration", ""},
    {SERVE("poll = '0s'"), EBB_ECONFIG, "serve.poll: a duration", ""},
    {SERVE("poll = '999ms'"), EBB_ECONFIG, "serve.poll: a duration", ""},
    {SERVE("poll = '-1m'"), EBB_ECONFIG, "serve.poll: a duration", ""},
    {SERVE("poll = '25h'"), EBB_ECONFIG, "serve.poll: a duration", ""},
    {SERVE("poll = '99999999999999999999d'"), EBB_ECONFIG, "serve.poll: a duration", ""},
    {SERVE("keep = '90d'"), EBB_ECONFIG, "serve.keep: a table with named keys", ""},
    {SERVE("keep = { job = '90d' }"), EBB_ECONFIG_UNKNOWN_KEY, "serve.keep.job: unknown key", "jobs"},
    {SERVE("keep = { jobs = '23h' }"), EBB_ECONFIG, "serve.keep.jobs: a duration from \"1d\"", ""},
    {SERVE("keep = { events = '3651d' }"), EBB_ECONFIG, "serve.keep.events: a duration", ""},
    {SERVE("keep = { decisions = 90 }"), EBB_ECONFIG, "serve.keep.decisions: a duration", ""},
    {SERVE("notify = { url = 'http://h' }"), EBB_ECONFIG, "serve.notify: a list of", ""},
    {SERVE("notify = 'http://h'"), EBB_ECONFIG, "serve.notify: a list of", ""},
    {NOTIFY("'http://h'"), EBB_ECONFIG, "serve.notify[1]: a table with named keys", ""},
    {NOTIFY("{ url = 'http://h' }, {}"), EBB_ECONFIG, "serve.notify[2]: either url or command", ""},
    {NOTIFY("{ url = 'http://h', command = { '/x' } }"), EBB_ECONFIG, "serve.notify[1]: either url or command", ""},
    {NOTIFY("{ urls = 'http://h' }"), EBB_ECONFIG_UNKNOWN_KEY, "serve.notify[1].urls: unknown key", "url"},
    {NOTIFY("{ url = 'ftp://h' }"), EBB_ECONFIG, "serve.notify[1].url: a http:// or https:// URL", ""},
    {NOTIFY("{ url = 'http://' }"), EBB_ECONFIG, "serve.notify[1].url: a http://", ""},
    {NOTIFY("{ url = 'http:///x' }"), EBB_ECONFIG, "serve.notify[1].url: a http://", ""},
    {NOTIFY("{ url = 'http://h/\\r\\nX: y' }"), EBB_ECONFIG, "serve.notify[1].url: a http://", ""},
    {NOTIFY("{ url = 'http://h', headers = { 'X: y' } }"), EBB_ECONFIG, "serve.notify[1].headers: a table of", ""},
    {NOTIFY("{ url = 'http://h', headers = { X = 1 } }"), EBB_ECONFIG, "serve.notify[1].headers: ", ""},
    {NOTIFY("{ url = 'http://h', headers = { X = 'a\\r\\nY: b' } }"), EBB_ECONFIG, "serve.notify[1].headers: ", ""},
    {NOTIFY("{ url = 'http://h', headers = { ['X y'] = 'a' } }"), EBB_ECONFIG, "serve.notify[1].headers: ", ""},
    {NOTIFY("{ url = 'http://h', headers = { X = ('a'):rep(8200) } }"), EBB_ECONFIG, "ebb.lua", ""},
    {NOTIFY("{ command = { '/x' }, headers = { X = 'a' } }"), EBB_ECONFIG, "serve.notify[1].headers: go with url", ""},
    {NOTIFY("{ command = '/x' }"), EBB_ECONFIG, "serve.notify[1].command: a list of texts", ""},
    {NOTIFY("{ command = {} }"), EBB_ECONFIG, "serve.notify[1].command: a list of texts", ""},
    {NOTIFY("{ command = { 'mail' } }"), EBB_ECONFIG, "serve.notify[1].command: the path of a program", ""},
    {NOTIFY("{ command = { '/x', 5 } }"), EBB_ECONFIG, "serve.notify[1].command: a list of texts", ""},
    {NOTIFY("{ command = { '/x' }, on = 'held' }"), EBB_ECONFIG, "serve.notify[1].on: a list of texts", ""},
    {NOTIFY("{ command = { '/x' }, on = {} }"), EBB_ECONFIG, "serve.notify[1].on: a list of texts", ""},
    {NOTIFY("{ command = { '/x' }, on = { 'helt' } }"), EBB_ECONFIG, "serve.notify[1].on: held, refused", "held"},
    {NOTIFY("{ command = { '/x' }, on = { 'purge_due' } }"), EBB_ECONFIG, "serve.notify[1].on:", "purge-due"},
};

static void test_bad_serve(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof BAD_SERVE / sizeof BAD_SERVE[0]; i++)
        expect_bad(&BAD_SERVE[i]);
}

/* A message names the key; the value may be a secret. */
static void test_messages_hold_no_value(void **state)
{
    static const char *const TEXTS[] = {
        SERVE("listen = env 'EBB_TEST_PLANTED'"),
        SERVE("auth = env 'EBB_TEST_PLANTED'"),
        SERVE("metalake = env 'EBB_TEST_PLANTED'"),
        SERVE("hosts = { env 'EBB_TEST_PLANTED' }"),
        SERVE("poll = env 'EBB_TEST_PLANTED'"),
        NOTIFY("{ url = env 'EBB_TEST_PLANTED' }"),
        NOTIFY("{ command = { 'x' .. env('EBB_TEST_PLANTED') } }"),
        NOTIFY("{ url = 'http://h', headers = { X = env('EBB_TEST_PLANTED') .. '\\n' } }"),
        NOTIFY("{ url = 'http://h', on = { env 'EBB_TEST_PLANTED' } }")};

    (void)state;
    setenv("EBB_TEST_PLANTED", "planted secret!", 1);
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++) {
        struct ebb_config *c;
        struct ebb_err err;

        assert_int_equal(load_bytes(TEXTS[i], strlen(TEXTS[i]), &c, &err), -EBB_ECONFIG);
        if (strstr(err.message, "planted") || strstr(err.hint, "planted"))
            fail_msg("%s: %s", TEXTS[i], err.message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_serve_defaults), cmocka_unit_test(test_serve_everything),
        cmocka_unit_test(test_listen),         cmocka_unit_test(test_show),
        cmocka_unit_test(test_bad_serve),      cmocka_unit_test(test_messages_hold_no_value),
    };

    return cmocka_run_group_tests(tests, make_top, remove_top);
}
