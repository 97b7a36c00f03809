/* SPDX-License-Identifier: Apache-2.0
 *
 * A digest over all that a decision depends on but the clock: each part is written with its length, so that no two
 * inputs read the same.
 */
#define OPENSSL_API_COMPAT 10101
#include <openssl/sha.h>
#include <stdio.h>

#include "base/tz.h"
#include "engine/answer_priv.h"
#include "engine/reads.h"

struct digest {
    SHA256_CTX sha;
    const struct ebb_policy *policy;
    const struct ebb_decide_input *input;
    const struct ebb_settings *settings;
    struct ebb_value *events; /* made when the first are asked for */
    bool has_events;
};

static void put(struct digest *d, char kind, const void *bytes, size_t n)
{
    uint64_t length = n;
    unsigned char head[9] = {(unsigned char)kind};

    for (int i = 0; i < 8; i++)
        head[1 + i] = (unsigned char)(length >> (8 * i));
    SHA256_Update(&d->sha, head, sizeof head);
    SHA256_Update(&d->sha, bytes, n);
}

static void put_text(struct digest *d, const char *text)
{
    put(d, text ? 't' : '0', text ? text : "", text ? strlen(text) : 0);
}

static void put_int(struct digest *d, int64_t n)
{
    put(d, 'i', &n, sizeof n);
}

/* Depth is bounded by the tree's, EBB_VALUE_DEPTH_MAX. */
static void put_value(struct digest *d, const struct ebb_value *v)
{
    double real = ebb_value_get_float(v, 0);
    struct ebb_str bytes = ebb_value_get_bytes(v);

    switch (ebb_value_get_kind(v)) {
    case EBB_VALUE_NIL:
        put(d, v ? 'n' : '0', "", 0);
        return;
    case EBB_VALUE_BOOL:
        put(d, ebb_value_get_bool(v, false) ? 'T' : 'F', "", 0);
        return;
    case EBB_VALUE_INT:
        put_int(d, ebb_value_get_int(v, 0));
        return;
    case EBB_VALUE_FLOAT:
        put(d, 'f', &real, sizeof real);
        return;
    case EBB_VALUE_STRING:
        put(d, 't', bytes.p, bytes.n);
        return;
    default:
        break;
    }
    put(d, ebb_value_get_kind(v) == EBB_VALUE_MAP ? 'm' : 'l', "", 0);
    put_int(d, (int64_t)ebb_value_get_count(v));
    for (size_t i = 0; i < ebb_value_get_count(v); i++) {
        struct ebb_str key = ebb_value_get_key(v, i);

        put(d, 'k', key.n ? key.p : "", key.n);
        put_value(d, ebb_value_get_at(v, i));
    }
}

/* The value at the rest of a path below v; where it ends early counts too. */
static void put_below(struct digest *d, const struct ebb_value *v, const char *path)
{
    struct ebb_buf name;
    int64_t depth = 0;

    ebb_buf_init(&name, (size_t)64 * 1024);
    while (v && ebb_reads_next_name(&path, &name)) {
        const struct ebb_value *next = ebb_value_getn(v, ebb_buf_cstr(&name), name.len);

        if (!next && !strcmp(ebb_buf_cstr(&name), "age"))
            next = ebb_value_get(v, "at");
        v = next;
        depth++;
    }
    put_int(d, depth);
    put_value(d, v);
    ebb_buf_fini(&name);
}

static int put_events(struct digest *d, const char *call, struct ebb_err *err)
{
    size_t n = strlen(call);
    struct ebb_str type = {call, n && call[n - 1] == ')' ? n - 1 : n};
    int rc = 0;

    if (!d->has_events)
        rc = ebb__events_make(d->input, !ebb_settings_get_guard(d->settings)->ignore_own, &d->events, err);
    d->has_events = !rc;
    put(d, d->events ? 'l' : '0', "", 0);
    for (size_t i = 0; i < ebb_value_get_count(d->events); i++) {
        const struct ebb_value *event = ebb_value_get_at(d->events, i);

        if (ebb_str_is_equal(ebb_value_get_bytes(ebb_value_get(event, "type")), type))
            put_value(d, event);
    }
    return rc;
}

static void put_history(struct digest *d, const char *path)
{
    static const struct {
        const char *name;
        bool success_only;
    } LAST[] = {{".last_success", true}, {".last", false}};

    for (size_t i = 0; i < 2; i++) {
        size_t n = strlen(LAST[i].name);

        if (!strncmp(path, LAST[i].name, n) && (!path[n] || path[n] == '.' || path[n] == '[')) {
            put_below(d, ebb__runs_last(d->input, LAST[i].success_only), path + n);
            return;
        }
    }
    if (!strcmp(path, ".failed_in_a_row"))
        put_int(d, ebb__runs_failed_in_a_row(d->input));
    else
        put_value(d, ebb_value_get(d->input->facts, "runs"));
}

static const char *after(const char *path, const char *prefix)
{
    size_t n = strlen(prefix);

    return strncmp(path, prefix, n) ? NULL : path + n;
}

/* Parameters are in it anyway, and the clock is left out. */
static int put_path(struct digest *d, const char *path, struct ebb_err *err)
{
    const struct ebb_value *facts = d->input->facts;
    const char *rest;

    put_text(d, path);
    if ((rest = after(path, "ctx.events(")))
        return put_events(d, rest, err);
    if ((rest = after(path, "ctx.runs")))
        put_history(d, rest);
    else if ((rest = after(path, "ctx.trigger")))
        put_below(d, d->input->trigger, rest);
    else if ((rest = after(path, "ctx.fleet")))
        put_below(d, ebb_value_get(facts, "fleet"), rest);
    else if ((rest = after(path, "t")) && (!*rest || *rest == '.' || *rest == '['))
        put_below(d, ebb_value_get(facts, "table"), rest);
    else if (!strcmp(path, "*") || !strcmp(path, "ctx")) {
        put_value(d, facts);
        put_value(d, d->input->trigger);
    }
    return 0;
}

/* Only where it makes intervals longer. */
static void put_idle(struct digest *d)
{
    struct ebb_interval interval;

    ebb_guard_interval(ebb_settings_get_guard(d->settings), d->input->facts, &interval);
    if (interval.doubled)
        put(d, 'x', &interval.runs, sizeof interval.runs);
}

/* What the guards go by. */
static void put_guards(struct digest *d)
{
    const struct ebb_decide_input *in = d->input;
    const struct ebb_value *facts = in->facts, *t = ebb_value_get(facts, "table");
    const struct ebb_value *last = ebb__runs_last(in, false);
    const char *kind = ebb_value_text_of(in->trigger, "kind");
    struct ebb__guards g = {.count = 0};

    put_int(d, ebb__guard_target(&g, d->policy, in));
    put_int(d, in->mode);
    put_int(d, (in->allow_below_floor ? 1 : 0) + (in->allow_override_quiet ? 2 : 0));
    put_int(d, !in->trigger || (kind && !strcmp(kind, "manual")));
    put_int(d, in->active_since_ms);
    put_int(d, in->revised_ms);
    put_value(d, ebb_value_get(t, "location"));
    put_value(d, ebb_value_get(facts, "flags"));
    put_value(d, ebb_value_get(facts, "fleet"));
    put_value(d, in->blackouts);
    put_value(d, d->settings->site);
    put_int(d, ebb__runs_is_known(in));
    put_value(d, last);
    put_value(d, ebb__runs_last(in, true)); /* events are counted since then, too */
    put_int(d, ebb__runs_failed_in_a_row(in));
    put_int(d, ebb__runs_is_running(in));
    put_idle(d);
}

static int put_all(struct digest *d, const struct ebb_strs *paths, struct ebb_err *err)
{
    char tzdata[16];
    int rc = 0;

    ebb_tz_version(tzdata);
    put_text(d, ebb_policy_get_bundle(d->policy));
    put_text(d, EBB_VERSION);
    put_text(d, tzdata);
    put_value(d, ebb_settings_get_params(d->settings));
    put_guards(d);
    for (size_t i = 0; i < paths->count && !rc; i++)
        rc = put_path(d, paths->items[i], err);
    return rc;
}

int ebb__digest_make(const struct ebb_policy *policy, const struct ebb_decide_input *input,
                     const struct ebb_strs *paths, char out[80], struct ebb_err *err)
{
    struct digest d = {.policy = policy, .input = input, .settings = input->settings};
    unsigned char sum[SHA256_DIGEST_LENGTH];
    struct ebb_settings *own = NULL;
    int rc = 0;

    if (!input->settings)
        rc = ebb__settings_of(policy, input, &own, err);
    d.settings = own ? own : input->settings;
    SHA256_Init(&d.sha);
    if (!rc)
        rc = put_all(&d, paths, err);
    SHA256_Final(sum, &d.sha);
    memcpy(out, "sha256:", 8);
    for (size_t i = 0; i < sizeof sum; i++)
        snprintf(out + 7 + 2 * i, 3, "%02x", sum[i]);
    ebb_value_free(d.events);
    ebb_settings_free(own);
    return rc;
}
