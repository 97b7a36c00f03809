/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "store_help.h"

struct seen {
    char text[256];
    int stop_at;
};

static int on_run(void *data, const struct ebb_run_head *run, struct ebb_err *err)
{
    struct seen *s = data;
    size_t n = strlen(s->text);

    snprintf(s->text + n, sizeof s->text - n, "%s %s %lld %lld%s;", run->id, run->status, (long long)run->at_ms,
             (long long)run->end_ms, run->json ? run->json : "");
    return s->stop_at && --s->stop_at == 0 ? ebb_err_set(err, EBB_ECANCELLED, "stop") : 0;
}

static void put(struct fixture *f, enum ebb_record_kind kind, const char *id, const char *uuid, const char *policy,
                int64_t at_ms)
{
    struct ebb_record r = {id, "lake.db.t", uuid, policy, "done", at_ms, at_ms + 1, "", "{}"};

    assert_int_equal(ebb_store_put(f->store, kind, &r, &f->err), 0);
}

static const char *list(struct fixture *f, const char *policy, const char *uuid, int64_t limit, struct seen *s)
{
    memset(s, 0, sizeof *s);
    assert_int_equal(ebb_store_list_runs(f->store, policy, uuid, limit, false, on_run, s, &f->err), 0);
    return s->text;
}

static void test_the_latest_runs(void **state)
{
    struct fixture *f = *state;
    struct seen s;

    open_store(f);
    assert_string_equal(list(f, "p", "u-1", 10, &s), "");
    put(f, EBB_RECORD_RUN, "r-1", "u-1", "p", 5);
    put(f, EBB_RECORD_RUN, "r-3", "u-1", "p", 7);
    put(f, EBB_RECORD_RUN, "r-2", "u-1", "p", 7);
    put(f, EBB_RECORD_RUN, "r-4", "u-1", "other", 8);
    put(f, EBB_RECORD_RUN, "r-5", "u-2", "p", 8);
    put(f, EBB_RECORD_DECISION, "d-1", "u-1", "p", 9);
    assert_string_equal(list(f, "p", "u-1", 10, &s), "r-3 done 7 8;r-2 done 7 8;r-1 done 5 6;");
    assert_string_equal(list(f, "p", "u-1", 2, &s), "r-3 done 7 8;r-2 done 7 8;");
    assert_string_equal(list(f, "", "u-1", 2, &s), "");
    memset(&s, 0, sizeof s);
    s.stop_at = 1;
    assert_int_equal(ebb_store_list_runs(f->store, "p", "u-1", 10, false, on_run, &s, &f->err), -(int)EBB_ECANCELLED);
    assert_string_equal(list(f, "other", "u-1", 2, &s), "r-4 done 8 9;"); /* and the statement is free again */
    memset(&s, 0, sizeof s);
    assert_int_equal(ebb_store_list_runs(f->store, "other", "u-1", 2, true, on_run, &s, &f->err), 0);
    assert_string_equal(s.text, "r-4 done 8 9{};");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_latest_runs, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
