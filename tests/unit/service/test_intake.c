/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "service/events.h"

struct world {
    char root[64], dir[96];
    uv_loop_t loop;
    struct ebb_intake *intake;
    int done, failed, fresh;
    int closed;
    struct ebb_buf tables;
    struct ebb_err err;
};

static void arrived(void *data, const struct ebb_strs *tables)
{
    struct world *w = data;

    for (size_t i = 0; i < tables->count; i++)
        ebb_buf_printf(&w->tables, "%s ", tables->items[i]);
}

static int setup(void **state)
{
    struct world *w = calloc(1, sizeof *w);

    if (!w)
        return -1;
    strncpy(w->root, "/tmp/ebb-intake-XXXXXX", sizeof w->root - 1);
    if (!mkdtemp(w->root) || uv_loop_init(&w->loop))
        return -1;
    snprintf(w->dir, sizeof w->dir, "%s/state", w->root);
    ebb_buf_init(&w->tables, 1 << 20);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    pid_t pid;

    assert_int_equal(uv_loop_close(&w->loop), 0); /* no handle is open */
    ebb_buf_fini(&w->tables);
    pid = fork();
    if (pid == 0) {
        execlp("rm", "rm", "-rf", "--", w->root, (char *)NULL);
        _exit(127);
    }
    waitpid(pid, NULL, 0);
    free(w);
    return 0;
}

static void open_intake(struct world *w, size_t waiting_max)
{
    struct ebb_intake_options o = {.state_dir = w->dir, .waiting_max = waiting_max, .arrived = arrived, .data = w};

    assert_int_equal(ebb_intake_new(&w->loop, &o, &w->intake, &w->err), 0);
}

static void done(void *data, size_t fresh, const struct ebb_err *err)
{
    struct world *w = data;

    w->done++;
    w->failed += err->error != EBB_OK;
    w->fresh += (int)fresh;
    if (err->error)
        w->err = *err;
}

static void closed(void *data)
{
    ((struct world *)data)->closed++;
}

/* `count` events with numbers from `from` on, of tables lake.db.t0 to t2. */
static int put(struct world *w, int from, int count)
{
    struct ebb_event_list list;
    struct ebb_buf body;
    int rc;

    ebb_buf_init(&body, 4 << 20);
    ebb_buf_putc(&body, '[');
    for (int i = from; i < from + count; i++)
        ebb_buf_printf(&body, "%s{\"source\":\"s\",\"id\":\"%d\",\"type\":\"x\",\"table\":\"lake.db.t%d\"}",
                       i > from ? "," : "", i, i % 3);
    ebb_buf_putc(&body, ']');
    rc = ebb_events_parse("application/json", NULL, NULL, ebb_buf_str(&body), 1790000000000, &list, &w->err);
    assert_int_equal(rc, 0);
    ebb_buf_fini(&body);
    return ebb_intake_put(w->intake, &list, done, w, &w->err);
}

static int count_event(void *data, const struct ebb_event *e, struct ebb_err *err)
{
    (void)e;
    (void)err;
    ++*(int *)data;
    return 0;
}

static int stored(struct world *w)
{
    struct ebb_store *store;
    int n = 0;

    assert_int_equal(ebb_store_open(w->dir, &store, &w->err), 0);
    assert_int_equal(ebb_store_list_events(store, NULL, count_event, &n, &w->err), 0);
    ebb_store_close(store);
    return n;
}

static void finish(struct world *w)
{
    ebb_intake_close(w->intake, closed, w);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(w->closed, 1);
}

static void test_all_are_durable_when_answered(void **state)
{
    struct world *w = *state;

    open_intake(w, 0);
    assert_int_equal(put(w, 0, 2), 0);
    assert_int_equal(w->done, 0); /* never from inside */
    while (w->done < 1)
        uv_run(&w->loop, UV_RUN_ONCE);
    assert_int_equal(stored(w), 2);
    assert_int_equal(w->fresh, 2);
    assert_string_equal(ebb_buf_cstr(&w->tables), "lake.db.t0 lake.db.t1 ");
    finish(w);
}

static void test_what_waits_is_written_before_the_end(void **state)
{
    struct world *w = *state;

    open_intake(w, 0);
    for (int i = 0; i < 200; i++)
        assert_int_equal(put(w, 10 * i, 15), 0); /* a third of them twice */
    finish(w);
    assert_int_equal(w->done, 200);
    assert_int_equal(w->failed, 0);
    assert_int_equal(w->fresh, 2005);
    assert_int_equal(stored(w), 2005);
}

static void test_a_full_queue_refuses(void **state)
{
    struct world *w = *state;

    open_intake(w, 100);
    assert_int_equal(put(w, 0, 60), 0);
    assert_int_equal(ebb_intake_waiting(w->intake), 60);
    assert_int_equal(put(w, 100, 60), -EBB_ELIMIT);
    assert_true(w->err.retryable);
    assert_int_equal(put(w, 60, 40), 0);
    while (w->done < 2)
        uv_run(&w->loop, UV_RUN_ONCE);
    assert_int_equal(ebb_intake_waiting(w->intake), 0);
    assert_int_equal(put(w, 200, 500), 0); /* more than the bound, but nobody else waits */
    finish(w);
    assert_int_equal(w->done, 3); /* none for what was refused */
    assert_int_equal(stored(w), 600);
}

static void test_after_the_end_nothing_is_taken(void **state)
{
    struct world *w = *state;

    open_intake(w, 0);
    assert_int_equal(put(w, 0, 5), 0);
    ebb_intake_close(w->intake, closed, w);
    assert_int_equal(put(w, 5, 5), -EBB_ECANCELLED);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(w->closed, 1);
    assert_int_equal(w->done, 1);
    assert_int_equal(stored(w), 5);
}

static void test_a_store_that_cannot_be_opened_is_told(void **state)
{
    struct world *w = *state;
    FILE *file = fopen(w->dir, "w"); /* a file where the folder should be */

    assert_non_null(file);
    fclose(file);
    open_intake(w, 0);
    assert_int_equal(put(w, 0, 5), 0);
    finish(w);
    assert_int_equal(w->done, 1);
    assert_int_equal(w->failed, 1);
    assert_int_equal(w->fresh, 0);
    assert_non_null(strstr(w->err.message, w->dir));
    assert_string_equal(ebb_buf_cstr(&w->tables), "");
}

static void test_nothing_at_all(void **state)
{
    struct world *w = *state;

    open_intake(w, 0);
    assert_int_equal(put(w, 0, 0), 0);
    finish(w);
    assert_int_equal(w->done, 1);
    ebb_intake_close(NULL, closed, w);
    assert_int_equal(w->closed, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_all_are_durable_when_answered, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_waits_is_written_before_the_end, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_full_queue_refuses, setup, teardown),
        cmocka_unit_test_setup_teardown(test_after_the_end_nothing_is_taken, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_store_that_cannot_be_opened_is_told, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nothing_at_all, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
