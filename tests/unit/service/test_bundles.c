/* SPDX-License-Identifier: Apache-2.0
 *
 * Policies in the store: what went in comes out, libraries too, whatever became of the files.
 */
#include "../engine/engine_help.h"

#include <sys/stat.h>
#include <unistd.h>

#include "service/bundles.h"

struct world {
    char top[64];
    struct ebb_store *store;
    struct ebb_err err;
};

static void put(const struct world *w, const char *name, const char *text)
{
    char path[256];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", w->top, name);
    f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void open_world(struct world *w)
{
    char path[256];

    memset(w, 0, sizeof *w);
    snprintf(w->top, sizeof w->top, "/tmp/ebb-bundles-XXXXXX");
    assert_non_null(mkdtemp(w->top));
    snprintf(path, sizeof path, "%s/lib", w->top);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/state", w->top);
    if (ebb_store_open(path, &w->store, &w->err))
        fail_msg("%s", w->err.message);
    put(w, "lib/sizes.lua", "return { big = 77 }\n");
    put(w, "p.lua",
        "local sizes = use \"sizes\"\n"
        "return policy { api = 1, name = \"kept\", decide = function(t, ctx)\n"
        "  return skip(check(\"big\", sizes.big, \"==\", 77)) end }\n");
}

static void close_world(struct world *w)
{
    char command[128];

    ebb_store_close(w->store);
    snprintf(command, sizeof command, "rm -rf %s", w->top);
    assert_int_equal(system(command), 0);
}

static struct ebb_policy *load(struct world *w)
{
    struct ebb_policy *policy = NULL;
    char path[256];

    snprintf(path, sizeof path, "%s/p.lua", w->top);
    if (ebb_policy_load(path, &policy, NULL, &w->err))
        fail_msg("%s", w->err.message);
    return policy;
}

static void test_a_policy_outlives_its_files(void **state)
{
    struct ebb_policy *policy, *again = NULL;
    struct ebb_decide_input input = {.now_ms = HELP_NOW, .bound = true};
    struct ebb_decision *decision = NULL;
    struct ebb_value *facts = help_json("{\"table\":{}}");
    char hash[80], path[256];
    struct world w;

    (void)state;
    open_world(&w);
    policy = load(&w);
    snprintf(hash, sizeof hash, "%s", ebb_policy_get_bundle(policy));
    assert_int_equal(ebb_bundles_put(w.store, policy, &w.err), 0);
    assert_int_equal(ebb_bundles_put(w.store, policy, &w.err), 0);
    ebb_policy_free(policy);
    put(&w, "lib/sizes.lua", "return { big = 78 }\n");
    snprintf(path, sizeof path, "%s/p.lua", w.top);
    assert_int_equal(unlink(path), 0);
    if (ebb_bundles_get(w.store, hash, &again, &w.err))
        fail_msg("%s", w.err.message);
    assert_string_equal(ebb_policy_get_bundle(again), hash);
    assert_string_equal(ebb_policy_get_name(again), "kept");
    input.facts = facts;
    assert_int_equal(ebb_decide(again, &input, &decision, &w.err), 0);
    assert_non_null(strstr(ebb_decision_get_record(decision), "\"r\":\"true\""));
    ebb_decision_free(decision);
    ebb_policy_free(again);
    ebb_value_free(facts);
    close_world(&w);
}

static void test_what_is_not_there_or_was_altered(void **state)
{
    static const char *const ODD[] = {
        "{\"file\":\"p.lua\",\"source\":\"\",\"libs\":[\"x\"]}",
        "{\"file\":\"p.lua\",\"source\":\"\",\"libs\":{\"../x\":\"\"}}",
        "{\"file\":\"p.lua\",\"source\":\"\",\"libs\":{\"\":\"\"}}",
        "{\"file\":\"p.lua\",\"source\":7,\"libs\":{}}",
        "{\"file\":\"p.lua\",\"source\":\"\",\"libs\":{\"x\":[]}}",
    };
    struct ebb_policy *policy, *again = NULL;
    struct world w;

    (void)state;
    open_world(&w);
    policy = load(&w);
    assert_int_equal(ebb_bundles_get(w.store, ebb_policy_get_bundle(policy), &again, &w.err), -(int)EBB_ENOT_FOUND);
    assert_null(again);
    assert_int_equal(ebb_store_put_value(w.store, "bundle", ebb_policy_get_bundle(policy),
                                         "{\"file\":\"p.lua\",\"source\":\"return policy { api = 1, name = 'other', "
                                         "decide = function() return skip(all {}) end }\",\"libs\":{}}",
                                         &w.err),
                     0);
    assert_int_equal(ebb_bundles_get(w.store, ebb_policy_get_bundle(policy), &again, &w.err), -(int)EBB_ECORRUPT);
    assert_null(again);
    assert_int_equal(ebb_store_put_value(w.store, "bundle", ebb_policy_get_bundle(policy), "{\"libs\":{}}", &w.err), 0);
    assert_int_equal(ebb_bundles_get(w.store, ebb_policy_get_bundle(policy), &again, &w.err), -(int)EBB_ECORRUPT);
    assert_int_equal(
        ebb_store_put_value(w.store, "bundle", ebb_policy_get_bundle(policy), "{\"file\":\"x\",\"libs\":[]}", &w.err),
        0);
    assert_int_equal(ebb_bundles_get(w.store, ebb_policy_get_bundle(policy), &again, &w.err), -(int)EBB_ECORRUPT);
    for (size_t i = 0; i < sizeof ODD / sizeof ODD[0]; i++) {
        assert_int_equal(ebb_store_put_value(w.store, "bundle", ebb_policy_get_bundle(policy), ODD[i], &w.err), 0);
        assert_int_equal(ebb_bundles_get(w.store, ebb_policy_get_bundle(policy), &again, &w.err), -(int)EBB_ECORRUPT);
    }
    ebb_policy_free(policy);
    close_world(&w);
}

static void test_a_library_that_is_missing(void **state)
{
    struct ebb_value *sources = help_json("{\"file\":\"/nowhere/p.lua\",\"source\":\"local x = use 'sizes' return "
                                          "policy { api = 1, name = 'a', decide = function() end }\",\"libs\":{}}");
    struct ebb_policy *policy = NULL;
    struct ebb_err err;

    (void)state;
    assert_int_not_equal(ebb_policy_load_sources(sources, &policy, &err), 0); /* no file is looked for */
    assert_null(policy);
    ebb_value_free(sources);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_policy_outlives_its_files),
        cmocka_unit_test(test_what_is_not_there_or_was_altered),
        cmocka_unit_test(test_a_library_that_is_missing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
