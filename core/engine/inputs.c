/* SPDX-License-Identifier: Apache-2.0
 *
 * The tree of inputs borrows from the facts; only what is cut down is new.
 */
#include "engine/inputs_priv.h"

#define RUNS_MIN 20 /* the latest runs that are kept in any case */

static const char *const RUN_KEYS[] = {"id", "started", "ended", "outcome", "trigger", "changed", "why"};
static const char *const IDENTITY[] = {"catalog", "namespace", "name", "uuid", "location", "format_version"};

struct cut {
    const struct ebb_policy *policy;
    const struct ebb_decide_input *input;
    const struct ebb__reads *reads; /* NULL: nothing was read */
    bool is_odd;                    /* a name holds NUL */
    bool has_run_out;               /* of memory */
};

static struct ebb_str key_of(const struct cut *c, int node)
{
    return (struct ebb_str){c->reads->pool + c->reads->nodes[node].key, c->reads->nodes[node].key_bytes};
}

static int root(const struct cut *c, const char *name)
{
    return c->reads ? ebb__reads_find(c->reads, EBB__READS_ROOT, ebb_str_of(name)) : EBB__READS_NONE;
}

static int child(const struct cut *c, int node, const char *name)
{
    return node < 0 ? EBB__READS_NONE : ebb__reads_find(c->reads, node, ebb_str_of(name));
}

/* Put the value under a key that is not NUL terminated. */
static void put_ref(struct cut *c, struct ebb_value *map, struct ebb_str key, const struct ebb_value *value)
{
    struct ebb_buf name;

    if (!value)
        return;
    ebb_buf_init(&name, EBB__READS_POOL + 1);
    ebb_buf_add_str(&name, key);
    c->has_run_out = c->has_run_out || ebb_buf_check(&name, "inputs", NULL) == -(int)EBB_ENOMEM;
    c->is_odd = c->is_odd || name.bad || strlen(ebb_buf_cstr(&name)) != key.n;
    ebb_value_put_ref(map, ebb_buf_cstr(&name), value);
    ebb_buf_fini(&name);
}

/* What was read of a map below a node goes to `out`. Depth is bounded by that of the facts. */
static void cut_map(struct cut *c, int node, const struct ebb_value *from, struct ebb_value *out)
{
    for (int at = c->reads->nodes[node].child; at >= 0; at = c->reads->nodes[at].sibling) {
        struct ebb_str key = key_of(c, at);
        const struct ebb_value *value = ebb_value_getn(from, key.p, key.n);

        if (ebb_str_is_equal(key, EBB_STR("age")))
            put_ref(c, out, EBB_STR("at"), ebb_value_get(from, "at"));
        if (ebb_value_get_kind(value) != EBB_VALUE_MAP || ebb__reads_is_whole(c->reads, at))
            put_ref(c, out, key, value);
        else
            cut_map(c, at, value, ebb__value_make(out, key, EBB_VALUE_MAP));
    }
}

/* Properties that are looked at elsewhere: by parameters and by the target. */
static void put_properties(struct cut *c, const struct ebb_value *from, struct ebb_value *out)
{
    const struct ebb_value *manifest = ebb_policy_get_manifest(c->policy), *params = ebb_value_get(manifest, "params");
    const char *name = ebb_value_text_of(ebb_value_get(ebb_value_get(manifest, "target"), "where"), "property");

    if (name)
        put_ref(c, out, ebb_str_of(name), ebb_value_get(from, name));
    for (size_t i = 0; i < ebb_value_get_count(params); i++) {
        name = ebb_value_text_of(ebb_value_get_at(params, i), "property");
        if (name)
            put_ref(c, out, ebb_str_of(name), ebb_value_get(from, name));
    }
}

static bool has_events(const struct cut *c)
{
    int node = root(c, "ctx");

    for (node = node < 0 ? -1 : c->reads->nodes[node].child; node >= 0; node = c->reads->nodes[node].sibling)
        if (ebb_str_has_prefix(key_of(c, node), EBB_STR("events(")))
            return true;
    return false;
}

/* What events are made of; as many as there are, so that the same work is charged. */
static void put_snapshots(const struct ebb_value *from, struct ebb_value *out)
{
    static const char *const KEYS[] = {"id", "at", "operation", "own"};
    struct ebb_value *list = ebb_value_get_kind(from) == EBB_VALUE_LIST ? ebb_value_put_list(out, "snapshots") : NULL;

    for (size_t i = 0; i < ebb_value_get_count(from) && list; i++) {
        const struct ebb_value *snapshot = ebb_value_get_at(from, i);
        const struct ebb_value *own = ebb_value_get(ebb_value_get(snapshot, "summary"), EBB__OWN_RUN_KEY);
        struct ebb_value *one = ebb_value_add_map(list);

        for (size_t k = 0; k < sizeof KEYS / sizeof *KEYS; k++)
            if (ebb_value_get(snapshot, KEYS[k]))
                ebb_value_put_ref(one, KEYS[k], ebb_value_get(snapshot, KEYS[k]));
        if (own)
            ebb_value_put_ref(ebb_value_put_map(one, "summary"), EBB__OWN_RUN_KEY, own);
    }
}

static void put_table(struct cut *c, const struct ebb_value *from, struct ebb_value *out)
{
    const struct ebb_value *properties = ebb_value_get(from, "properties");
    int t = root(c, "t"), node = child(c, t, "properties");
    struct ebb_value *box;

    if (t >= 0)
        cut_map(c, t, from, out);
    for (size_t i = 0; i < sizeof IDENTITY / sizeof *IDENTITY; i++)
        if (ebb_value_get(from, IDENTITY[i]))
            ebb_value_put_ref(out, IDENTITY[i], ebb_value_get(from, IDENTITY[i]));
    if (ebb_value_get_kind(properties) == EBB_VALUE_MAP && (node < 0 || !ebb__reads_is_whole(c->reads, node))) {
        box = ebb_value_put_map(out, "properties");
        if (node >= 0)
            cut_map(c, node, properties, box);
        put_properties(c, properties, box);
    }
    if (has_events(c) && !ebb_value_get(out, "snapshots"))
        put_snapshots(ebb_value_get(from, "snapshots"), out);
}

/* Whether runs are asked for by calls, which look at all of them. */
static bool has_calls(const struct cut *c)
{
    static const char *const CALLS[] = {"count", "conflicts", "since_partition"};
    int runs = child(c, root(c, "ctx"), "runs");

    for (size_t i = 0; i < 3; i++)
        if (child(c, runs, CALLS[i]) >= 0)
            return true;
    return runs >= 0 && ebb__reads_is_whole(c->reads, runs);
}

static bool is_outcome(const struct ebb_value *run, const char *outcome)
{
    const char *its = ebb_value_text_of(run, "outcome");

    return its && !strcmp(its, outcome);
}

/* The first of the runs that tell all of: last, last success, failures in a row, and those that changed nothing. */
static size_t first_run(const struct ebb_value *facts)
{
    const struct ebb_value *runs = ebb_value_get(facts, "runs");
    size_t count = ebb_value_get_count(runs), least = count > RUNS_MIN ? count - RUNS_MIN : 0, idle;

    ebb__runs_idle(facts, &idle);
    least = idle < least ? idle : least;
    for (size_t i = count; i-- > 0;)
        if (is_outcome(ebb_value_get_at(runs, i), "success") || is_outcome(ebb_value_get_at(runs, i), "observed"))
            return i < least ? i : least;
    return 0;
}

static void put_run(const struct ebb_value *run, bool is_whole, struct ebb_value *list)
{
    struct ebb_value *one;

    if (is_whole) {
        ebb_value_add_copy(list, run);
        return;
    }
    one = ebb_value_add_map(list);
    for (size_t i = 0; i < sizeof RUN_KEYS / sizeof *RUN_KEYS; i++)
        if (ebb_value_get(run, RUN_KEYS[i]))
            ebb_value_put_ref(one, RUN_KEYS[i], ebb_value_get(run, RUN_KEYS[i]));
}

static void put_runs(struct cut *c, const struct ebb_value *runs, struct ebb_value *out)
{
    int node = child(c, root(c, "ctx"), "runs");
    bool is_whole = child(c, node, "last") >= 0 || child(c, node, "last_success") >= 0;
    size_t first = first_run(c->input->facts);
    struct ebb_value *list;

    if (has_calls(c)) {
        ebb_value_put_ref(out, "runs", runs);
        return;
    }
    list = ebb_value_put_list(out, "runs");
    for (size_t i = 0; i < ebb_value_get_count(runs); i++)
        if (i >= first || is_outcome(ebb_value_get_at(runs, i), "running"))
            put_run(ebb_value_get_at(runs, i), is_whole, list);
}

static void put_facts(struct cut *c, struct ebb_value *out)
{
    static const char *const WHOLE[] = {"fleet", "flags"};
    const struct ebb_value *facts = c->input->facts;

    if (ebb_value_get(facts, "table"))
        put_table(c, ebb_value_get(facts, "table"), ebb_value_put_map(out, "table"));
    if (has_events(c) && ebb_value_get(facts, "events"))
        ebb_value_put_ref(out, "events", ebb_value_get(facts, "events"));
    if (ebb_value_get_kind(ebb_value_get(facts, "runs")) == EBB_VALUE_LIST)
        put_runs(c, ebb_value_get(facts, "runs"), out);
    for (size_t i = 0; i < 2; i++)
        if (ebb_value_get(facts, WHOLE[i]))
            ebb_value_put_ref(out, WHOLE[i], ebb_value_get(facts, WHOLE[i]));
}

static void put_optional(struct ebb_value *out, const char *key, const struct ebb_value *value)
{
    if (value)
        ebb_value_put_ref(out, key, value);
}

/* What the binding said. */
static void put_site(const struct ebb_decide_input *in, struct ebb_value *out)
{
    const struct ebb_value *site = in->settings ? in->settings->site : NULL;
    const struct ebb_value *blackouts = site ? ebb_value_get(site, "blackouts") : NULL;
    const char *zone = site ? ebb_value_text_of(site, "blackout_tz") : NULL;

    put_optional(out, "overrides", in->settings ? ebb_value_get(site, "params") : in->overrides);
    put_optional(out, "guard", in->settings ? ebb_value_get(site, "guard") : in->guard);
    put_optional(out, "blackouts", blackouts ? blackouts : in->blackouts);
    ebb_value_put_str(out, "blackout_tz", zone ? zone : in->blackout_tz);
}

static void put_flag(struct ebb_value *out, const char *key, bool is_set)
{
    if (is_set)
        ebb_value_put_bool(out, key, true);
}

static void put_inputs(struct cut *c, struct ebb_value *out)
{
    const struct ebb_decide_input *in = c->input;

    if (c->reads && (c->reads->dropped || (root(c, "t") >= 0 && ebb__reads_is_whole(c->reads, root(c, "t")) &&
                                           c->reads->nodes[root(c, "t")].is_whole)))
        ebb_value_put_ref(out, "facts", in->facts);
    else
        put_facts(c, ebb_value_put_map(out, "facts"));
    put_optional(out, "trigger", in->trigger);
    put_site(in, out);
    if (in->revised_ms)
        ebb_value_put_int(out, "revised", in->revised_ms);
    if (in->active_since_ms)
        ebb_value_put_int(out, "active_since", in->active_since_ms);
    if (in->gas > 0)
        ebb_value_put_int(out, "gas", in->gas);
    put_flag(out, "bound", in->bound);
    put_flag(out, "allow_below_floor", in->allow_below_floor);
    put_flag(out, "allow_override_quiet", in->allow_override_quiet);
}

static void write_hidden(const struct ebb__mask *mask, struct ebb_jsonw *w)
{
    ebb_jsonw_key(w, "inputs_masked");
    ebb_jsonw_begin(w, '[');
    for (size_t i = 0; i < mask->hidden.count; i++)
        ebb_jsonw_str(w, mask->hidden.items[i]);
    ebb_jsonw_end(w, ']');
}

/* *is_good: the text in `out` holds the inputs exactly, but for what was masked. */
static int write_tree(const struct cut *c, const struct ebb_value *tree, struct ebb__mask *mask, struct ebb_buf *out,
                      bool *is_good, struct ebb_err *err)
{
    struct ebb_jsonw w;

    ebb_jsonw_init(&w, out);
    if (c->has_run_out || ebb_value_check(tree, "inputs", NULL) == -(int)EBB_ENOMEM)
        return ebb_err_nomem(err);
    ebb__mask_write(mask, tree, &w);
    if (ebb_buf_check(out, "inputs", NULL) == -(int)EBB_ENOMEM)
        return ebb_err_nomem(err);
    *is_good = !out->bad && !mask->is_odd && !c->is_odd && !ebb_value_check(tree, "inputs", NULL);
    return 0;
}

int ebb__inputs_write(const struct ebb_policy *policy, const struct ebb_decide_input *input, const struct ebb__eval *e,
                      const struct ebb__mask *mask, size_t max, struct ebb_jsonw *w, struct ebb_err *err)
{
    struct cut c = {policy, input, e ? &e->reads : NULL, false, false};
    struct ebb__mask named = {.secrets = mask->secrets, .by_name = true};
    struct ebb_value *tree = ebb_value_new_map(NULL);
    struct ebb_buf out;
    bool is_good = false;
    int rc;

    ebb_strs_init(&named.hidden);
    ebb_buf_init(&out, max);
    put_inputs(&c, tree);
    rc = write_tree(&c, tree, &named, &out, &is_good, err);
    if (!rc && is_good) {
        ebb_jsonw_key(w, "inputs");
        ebb_jsonw_raw(w, ebb_buf_cstr(&out), out.len);
    } else if (!rc)
        ebb_jsonw_kbool(w, "inputs_dropped", true);
    if (!rc && is_good && named.hidden.count)
        write_hidden(&named, w);
    ebb_buf_fini(&out);
    ebb_strs_fini(&named.hidden);
    ebb_value_free(tree);
    return rc;
}
