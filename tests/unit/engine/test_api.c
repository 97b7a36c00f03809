/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of the API is what the sandbox has: globals, libraries, fields of facts, keys of the data part and of
 * actions, in both directions.
 */
#include "engine_help.h"

#include <lauxlib.h>

#include "engine/api.h"
#include "engine/eval_priv.h"

static const struct ebb_api_entry *find(const char *name, const char *kinds)
{
    size_t count;
    const struct ebb_api_entry *entries = ebb_api_get(&count);

    for (size_t i = 0; i < count; i++)
        if (!strcmp(entries[i].name, name) && ebb__is_choice(kinds, '|', entries[i].kind))
            return &entries[i];
    return NULL;
}

static const struct ebb_api_entry *need(const char *path, const char *key, const char *kinds)
{
    char name[256];
    const struct ebb_api_entry *entry;

    snprintf(name, sizeof name, "%s%s%s", path, path[0] ? "." : "", key);
    entry = find(name, kinds);
    if (!entry)
        fail_msg("%s: the sandbox has it, the table of the API does not", name);
    return entry;
}

/* Entries directly below a path. */
static size_t count_below(const char *path, const char *kinds)
{
    size_t count, n = strlen(path), found = 0;
    const struct ebb_api_entry *entries = ebb_api_get(&count);

    for (size_t i = 0; i < count; i++) {
        const char *rest = entries[i].name + n + 1;

        found += !strncmp(entries[i].name, path, n) && entries[i].name[n] == '.' && !strchr(rest, '.') &&
                 ebb__is_choice(kinds, '|', entries[i].kind);
    }
    return found;
}

static void test_sorted(void **state)
{
    static const char KINDS[] = "field|function|method|library|key|class|open";
    size_t count;
    const struct ebb_api_entry *e = ebb_api_get(&count);

    (void)state;
    assert_true(count > 200);
    for (size_t i = 0; i < count; i++) {
        size_t n = strlen(e[i].doc);

        if (i && strcmp(e[i - 1].name, e[i].name) > 0)
            fail_msg("%s stands after %s", e[i].name, e[i - 1].name);
        if (!ebb__is_choice(KINDS, '|', e[i].kind) || !ebb__is_choice("header|decide|both", '|', e[i].phase))
            fail_msg("%s: kind or phase", e[i].name);
        if (!n || n > 160 || (e[i].doc[n - 1] != '.' && strcmp(e[i].doc + n - 3, "…")) || !e[i].type[0])
            fail_msg("%s: text", e[i].name);
        if (strcmp(e[i].kind, "function") == 0 && e[i].type[0] != '(')
            fail_msg("%s: a function has parameters", e[i].name);
    }
}

/* ---- globals ---- */

static void walk_library(lua_State *L, const char *name)
{
    size_t found = 0;

    lua_getiuservalue(L, -1, 1);
    lua_pushnil(L);
    while (lua_next(L, -2)) {
        need(name, lua_tostring(L, -2), lua_isfunction(L, -1) ? "function" : "field");
        found++;
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    assert_int_equal(found, count_below(name, "function|field"));
    for (size_t i = 0; i < strlen(name); i++)
        assert_true(name[i] != '.');
}

static int walk_globals(lua_State *L)
{
    size_t *found = lua_touserdata(L, 1);

    lua_pushcfunction(L, ebb__open_policy);
    lua_call(L, 0, 1);
    lua_pushnil(L);
    while (lua_next(L, -2)) {
        bool is_library = lua_type(L, -1) == LUA_TUSERDATA;

        need("", lua_tostring(L, -2), is_library ? "library" : "function");
        if (is_library)
            walk_library(L, lua_tostring(L, -2));
        ++*found;
        lua_pop(L, 1);
    }
    return 0;
}

static void test_globals(void **state)
{
    struct ebb__sandbox sb;
    struct ebb_err err;
    size_t found = 0, known = 0, count;
    const struct ebb_api_entry *e = ebb_api_get(&count);

    (void)state;
    assert_int_equal(ebb__sandbox_open(&sb, EBB__PHASE_HEADER, NULL, ebb__open_policy, &err), 0);
    ebb__sandbox_refuel(&sb, 10000000);
    if (ebb__sandbox_run(&sb, walk_globals, &found, "test", NULL, &err))
        fail_msg("%s", err.message);
    ebb__sandbox_close(&sb);
    for (size_t i = 0; i < count; i++)
        known += !strchr(e[i].name, '.') && ebb__is_choice("function|library", '|', e[i].kind);
    assert_int_equal(found, known);
}

/* ---- facts ---- */

static void walk_shape(const struct ebb__shape *shape, const char *path)
{
    char below[128];

    for (size_t i = 0; i < shape->count; i++) {
        const struct ebb__field *f = &shape->fields[i];
        const struct ebb_api_entry *entry = need(path, f->name, f->method ? "method" : "field");

        /* What always reads as a table is never nil. */
        if (f->always && strchr(entry->type, '?'))
            fail_msg("%s: never nil", entry->name);
        snprintf(below, sizeof below, "%s.%s", path, f->name);
        if (f->shape && !strcmp(f->shape->name, below))
            walk_shape(f->shape, below);
        else if (f->shape)
            walk_shape(f->shape, f->shape->name);
    }
    assert_int_equal(shape->count, count_below(path, "field|method"));
    if (find(path, "class|open"))
        assert_int_equal(shape->open, find(path, "open") != NULL);
}

static void test_facts(void **state)
{
    static const char *const CTX[] = {"now", "trigger", "params", "events", "runs", "fleet"};
    const size_t fields = sizeof((struct ebb__eval *)NULL)->ctx_fields / sizeof(struct ebb__field);

    (void)state;
    walk_shape(&ebb__shape_table, "t");
    walk_shape(&ebb__shape_partition, "partition");
    walk_shape(&ebb__shape_event, "event");
    walk_shape(&ebb__shape_run, "run");
    walk_shape(&ebb__shape_trigger, "ctx.trigger");
    walk_shape(&ebb__shape_events, "ctx.events");
    walk_shape(&ebb__shape_runs, "ctx.runs");
    for (size_t i = 0; i < sizeof CTX / sizeof *CTX; i++)
        need("ctx", CTX[i], "field");
    assert_int_equal(count_below("ctx", "field|method"), fields);
}

/* Each field can be read, also where nothing is known, and what the sandbox makes has the fields of its class. */
static void test_reading(void **state)
{
    size_t count, n = 0;
    const struct ebb_api_entry *e = ebb_api_get(&count);
    char *source = malloc(60000);
    struct ebb_policy *policy = NULL;
    struct ebb_value *facts = help_json("{\"table\":{\"name\":\"x\"}}");
    struct ebb_decide_input input = {.facts = facts, .now_ms = HELP_NOW, .bound = true};
    struct ebb_decision *d = NULL;
    struct ebb_err err;

    (void)state;
    n += (size_t)snprintf(source, 60000, "return policy { api = 1, name = 'p', decide = function(t, ctx) local _ ");
    for (size_t i = 0; i < count; i++)
        if ((!strncmp(e[i].name, "t.", 2) || !strncmp(e[i].name, "ctx.", 4)) && strcmp(e[i].kind, "key"))
            n += (size_t)snprintf(source + n, 60000 - n, "_ = %s ", e[i].name);
    n += (size_t)snprintf(source + n, 60000 - n,
                          "local c = check('a', 1, '<', 2) _ = c.ok _ = c.result _ = c.name "
                          "local r = rank { over = {}, score = function() return 1 end } "
                          "_ = r.keys _ = r.items _ = r.count _ = r.bytes _ = r.best return skip(all { c }) end }");
    if (ebb_policy_load_text("p.lua", source, n, &policy, NULL, &err) || ebb_decide(policy, &input, &d, &err))
        fail_msg("%s", err.message);
    assert_int_equal(ebb_decision_get_verdict(d), EBB_VERDICT_SKIP);
    assert_int_equal(count_below("check", "field"), 3);
    assert_int_equal(count_below("ranked", "field"), 5);
    ebb_decision_free(d);
    ebb_value_free(facts);
    ebb_policy_free(policy);
    free(source);
}

/* ---- keys ---- */

static void walk_rules(const struct ebb__rule_set *set)
{
    for (; set->path; set++) {
        for (size_t i = 0; i < set->count; i++) {
            const struct ebb__rule *rule = &set->rules[i];
            const struct ebb_api_entry *entry = need(set->path, strcmp(rule->key, "text") ? rule->key : "[1]", "key");
            bool optional = strchr(entry->type, '?') || strstr(entry->type, "nil") || !strcmp(entry->type, "any");

            if (strcmp(rule->key, "text") && rule->is_required != !strncmp(entry->doc, "Required: ", 10))
                fail_msg("%s: required?", entry->name);
            if (rule->is_required == optional)
                fail_msg("%s: optional?", entry->name);
            if (rule->param && !strstr(entry->type, "ebb.param") && strcmp(rule->key, "text"))
                fail_msg("%s: takes a parameter", entry->name);
            for (const char *p = rule->choices; p && strlen(rule->choices) < 50; p = strchr(p, '|')) {
                char word[64];

                p += *p == '|';
                snprintf(word, sizeof word, "\"%.*s\"", (int)strcspn(p, "|"), p);
                if (!strstr(entry->type, word))
                    fail_msg("%s: %s", entry->name, word);
            }
        }
        assert_int_equal(set->count, count_below(set->path, "key"));
    }
}

static void test_keys(void **state)
{
    (void)state;
    walk_rules(EBB__POLICY_RULES);
    walk_rules(EBB__PARAM_RULES);
    walk_rules(EBB__GUARD_RULES);
    walk_rules(EBB__TRIGGER_RULES);
    walk_rules(EBB__ACTION_RULES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sorted),  cmocka_unit_test(test_globals), cmocka_unit_test(test_facts),
        cmocka_unit_test(test_reading), cmocka_unit_test(test_keys),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
