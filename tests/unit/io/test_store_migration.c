/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sys/stat.h>

#include "io/store_events.h"
#include "io/store_jobs.h"
#include "store_help.h"

/* The store of the release before: a plan that was applied, one that waits, a run, its journal, a decision, a value. */
static void put_old_file(struct fixture *f)
{
    char middle[96], command[512];

    snprintf(middle, sizeof middle, "%s/a", f->root);
    assert_int_equal(mkdir(middle, 0700), 0);
    assert_int_equal(mkdir(f->dir, 0700), 0);
    snprintf(command, sizeof command, "%s/tests/fixtures/store/version-1.db", EBB_SOURCE_DIR);
    copy_file(command, f->file);
}

struct seen {
    struct ebb_buf text;
};

static int note_record(void *data, const struct ebb_record *r, struct ebb_err *err)
{
    struct seen *s = data;

    (void)err;
    ebb_buf_printf(&s->text, "%s %s %s %s %s %lld %lld %s %s\n", r->id, r->table, r->uuid, r->policy, r->status,
                   (long long)r->at_ms, (long long)r->end_ms, r->parent, r->json);
    return 0;
}

static int note_move(void *data, const struct ebb_move *m, struct ebb_err *err)
{
    struct seen *s = data;

    (void)err;
    ebb_buf_printf(&s->text, "%lld %.*s %s %d %s\n", (long long)m->seq, (int)m->path.n, m->path.p, m->id, (int)m->state,
                   m->why);
    return 0;
}

static void check_old_records(struct fixture *f)
{
    static const char RIGHT[] =
        "p-01KB0000000000000000000001 lake.db.t u-1 weekly applied 1760000000000 0 d-01KB0000000000000000000001 "
        "{\"plan\":1}\n"
        "p-01KB0000000000000000000002 lake.db.t u-1  ready 1760000100000 0  {\"plan\":2}\n"
        "r-01KB0000000000000000000001 lake.db.t u-1 weekly done 1760000000500 1760000000900 "
        "p-01KB0000000000000000000001 {\"run\":1}\n"
        "d-01KB0000000000000000000001 lake.db.t u-1 weekly run 1760000000000 0  {\"decision\":1}\n"
        "0 data/a i0 1 \n"
        "1 data/b i1 3 referenced\n";
    struct seen s;

    ebb_buf_init(&s.text, 4096);
    for (int kind = EBB_RECORD_PLAN; kind <= EBB_RECORD_DECISION; kind++)
        assert_int_equal(ebb_store_list(f->store, (enum ebb_record_kind)kind, NULL, note_record, &s, &f->err), 0);
    assert_int_equal(ebb_store_list_moves(f->store, "r-01KB0000000000000000000001", -1, note_move, &s, &f->err), 0);
    assert_string_equal(ebb_buf_cstr(&s.text), RIGHT);
    ebb_buf_fini(&s.text);
}

static void test_version_1_keeps_all(void **state)
{
    struct fixture *f = *state;
    struct ebb_buf value;
    bool found = false;

    put_old_file(f);
    open_store(f);
    check_old_records(f);
    assert_true(ebb_store_seed(f->store) == 0xb357e9cd02c19752u);
    ebb_buf_init(&value, 100);
    assert_int_equal(ebb_store_get_value(f->store, "schedule", "weekly u-1", &value, &found, &f->err), 0);
    assert_true(found);
    assert_string_equal(ebb_buf_cstr(&value), "{\"fired_ms\":1}");
    ebb_buf_fini(&value);
    assert_int_equal(ebb_store_check(f->store, &f->err), 0);
}

static void test_version_1_takes_what_is_new(void **state)
{
    struct fixture *f = *state;
    struct ebb_event event = {0, "s", "e1", "snapshot-added", "lake.db.t", 5, 6, "{}"};
    struct ebb_job_record job = {.kind = "apply", .state = EBB_JOB_QUEUED, .json = "{}"};
    char id[40];
    bool is_new = false;
    size_t fresh = 0;

    put_old_file(f);
    open_store(f);
    ebb_store_new_job_id(f->store, 1760000000000, id);
    job.id = id;
    assert_int_equal(ebb_store_put_job(f->store, &job, &is_new, &f->err), 0);
    assert_true(is_new);
    assert_int_equal(ebb_store_put_events(f->store, &event, 1, NULL, &fresh, &f->err), 0);
    assert_int_equal(fresh, 1);
    ebb_store_close(f->store);
    open_store(f); /* again, now of this version */
    check_old_records(f);
}

static void test_a_check_finds_damage(void **state)
{
    struct fixture *f = *state;
    unsigned char noise[512];
    int fd;

    put_old_file(f);
    open_store(f);
    assert_int_equal(ebb_store_check(f->store, &f->err), 0);
    ebb_store_close(f->store);
    f->store = NULL;
    memset(noise, 0xAA, sizeof noise);
    fd = open(f->file, O_WRONLY);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, noise, sizeof noise, 4 * 4096), sizeof noise); /* the head of a page */
    close(fd);
    open_store(f); /* the stop was clean: nothing is looked for here */
    assert_int_equal(ebb_store_check(f->store, &f->err), -EBB_ESTORE_CORRUPT);
    assert_non_null(strstr(f->err.message, f->file));
    assert_string_not_equal(f->err.hint, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_version_1_keeps_all, setup, teardown),
        cmocka_unit_test_setup_teardown(test_version_1_takes_what_is_new, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_check_finds_damage, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
