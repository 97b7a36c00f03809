/* SPDX-License-Identifier: Apache-2.0 */
#include "table_help.h"

/* ---- what goes, and what comes of it ---- */

static void test_moves_only_what_is_unreferenced(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_options options = apply_options();
    struct ebb_apply_result r;
    char name[512];

    put_file(f, "data/live.parquet");
    put_file(f, "data/stray.parquet");
    put_file(f, "data/p=1/deep.parquet");
    put_file_aged(f, "data/young.parquet", HOUR_MS);
    commit_names(f, "data/live.parquet");
    make_plan(f);
    assert_ok(f, ebb_apply(&f->site, f->plan, &options, &r, &f->err));
    assert_string_equal(r.status, "done");
    assert_int_equal(r.moved, 2);
    assert_int_equal(r.deleted, 0);
    assert_true(holds(f, "data/live.parquet", "data/live.parquet"));
    assert_true(has_file(f, "data/young.parquet"));
    assert_false(has_file(f, "data/stray.parquet"));
    assert_true(holds(f, in_quarantine(r.run, "data/stray.parquet", name), "data/stray.parquet"));
    assert_true(holds(f, in_quarantine(r.run, "data/p=1/deep.parquet", name), "data/p=1/deep.parquet"));
    assert_true(has_file(f, in_quarantine(r.run, "run.jsonl", name)));
    assert_false(has_file(f, ".ebb-quarantine/lock"));
    assert_true(has_status(f, r.run, "done"));
    assert_non_null(r.quarantine);
    ebb_apply_result_fini(&r);
}

static void test_a_plan_is_applied_once(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_options options = apply_options();
    struct ebb_apply_result r;

    put_file(f, "data/stray.parquet");
    make_plan(f);
    assert_ok(f, ebb_apply(&f->site, f->plan, &options, &r, &f->err));
    ebb_apply_result_fini(&r);
    put_file(f, "data/stray.parquet");
    assert_error(f, ebb_apply(&f->site, f->plan, &options, &r, &f->err), EPLAN_APPLIED);
    assert_true(has_file(f, "data/stray.parquet"));
    ebb_apply_result_fini(&r);
}

static void test_a_rejected_plan_is_refused(void **state)
{
    static const char *const FROM[] = {"ready", "held", NULL};
    struct table_fixture *f = *state;
    struct ebb_apply_options options = apply_options();
    struct ebb_apply_result r;

    put_file(f, "data/stray.parquet");
    make_plan(f);
    assert_ok(f, ebb_store_set_status(f->site.store, EBB_RECORD_PLAN, f->plan, FROM, "rejected", &f->err));
    assert_error(f, ebb_apply(&f->site, f->plan, &options, &r, &f->err), ERUN_STATE);
    assert_true(has_file(f, "data/stray.parquet"));
    ebb_apply_result_fini(&r);
    assert_error(f, ebb_store_set_status(f->site.store, EBB_RECORD_PLAN, f->plan, FROM, "ready", &f->err), ERUN_STATE);
    assert_error(f, ebb_store_set_status(f->site.store, EBB_RECORD_PLAN, "p-none", FROM, "ready", &f->err), ENOT_FOUND);
}

static void test_an_empty_plan_changes_nothing(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_options options = apply_options();
    struct ebb_apply_result r;

    make_plan(f);
    assert_ok(f, ebb_apply(&f->site, f->plan, &options, &r, &f->err));
    assert_string_equal(r.status, "done");
    assert_int_equal(r.moved, 0);
    assert_null(r.quarantine);
    assert_false(has_file(f, ".ebb-quarantine"));
    assert_true(has_status(f, r.run, "done"));
    ebb_apply_result_fini(&r);
}

static void test_delete_leaves_nothing_behind(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_options options = apply_options();
    struct ebb_apply_result r;

    put_file(f, "data/p=1/stray.parquet");
    put_file(f, "data/live.parquet");
    commit_names(f, "data/live.parquet");
    make_plan(f);
    options.delete_for_good = true;
    assert_ok(f, ebb_apply(&f->site, f->plan, &options, &r, &f->err));
    assert_int_equal(r.deleted, 1);
    assert_int_equal(r.moved, 0);
    assert_false(has_file(f, "data/p=1/stray.parquet"));
    assert_true(has_file(f, "data/live.parquet"));
    assert_false(has_file(f, ".ebb-quarantine"));
    ebb_apply_result_fini(&r);
}

static void test_small_batches_do_the_same(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_options options = apply_options();
    struct ebb_apply_result r;
    char name[64];

    for (int i = 0; i < 7; i++) {
        snprintf(name, sizeof name, "data/s%d.parquet", i);
        put_file(f, name);
    }
    make_plan(f);
    options.batch_count = 2;
    assert_ok(f, ebb_apply(&f->site, f->plan, &options, &r, &f->err));
    assert_int_equal(r.moved, 7);
    ebb_apply_result_fini(&r);
}

/* ---- the world changes between plan and apply ---- */

static void test_a_file_that_became_referenced_stays(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_options options = apply_options();
    struct ebb_apply_result r;

    put_file(f, "data/a.parquet");
    put_file(f, "data/b.parquet");
    make_plan(f);
    commit_names(f, "data/a.parquet");
    assert_error(f, ebb_apply(&f->site, f->plan, &options, &r, &f->err), EPARTIAL);
    assert_string_equal(r.status, "partial");
    assert_int_equal(r.moved, 1);
    assert_int_equal(r.skipped.count, 1);
    assert_non_null(strstr(r.skipped.items[0].path, "data/a.parquet"));
    assert_true(has_file(f, "data/a.parquet"));
    assert_false(has_file(f, "data/b.parquet"));
    ebb_apply_result_fini(&r);
}

/* Commits as soon as the file has left its place. */
static void commit_when_moved(struct table_fixture *f)
{
    if (f->hook_state == 0 && !has_file(f, "data/a.parquet")) {
        f->hook_state = 1;
        commit_names(f, "data/a.parquet");
    }
}

static void test_a_file_referenced_while_it_moved_goes_back(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_options options = apply_options();
    struct ebb_apply_result r;

    put_file(f, "data/a.parquet");
    put_file(f, "data/b.parquet");
    put_file(f, "data/c.parquet");
    make_plan(f);
    f->hook = commit_when_moved;
    options.batch_count = 2;
    assert_error(f, ebb_apply(&f->site, f->plan, &options, &r, &f->err), EPARTIAL);
    assert_int_equal(f->hook_state, 1);
    assert_string_equal(r.status, "partial");
    assert_int_equal(r.returned, 1);
    assert_true(holds(f, "data/a.parquet", "data/a.parquet"));
    assert_false(has_file(f, "data/b.parquet"));
    assert_true(has_file(f, "data/c.parquet")); /* the run ended with that batch */
    ebb_apply_result_fini(&r);
}

static void test_delete_waits_for_the_second_look(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_options options = apply_options();
    struct ebb_apply_result r;

    put_file(f, "data/a.parquet");
    make_plan(f);
    f->hook = commit_when_moved;
    options.delete_for_good = true;
    assert_error(f, ebb_apply(&f->site, f->plan, &options, &r, &f->err), EPARTIAL);
    assert_int_equal(r.deleted, 0);
    assert_true(holds(f, "data/a.parquet", "data/a.parquet"));
    ebb_apply_result_fini(&r);
}

/* The table's metadata breaks while a batch is out: nothing is known, so everything of it goes back. */
static void break_when_moved(struct table_fixture *f)
{
    char path[512];

    if (f->hook_state == 0 && !has_file(f, "data/a.parquet")) {
        f->hook_state = 1;
        path_of(f, "metadata/v2.metadata.json", path);
        write_path(path, "{\"format-version\":2,");
        path_of(f, "metadata/version-hint.text", path);
        write_path(path, "2");
    }
}

static void test_doubt_after_the_move_puts_back(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_options options = apply_options();
    struct ebb_apply_result r;
    int rc;

    put_file(f, "data/a.parquet");
    put_file(f, "data/b.parquet");
    make_plan(f);
    f->hook = break_when_moved;
    rc = ebb_apply(&f->site, f->plan, &options, &r, &f->err);
    assert_int_equal(f->hook_state, 1);
    assert_int_equal(rc, -EBB_EMETADATA);
    assert_true(has_file(f, "data/a.parquet"));
    assert_true(has_file(f, "data/b.parquet"));
    assert_int_equal(r.moved, 0);
    assert_int_equal(r.returned, 2);
    ebb_apply_result_fini(&r);
}

/* A later batch's commit that references a file of an earlier batch, which is caught at the end. */
static void commit_when_c_moved(struct table_fixture *f)
{
    if (f->hook_state == 0 && !has_file(f, "data/c.parquet")) {
        f->hook_state = 1;
        commit_names(f, "data/a.parquet");
    }
}

static void test_earlier_batches_are_judged_again(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_options options = apply_options();
    struct ebb_apply_result r;

    put_file(f, "data/a.parquet");
    put_file(f, "data/b.parquet");
    put_file(f, "data/c.parquet");
    make_plan(f);
    f->hook = commit_when_c_moved;
    options.batch_count = 1;
    options.verify = EBB_VERIFY_NONE;
    assert_error(f, ebb_apply(&f->site, f->plan, &options, &r, &f->err), EPARTIAL);
    assert_true(holds(f, "data/a.parquet", "data/a.parquet"));
    assert_int_equal(r.moved, 2);
    assert_int_equal(r.returned, 1);
    ebb_apply_result_fini(&r);
}

static void test_a_changed_file_stays(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_options options = apply_options();
    struct ebb_apply_result r;
    char path[512];

    put_file(f, "data/same.parquet");
    put_file(f, "data/new-content.parquet");
    put_file(f, "data/touched.parquet");
    put_file(f, "data/gone.parquet");
    make_plan(f);
    path_of(f, "data/new-content.parquet", path);
    write_path(path, "xx");
    set_age(path, TEN_DAYS_MS);
    path_of(f, "data/touched.parquet", path);
    assert_int_equal(chmod(path, 0600), 0); /* only the change time tells */
    path_of(f, "data/gone.parquet", path);
    assert_int_equal(unlink(path), 0);
    assert_error(f, ebb_apply(&f->site, f->plan, &options, &r, &f->err), EPARTIAL);
    assert_int_equal(r.moved, 1);
    assert_int_equal(r.already_gone, 1);
    assert_int_equal(r.skipped.count, 2);
    assert_true(holds(f, "data/new-content.parquet", "xx"));
    assert_true(has_file(f, "data/touched.parquet"));
    ebb_apply_result_fini(&r);
}

static void test_another_table_at_the_place_is_refused(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_options options = apply_options();
    struct ebb_apply_result r;

    put_file(f, "data/a.parquet");
    make_plan(f);
    f->version = 0;
    commit_as(f, UUID_B, "");
    assert_error(f, ebb_apply(&f->site, f->plan, &options, &r, &f->err), EPLAN_TABLE);
    assert_true(has_file(f, "data/a.parquet"));
}

static void test_gc_disabled_meanwhile_is_refused(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_options options = apply_options();
    struct ebb_apply_result r;
    char path[512], command[1200];

    put_file(f, "data/a.parquet");
    make_plan(f);
    path_of(f, "metadata/v1.metadata.json", path);
    snprintf(command, sizeof command, "sed -i 's/\"properties\":{}/\"properties\":{\"gc.enabled\":\"false\"}/' %s",
             path);
    assert_int_equal(system(command), 0);
    assert_error(f, ebb_apply(&f->site, f->plan, &options, &r, &f->err), EGC_DISABLED);
    assert_true(has_file(f, "data/a.parquet"));
}

/* ---- the plan's own words ---- */

/* Write the plan anew with its text changed by a sed script, and a right hash. An id of its own makes it a plan that
 * the store does not know: under a known id other content is refused at once. */
static void forge_as(struct table_fixture *f, const char *script, bool keeps_id)
{
    static int count;
    char command[8192], id_script[128] = "";

    if (!keeps_id)
        snprintf(id_script, sizeof id_script, "1s/\"id\":\"p-[^\"]*\"/\"id\":\"p-01F0RGED0000000000000%05d\"/",
                 ++count);
    snprintf(command, sizeof command,
             "cd %s && head -n -1 '%s' | sed -E -e '%s' -e '%s' > body && sum=$(sha256sum < body | cut -c1-64) && "
             "tail -n 1 '%s' | sed -E 's/\"sha256\":\"[0-9a-f]+\"/\"sha256\":\"'$sum'\"/' > tail && "
             "cat body tail > forged.plan",
             f->top, f->plan_path, script, id_script, f->plan_path);
    assert_int_equal(system(command), 0);
    snprintf(f->plan_path, sizeof f->plan_path, "%s/forged.plan", f->top);
}

static void forge(struct table_fixture *f, const char *script)
{
    forge_as(f, script, false);
}

static int apply_file(struct table_fixture *f)
{
    struct ebb_apply_options options = apply_options();
    struct ebb_apply_result r;
    int rc = ebb_apply(&f->site, f->plan_path, &options, &r, &f->err);

    ebb_apply_result_fini(&r);
    return rc;
}

static void test_a_forged_name_outside_is_refused(void **state)
{
    struct table_fixture *f = *state;
    char victim[160];
    static const char *const SCRIPTS[] = {
        "s#(\"path\":\"file:.*)/ns/t/data/a.parquet#\\1/ns/victim#",
        "s#(\"path\":\"file:.*)/ns/t/data/a.parquet#\\1/ns/t/../victim#",
        "s#(\"path\":\"file:.*)/ns/t/data/a.parquet#\\1/ns/t2/a.parquet#",
        "s#(\"path\":\"file:.*/ns/t)/data/a.parquet#\\1#",
        "s#(\"path\":\"file:.*/ns/t)/data/a.parquet#\\1/.ebb-quarantine/lock#",
        "s#(\"path\":\"file:.*/ns/t)/data/a.parquet#\\1/.EBB-quarantine/r-1/a#",
        "s#\"path\":\"file:#\"path\":\"s3:#",
        "s#\"path\":\"file:#\"path\":\"file://host#",
    };
    char original[512];

    snprintf(victim, sizeof victim, "%s/wh/ns/victim", f->top);
    write_path(victim, "v");
    put_file(f, "data/a.parquet");
    make_plan(f);
    snprintf(original, sizeof original, "%s", f->plan_path);
    for (size_t i = 0; i < sizeof SCRIPTS / sizeof SCRIPTS[0]; i++) {
        snprintf(f->plan_path, sizeof f->plan_path, "%s", original);
        forge(f, SCRIPTS[i]);
        assert_error(f, apply_file(f), EOUTSIDE);
        assert_int_equal(access(victim, F_OK), 0);
        assert_true(has_file(f, "data/a.parquet"));
    }
}

static void test_a_forged_scanned_folder_is_refused(void **state)
{
    struct table_fixture *f = *state;

    put_file(f, "data/a.parquet");
    make_plan(f);
    forge(f, "1s#\"location\":\"[^\"]*\",\"scanned\":\"[^\"]*\"#\"location\":\"file:/\",\"scanned\":\"file:/\"#");
    assert_error(f, apply_file(f), EPLAN); /* the protection was made for another folder */
    forge(f, "1s#\"scanned\":null#\"scanned\":\"file:/\"#");
    assert_int_not_equal(apply_file(f), 0);
    assert_true(has_file(f, "data/a.parquet"));
}

static void test_a_file_outside_the_scanned_folder_is_refused(void **state)
{
    struct table_fixture *f = *state;

    put_file(f, "data/a.parquet");
    make_plan(f);
    forge(f, "1s#\"location\":\"([^\"]*)\",\"scanned\":\"[^\"]*\"(.*)\"scanned\":null#"
             "\"location\":\"\\1/metadata\",\"scanned\":\"\\1/metadata\"\\2\"scanned\":\"\\1/metadata\"#");
    assert_error(f, apply_file(f), EOUTSIDE);
    assert_true(has_file(f, "data/a.parquet"));
}

static void test_a_live_file_in_a_forged_plan_stays(void **state)
{
    struct table_fixture *f = *state;

    put_file(f, "data/a.parquet");
    put_file(f, "data/live.parquet");
    commit_names(f, "data/live.parquet");
    make_plan(f);
    forge(f, "s#data/a.parquet#data/live.parquet#");
    assert_error(f, apply_file(f), EPARTIAL);
    assert_true(has_file(f, "data/live.parquet"));
}

static void test_a_young_file_is_refused(void **state)
{
    struct table_fixture *f = *state;

    put_file(f, "data/a.parquet");
    make_plan(f);
    forge(f, "s#\"mtime\":[0-9]+#\"mtime\":1990000000000000000#");
    assert_error(f, apply_file(f), EPLAN);
    forge(f, "s#\"mtime\":[0-9]+#\"mtime\":0#");
    assert_error(f, apply_file(f), EPLAN);
}

static void test_a_cutoff_below_the_floor_is_refused(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_plan_options options;
    struct ebb_plan_result planned;
    struct ebb_apply_options apply = apply_options();
    struct ebb_apply_result r;

    put_file_aged(f, "data/young.parquet", HOUR_MS);
    memset(&planned, 0, sizeof planned);
    ebb_plan_options_init(&options);
    options.older_than = "0d";
    options.max_share = 1;
    f->site.allow_below_floor = true;
    assert_ok(f, ebb_plan_make(&f->site, f->location, &options, &planned, &f->err));
    f->site.allow_below_floor = false;
    assert_error(f, ebb_apply(&f->site, planned.id, &apply, &r, &f->err), ECUTOFF_FLOOR);
    assert_true(has_file(f, "data/young.parquet"));
    f->site.allow_below_floor = true;
    assert_ok(f, ebb_apply(&f->site, planned.id, &apply, &r, &f->err));
    assert_int_equal(r.moved, 1);
    ebb_apply_result_fini(&r);
    ebb_plan_result_fini(&planned);
    ebb_plan_options_fini(&options);
}

static void test_an_old_plan_is_refused(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_options options = apply_options();
    struct ebb_apply_result r;

    put_file(f, "data/a.parquet");
    make_plan(f);
    f->shift_ms = 8 * 24 * HOUR_MS;
    assert_error(f, ebb_apply(&f->site, f->plan, &options, &r, &f->err), EPLAN_STALE);
    f->shift_ms = -HOUR_MS; /* made in the future */
    assert_error(f, ebb_apply(&f->site, f->plan, &options, &r, &f->err), EPLAN_STALE);
    assert_true(has_file(f, "data/a.parquet"));
}

static void test_a_wrong_clock_is_refused(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_options options = apply_options();
    struct ebb_apply_result r;

    put_file(f, "data/a.parquet");
    make_plan(f);
    f->shift_ms = HOUR_MS;
    assert_error(f, ebb_apply(&f->site, f->plan, &options, &r, &f->err), ECLOCK);
    assert_true(has_file(f, "data/a.parquet"));
    f->shift_ms = 0;
    assert_ok(f, ebb_apply(&f->site, f->plan, &options, &r, &f->err)); /* the plan was not used up */
    ebb_apply_result_fini(&r);
}

static void test_a_blown_fuse_holds(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_plan_options options;
    struct ebb_plan_result planned;
    struct ebb_apply_options apply = apply_options();
    struct ebb_apply_result r;

    put_file(f, "data/a.parquet");
    put_file(f, "data/b.parquet");
    memset(&planned, 0, sizeof planned);
    ebb_plan_options_init(&options);
    options.max_files = 1;
    options.max_share = 1;
    assert_ok(f, ebb_plan_make(&f->site, f->location, &options, &planned, &f->err));
    assert_error(f, ebb_apply(&f->site, planned.id, &apply, &r, &f->err), EFUSE);
    assert_ok(f, ebb_strs_add(&apply.overrides, "max_share", &f->err));
    assert_error(f, ebb_apply(&f->site, planned.id, &apply, &r, &f->err), EFUSE);
    assert_ok(f, ebb_strs_add(&apply.overrides, "max_fuss", &f->err));
    assert_error(f, ebb_apply(&f->site, planned.id, &apply, &r, &f->err), EUSAGE);
    ebb_strs_fini(&apply.overrides);
    assert_ok(f, ebb_strs_add(&apply.overrides, "max_files", &f->err));
    assert_ok(f, ebb_apply(&f->site, planned.id, &apply, &r, &f->err));
    assert_int_equal(r.moved, 2);
    ebb_strs_fini(&apply.overrides);
    ebb_apply_result_fini(&r);
    ebb_plan_result_fini(&planned);
    ebb_plan_options_fini(&options);
}

static void test_a_plan_from_a_listing_is_refused(void **state)
{
    struct table_fixture *f = *state;

    put_file(f, "data/a.parquet");
    make_plan(f);
    forge(f, "1s#\"listing\":(\"\"|null)#\"listing\":\"inventory.csv\"#");
    assert_error(f, apply_file(f), EPLAN);
    assert_true(has_file(f, "data/a.parquet"));
}

static void test_another_content_under_a_known_id_is_refused(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_options options = apply_options();
    struct ebb_apply_result r;

    put_file(f, "data/a.parquet");
    make_plan(f);
    assert_ok(f, ebb_apply(&f->site, f->plan, &options, &r, &f->err));
    ebb_apply_result_fini(&r);
    forge_as(f, "s#a.parquet#b.parquet#", true);
    put_file(f, "data/b.parquet");
    assert_int_not_equal(apply_file(f), 0);
    assert_true(has_file(f, "data/b.parquet"));
}

/* Also before it was ever applied. */
static void test_another_content_of_a_fresh_plan_is_refused(void **state)
{
    struct table_fixture *f = *state;

    put_file(f, "data/a.parquet");
    put_file(f, "data/b.parquet");
    make_plan(f);
    forge_as(f, "s#/data/a.parquet#/data/c.parquet#", true);
    assert_error(f, apply_file(f), EPLAN);
    assert_true(has_file(f, "data/a.parquet"));
    assert_true(has_file(f, "data/b.parquet"));
}

/* ---- where files go ---- */

static void test_a_quarantine_elsewhere(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_options options = apply_options();
    struct ebb_apply_result r;
    char folder[128], path[512];

    put_file(f, "data/a.parquet");
    make_plan(f);
    snprintf(folder, sizeof folder, "%s/shelf", f->top);
    options.quarantine = folder;
    assert_error(f, ebb_apply(&f->site, f->plan, &options, &r, &f->err), EUSAGE); /* not there */
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_ok(f, ebb_apply(&f->site, f->plan, &options, &r, &f->err));
    snprintf(path, sizeof path, "%s/%s/data/a.parquet", folder, r.run);
    assert_int_equal(access(path, F_OK), 0);
    assert_false(has_file(f, ".ebb-quarantine"));
    ebb_apply_result_fini(&r);
}

static void test_a_quarantine_in_or_around_the_table_is_refused(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_options options = apply_options();
    struct ebb_apply_result r;
    char inside[160], around[128], link[128];

    put_file(f, "data/a.parquet");
    make_plan(f);
    snprintf(inside, sizeof inside, "%s/data", f->location);
    snprintf(around, sizeof around, "%s/wh", f->top);
    snprintf(link, sizeof link, "%s/link", f->top);
    assert_int_equal(symlink(inside, link), 0);
    options.quarantine = inside;
    assert_error(f, ebb_apply(&f->site, f->plan, &options, &r, &f->err), EUSAGE);
    options.quarantine = around;
    assert_error(f, ebb_apply(&f->site, f->plan, &options, &r, &f->err), EUSAGE);
    options.quarantine = link;
    assert_error(f, ebb_apply(&f->site, f->plan, &options, &r, &f->err), EUSAGE);
    options.quarantine = "/proc"; /* another file system */
    assert_int_not_equal(ebb_apply(&f->site, f->plan, &options, &r, &f->err), 0);
    assert_true(has_file(f, "data/a.parquet"));
}

static void test_the_quarantine_is_never_followed_through_a_link(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_options options = apply_options();
    struct ebb_apply_result r;
    char elsewhere[128], link[512];

    put_file(f, "data/a.parquet");
    make_plan(f);
    snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", f->top);
    assert_int_equal(mkdir(elsewhere, 0700), 0);
    path_of(f, ".ebb-quarantine", link);
    assert_int_equal(symlink(elsewhere, link), 0);
    assert_int_not_equal(ebb_apply(&f->site, f->plan, &options, &r, &f->err), 0);
    assert_true(has_file(f, "data/a.parquet"));
    assert_int_equal(rmdir(elsewhere), 0); /* still empty */
    ebb_apply_result_fini(&r);
}

static void test_a_candidate_with_the_records_name_stays(void **state)
{
    struct table_fixture *f = *state;

    put_file(f, "data/a.parquet");
    make_plan(f);
    put_file(f, "run.jsonl");
    forge(f, "s#/data/a.parquet#/run.jsonl#");
    assert_error(f, apply_file(f), EPARTIAL);
    assert_true(has_file(f, "run.jsonl"));
}

/* ---- stopping ---- */

static void test_cancelled_between_batches(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_options options = apply_options();
    struct ebb_apply_result r;
    atomic_bool cancelled = true;
    char run[40];

    put_file(f, "data/a.parquet");
    make_plan(f);
    f->site.cancelled = &cancelled;
    options.verify = EBB_VERIFY_NONE; /* looking at all files would notice the wish to stop before the run begins */
    assert_error(f, ebb_apply(&f->site, f->plan, &options, &r, &f->err), ECANCELLED);
    assert_true(has_file(f, "data/a.parquet"));
    assert_true(has_status(f, r.run, "interrupted"));
    snprintf(run, sizeof run, "%s", r.run);
    ebb_apply_result_fini(&r);
    f->site.cancelled = NULL;
    assert_ok(f, ebb_resume(&f->site, run, &r, &f->err));
    assert_string_equal(r.status, "done");
    assert_int_equal(r.moved, 1);
    assert_false(has_file(f, "data/a.parquet"));
    ebb_apply_result_fini(&r);
    assert_error(f, ebb_resume(&f->site, run, &r, &f->err), ERUN_STATE);
}

/* Someone takes our lock away after the first batch. */
static void steal_lock(struct table_fixture *f)
{
    char path[512];

    if (f->hook_state == 0 && !has_file(f, "data/a.parquet")) {
        f->hook_state = 1;
        path_of(f, ".ebb-quarantine/lock", path);
        write_path(path, "{\"run\":\"r-other\",\"epoch\":5,\"expires\":99999999999999}\n");
    }
}

static void test_a_lost_lock_stops_the_run(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_options options = apply_options();
    struct ebb_apply_result r;

    put_file(f, "data/a.parquet");
    put_file(f, "data/b.parquet");
    make_plan(f);
    f->hook = steal_lock;
    options.batch_count = 1;
    assert_error(f, ebb_apply(&f->site, f->plan, &options, &r, &f->err), ELOCKED);
    assert_string_equal(r.status, "partial");
    assert_int_equal(r.moved, 1);
    assert_true(has_file(f, "data/b.parquet"));
    assert_true(has_file(f, ".ebb-quarantine/lock")); /* not ours to remove */
    ebb_apply_result_fini(&r);
}

static void test_a_held_lock_refuses(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_options options = apply_options();
    struct ebb_apply_result r;
    char path[512];

    put_file(f, "data/a.parquet");
    make_plan(f);
    path_of(f, ".ebb-quarantine", path);
    assert_int_equal(mkdir(path, 0700), 0);
    path_of(f, ".ebb-quarantine/lock", path);
    write_path(path, "{\"run\":\"r-other\",\"epoch\":5,\"expires\":99999999999999}\n");
    assert_error(f, ebb_apply(&f->site, f->plan, &options, &r, &f->err), ELOCKED);
    assert_true(has_file(f, "data/a.parquet"));
    assert_int_equal(unlink(path), 0);
    assert_ok(f, ebb_apply(&f->site, f->plan, &options, &r, &f->err));
    ebb_apply_result_fini(&r);
}

static void test_a_folder_without_rights_is_reported(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_options options = apply_options();
    struct ebb_apply_result r;
    char path[512];

    if (geteuid() == 0)
        skip();
    put_file(f, "data/shut/a.parquet");
    put_file(f, "data/b.parquet");
    make_plan(f);
    path_of(f, "data/shut", path);
    assert_int_equal(chmod(path, 0500), 0);
    assert_error(f, ebb_apply(&f->site, f->plan, &options, &r, &f->err), EPARTIAL);
    assert_int_equal(r.failed.count, 1);
    assert_int_equal(r.moved, 1);
    assert_true(has_file(f, "data/shut/a.parquet"));
    ebb_apply_result_fini(&r);
}

/* ---- verify ---- */

/* A damaged name in a manifest without checksum: the live file looks like an orphan, the name leads nowhere. */
static void test_a_table_that_misses_files_is_held(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_options options = apply_options();
    struct ebb_apply_result r;

    put_file(f, "data/live.parquet");
    commit_names(f, "data/liVe.parquet");
    make_plan(f);
    assert_error(f, ebb_apply(&f->site, f->plan, &options, &r, &f->err), EFUSE);
    assert_non_null(strstr(f->err.message, "liVe.parquet"));
    assert_true(has_file(f, "data/live.parquet"));
    ebb_apply_result_fini(&r);
    assert_ok(f, ebb_strs_add(&options.overrides, "missing_files", &f->err));
    assert_ok(f, ebb_apply(&f->site, f->plan, &options, &r, &f->err));
    assert_int_equal(r.moved, 1);
    ebb_apply_result_fini(&r);
    ebb_strs_fini(&options.overrides);
}

static void test_verify_finds_what_is_missing(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_options options = apply_options();
    struct ebb_apply_result r;
    struct ebb_verify_result v;

    put_file(f, "data/a.parquet");
    put_file(f, "data/live.parquet");
    commit_names(f, "data/live.parquet");
    assert_ok(f, ebb_verify(&f->site, f->location, &v, &f->err));
    assert_int_equal(v.missing.count, 0);
    assert_true(v.checked >= 3);
    ebb_verify_result_fini(&v);
    make_plan(f);
    assert_ok(f, ebb_apply(&f->site, f->plan, &options, &r, &f->err));
    commit_names(f, "data/live.parquet data/a.parquet data/never.parquet");
    assert_error(f, ebb_verify(&f->site, f->location, &v, &f->err), EVERIFY);
    assert_int_equal(v.missing.count, 1);
    assert_non_null(strstr(v.missing.items[0].path, "never.parquet"));
    assert_int_equal(v.quarantined.count, 1);
    assert_non_null(strstr(v.quarantined.items[0].path, "a.parquet"));
    assert_string_equal(v.quarantined.items[0].why, r.run);
    ebb_verify_result_fini(&v);
    f->site.store = NULL; /* without the state folder the run folders are still found */
    assert_error(f, ebb_verify(&f->site, f->location, &v, &f->err), EVERIFY);
    assert_int_equal(v.quarantined.count, 1);
    f->site.store = f->store;
    ebb_verify_result_fini(&v);
    ebb_apply_result_fini(&r);
}

/* A link that leads to a file is that file; one that leads nowhere is a missing one. */
static void test_verify_looks_behind_links(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_verify_result v;
    char link[512];

    put_file(f, "data/real.parquet");
    path_of(f, "data/alias.parquet", link);
    assert_int_equal(symlink("real.parquet", link), 0);
    commit_names(f, "data/alias.parquet");
    assert_ok(f, ebb_verify(&f->site, f->location, &v, &f->err));
    ebb_verify_result_fini(&v);
    assert_int_equal(unlink(link), 0);
    assert_int_equal(symlink("gone.parquet", link), 0);
    assert_error(f, ebb_verify(&f->site, f->location, &v, &f->err), EVERIFY);
    assert_int_equal(v.missing.count, 1);
    assert_non_null(strstr(v.missing.items[0].path, "alias.parquet"));
    ebb_verify_result_fini(&v);
}

static void test_an_old_log_entry_may_be_missing(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_verify_result v;
    char path[512];

    commit_names(f, "");
    path_of(f, "metadata/v1.metadata.json", path);
    assert_int_equal(unlink(path), 0);
    assert_ok(f, ebb_verify(&f->site, f->location, &v, &f->err));
    assert_int_equal(v.missing.count, 1);
    ebb_verify_result_fini(&v);
}

static void test_the_audit_log_names_each_file(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_options options = apply_options();
    struct ebb_apply_result r;
    char command[512];
    int64_t lines;

    put_file(f, "data/a.parquet");
    make_plan(f);
    assert_ok(f, ebb_apply(&f->site, f->plan, &options, &r, &f->err));
    snprintf(command, sizeof command, "grep -q '\"event\":\"moved\".*%s.*data/a.parquet' %s/audit.jsonl", r.run,
             f->state);
    assert_int_equal(system(command), 0);
    assert_ok(f, ebb_audit_verify(f->state, &lines, &f->err));
    assert_int_equal(lines, 3); /* begun, moved, ended */
    ebb_apply_result_fini(&r);
}

/* A plan remembers the maps it was made with: apply, restore and purge need not be told again. */
static void test_maps_come_from_the_plan(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_options options = apply_options();
    struct ebb_purge_options purge = {0, false};
    struct ebb_purge_result purged;
    struct ebb_restore_result back;
    struct ebb_apply_result r;
    struct ebb_strs maps;
    char text[128], name[512];

    snprintf(f->uri, sizeof f->uri, "file:/nowhere/wh/ns/t");
    f->version = 0;
    put_file(f, "data/a.parquet");
    put_file(f, "data/live.parquet");
    commit_names(f, "data/live.parquet");
    snprintf(text, sizeof text, "file:/nowhere=%s", f->top);
    ebb_strs_init(&maps);
    assert_ok(f, ebb_strs_add(&maps, text, &f->err));
    assert_ok(f, ebb_uri_map_add_text(f->map, text, &f->err));
    f->site.maps = &maps;
    make_plan(f);
    close_site(f);
    open_site(f); /* without maps */
    assert_ok(f, ebb_apply(&f->site, f->plan, &options, &r, &f->err));
    assert_int_equal(r.moved, 1);
    assert_non_null(strstr(r.quarantine, "file:/nowhere/wh/ns/t/.ebb-quarantine/r-"));
    assert_true(has_file(f, in_quarantine(r.run, "data/a.parquet", name)));
    assert_ok(f, ebb_restore(&f->site, r.run, NULL, &back, &f->err));
    assert_true(has_file(f, "data/a.parquet"));
    assert_true(has_file(f, "data/live.parquet"));
    ebb_restore_result_fini(&back);
    memset(&purged, 0, sizeof purged);
    assert_ok(f, ebb_purge(&f->site, NULL, &purge, &purged, &f->err));
    assert_int_equal(purged.runs.count, 1);
    ebb_purge_result_fini(&purged);
    ebb_apply_result_fini(&r);
    ebb_strs_fini(&maps);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, table_setup, table_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_moves_only_what_is_unreferenced),
        TEST(test_a_plan_is_applied_once),
        TEST(test_a_rejected_plan_is_refused),
        TEST(test_an_empty_plan_changes_nothing),
        TEST(test_delete_leaves_nothing_behind),
        TEST(test_small_batches_do_the_same),
        TEST(test_a_file_that_became_referenced_stays),
        TEST(test_a_file_referenced_while_it_moved_goes_back),
        TEST(test_delete_waits_for_the_second_look),
        TEST(test_doubt_after_the_move_puts_back),
        TEST(test_earlier_batches_are_judged_again),
        TEST(test_a_changed_file_stays),
        TEST(test_another_table_at_the_place_is_refused),
        TEST(test_gc_disabled_meanwhile_is_refused),
        TEST(test_a_forged_name_outside_is_refused),
        TEST(test_a_forged_scanned_folder_is_refused),
        TEST(test_a_file_outside_the_scanned_folder_is_refused),
        TEST(test_a_live_file_in_a_forged_plan_stays),
        TEST(test_a_young_file_is_refused),
        TEST(test_a_cutoff_below_the_floor_is_refused),
        TEST(test_an_old_plan_is_refused),
        TEST(test_a_wrong_clock_is_refused),
        TEST(test_a_blown_fuse_holds),
        TEST(test_a_plan_from_a_listing_is_refused),
        TEST(test_another_content_under_a_known_id_is_refused),
        TEST(test_another_content_of_a_fresh_plan_is_refused),
        TEST(test_a_quarantine_elsewhere),
        TEST(test_a_quarantine_in_or_around_the_table_is_refused),
        TEST(test_the_quarantine_is_never_followed_through_a_link),
        TEST(test_a_candidate_with_the_records_name_stays),
        TEST(test_cancelled_between_batches),
        TEST(test_a_lost_lock_stops_the_run),
        TEST(test_a_held_lock_refuses),
        TEST(test_a_folder_without_rights_is_reported),
        TEST(test_a_table_that_misses_files_is_held),
        TEST(test_verify_finds_what_is_missing),
        TEST(test_verify_looks_behind_links),
        TEST(test_an_old_log_entry_may_be_missing),
        TEST(test_the_audit_log_names_each_file),
        TEST(test_maps_come_from_the_plan),
    };

    return cmocka_run_group_tests_name("apply", tests, NULL, NULL);
}
