/* SPDX-License-Identifier: Apache-2.0
 *
 * Questions: what comes next, why not now, what would be. Nothing is recorded or done.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/time.h"
#include "engine/whynot.h"
#include "service/api_priv.h"
#include "service/preview.h"
#include "service/session.h"
#include "service/simulate.h"

#define FIRES_MAX 1000
#define LINES_MAX 10000
#define AHEAD_MAX_MS ((int64_t)31 * 24 * 3600 * 1000)
#define SIMULATE_MS 20000

/* By name, of the active generation; never a file. */
static int find_policy(const struct ebb_api_call *call, const char *name, const struct ebb_policy **out,
                       struct ebb_err *err)
{
    *out = ebb_generation_find(call->generation, name);
    return *out ? 0 : ebb__api_not_found(err, "policy", name);
}

static int check_table(const struct ebb_api_call *call, const char *label, struct ebb_err *err)
{
    struct ebb_table_ref ref;
    int rc = ebb__api_find_table(call, label, &ref, err);

    ebb_table_ref_fini(&ref);
    return rc;
}

/* ---- next ---- */

static int next_get(struct ebb_api_call *call, struct ebb_err *err)
{
    struct ebb_preview_options o = {.table = ebb__api_query_of(call, "table")};
    const char *policy = ebb__api_query_of(call, "policy");
    struct ebb_coming coming = {0};
    struct ebb_jsonw w;
    int rc = 0;

    o.n = (size_t)ebb__api_query_int(call, "limit", EBB__API_LIMIT);
    if (policy)
        rc = find_policy(call, policy, &o.loaded, err);
    if (!rc && o.table)
        rc = check_table(call, o.table, err);
    if (!rc && o.table && !policy)
        rc = ebb_err_set(err, EBB_EUSAGE, "policy: is missing, when table is given");
    if (!rc && (policy || call->generation->bound_count))
        rc = ebb_preview_pass(call->ws, &o, &coming, err);
    if (!rc) {
        ebb_jsonw_init(&w, &call->out);
        ebb_jsonw_begin(&w, '{');
        ebb_jsonw_key(&w, "items");
        ebb_jsonw_begin(&w, '[');
        for (size_t i = 0; i < coming.count; i++)
            ebb__api_fire(&w, &coming.items[i]);
        ebb_jsonw_end(&w, ']');
        ebb_jsonw_end(&w, '}');
        ebb_buf_putc(&call->out, '\n');
    }
    ebb_coming_fini(&coming);
    return rc;
}

/* ---- why not ---- */

static int whynot(struct ebb_api_call *call, const struct ebb_policy *policy, struct ebb_err *err)
{
    struct ebb_session *session = NULL;
    struct ebb_value *found = NULL;
    struct ebb_decide_input input = {.trigger = NULL};
    int rc = ebb_session_open(call->ws, call->args->items[0], policy, &session, err);

    if (!rc)
        rc = ebb_session_input(session, 0, ebb_policy_get_name(policy), &input, err);
    input.trigger = NULL; /* as when its time comes: a run by hand would not wait */
    if (!rc)
        rc = ebb_whynot(NULL, policy, &input, &found, err);
    if (!rc)
        rc = ebb_value_to_json(found, &call->out, err);
    ebb_buf_putc(&call->out, '\n');
    ebb_value_free(found);
    ebb_session_free(session);
    return rc;
}

static int whynot_get(struct ebb_api_call *call, struct ebb_err *err)
{
    const struct ebb_policy *policy;
    int rc = find_policy(call, ebb__api_query_of(call, "policy"), &policy, err);

    if (!rc)
        rc = check_table(call, call->args->items[0], err);
    return rc ? rc : whynot(call, policy, err);
}

/* ---- simulate ---- */

struct telling {
    struct ebb_jsonw w;
    struct ebb_buf sums;
    struct ebb_jsonw sums_w;
    int64_t lines;
    int64_t now_ms;
};

static void put_record(struct ebb_jsonw *w, const struct ebb_session_decision *d)
{
    static const char *const KEYS[] = {"verdict", "by", "until", "why", "action", "guards"};
    const char *json = d->decision ? ebb_decision_get_record(d->decision) : NULL;
    struct ebb_value *record = NULL;

    if (json)
        ebb_value_of_json("decision", json, strlen(json), NULL, &record, NULL);
    if (!record)
        ebb_jsonw_kstr(w, "verdict", d->error ? "error" : "dropped");
    for (size_t i = 0; record && i < sizeof KEYS / sizeof KEYS[0]; i++)
        if (ebb_value_get(record, KEYS[i])) {
            ebb_jsonw_key(w, KEYS[i]);
            ebb_value_write(ebb_value_get(record, KEYS[i]), w);
        }
    if (d->dropped)
        ebb_jsonw_kstr(w, "dropped", d->dropped);
    if (d->error)
        ebb_jsonw_kstr(w, "message", d->error->message);
    ebb_value_free(record);
}

static int on_line(void *data, const struct ebb_simulation_line *line, struct ebb_err *err)
{
    struct telling *t = data;

    if (t->lines++ >= LINES_MAX)
        return ebb_err_set(err, EBB_ELIMIT, "simulate: more than %d decisions: ask for less time or fewer tables",
                           LINES_MAX);
    ebb_jsonw_begin(&t->w, '{');
    ebb__api_time(&t->w, "at", line->decision->at_ms);
    ebb_jsonw_kstr(&t->w, "policy", line->decision->policy);
    ebb_jsonw_kstr(&t->w, "table", line->table);
    if (line->decision->due)
        ebb_jsonw_kstr(&t->w, "trigger", line->decision->due->kind);
    if (line->has_nominal)
        ebb__api_time(&t->w, "nominal", line->nominal_ms);
    put_record(&t->w, line->decision);
    ebb_jsonw_end(&t->w, '}');
    return 0;
}

static int on_sum(void *data, const struct ebb_simulation_sum *sum, struct ebb_err *err)
{
    struct telling *t = data;
    const struct ebb_effect *e = &sum->totals.effect;
    struct ebb_jsonw *w = &t->sums_w;

    (void)err;
    ebb_jsonw_begin(w, '{');
    ebb_jsonw_kstr(w, "policy", sum->policy);
    ebb_jsonw_kstr(w, "table", sum->table);
    ebb_jsonw_kint(w, "runs", sum->totals.runs);
    ebb_jsonw_kint(w, "files_deleted", e->files_deleted);
    ebb_jsonw_kint(w, "bytes_deleted", e->bytes_deleted);
    ebb_jsonw_kint(w, "files_rewritten", e->files_rewritten);
    ebb_jsonw_kint(w, "snapshots_expired", e->snapshots_expired);
    ebb_jsonw_kint(w, "commits", (int64_t)sum->commits);
    ebb_jsonw_end(w, '}');
    return 0;
}

static int read_until(const struct ebb_api_call *call, int64_t now_ms, int64_t *out, struct ebb_err *err)
{
    const char *text = ebb_value_text_of(call->json, "until");
    int64_t ahead_ms;
    int rc;

    if (text[0] != '+') {
        rc = ebb_time_parse(text, NULL, out, err);
    } else {
        rc = ebb_duration_parse(text + 1, &ahead_ms, err);
        if (!rc && __builtin_add_overflow(now_ms, ahead_ms, out))
            rc = ebb_err_set(err, EBB_EUSAGE, "until: too far ahead");
    }
    if (rc)
        return ebb_err_as(err, EBB_EUSAGE, "until");
    if (*out <= now_ms || *out - now_ms > AHEAD_MAX_MS)
        return ebb_err_set(err, EBB_EUSAGE, "until: at most 31 days ahead");
    return 0;
}

static int read_tables(const struct ebb_api_call *call, struct ebb_strs *out, struct ebb_err *err)
{
    const struct ebb_value *list = ebb_value_get(call->json, "tables");
    int rc = 0;

    for (size_t i = 0; !rc && i < ebb_value_get_count(list); i++) {
        const char *label = ebb_value_get_str(ebb_value_get_at(list, i));

        rc = check_table(call, label, err);
        if (!rc)
            rc = ebb_strs_add(out, label, err);
    }
    return rc;
}

/* With a clock that stands still, and not for long. */
static int simulate(struct ebb_api_call *call, struct ebb_simulation_options *o, struct telling *t, struct ebb_err *err)
{
    struct ebb_site *site = ebb_workspace_site(call->ws);
    struct ebb_clock clock = site->clock;
    int64_t deadline_ms = site->deadline_ms;
    int rc;

    site->clock = ebb_clock_fixed(&t->now_ms);
    site->deadline_ms = ebb_clock_elapsed_ms() + SIMULATE_MS;
    rc = ebb_simulate(call->ws, o, err);
    site->clock = clock;
    site->deadline_ms = deadline_ms;
    if (rc == -(int)EBB_ECANCELLED)
        rc = ebb_err_set(err, EBB_ELIMIT, "simulate: took more than %d seconds: ask for less time or fewer tables",
                         SIMULATE_MS / 1000);
    return rc;
}

static int simulate_post(struct ebb_api_call *call, struct ebb_err *err)
{
    const char *policy = ebb_value_text_of(call->json, "policy");
    struct telling t = {.now_ms = call->now_ms - call->now_ms % 1000};
    struct ebb_simulation_options o = {.line = on_line, .sum = on_sum, .data = &t};
    struct ebb_strs tables;
    int rc = read_until(call, t.now_ms, &o.until_ms, err);

    ebb_strs_init(&tables);
    ebb_buf_init(&t.sums, EBB__API_OUT_MAX);
    ebb_jsonw_init(&t.w, &call->out);
    ebb_jsonw_init(&t.sums_w, &t.sums);
    if (!rc && policy)
        rc = find_policy(call, policy, &o.loaded, err);
    if (!rc)
        rc = read_tables(call, &tables, err);
    o.tables = tables.count ? &tables : NULL;
    ebb_jsonw_begin(&t.w, '{');
    ebb_jsonw_kbool(&t.w, "estimate", true);
    ebb_jsonw_key(&t.w, "decisions");
    ebb_jsonw_begin(&t.w, '[');
    ebb_jsonw_begin(&t.sums_w, '[');
    if (!rc)
        rc = simulate(call, &o, &t, err);
    ebb_jsonw_end(&t.sums_w, ']');
    ebb_jsonw_end(&t.w, ']');
    ebb_jsonw_key(&t.w, "totals");
    ebb_jsonw_raw(&t.w, t.sums.data, t.sums.len);
    ebb_jsonw_end(&t.w, '}');
    ebb_buf_putc(&call->out, '\n');
    ebb_buf_fini(&t.sums);
    ebb_strs_fini(&tables);
    return rc;
}

const struct ebb_route EBB__API_ASK_ROUTES[] = {
    {"GET", "/api/next", EBB_ROLE_VIEW, next_get, "Coming fire times with the reason of every shift",
     "{'parameters':[{'$ref':'#/components/parameters/limit'},"
     "{'$ref':'#/components/parameters/policy'},"
     "{'name':'table','in':'query','description':'with policy','schema':{'type':'string','minLength':1,"
     "'maxLength':4096}}],"
     "'answer':{'200':{'$ref':'#/components/schemas/Fires'}},'errors':[404,422]}"},
    {"GET", "/api/tables/{table}/whynot", EBB_ROLE_VIEW, whynot_get,
     "Why a policy does not run on a table now, and when it could",
     "{'parameters':[{'name':'policy','in':'query','required':true,'schema':{'type':'string','minLength':1,"
     "'maxLength':128}}],'answer':{'200':{'$ref':'#/components/schemas/WhyNot'}},'errors':[422]}"},
    {"POST", "/api/simulate", EBB_ROLE_VIEW, simulate_post, "The coming days in a closed loop, estimated",
     "{'body':{'type':'object','required':['until'],'additionalProperties':false,'properties':{"
     "'until':{'type':'string','minLength':1,'maxLength':64,'description':'+14d or an instant, at most 31 days ahead'},"
     "'policy':{'type':'string','minLength':1,'maxLength':128},"
     "'tables':{'type':'array','maxItems':100,'items':{'type':'string','minLength':1,'maxLength':4096}}}},"
     "'answer':{'200':{'$ref':'#/components/schemas/Simulation'}},'errors':[404,422]}"},
    {NULL, NULL, EBB_ROLE_NONE, NULL, NULL, NULL},
};
