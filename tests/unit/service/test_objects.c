/* SPDX-License-Identifier: Apache-2.0
 *
 * Policy objects as bindings: which become one, of what, and how they go by name.
 */
#include "service_help.h"

#include "service/objects.h"

struct shelf {
    struct world w;
    struct ebb_store *store;
    struct ebb_object_bindings list;
};

static void open_shelf(struct shelf *s)
{
    memset(s, 0, sizeof *s);
    open_world(&s->w);
    world_put(&s->w, "ebb.lua", "return {}");
    assert_ok(&s->w, try_open(&s->w, 0));
    s->store = ebb_workspace_site(s->w.ws)->store;
}

static void close_shelf(struct shelf *s)
{
    ebb_object_bindings_fini(&s->list);
    close_world(&s->w);
}

static void put(struct shelf *s, const char *name, const char *json)
{
    struct ebb_object object = {
        .kind = EBB_OBJECT_POLICY, .name = name, .json = json, .creator = "anna", .modifier = "", .created_ms = 1};

    assert_ok(&s->w, ebb_store_add_object(s->store, &object, &s->w.err));
}

static void tie(struct shelf *s, const char *name, const char *type, const char *full_name)
{
    struct ebb_strs add, none;

    ebb_strs_init(&add);
    ebb_strs_init(&none);
    assert_int_equal(ebb_strs_add(&add, name, NULL), 0);
    assert_ok(&s->w, ebb_store_tie_objects(s->store, EBB_OBJECT_POLICY, type, full_name, &add, &none, &s->w.err));
    ebb_strs_fini(&add);
}

static int load(struct shelf *s)
{
    ebb_object_bindings_fini(&s->list);
    return ebb_object_bindings_load(s->store, ebb_workspace_config(s->w.ws), &s->list, &s->w.err);
}

#define ORPHANS(more, content)                                                                                         \
    "{\"policyType\":\"system_iceberg_orphan_file_removal\",\"enabled\":" more ",\"content\":{" content "}}"

static void test_bindings(void **state)
{
    struct shelf s;
    const struct ebb_object_binding *b;

    (void)state;
    open_shelf(&s);
    put(&s, "weekly", ORPHANS("true", "\"olderThanDays\":5"));
    assert_ok(&s.w, load(&s));
    assert_int_equal(s.list.count, 0); /* tied to nothing */
    tie(&s, "weekly", "catalog", "lake");
    tie(&s, "weekly", "schema", "other.db");
    tie(&s, "weekly", "table", "lake.db.t");
    assert_ok(&s.w, load(&s));
    assert_int_equal(s.list.count, 1);
    b = &s.list.items[0];
    assert_string_equal(b->binding.policy, "object:weekly");
    assert_string_equal(ebb_policy_get_name(b->policy), "object:weekly");
    assert_int_equal(b->binding.mode, EBB_BIND_ENFORCE);
    assert_int_equal(b->binding.tables.count, 3);
    assert_true(ebb_strs_has(&b->binding.tables, "lake.**"));
    assert_true(ebb_strs_has(&b->binding.tables, "other.db.**"));
    assert_true(ebb_strs_has(&b->binding.tables, "lake.db.t"));
    assert_int_equal(ebb_value_int_of(b->binding.params, "olderThanDays", 0), 5);
    assert_false(b->binding.allow_below_floor);
    close_shelf(&s);
}

/* What a catalog is tied to reaches its tables, and no other catalog whose name begins like it. */
static void test_globs(void **state)
{
    (void)state;
    assert_true(ebb_table_glob_is_match("lake.**", "lake.db.t"));
    assert_true(ebb_table_glob_is_match("lake.**", "lake.a.b.t"));
    assert_false(ebb_table_glob_is_match("lake.**", "lake2.db.t"));
    assert_true(ebb_table_glob_is_match("lake.db.**", "lake.db.t"));
    assert_true(ebb_table_glob_is_match("lake.db.**", "lake.db.sub.t"));
    assert_false(ebb_table_glob_is_match("lake.db.**", "lake.db2.t"));
}

static void test_modes(void **state)
{
    struct shelf s;

    (void)state;
    open_shelf(&s);
    put(&s, "off", ORPHANS("false", ""));
    put(&s, "dry", ORPHANS("true", "\"dryRun\":true"));
    put(&s, "other", "{\"policyType\":\"system_iceberg_compaction\",\"enabled\":true,\"content\":{}}");
    put(&s, "own", "{\"policyType\":\"custom\",\"enabled\":true,\"content\":{\"supportedObjectTypes\":[\"table\"]}}");
    tie(&s, "off", "catalog", "lake");
    tie(&s, "dry", "catalog", "lake");
    tie(&s, "other", "catalog", "lake");
    tie(&s, "own", "catalog", "lake");
    assert_ok(&s.w, load(&s));
    assert_int_equal(s.list.count, 1);
    assert_string_equal(s.list.items[0].binding.policy, "object:dry");
    assert_int_equal(s.list.items[0].binding.mode, EBB_BIND_APPROVE);
    assert_true(ebb_value_bool_of(s.list.items[0].binding.params, "dryRun", false));
    close_shelf(&s);
}

static void test_former_name(void **state)
{
    struct shelf s;

    (void)state;
    open_shelf(&s);
    put(&s, "new",
        "{\"policyType\":\"system_iceberg_orphan_file_removal\",\"enabled\":true,\"content\":{},\"was\":\"old one\"}");
    tie(&s, "new", "table", "lake.db.t");
    assert_ok(&s.w, load(&s));
    assert_string_equal(ebb_policy_get_was(s.list.items[0].policy), "object:old%20one");
    close_shelf(&s);
}

/* A document that is not what was stored: nothing of the list is given. */
static void test_damage(void **state)
{
    static const char *const BAD[] = {"{",
                                      "[]",
                                      "{}",
                                      "{\"policyType\":1}",
                                      ORPHANS("true", "\"olderThanDays\":-1"),
                                      ORPHANS("true", "\"olderThanDays\":\"3\""),
                                      ORPHANS("true", "\"more\":1")};

    (void)state;
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        struct shelf s;

        open_shelf(&s);
        put(&s, "good", ORPHANS("true", ""));
        tie(&s, "good", "catalog", "lake");
        put(&s, "bad", BAD[i]);
        tie(&s, "bad", "catalog", "lake");
        assert_error(&s.w, load(&s), ECORRUPT);
        assert_int_equal(s.list.count, 0);
        close_shelf(&s);
    }
}

static void location(const char *text, bool is_good)
{
    struct ebb_value *content = ebb_value_new_map(NULL), *out = NULL;
    int rc;

    ebb_value_put_str(content, "location", text);
    rc = ebb_object_orphan_content(content, NULL, &out, NULL);
    if ((rc == 0) != is_good)
        fail_msg("location %s: %d", text, rc);
    ebb_value_free(out);
    ebb_value_free(content);
}

static void test_locations(void **state)
{
    (void)state;
    location("file:/wh/db/t/data", true);
    location("s3://bucket/db/t", true);
    location("/wh/db/t", true);
    location("", false);
    location("/", false);
    location("s3://bucket", false);
    location("file:///", false);
    location("relative/path", false);
    location("file:/wh/../..", false);
    location("/wh/t ", false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bindings), cmocka_unit_test(test_globs),
                                       cmocka_unit_test(test_modes),    cmocka_unit_test(test_former_name),
                                       cmocka_unit_test(test_damage),   cmocka_unit_test(test_locations)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
