/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "service/hub.h"

#define THREADS 4
#define EACH 2000

struct fixture {
    uv_loop_t loop;
    struct ebb_hub *hub;
    struct ebb_err err;
    int notes[EBB_NOTE_STORE + 1];
    int next[THREADS]; /* number that the next note of each thread must have */
    char last[64];
    bool is_closed;
};
struct heard {
    struct fixture *f;
    struct ebb_hub_listener *listener;
    int64_t first, last;
    int count;
    int stop_at;    /* unlisten at this one, 0 never */
    int publish_at; /* publish at this one, 0 never */
    char type[32], json[64];
};

static void noted(void *data, enum ebb_note note, const char *text)
{
    struct fixture *f = data;
    int thread, number;

    f->notes[note]++;
    snprintf(f->last, sizeof f->last, "%s", text ? text : "(none)");
    if (text && sscanf(text, "t%d-%d", &thread, &number) == 2) {
        assert_in_range(thread, 0, THREADS - 1);
        assert_int_equal(number, f->next[thread]);
        f->next[thread]++;
    }
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    assert_int_equal(uv_loop_init(&f->loop), 0);
    assert_int_equal(ebb_hub_new(&f->loop, noted, f, &f->hub, &f->err), 0);
    *state = f;
    return 0;
}

static void closed(void *data)
{
    ((struct fixture *)data)->is_closed = true;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    ebb_hub_close(f->hub, closed, f);
    uv_run(&f->loop, UV_RUN_DEFAULT);
    assert_true(f->is_closed);
    assert_int_equal(uv_loop_close(&f->loop), 0);
    free(f);
    return 0;
}

/* One thing at least is waiting. */
static void turn(struct fixture *f)
{
    uv_run(&f->loop, UV_RUN_ONCE);
}

static void told(void *data, int64_t id, const char *type, const char *json)
{
    struct heard *h = data;

    if (!h->count)
        h->first = id;
    else
        assert_true(id > h->last);
    h->last = id;
    h->count++;
    snprintf(h->type, sizeof h->type, "%s", type);
    snprintf(h->json, sizeof h->json, "%s", json);
    if (h->count == h->publish_at)
        ebb_hub_publish(h->f->hub, "job", "{\"again\":true}");
    if (h->count == h->stop_at)
        ebb_hub_unlisten(h->f->hub, h->listener);
}

static void listen_from(struct heard *h, int64_t after)
{
    assert_int_equal(ebb_hub_listen(h->f->hub, after, told, h, &h->listener, &h->f->err), 0);
}

static void publish_many(struct fixture *f, int count)
{
    char json[64];

    for (int i = 0; i < count; i++) {
        snprintf(json, sizeof json, "{\"n\":%d}", i);
        ebb_hub_publish(f->hub, "progress", json);
    }
}

static void test_notes_in_order(void **state)
{
    struct fixture *f = *state;

    ebb_hub_post(f->hub, EBB_NOTE_JOBS, NULL);
    ebb_hub_post(f->hub, EBB_NOTE_CANCEL, "job-1");
    ebb_hub_post(f->hub, EBB_NOTE_PAUSE, "policy x");
    ebb_hub_post(f->hub, EBB_NOTE_RESUME, "");
    assert_int_equal(f->notes[EBB_NOTE_JOBS], 0);
    turn(f);
    assert_int_equal(f->notes[EBB_NOTE_JOBS], 1);
    assert_int_equal(f->notes[EBB_NOTE_CANCEL], 1);
    assert_int_equal(f->notes[EBB_NOTE_PAUSE], 1);
    assert_string_equal(f->last, "");
}

struct poster {
    struct fixture *f;
    int number;
};

static void post_many(void *data)
{
    struct poster *p = data;
    struct ebb_buf status;
    char text[64];

    ebb_buf_init(&status, 100);
    for (int i = 0; i < EACH; i++) {
        snprintf(text, sizeof text, "t%d-%d", p->number, i);
        ebb_hub_post(p->f->hub, EBB_NOTE_LOOK, text);
        ebb_hub_publish(p->f->hub, "job", text);
        ebb_hub_set_status(p->f->hub, text);
        ebb_buf_reset(&status);
        assert_int_equal(ebb_hub_get_status(p->f->hub, &status, NULL), 0);
        assert_int_equal(*ebb_buf_cstr(&status), 't');
    }
    ebb_buf_fini(&status);
}

static void test_threads(void **state)
{
    struct fixture *f = *state;
    struct heard h = {.f = f};
    struct poster posters[THREADS];
    uv_thread_t threads[THREADS];

    listen_from(&h, -1);
    for (int i = 0; i < THREADS; i++) {
        posters[i] = (struct poster){f, i};
        assert_int_equal(uv_thread_create(&threads[i], post_many, &posters[i]), 0);
    }
    while (f->notes[EBB_NOTE_LOOK] < THREADS * EACH)
        turn(f);
    for (int i = 0; i < THREADS; i++) {
        uv_thread_join(&threads[i]);
        assert_int_equal(f->next[i], EACH);
    }
    uv_run(&f->loop, UV_RUN_NOWAIT);
    assert_in_range(h.count, 1000, THREADS * EACH);
    assert_string_equal(h.type, "job");
    ebb_hub_unlisten(f->hub, h.listener);
}

static void test_news(void **state)
{
    struct fixture *f = *state;
    struct heard a = {.f = f}, b = {.f = f}, late = {.f = f}, never = {.f = f};

    listen_from(&a, -1);
    listen_from(&b, -1);
    ebb_hub_publish(f->hub, "job", "{\"id\":\"job-1\"}");
    assert_int_equal(a.count, 0);
    turn(f);
    assert_int_equal(a.count, 1);
    assert_int_equal(b.count, 1);
    assert_string_equal(a.type, "job");
    assert_string_equal(a.json, "{\"id\":\"job-1\"}");
    assert_int_equal(a.first, b.first);
    ebb_hub_unlisten(f->hub, b.listener);
    ebb_hub_publish(f->hub, "clock", "{}");
    listen_from(&late, a.first);
    assert_int_equal(late.count, 1); /* at once */
    listen_from(&never, -1);
    turn(f);
    assert_int_equal(a.count, 2);
    assert_int_equal(b.count, 1);
    assert_int_equal(late.count, 1);
    assert_int_equal(never.count, 0);
}

/* An id from before a restart is smaller than all, one from nowhere greater. */
static void test_news_of_the_past_and_future(void **state)
{
    struct fixture *f = *state;
    struct heard past = {.f = f}, future = {.f = f};

    publish_many(f, 3);
    listen_from(&past, 17);
    assert_int_equal(past.count, 3);
    listen_from(&future, INT64_MAX);
    publish_many(f, 1);
    turn(f);
    assert_int_equal(past.count, 4);
    assert_int_equal(future.count, 1);
}

static void test_ids_rise_over_restarts(void **state)
{
    struct fixture *f = *state, again = {0};
    struct heard before = {.f = f}, after = {.f = &again};
    int64_t started = (int64_t)uv_hrtime();

    publish_many(f, 1000);
    listen_from(&before, 0);
    while ((int64_t)uv_hrtime() - started < 2000000) /* faster than a program starts: numbers are microseconds */
        ;
    assert_int_equal(uv_loop_init(&again.loop), 0);
    assert_int_equal(ebb_hub_new(&again.loop, noted, &again, &again.hub, &again.err), 0);
    publish_many(&again, 1);
    listen_from(&after, 0);
    assert_true(after.first > before.last);
    assert_true(after.first < INT64_C(1) << 53);
    ebb_hub_close(again.hub, closed, &again);
    uv_run(&again.loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&again.loop), 0);
}

static void test_the_last_thousand_are_kept(void **state)
{
    struct fixture *f = *state;
    struct heard all = {.f = f}, some = {.f = f};

    publish_many(f, 2500);
    listen_from(&all, 0);
    assert_int_equal(all.count, 1000);
    assert_string_equal(all.json, "{\"n\":2499}");
    listen_from(&some, all.last - 10);
    assert_int_equal(some.count, 10);
}

static void test_memory_is_bounded(void **state)
{
    struct fixture *f = *state;
    struct heard all = {.f = f};
    char *big = malloc(100001);

    memset(big, 'x', 100000);
    big[100000] = '\0';
    for (int i = 0; i < 500; i++)
        ebb_hub_publish(f->hub, "event", big);
    listen_from(&all, 0);
    assert_in_range(all.count, 70, 84); /* 8 MiB */
    free(big);
}

static void test_listeners_that_change_things(void **state)
{
    struct fixture *f = *state;
    struct heard a = {.f = f, .stop_at = 2}, b = {.f = f, .publish_at = 1}, c = {.f = f, .stop_at = 1};

    listen_from(&a, -1);
    listen_from(&b, -1);
    publish_many(f, 3);
    listen_from(&c, 0); /* goes while it is told of the past */
    assert_int_equal(c.count, 1);
    turn(f);
    assert_int_equal(a.count, 2);
    assert_int_equal(b.count, 3);
    turn(f);
    assert_int_equal(a.count, 2);
    assert_int_equal(b.count, 4);
    assert_string_equal(b.json, "{\"again\":true}");
}

static void test_status(void **state)
{
    struct fixture *f = *state;
    struct ebb_buf b;

    ebb_buf_init(&b, 20);
    assert_int_equal(ebb_hub_get_status(f->hub, &b, &f->err), 0);
    assert_string_equal(ebb_buf_cstr(&b), "{}");
    ebb_buf_reset(&b);
    ebb_hub_set_status(f->hub, "{\"a\":1}");
    assert_int_equal(ebb_hub_get_status(f->hub, &b, &f->err), 0);
    assert_string_equal(ebb_buf_cstr(&b), "{\"a\":1}");
    ebb_hub_set_status(f->hub, "{\"a\":\"longer than the buffer\"}");
    assert_int_equal(ebb_hub_get_status(f->hub, &b, &f->err), -EBB_ELIMIT);
    ebb_buf_fini(&b);
}

/* Closed with notes, news and listeners that nobody took care of: nothing is told, nothing leaks. */
static void test_close_with_things_waiting(void **state)
{
    struct fixture *f = *state, other = {0};
    struct heard h = {.f = &other};

    (void)f;
    assert_int_equal(uv_loop_init(&other.loop), 0);
    assert_int_equal(ebb_hub_new(&other.loop, noted, &other, &other.hub, &other.err), 0);
    listen_from(&h, -1);
    ebb_hub_post(other.hub, EBB_NOTE_JOBS, "job-1");
    publish_many(&other, 5);
    ebb_hub_close(other.hub, NULL, NULL);
    uv_run(&other.loop, UV_RUN_DEFAULT);
    assert_int_equal(other.notes[EBB_NOTE_JOBS], 0);
    assert_int_equal(h.count, 0);
    assert_int_equal(uv_loop_close(&other.loop), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_notes_in_order, setup, teardown),
        cmocka_unit_test_setup_teardown(test_threads, setup, teardown),
        cmocka_unit_test_setup_teardown(test_news, setup, teardown),
        cmocka_unit_test_setup_teardown(test_news_of_the_past_and_future, setup, teardown),
        cmocka_unit_test_setup_teardown(test_ids_rise_over_restarts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_the_last_thousand_are_kept, setup, teardown),
        cmocka_unit_test_setup_teardown(test_memory_is_bounded, setup, teardown),
        cmocka_unit_test_setup_teardown(test_listeners_that_change_things, setup, teardown),
        cmocka_unit_test_setup_teardown(test_status, setup, teardown),
        cmocka_unit_test_setup_teardown(test_close_with_things_waiting, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
