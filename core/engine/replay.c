/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/replay.h"

#include "base/time.h"
#include "engine/replay_priv.h"

static int missing(const struct ebb_value *record, struct ebb_err *err)
{
    const char *id = ebb_value_text_of(record, "id");
    int rc = ebb_err_set(err, EBB_ERECORD, "decision %s: its record has no inputs", id ? id : "without id");

    if (ebb_value_bool_of(record, "inputs_dropped", false))
        ebb_err_hint(err, "they were too large for a record");
    else
        ebb_err_hint(err, "only what was decided with inputs can be decided again");
    return rc;
}

static int check_masks(const struct ebb_value *record, struct ebb_err *err)
{
    const struct ebb_value *masked = ebb_value_get(record, "inputs_masked");
    const char *name = ebb_value_get_str(ebb_value_get_at(masked, 0));
    int rc;

    if (!ebb_value_get_count(masked))
        return 0;
    rc = ebb_err_set(err, EBB_ERECORD, "decision %s: what the policy read of %.100s is masked in the record",
                     ebb_value_text_of(record, "id") ? ebb_value_text_of(record, "id") : "without id",
                     name ? name : "it");
    ebb_err_hint(err, "a decision that goes by a secret can't be made again");
    return rc;
}

static int corrupt(const char *name, struct ebb_err *err)
{
    return ebb_err_set(err, EBB_ECORRUPT, "decision record: %s is missing or not what it must be", name);
}

static int read_mode(const struct ebb_value *record, enum ebb_mode *out, struct ebb_err *err)
{
    static const char *const MODES[] = {"observe", "approve", "enforce"};
    const char *mode = ebb_value_text_of(record, "mode");

    for (size_t i = 0; i < 3; i++)
        if (mode && !strcmp(mode, MODES[i])) {
            *out = (enum ebb_mode)i;
            return 0;
        }
    return corrupt("mode", err);
}

static bool is_kind(const struct ebb_value *map, const char *key, enum ebb_value_kind kind)
{
    const struct ebb_value *value = ebb_value_get(map, key);

    return !value || ebb_value_get_kind(value) == kind;
}

static int read_inputs(const struct ebb_value *inputs, struct ebb_decide_input *in, struct ebb_err *err)
{
    static const char *const MAPS[] = {"facts", "trigger", "overrides", "guard"};

    for (size_t i = 0; i < sizeof MAPS / sizeof *MAPS; i++)
        if (!is_kind(inputs, MAPS[i], EBB_VALUE_MAP))
            return corrupt(MAPS[i], err);
    if (!ebb_value_get(inputs, "facts") || !is_kind(inputs, "blackouts", EBB_VALUE_LIST))
        return corrupt("inputs", err);
    in->facts = ebb_value_get(inputs, "facts");
    in->trigger = ebb_value_get(inputs, "trigger");
    in->overrides = ebb_value_get(inputs, "overrides");
    in->guard = ebb_value_get(inputs, "guard");
    in->blackouts = ebb_value_get(inputs, "blackouts");
    in->blackout_tz = ebb_value_text_of(inputs, "blackout_tz");
    in->active_since_ms = ebb_value_int_of(inputs, "active_since", 0);
    in->revised_ms = ebb_value_int_of(inputs, "revised", 0);
    in->gas = ebb_value_int_of(inputs, "gas", 0);
    in->bound = ebb_value_bool_of(inputs, "bound", false);
    in->allow_below_floor = ebb_value_bool_of(inputs, "allow_below_floor", false);
    in->allow_override_quiet = ebb_value_bool_of(inputs, "allow_override_quiet", false);
    return 0;
}

int ebb_replay_input_of(const struct ebb_value *record, struct ebb_replay_input *out, struct ebb_err *err)
{
    const struct ebb_value *inputs = ebb_value_get(record, "inputs");
    const char *now = ebb_value_text_of(record, "now");
    int rc;

    memset(out, 0, sizeof *out);
    if (!inputs)
        return missing(record, err);
    if (ebb_value_get_kind(inputs) != EBB_VALUE_MAP)
        return corrupt("inputs", err);
    rc = check_masks(record, err);
    if (!rc && (!now || ebb_time_parse(now, NULL, &out->input.now_ms, NULL)))
        rc = corrupt("now", err);
    if (!rc)
        rc = read_mode(record, &out->input.mode, err);
    if (!rc)
        rc = read_inputs(inputs, &out->input, err);
    if (!rc)
        out->input.id = ebb_value_text_of(record, "id");
    return rc;
}

void ebb_replay_input_fini(struct ebb_replay_input *in)
{
    memset(in, 0, sizeof *in);
}

static int compare(const struct ebb_decision *d, const struct ebb_value *record, struct ebb_strs *differences,
                   struct ebb_err *err)
{
    const char *text = ebb_decision_get_record(d);
    struct ebb_value *now = NULL;
    int rc = ebb_value_of_json("decision record", text, strlen(text), NULL, &now, err);

    if (!rc)
        rc = ebb__records_compare(now, record, differences, err);
    ebb_value_free(now);
    return rc;
}

int ebb_replay(const struct ebb_policy *policy, const struct ebb_value *record, struct ebb_strs *differences,
               struct ebb_err *err)
{
    struct ebb_decision *d = NULL;
    struct ebb_replay_input in;
    int rc = ebb_replay_input_of(record, &in, err);

    if (!rc) {
        rc = ebb_decide(policy, &in.input, &d, err);
        if (d) /* also when the policy went wrong: that is in the record */
            rc = compare(d, record, differences, err);
    }
    ebb_decision_free(d);
    ebb_replay_input_fini(&in);
    return rc;
}
