/* SPDX-License-Identifier: Apache-2.0
 *
 * A table's facts as a file: what policies read of it, what guards go by, and its identity. Secrets never leave.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/time.h"
#include "engine/mask.h"
#include "engine/reads.h"
#include "service/pass_question_priv.h"

/* What policies read; names below t and ctx. */
struct wants {
    bool everything;     /* but secrets */
    bool all_properties; /* but secrets */
    bool events, fleet;
    struct ebb_strs parts, properties;
    struct ebb_strs policies; /* their names */
};

/* ---- what was read ---- */

static int add_name(struct ebb_strs *list, struct ebb_buf *name, struct ebb_err *err)
{
    return name->len && !ebb_strs_has(list, ebb_buf_cstr(name)) ? ebb_strs_add(list, ebb_buf_cstr(name), err) : 0;
}

static int take_path(struct wants *w, const char *path, struct ebb_buf *name, struct ebb_err *err)
{
    int rc;

    ebb_reads_next_name(&path, name);
    if (!strcmp(ebb_buf_cstr(name), "ctx")) {
        ebb_reads_next_name(&path, name);
        w->events = w->events || !name->len || !strcmp(ebb_buf_cstr(name), "events");
        w->fleet = w->fleet || !name->len || !strcmp(ebb_buf_cstr(name), "fleet");
        return 0;
    }
    if (strcmp(ebb_buf_cstr(name), "t") != 0 || !*path) {
        w->everything = true; /* "*": more was read than could be kept; "t": all of it */
        return 0;
    }
    ebb_reads_next_name(&path, name);
    rc = add_name(&w->parts, name, err);
    if (rc || strcmp(ebb_buf_cstr(name), "properties") != 0)
        return rc;
    ebb_reads_next_name(&path, name);
    w->all_properties = w->all_properties || !name->len;
    return add_name(&w->properties, name, err);
}

static int take_reads(struct wants *w, const struct ebb_value *reads, struct ebb_err *err)
{
    struct ebb_buf name;
    int rc = 0;

    ebb_buf_init(&name, 65536);
    for (size_t i = 0; !rc && i < ebb_value_get_count(reads); i++)
        if (ebb_value_get_str(ebb_value_get_at(reads, i)))
            rc = take_path(w, ebb_value_get_str(ebb_value_get_at(reads, i)), &name, err);
    ebb_buf_fini(&name);
    return rc;
}

/* Properties that parameters and the target go by, anywhere in the data part. Depth is bounded by the tree's. */
static int take_named(struct wants *w, const struct ebb_value *v, struct ebb_err *err)
{
    const char *name = ebb_value_text_of(v, "property");
    int rc = name && !ebb_strs_has(&w->properties, name) ? ebb_strs_add(&w->properties, name, err) : 0;

    for (size_t i = 0; !rc && i < ebb_value_get_count(v); i++)
        rc = take_named(w, ebb_value_get_at(v, i), err);
    return rc;
}

static void take_triggers(struct wants *w, const struct ebb_settings *settings)
{
    for (size_t i = 0; i < ebb_settings_get_trigger_count(settings); i++) {
        enum ebb_trigger_kind kind = ebb_settings_get_trigger(settings, i)->kind;

        w->events = w->events || kind == EBB_TRIGGER_COUNT || kind == EBB_TRIGGER_EVENT;
    }
}

static bool is_target(const struct ebb_policy *policy, const struct ebb_value *facts)
{
    const struct ebb_value *t = ebb_value_get(facts, "table");

    return !ebb_policy_has_target(policy) ||
           ebb_policy_is_target(policy, ebb_value_text_of(t, "catalog"), ebb_value_text_of(t, "namespace"),
                                ebb_value_text_of(t, "name"), ebb_value_get(t, "properties"));
}

/* A policy that goes wrong has read something, too. */
static int take_decision(struct wants *w, const struct ebb_policy *policy, const struct ebb_decide_input *input,
                         struct ebb_err *err)
{
    struct ebb_decision *decision = NULL;
    struct ebb_value *record = NULL;
    const char *json;
    int rc = ebb_decide(policy, input, &decision, err);

    if (decision) {
        json = ebb_decision_get_record(decision);
        rc = ebb_value_of_json("decision", json, strlen(json), NULL, &record, err);
    }
    if (!rc)
        rc = take_reads(w, ebb_value_get(record, "reads"), err);
    ebb_value_free(record);
    ebb_decision_free(decision);
    return rc;
}

static int take_policy(struct wants *w, struct ebb_workspace *ws, const struct ebb_policy *policy,
                       const struct ebb_value *facts, int64_t now_ms, struct ebb_err *err)
{
    const struct ebb_binding *binding = ebb__pass_binding(ws, policy, facts);
    const struct ebb_value *t = ebb_value_get(facts, "table");
    struct ebb_settings *settings = NULL;
    struct ebb_settings_site site;
    struct ebb_decide_input input;
    int rc;

    memset(&input, 0, sizeof input);
    ebb_binding_site(binding, &site);
    rc = ebb_settings_new_bound(policy, &site, ebb_value_get(t, "properties"), &settings, err);
    if (rc)
        return rc;
    input.facts = facts;
    input.now_ms = now_ms;
    input.settings = settings;
    input.bound = true;
    take_triggers(w, settings);
    rc = ebb_strs_add(&w->policies, ebb_policy_get_name(policy), err);
    if (!rc)
        rc = take_named(w, ebb_policy_get_manifest(policy), err);
    if (!rc && is_target(policy, facts)) {
        rc = take_decision(w, policy, &input, err);
    } else if (!rc) {
        ebb_log_say(&ebb_workspace_site(ws)->log, EBB_LOG_WARN,
                    "policy %s does not take this table: what it would read is not known, so everything is kept",
                    ebb_policy_get_name(policy));
        w->everything = true;
    }
    ebb_settings_free(settings);
    return rc;
}

/* The policies that are bound to the table, or name it themselves. */
static int take_configured(struct wants *w, struct ebb_workspace *ws, const struct ebb_value *facts, int64_t now_ms,
                           struct ebb_err *err)
{
    struct ebb_policy_list list;
    int rc;

    if (!ebb_workspace_config(ws)->policies)
        return 0;
    rc = ebb__policy_list_load(ws, &list, err);
    for (size_t i = 0; !rc && i < list.count; i++) {
        const struct ebb_policy *policy = list.items[i];

        if (is_target(policy, facts) && (ebb_policy_has_target(policy) || ebb__pass_binding(ws, policy, facts)))
            rc = take_policy(w, ws, policy, facts, now_ms, err);
    }
    ebb__policy_list_fini(&list);
    return rc;
}

static int take_given(struct wants *w, struct ebb_workspace *ws, const struct ebb_strs *names,
                      const struct ebb_value *facts, int64_t now_ms, struct ebb_err *err)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < names->count; i++) {
        struct ebb_policy *policy = NULL;

        rc = ebb_pass_load_policy(ws, names->items[i], &policy, err);
        if (!rc)
            rc = take_policy(w, ws, policy, facts, now_ms, err);
        ebb_policy_free(policy);
    }
    return rc;
}

/* ---- what is kept ---- */

/* A map or list without members whose names are like those of secrets. Depth is bounded by the tree's. */
static void put_clean(struct ebb_value *to, const struct ebb_value *from)
{
    bool is_map = ebb_value_get_kind(from) == EBB_VALUE_MAP;

    for (size_t i = 0; i < ebb_value_get_count(from); i++) {
        const struct ebb_value *member = ebb_value_get_at(from, i);
        enum ebb_value_kind kind = ebb_value_get_kind(member);
        const char *key = is_map ? ebb_value_get_key(from, i).p : NULL;

        if (is_map && ebb_is_secret_name(ebb_value_get_key(from, i)))
            continue;
        if (kind == EBB_VALUE_MAP)
            put_clean(is_map ? ebb_value_put_map(to, key) : ebb_value_add_map(to), member);
        else if (kind == EBB_VALUE_LIST)
            put_clean(is_map ? ebb_value_put_list(to, key) : ebb_value_add_list(to), member);
        else if (is_map)
            ebb_value_put_copy(to, key, member);
        else
            ebb_value_add_copy(to, member);
    }
}

static void put_properties(struct ebb_value *to, const struct wants *w, const struct ebb_value *properties)
{
    struct ebb_value *out = ebb_value_put_map(to, "properties");

    if (w->everything || w->all_properties) {
        put_clean(out, properties);
        return;
    }
    for (size_t i = 0; i < w->properties.count; i++)
        if (!ebb_is_secret_name(ebb_str_of(w->properties.items[i])))
            ebb_value_put_copy(out, w->properties.items[i], ebb_value_get(properties, w->properties.items[i]));
}

static void put_table(struct ebb_value *to, const struct wants *w, const struct ebb_value *t)
{
    static const char *const IDENTITY[] = {"catalog", "namespace", "name", "uuid", "location", "format_version"};
    static const char *const PARTS[] = {"location_overlaps", "partitions", "refs", "schema",
                                        "sort_order",        "spec",       "stats"};
    static const char *const HISTORY[] = {"current_snapshot", "snapshots"};

    for (size_t i = 0; i < sizeof IDENTITY / sizeof IDENTITY[0]; i++)
        ebb_value_put_copy(to, IDENTITY[i], ebb_value_get(t, IDENTITY[i]));
    for (size_t i = 0; i < sizeof PARTS / sizeof PARTS[0]; i++)
        if (w->everything || ebb_strs_has(&w->parts, PARTS[i]))
            ebb_value_put_copy(to, PARTS[i], ebb_value_get(t, PARTS[i]));
    for (size_t i = 0; i < sizeof HISTORY / sizeof HISTORY[0]; i++) {
        const struct ebb_value *part = ebb_value_get(t, HISTORY[i]);

        if (part && (w->everything || ebb_strs_has(&w->parts, HISTORY[i])))
            put_clean(ebb_value_get_kind(part) == EBB_VALUE_MAP ? ebb_value_put_map(to, HISTORY[i])
                                                                : ebb_value_put_list(to, HISTORY[i]),
                      part);
    }
    put_properties(to, w, ebb_value_get(t, "properties"));
}

static struct ebb_value *captured(const struct wants *w, const struct ebb_value *facts, int64_t now_ms)
{
    struct ebb_value_limits limits = ebb_facts_limits();
    struct ebb_value *out = ebb_value_new_map(&limits);
    struct ebb_buf at;

    ebb_buf_init(&at, 64);
    ebb_time_iso(&at, now_ms);
    ebb_value_put_int(out, "format", EBB_FACTS_FORMAT);
    ebb_value_put_str(out, "ebb", EBB_VERSION);
    ebb_value_put_str(out, "captured_at", ebb_buf_cstr(&at));
    put_table(ebb_value_put_map(out, "table"), w, ebb_value_get(facts, "table"));
    ebb_value_put_copy(out, "flags", ebb_value_get(facts, "flags"));
    ebb_value_put_copy(out, "runs", ebb_value_get(facts, "runs"));
    if (w->everything || w->events)
        ebb_value_put_copy(out, "events", ebb_value_get(facts, "events"));
    if (w->everything || w->fleet)
        ebb_value_put_copy(out, "fleet", ebb_value_get(facts, "fleet"));
    ebb_buf_fini(&at);
    return out;
}

static int read_all(struct ebb_workspace *ws, const char *table, const char *policy, int64_t now_ms,
                    struct ebb_value **out, struct ebb_err *err)
{
    struct ebb_facts_options o = {.policy = policy, .overlaps = -1, .manifests = EBB_FACTS_MANIFESTS};

    return ebb__pass_read_facts(ws, table, &o, now_ms, out, err);
}

/* The history of a policy belongs to the table when it is the only one. */
static int add_runs(struct ebb_workspace *ws, const char *table, const struct wants *w, int64_t now_ms,
                    struct ebb_value **facts, struct ebb_err *err)
{
    struct ebb_value *with_runs = NULL;
    int rc;

    if (w->policies.count != 1)
        return 0;
    rc = read_all(ws, table, w->policies.items[0], now_ms, &with_runs, err);
    if (rc)
        return rc;
    ebb_value_free(*facts);
    *facts = with_runs;
    return 0;
}

int ebb_pass_capture(struct ebb_workspace *ws, const char *table, const struct ebb_strs *policies,
                     struct ebb_value **out, struct ebb_err *err)
{
    int64_t now_ms = ebb_clock_now(&ebb_workspace_site(ws)->clock);
    struct ebb_value *facts = NULL;
    struct wants w;
    int rc = read_all(ws, table, NULL, now_ms, &facts, err);

    *out = NULL;
    memset(&w, 0, sizeof w);
    if (!rc)
        rc = policies->count ? take_given(&w, ws, policies, facts, now_ms, err)
                             : take_configured(&w, ws, facts, now_ms, err);
    w.everything = w.everything || !w.policies.count;
    if (!rc)
        rc = add_runs(ws, table, &w, now_ms, &facts, err);
    if (!rc) {
        *out = captured(&w, facts, now_ms);
        rc = ebb_value_check(*out, "capture", err);
    }
    if (rc) {
        ebb_value_free(*out);
        *out = NULL;
    }
    ebb_value_free(facts);
    ebb_strs_fini(&w.parts);
    ebb_strs_fini(&w.properties);
    ebb_strs_fini(&w.policies);
    return rc;
}
