/* SPDX-License-Identifier: Apache-2.0
 *
 * For the tests of sessions: one table, one policy, and what was decided as lines of text.
 */
#ifndef EBB_TESTS_SESSION_HELP_H
#define EBB_TESTS_SESSION_HELP_H

#include "../engine/engine_help.h"

#include "base/time.h"
#include "service/session.h"

#define HOUR ((int64_t)3600000)
#define MINUTE ((int64_t)60000)
#define RUN "return run(all {}, action.remove_orphan_files { older_than = ctx.now - 3 * 86400000 })"
/* A table in UTC without history. */
#define TABLE                                                                                                          \
    "{\"table\":{\"catalog\":\"prod\",\"namespace\":\"db\",\"name\":\"t\",\"uuid\":"                                   \
    "\"11111111-2222-4333-8444-555555555555\",\"location\":\"s3://lake/prod/db/t\",\"properties\":{},"                 \
    "\"stats\":{\"snapshots\":0,\"data_files\":10,\"bytes\":1000}},\"events\":[]}"

struct story {
    struct ebb_session *session;
    struct ebb_policy *policy;
    struct ebb_err err;
    char said[16384]; /* "2026-03-29T00:10:00Z defer until 2026-04-01T00:00:00Z by policy\n" … */
    size_t count;
};

static inline int64_t instant(const char *text)
{
    int64_t ms = 0;

    if (ebb_time_parse(text, NULL, &ms, NULL))
        fail_msg("%s: no instant", text);
    return ms;
}

static inline void say_time(struct ebb_buf *b, int64_t ms)
{
    ebb_time_iso(b, ms);
}

static inline void on_decided(void *data, const struct ebb_session_decision *d)
{
    struct story *s = data;
    struct ebb_buf b;

    ebb_buf_init(&b, 4096);
    say_time(&b, d->at_ms);
    if (d->due)
        ebb_buf_printf(&b, " %s", d->due->kind);
    if (d->due && d->due->missed)
        ebb_buf_printf(&b, " missed %lld", (long long)d->due->missed);
    if (d->decision) {
        ebb_buf_printf(&b, " %s", ebb_verdict_name(ebb_decision_get_verdict(d->decision)));
        if (ebb_decision_get_verdict(d->decision) == EBB_VERDICT_DEFER) {
            if (ebb_decision_get_until_ms(d->decision)) {
                ebb_buf_puts(&b, " until ");
                say_time(&b, ebb_decision_get_until_ms(d->decision));
            }
            ebb_buf_printf(&b, " by %s", ebb_decision_get_by(d->decision));
        }
    }
    if (d->dropped)
        ebb_buf_printf(&b, " dropped %s", d->dropped);
    if (d->error)
        ebb_buf_printf(&b, " error %s", ebb_error_code(d->error->error));
    ebb_buf_putc(&b, '\n');
    assert_true(strlen(s->said) + b.len < sizeof s->said);
    memcpy(s->said + strlen(s->said), ebb_buf_cstr(&b), b.len + 1);
    s->count++;
    ebb_buf_fini(&b);
}

static inline void must(struct story *s, int rc)
{
    if (rc)
        fail_msg("%s", s->err.message);
}

static inline void open_story(struct story *s, struct ebb_policy *policy, const char *facts, enum ebb_mode mode,
                              const char *now, bool ends_at_once)
{
    struct ebb_session_options options = {.now_ms = instant(now), .ends_at_once = ends_at_once, .decided = on_decided};
    struct ebb_session_binding binding = {.mode = mode};
    struct ebb_value *v = help_json(facts);

    memset(s, 0, sizeof *s);
    options.data = s;
    s->policy = policy;
    must(s, ebb_session_new(&options, &s->session, &s->err));
    must(s, ebb_session_add_table(s->session, v, NULL, &s->err));
    must(s, ebb_session_bind(s->session, policy, &binding, &s->err));
    ebb_value_free(v);
}

/* The same with a policy given by its lines before decide, and the body of decide; observed. */
static inline void tell_story(struct story *s, const char *lines, const char *body, const char *now)
{
    open_story(s, help_policy(lines, body), TABLE, EBB_MODE_OBSERVE, now, false);
}

static inline void close_story(struct story *s)
{
    ebb_session_free(s->session);
    ebb_policy_free(s->policy);
}

static inline void step(struct story *s, int64_t ms)
{
    must(s, ebb_session_step(s->session, ms, &s->err));
}

static inline void event(struct story *s, const char *json)
{
    struct ebb_value *v = help_json(json);

    must(s, ebb_session_event(s->session, 0, v, NULL, &s->err));
    ebb_value_free(v);
}

static inline void set(struct story *s, const char *path, const char *json)
{
    struct ebb_value *box = help_json(json);

    must(s, ebb_session_set(s->session, 0, path, box, "v", &s->err));
    ebb_value_free(box);
}

/* What was decided since the last look. */
static inline void check_said(struct story *s, const char *want)
{
    assert_string_equal(s->said, want);
    s->said[0] = '\0';
    s->count = 0;
}

#endif
