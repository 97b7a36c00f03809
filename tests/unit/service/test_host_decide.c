/* SPDX-License-Identifier: Apache-2.0
 *
 * The public interface of deciding: bundles, evaluators, decisions, and sessions with the host's clock.
 */
#include <pthread.h>

#include "../engine/engine_help.h"
#include "ebb.h"

#define HOUR ((int64_t)3600000)
/* 2026-03-29T00:00:00Z */
#define NOW HELP_NOW

static struct ebb_host_bundle *load(const char *path)
{
    struct ebb_host_bundle *bundle = NULL;
    struct ebb_host_error err;
    char full[600];

    snprintf(full, sizeof full, "%s/%s", EBB_SOURCE_DIR, path);
    if (ebb_host_bundle_load(full, &bundle, &err))
        fail_msg("%s: %s", err.code, err.message);
    return bundle;
}

static struct ebb_host_facts *clicks(void)
{
    struct ebb_host_facts *facts = NULL;
    struct ebb_host_error err;
    char path[600];
    size_t n;
    char *text;

    snprintf(path, sizeof path, "%s/tests/fixtures/facts/clicks.json", EBB_SOURCE_DIR);
    text = help_read(path, &n);
    if (ebb_host_facts_parse(text, n, &facts, &err))
        fail_msg("%s", err.message);
    free(text);
    return facts;
}

static void test_bundle(void **state)
{
    struct ebb_host_bundle *bundle = load("policies/examples");
    struct ebb_host_error err;
    bool found = false;

    (void)state;
    assert_true(ebb_host_bundle_count(bundle) >= 2);
    for (size_t i = 0; i < ebb_host_bundle_count(bundle); i++) {
        assert_int_equal(ebb_host_bundle_manifest(bundle, i)[0], '{');
        assert_int_equal(strncmp(ebb_host_bundle_hash(bundle, i), "sha256:", 7), 0);
        found = found || !strcmp(ebb_host_bundle_name(bundle, i), "orphans-weekly");
    }
    assert_true(found);
    assert_null(ebb_host_bundle_name(bundle, 1000));
    assert_null(ebb_host_bundle_hash(bundle, 1000));
    assert_null(ebb_host_bundle_manifest(bundle, 1000));
    ebb_host_bundle_free(bundle);
    ebb_host_bundle_free(NULL);
    assert_int_not_equal(ebb_host_bundle_load("/no/such/folder", &bundle, &err), 0);
    assert_null(bundle);
    /* one attack among the files: nothing is loaded */
    assert_int_not_equal(ebb_host_bundle_load(EBB_SOURCE_DIR "/tests/cases/sandbox", &bundle, &err), 0);
    assert_int_equal(err.exit_status, 4);
    assert_null(bundle);
}

static void test_evaluate(void **state)
{
    struct ebb_host_bundle *bundle = load("policies/examples/orphans_weekly.lua");
    struct ebb_host_facts *facts = clicks();
    struct ebb_host_evaluator *ev = NULL;
    struct ebb_host_decision *d = NULL;
    struct ebb_host_error err;
    struct ebb_host_input input = {.policy = "orphans-weekly", .facts = facts, .now_ms = NOW, .id = "d-1"};

    (void)state;
    assert_int_equal(ebb_host_evaluator_open(bundle, &ev, &err), 0);
    ebb_host_bundle_free(bundle); /* the evaluator holds what it needs */
    assert_int_equal(ebb_host_evaluate(ev, &input, &d, &err), 0);
    assert_int_equal(ebb_host_decision_verdict(d), EBB_HOST_RUN);
    assert_string_equal(ebb_host_decision_by(d), "policy");
    assert_non_null(strstr(ebb_host_decision_action(d), "\"type\":\"remove_orphan_files\""));
    assert_non_null(strstr(ebb_host_decision_action(d), "\"older_than\":1774310400000")); /* five days before */
    assert_non_null(strstr(ebb_host_decision_record(d), "\"id\":\"d-1\""));
    ebb_host_decision_free(d);
    input.params = "{\"retain\":\"10d\"}";
    input.without_record = true;
    assert_int_equal(ebb_host_evaluate(ev, &input, &d, &err), 0);
    assert_non_null(strstr(ebb_host_decision_action(d), "\"older_than\":1773878400000"));
    assert_null(ebb_host_decision_record(d));
    ebb_host_decision_free(d);
    ebb_host_decision_free(NULL);
    ebb_host_evaluator_close(ev);
    ebb_host_evaluator_close(NULL);
    ebb_host_facts_free(facts);
}

static void test_mistakes(void **state)
{
    struct ebb_host_bundle *bundle = load("policies/examples/orphans_weekly.lua");
    struct ebb_host_facts *facts = clicks(), *none = NULL;
    struct ebb_host_evaluator *ev = NULL;
    struct ebb_host_decision *d = NULL;
    struct ebb_host_error err;
    struct ebb_host_input good = {.policy = "orphans-weekly", .facts = facts, .now_ms = NOW}, input;

    (void)state;
    assert_int_equal(ebb_host_evaluator_open(bundle, &ev, &err), 0);
    input = good;
    input.policy = "none";
    assert_int_not_equal(ebb_host_evaluate(ev, &input, &d, &err), 0);
    assert_string_equal(err.code, "record.not_found");
    assert_null(d);
    input.policy = NULL;
    assert_int_not_equal(ebb_host_evaluate(ev, &input, &d, &err), 0);
    input = good;
    input.facts = NULL;
    assert_int_not_equal(ebb_host_evaluate(ev, &input, &d, NULL), 0);
    input = good;
    input.params = "{\"retain\":\"1d\"}"; /* below its own minimum */
    assert_int_not_equal(ebb_host_evaluate(ev, &input, &d, &err), 0);
    assert_int_equal(err.exit_status, 64);
    assert_null(d);
    input.params = "[1]";
    assert_int_not_equal(ebb_host_evaluate(ev, &input, &d, &err), 0);
    input.params = "{";
    assert_int_not_equal(ebb_host_evaluate(ev, &input, &d, &err), 0);
    input = good;
    input.gas = 10; /* far too little: the decision says so */
    assert_int_not_equal(ebb_host_evaluate(ev, &input, &d, &err), 0);
    assert_string_equal(err.code, "policy.gas");
    assert_int_equal(ebb_host_decision_verdict(d), EBB_HOST_FAILED);
    assert_null(ebb_host_decision_action(d));
    ebb_host_decision_free(d);
    for (size_t i = 0; i < 4; i++) {
        static const char *const BAD[] = {"", "[]", "{\"table\":5}", "{\"table\":{}"};

        assert_int_not_equal(ebb_host_facts_parse(BAD[i], strlen(BAD[i]), &none, &err), 0);
        assert_null(none);
    }
    ebb_host_facts_free(facts);
    ebb_host_facts_free(NULL);
    ebb_host_evaluator_close(ev);
    ebb_host_bundle_free(bundle);
}

/* ---- a scheduler in the host's loop ---- */

struct said {
    char text[4096];
    int count;
};

static void on_event(void *data, const struct ebb_host_event *event)
{
    static const char *const VERDICTS[] = {"run", "skip", "defer", "refused", "failed"};
    struct said *s = data;
    size_t n = strlen(s->text);

    s->count++;
    snprintf(s->text + n, sizeof s->text - n, "%lld %s%s\n", (long long)((event->at_ms - NOW) / 60000),
             VERDICTS[event->verdict], event->dropped ? " dropped" : "");
    assert_true(event->dropped || event->record);
}

static void test_session(void **state)
{
    struct ebb_host_bundle *bundle = load("policies/examples/orphans_on_event.lua");
    struct ebb_host_facts *facts = clicks();
    struct said said = {"", 0};
    struct ebb_host_session_options options = {.now_ms = NOW, .ends_at_once = true, .decided = on_event, .data = &said};
    struct ebb_host_session *session = NULL;
    struct ebb_host_error err;
    size_t table = 99;
    int64_t wake = 0;

    (void)state;
    assert_int_equal(ebb_host_session_open(bundle, &options, &session, &err), 0);
    ebb_host_bundle_free(bundle);
    assert_int_equal(ebb_host_session_add_table(session, facts, &table, &err), 0);
    assert_int_equal(table, 0);
    ebb_host_facts_free(facts);
    assert_int_equal(ebb_host_session_bind(session, "orphans-on-event", EBB_HOST_OBSERVE, NULL, &err), 0);
    assert_int_equal(ebb_host_session_event(session, 0, "{\"type\":\"commit.failed\",\"files_written\":212}", &err), 0);
    assert_int_equal(ebb_host_session_step(session, 0, &err), 0); /* what is due now */
    assert_string_equal(said.text, "");
    assert_int_equal(ebb_host_session_wake(session, &wake, &err), 0);
    assert_int_equal(wake, NOW + 10 * 60000); /* the end of the debounce */
    assert_int_equal(ebb_host_session_step(session, wake - NOW, &err), 0);
    assert_int_equal(ebb_host_session_now(session), wake);
    assert_string_equal(said.text, "10 defer\n");
    assert_int_equal(ebb_host_session_step(session, 72 * HOUR, &err), 0);
    assert_string_equal(said.text, "10 defer\n4320 run\n");
    ebb_host_session_close(session);
    ebb_host_session_close(NULL);
}

static void test_session_mistakes(void **state)
{
    struct ebb_host_bundle *bundle = load("policies/examples/orphans_on_event.lua");
    struct ebb_host_facts *facts = clicks();
    struct ebb_host_session_options options = {.now_ms = NOW};
    struct ebb_host_session *session = NULL;
    struct ebb_host_error err;

    (void)state;
    assert_int_equal(ebb_host_session_open(bundle, &options, &session, &err), 0);
    assert_int_not_equal(ebb_host_session_bind(session, "none", EBB_HOST_OBSERVE, NULL, &err), 0);
    assert_int_not_equal(ebb_host_session_bind(session, "orphans-on-event", EBB_HOST_OBSERVE, "{\"nope\":1}", &err), 0);
    assert_int_equal(err.exit_status, 64);
    assert_int_equal(ebb_host_session_add_table(session, facts, NULL, &err), 0);
    assert_int_not_equal(ebb_host_session_add_table(session, NULL, NULL, &err), 0);
    assert_int_equal(ebb_host_session_bind(session, "orphans-on-event", EBB_HOST_OBSERVE, NULL, &err), 0);
    assert_int_not_equal(ebb_host_session_event(session, 7, "{\"type\":\"x\"}", &err), 0);
    assert_int_not_equal(ebb_host_session_event(session, 0, "{\"kind\":\"x\"}", &err), 0);
    assert_int_not_equal(ebb_host_session_event(session, 0, NULL, &err), 0);
    assert_int_not_equal(ebb_host_session_event(session, 0, "nonsense", &err), 0);
    assert_int_not_equal(ebb_host_session_step(session, -1, &err), 0);
    assert_int_not_equal(ebb_host_session_finish(session, 7, "orphans-on-event", "success", &err), 0);
    assert_int_not_equal(ebb_host_session_finish(session, 0, "orphans-on-event", "success", &err), 0);
    assert_int_not_equal(ebb_host_session_finish(session, 0, NULL, "success", &err), 0);
    assert_int_not_equal(ebb_host_session_finish(session, 0, "orphans-on-event", NULL, &err), 0);
    ebb_host_session_close(session);
    ebb_host_facts_free(facts);
    ebb_host_bundle_free(bundle);
}

/* ---- threads ---- */

struct worker {
    pthread_t thread;
    struct ebb_host_bundle *bundle;
    const struct ebb_host_facts *facts;
    const char *record;
    int wrong;
};

static void *work(void *data)
{
    struct worker *w = data;
    struct ebb_host_evaluator *ev = NULL;
    struct ebb_host_input input = {.policy = "orphans-weekly", .facts = w->facts, .now_ms = NOW};

    w->wrong = ebb_host_evaluator_open(w->bundle, &ev, NULL) != 0;
    for (int i = 0; i < 20 && !w->wrong; i++) {
        struct ebb_host_decision *d = NULL;

        w->wrong = ebb_host_evaluate(ev, &input, &d, NULL) || strcmp(ebb_host_decision_record(d), w->record) != 0;
        ebb_host_decision_free(d);
    }
    ebb_host_evaluator_close(ev);
    return NULL;
}

static void test_threads(void **state)
{
    struct ebb_host_bundle *bundle = load("policies/examples");
    struct ebb_host_facts *facts = clicks();
    struct ebb_host_evaluator *ev = NULL;
    struct ebb_host_decision *d = NULL;
    struct ebb_host_input input = {.policy = "orphans-weekly", .facts = facts, .now_ms = NOW};
    struct worker workers[4];

    (void)state;
    assert_int_equal(ebb_host_evaluator_open(bundle, &ev, NULL), 0);
    assert_int_equal(ebb_host_evaluate(ev, &input, &d, NULL), 0);
    for (size_t i = 0; i < 4; i++) {
        workers[i] = (struct worker){.bundle = bundle, .facts = facts, .record = ebb_host_decision_record(d)};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (size_t i = 0; i < 4; i++) {
        pthread_join(workers[i].thread, NULL);
        assert_int_equal(workers[i].wrong, 0);
    }
    ebb_host_decision_free(d);
    ebb_host_evaluator_close(ev);
    ebb_host_facts_free(facts);
    ebb_host_bundle_free(bundle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bundle),  cmocka_unit_test(test_evaluate),         cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_session), cmocka_unit_test(test_session_mistakes), cmocka_unit_test(test_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
