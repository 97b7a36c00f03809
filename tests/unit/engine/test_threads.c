/* SPDX-License-Identifier: Apache-2.0
 *
 * Policies, settings and facts are shared between threads, each with an evaluator of its own: every one decides the
 * same. Run under the thread sanitizer by tests/run/test_threads.py.
 */
#include "engine_help.h"

#include <pthread.h>

#include "engine/evaluator.h"

#define THREADS 4
#define TURNS 60

struct shared {
    struct ebb_policy *policies[3];
    struct ebb_settings *settings[3];
    struct ebb_value *facts;
    char *records[3];
};

struct worker {
    pthread_t thread;
    const struct shared *shared;
    int wrong; /* decisions that were not as the first */
};

static struct ebb_decide_input input_of(const struct shared *s, size_t i, bool with_settings)
{
    return (struct ebb_decide_input){
        .facts = s->facts, .now_ms = HELP_NOW, .bound = true, .settings = with_settings ? s->settings[i] : NULL};
}

static void *work(void *data)
{
    struct worker *w = data;
    struct ebb_evaluator *ev = NULL;

    if (ebb_evaluator_new(&ev, NULL)) {
        w->wrong = 1;
        return NULL;
    }
    for (size_t turn = 0; turn < TURNS; turn++) {
        size_t i = turn % 3;
        struct ebb_decide_input input = input_of(w->shared, i, turn % 2 == 0);
        struct ebb_decision *d = NULL;
        int rc = turn % 10 == 9 ? ebb_decide(w->shared->policies[i], &input, &d, NULL)
                                : ebb_evaluator_decide(ev, w->shared->policies[i], &input, &d, NULL);

        if (rc || !d || strcmp(ebb_decision_get_record(d), w->shared->records[i]) != 0)
            w->wrong++;
        ebb_decision_free(d);
    }
    ebb_evaluator_free(ev);
    return NULL;
}

static void open_shared(struct shared *s)
{
    static const char *const FILES[] = {"examples/orphans_weekly.lua", "examples/orphans_on_event.lua",
                                        "iceberg_orphan_file_removal.lua"};
    struct ebb_err err;
    char path[600];

    s->facts = help_facts("clicks.json");
    for (size_t i = 0; i < 3; i++) {
        struct ebb_decide_input input;
        struct ebb_decision *d = NULL;

        snprintf(path, sizeof path, "%s/policies/%s", EBB_SOURCE_DIR, FILES[i]);
        assert_int_equal(ebb_policy_load(path, &s->policies[i], NULL, &err), 0);
        assert_int_equal(ebb_settings_new(s->policies[i], NULL,
                                          ebb_value_get(ebb_value_get(s->facts, "table"), "properties"),
                                          &s->settings[i], &err),
                         0);
        input = input_of(s, i, false);
        assert_int_equal(ebb_decide(s->policies[i], &input, &d, &err), 0);
        s->records[i] = strdup(ebb_decision_get_record(d));
        ebb_decision_free(d);
    }
}

static void close_shared(struct shared *s)
{
    for (size_t i = 0; i < 3; i++) {
        free(s->records[i]);
        ebb_settings_free(s->settings[i]);
        ebb_policy_free(s->policies[i]);
    }
    ebb_value_free(s->facts);
}

static void test_shared(void **state)
{
    struct worker workers[THREADS];
    struct shared shared;

    (void)state;
    memset(&shared, 0, sizeof shared);
    open_shared(&shared);
    for (size_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.shared = &shared};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        assert_int_equal(workers[i].wrong, 0);
    }
    close_shared(&shared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shared)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
