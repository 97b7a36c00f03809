/* SPDX-License-Identifier: Apache-2.0
 *
 * Slots that policies share: what is under way is told by the runs in the store.
 */
#include "service_help.h"

#define BOTH                                                                                                           \
    CONFIG_HEAD "bind = { { policy = 'sweep', tables = { 'lake.db.*' }, mode = 'observe' }, "                          \
                "{ policy = 'other', tables = { 'lake.none.*' }, mode = 'observe' } } }"
#define POLICY(name)                                                                                                   \
    "return policy { api = 1, name = '" name "', triggers = { time.every { '1h', anchor = 'epoch' } },\n"              \
    "guard = { fleet = { slot = 'sweeps', max_running = 2 } },\n"                                                      \
    "decide = function(t, ctx) return run(all { check('n', ctx.fleet.slots.sweeps.running, '>=', 0) },\n"              \
    "action.remove_orphan_files { older_than = ctx.now - 3 * 86400000 }) end }\n"

static void start(struct world *w)
{
    open_world(w);
    world_put(w, "ebb.lua", BOTH);
    world_put(w, "policies/sweep.lua", POLICY("sweep"));
    world_put(w, "policies/other.lua", POLICY("other"));
    add_table(w, "a", 0);
    assert_ok(w, pass(w, -DAY_MS));
}

static void put_started(struct world *w, const char *id, const char *policy)
{
    struct ebb_record r = {
        id, "lake.db.elsewhere", "99999999-2222-4333-8444-555555555555", policy, "started", world_now(w), 0, "", "{}"};

    assert_ok(w, ebb_store_put(ebb_workspace_site(w->ws)->store, EBB_RECORD_RUN, &r, &w->err));
}

static const char *decided(struct world *w, int64_t at_ms)
{
    assert_ok(w, pass(w, at_ms));
    return told_of(w, "lake.db.a")->verdict;
}

static void test_a_full_slot_holds_back(void **state)
{
    struct world w;

    (void)state;
    start(&w);
    assert_string_equal(decided(&w, 0), "run");
    put_started(&w, "r-1", "sweep");
    assert_string_equal(decided(&w, 3600000), "run");
    put_started(&w, "r-2", "other"); /* another policy, the same slot */
    assert_string_equal(decided(&w, 2 * 3600000), "defer");
    close_world(&w);
}

static void test_a_run_of_an_unknown_policy_leaves_slots_unknown(void **state)
{
    struct world w;

    (void)state;
    start(&w);
    put_started(&w, "r-1", "removed");
    assert_int_not_equal(pass(&w, 0), 0); /* run with a check that is unknown is an error of the policy, and no run */
    assert_string_equal(told_of(&w, "lake.db.a")->verdict, "error");
    close_world(&w);
}

static void test_runs_by_hand_hold_no_slot(void **state)
{
    struct world w;

    (void)state;
    start(&w);
    put_started(&w, "r-1", "");
    put_started(&w, "r-2", "");
    assert_string_equal(decided(&w, 0), "run");
    close_world(&w);
}

/* A slot that only the binding of a policy names is one, too. */
static void test_a_slot_of_a_binding_holds_back(void **state)
{
    static const char CONFIG[] = CONFIG_HEAD "bind = { { policy = 'sweep', tables = { 'lake.db.*' }, mode = 'observe',"
                                             " guard = { fleet = { slot = 'nights', max_running = 1 } } } } }";
    static const char PLAIN[] = "return policy { api = 1, name = 'sweep', triggers = { time.every { '1h', anchor = "
                                "'epoch' } },\n"
                                "decide = function(t, ctx) return run(all { check('n', 1, '==', 1) },\n"
                                "action.remove_orphan_files { older_than = ctx.now - 3 * 86400000 }) end }\n";
    struct world w;

    (void)state;
    open_world(&w);
    world_put(&w, "ebb.lua", CONFIG);
    world_put(&w, "policies/sweep.lua", PLAIN);
    add_table(&w, "a", 0);
    assert_ok(&w, pass(&w, -DAY_MS));
    assert_string_equal(decided(&w, 0), "run");
    put_started(&w, "r-1", "sweep");
    assert_string_equal(decided(&w, 3600000), "defer");
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_full_slot_holds_back),
        cmocka_unit_test(test_a_run_of_an_unknown_policy_leaves_slots_unknown),
        cmocka_unit_test(test_runs_by_hand_hold_no_slot),
        cmocka_unit_test(test_a_slot_of_a_binding_holds_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
