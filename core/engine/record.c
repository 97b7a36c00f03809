/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/record_priv.h"

#include "base/time.h"
#include "engine/inputs_priv.h"

#define TAIL_BYTES ((size_t)4096) /* what may follow the inputs */

static void write_instant(struct ebb_jsonw *w, const char *key, int64_t at)
{
    char text[64];
    struct ebb_buf b = {.data = text, .cap = sizeof text, .max = sizeof text - 1};

    ebb_time_iso(&b, at);
    ebb_jsonw_key(w, key);
    ebb_jsonw_strn(w, text, b.len);
}

static void write_table(struct ebb_jsonw *w, const struct ebb_value *t)
{
    const char *catalog = ebb_value_text_of(t, "catalog"), *ns = ebb_value_text_of(t, "namespace");
    const char *name = ebb_value_text_of(t, "name");
    struct ebb_buf label;

    ebb_buf_init(&label, 64 * 1024);
    ebb_buf_printf(&label, "%s.%s%s%s", catalog ? catalog : "", ns ? ns : "", ns && ns[0] ? "." : "", name ? name : "");
    ebb_jsonw_key(w, "table");
    ebb_jsonw_strn(w, ebb_buf_cstr(&label), label.len);
    if (label.bad)
        w->out->bad = true;
    ebb_buf_fini(&label);
    ebb_jsonw_kstr(w, "uuid", ebb_value_text_of(t, "uuid"));
}

static void write_trigger(struct ebb_jsonw *w, const struct ebb_value *trigger)
{
    const struct ebb_value *events = ebb_value_get(trigger, "events");
    const char *kind = ebb_value_text_of(trigger, "kind");

    ebb_jsonw_key(w, "trigger");
    ebb_jsonw_begin(w, '{');
    ebb_jsonw_kstr(w, "kind", kind ? kind : "manual");
    if (events) {
        ebb_jsonw_key(w, "events");
        ebb_jsonw_begin(w, '[');
        for (size_t i = 0; i < ebb_value_get_count(events) && i < 100; i++)
            ebb_jsonw_str(w, ebb_value_text_of(ebb_value_get_at(events, i), "id"));
        ebb_jsonw_end(w, ']');
    }
    if (ebb_value_get(trigger, "scheduled_for"))
        write_instant(w, "scheduled_for", ebb_value_int_of(trigger, "scheduled_for", 0));
    if (ebb_value_get(trigger, "missed"))
        ebb_jsonw_kint(w, "missed", ebb_value_int_of(trigger, "missed", 0));
    ebb_jsonw_end(w, '}');
}

/* How the checks of the verdict were combined: names, and {"all"|"any"|"none": […], "r"}. Depth is at most
 * EBB__HEIGHT_MAX. */
static void write_node(struct ebb_jsonw *w, const struct ebb__eval *e, int at)
{
    const struct ebb__node *node = &e->nodes[at];

    if (node->op == 'C') {
        ebb_jsonw_str(w, node->name);
        return;
    }
    ebb_jsonw_begin(w, '{');
    ebb_jsonw_key(w, node->op == 'A' ? "all" : node->op == 'O' ? "any" : "none");
    ebb_jsonw_begin(w, '[');
    for (int i = 0; i < node->count; i++)
        write_node(w, e, e->children[node->first + i]);
    ebb_jsonw_end(w, ']');
    ebb_jsonw_kstr(w, "r", ebb__truth_name(node->truth));
    ebb_jsonw_end(w, '}');
}

/* What the operands count, for people: "ms" or "bytes" when one is compared with a parameter of that type, else NULL.
 */
static const char *unit_of(const struct ebb__eval *e, const struct ebb_value *check)
{
    const struct ebb_value *params = ebb_settings_get_params(e->settings), *limit = ebb_value_get(check, "b");
    const struct ebb_value *definitions = ebb_value_get(ebb_policy_get_manifest(e->policy), "params");

    for (size_t i = 0; ebb_value_get_kind(limit) == EBB_VALUE_INT && i < ebb_value_get_count(params); i++) {
        struct ebb_str name = ebb_value_get_key(params, i);
        const char *type = ebb_value_text_of(ebb_value_getn(definitions, name.p, name.n), "type");

        if (!type || !ebb_value_is_equal(ebb_value_get_at(params, i), limit))
            continue;
        if (!strcmp(type, "duration"))
            return "ms";
        if (!strcmp(type, "bytes"))
            return "bytes";
    }
    return NULL;
}

static void write_check(struct ebb_jsonw *w, struct ebb__mask *mask, const struct ebb__eval *e,
                        const struct ebb_value *check)
{
    static const char *const KEYS[] = {"n", "key", "a", "op", "b", "r"};
    const char *unit = unit_of(e, check);

    ebb_jsonw_begin(w, '{');
    for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++) {
        const struct ebb_value *value = ebb_value_get(check, KEYS[i]);

        if (!value)
            continue;
        ebb_jsonw_key(w, KEYS[i]);
        ebb__mask_write(mask, value, w);
    }
    if (unit)
        ebb_jsonw_kstr(w, "u", unit);
    ebb_jsonw_end(w, '}');
}

static void write_list(struct ebb_jsonw *w, struct ebb__mask *mask, const char *key, const struct ebb_value *list)
{
    if (!ebb_value_get_count(list))
        return;
    ebb_jsonw_key(w, key);
    ebb__mask_write(mask, list, w);
}

static void write_trace(struct ebb_jsonw *w, struct ebb__mask *mask, const struct ebb__eval *e)
{
    ebb_jsonw_key(w, "checks");
    ebb_jsonw_begin(w, '[');
    for (size_t i = 0; i < ebb_value_get_count(e->checks); i++)
        write_check(w, mask, e, ebb_value_get_at(e->checks, i));
    ebb_jsonw_end(w, ']');
    if (e->node >= 0) {
        ebb_jsonw_key(w, "expr");
        write_node(w, e, e->node);
    }
    write_list(w, mask, "ranked", e->ranked);
    write_list(w, mask, "notes", e->notes);
    if (e->dropped_notes)
        ebb_jsonw_kint(w, "dropped_notes", e->dropped_notes);
    if (e->dropped_checks)
        ebb_jsonw_kint(w, "dropped_checks", e->dropped_checks);
}

static void write_guards(struct ebb_jsonw *w, const struct ebb__guards *g)
{
    ebb_jsonw_key(w, "guards");
    ebb_jsonw_begin(w, '[');
    for (size_t i = 0; i < g->count; i++) {
        const struct ebb__guard_row *row = &g->rows[i];

        ebb_jsonw_begin(w, '{');
        ebb_jsonw_kstr(w, "n", row->name);
        ebb_jsonw_kstr(w, "r", ebb__truth_name(row->truth));
        if (row->has_until)
            write_instant(w, "until", row->until_ms);
        if (row->text[0])
            ebb_jsonw_kstr(w, "why", row->text);
        ebb_jsonw_end(w, '}');
    }
    ebb_jsonw_end(w, ']');
}

static void write_failure(struct ebb_jsonw *w, struct ebb__mask *mask, const struct ebb_err *failure)
{
    ebb_jsonw_key(w, "error");
    ebb_jsonw_begin(w, '{');
    ebb_jsonw_kstr(w, "code", ebb_error_code(failure->error));
    ebb__mask_ktext(mask, "message", failure->message, w);
    if (failure->hint[0])
        ebb__mask_ktext(mask, "hint", failure->hint, w);
    ebb_jsonw_end(w, '}');
}

static void write_outcome(struct ebb_jsonw *w, struct ebb__mask *mask, const struct ebb__eval *e,
                          const struct ebb__guards *g)
{
    ebb_jsonw_kstr(w, "verdict", ebb_verdict_name(g->verdict));
    ebb_jsonw_kstr(w, "by", g->by);
    if (g->verdict == EBB_VERDICT_DEFER && g->until_ms)
        write_instant(w, "until", g->until_ms);
    if (!e)
        return;
    if (e->why[0])
        ebb__mask_ktext(mask, "why", e->why, w);
    if (e->action) {
        ebb_jsonw_key(w, "action");
        ebb__mask_write(mask, e->action, w);
    }
}

static void write_head(struct ebb_jsonw *w, const struct ebb_policy *policy, const struct ebb_decide_input *input,
                       const struct ebb__eval *e)
{
    char tzdata[16];

    if (!e)
        ebb_tz_version(tzdata);
    if (input->id)
        ebb_jsonw_kstr(w, "id", input->id);
    ebb_jsonw_kstr(w, "policy", ebb_policy_get_name(policy));
    ebb_jsonw_kstr(w, "bundle", ebb_policy_get_bundle(policy));
    ebb_jsonw_kstr(w, "engine", EBB_VERSION);
    ebb_jsonw_kstr(w, "tzdata", e ? e->tzdata : tzdata);
    write_table(w, ebb_value_get(input->facts, "table"));
    write_instant(w, "now", input->now_ms);
    write_trigger(w, input->trigger);
}

/* What it took: the same for the same script and input, but for the state that it ran in. */
static void write_cost(struct ebb_jsonw *w, const struct ebb__eval *e)
{
    ebb_jsonw_key(w, "reads");
    ebb__reads_write(&e->reads, w);
    ebb_jsonw_kstr(w, "state", e->state);
    ebb_jsonw_kint(w, "gas", e->gas);
    ebb_jsonw_kint(w, "mem_peak", e->mem_peak);
}

static int write_record(const struct ebb_policy *policy, const struct ebb_decide_input *input,
                        const struct ebb__eval *e, const struct ebb__guards *g, const struct ebb_err *failure,
                        struct ebb__mask *mask, struct ebb_buf *out, struct ebb_err *err)
{
    static const char *const MODES[] = {"observe", "approve", "enforce"};
    struct ebb_jsonw w;
    int rc = 0;

    ebb_jsonw_init(&w, out);
    ebb_jsonw_begin(&w, '{');
    write_head(&w, policy, input, e);
    if (e) {
        ebb_jsonw_key(&w, "params");
        ebb__mask_write(mask, ebb_settings_get_params(e->settings), &w);
        write_trace(&w, mask, e);
    }
    write_guards(&w, g);
    write_outcome(&w, mask, e, g);
    if (failure)
        write_failure(&w, mask, failure);
    ebb_jsonw_kstr(&w, "mode", MODES[input->mode]);
    if (e)
        write_cost(&w, e);
    if (input->with_inputs && out->len + TAIL_BYTES < EBB__RECORD_MAX_BYTES)
        rc = ebb__inputs_write(policy, input, e, mask, EBB__RECORD_MAX_BYTES - out->len - TAIL_BYTES, &w, err);
    else if (input->with_inputs)
        ebb_jsonw_kbool(&w, "inputs_dropped", true);
    ebb_jsonw_end(&w, '}');
    return rc ? rc : ebb_buf_check(out, "decision record", err);
}

int ebb__record_write(const struct ebb_policy *policy, const struct ebb_decide_input *input, const struct ebb__eval *e,
                      const struct ebb__guards *g, const struct ebb_err *failure, struct ebb_buf *out,
                      struct ebb_err *err)
{
    struct ebb__mask mask;
    int rc = ebb__mask_init(&mask, e, err);

    if (!rc)
        rc = write_record(policy, input, e, g, failure, &mask, out, err);
    ebb__mask_fini(&mask);
    return rc;
}
