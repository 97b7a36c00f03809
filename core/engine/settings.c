/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "engine/settings_priv.h"

static int param_error(const char *name, const char *source, struct ebb_err *err)
{
    char prefix[160];

    if (err && err->error != EBB_ECONFIG)
        return -(int)err->error;
    snprintf(prefix, sizeof prefix, "parameter %.60s (%.70s)", name, source);
    return ebb_err_as(err, EBB_ECONFIG, prefix);
}

/* One parameter: the binding's override, else the table's property, else the default. */
static int put_param(struct ebb_settings *s, const char *name, const struct ebb_value *definition,
                     const struct ebb_value *overrides, const struct ebb_value *properties, struct ebb_err *err)
{
    const char *property = ebb_value_text_of(definition, "property");
    const struct ebb_value *written = ebb_value_get(overrides, name);
    const char *source = "binding";
    bool from_property = false;
    int rc;

    if (!written && property) {
        written = ebb_value_get(properties, property);
        from_property = written != NULL;
        source = property;
    }
    if (!written) {
        written = ebb_value_get(definition, "default");
        source = "default";
    }
    if (!written)
        return 0;
    rc = ebb__param_parse(ebb_value_text_of(definition, "type"), written, from_property, s->params, name, err);
    if (!rc)
        rc = ebb__param_bounds(definition, ebb_value_get(s->params, name), err);
    return rc ? param_error(name, source, err) : 0;
}

static int check_overrides(const struct ebb_value *params, const struct ebb_value *overrides, struct ebb_err *err)
{
    for (size_t i = 0; i < ebb_value_get_count(overrides); i++) {
        struct ebb_str name = ebb_value_get_key(overrides, i);

        if (name.p && !ebb_value_getn(params, name.p, name.n))
            return ebb_err_set(err, EBB_ECONFIG, "parameter %.60s (binding): the policy has no such parameter", name.p);
    }
    return 0;
}

static int put_params(struct ebb_settings *s, const struct ebb_value *overrides, const struct ebb_value *properties,
                      struct ebb_err *err)
{
    const struct ebb_value *params = ebb_value_get(s->policy->manifest, "params");
    int rc = check_overrides(params, overrides, err);

    for (size_t i = 0; i < ebb_value_get_count(params) && !rc; i++)
        rc = put_param(s, ebb_value_get_key(params, i).p, ebb_value_get_at(params, i), overrides, properties, err);
    return rc ? rc : ebb_value_check(s->params, "parameters", err);
}

const struct ebb_value *ebb__settings_value(const struct ebb_settings *s, const struct ebb_value *map, const char *key)
{
    const struct ebb_value *v = ebb_value_get(map, key);
    const char *param = ebb_value_get_kind(v) == EBB_VALUE_MAP ? ebb_value_text_of(v, "param") : NULL;

    return param ? ebb_value_get(s->params, param) : v;
}

const char *ebb__settings_text(const struct ebb_settings *s, const struct ebb_value *map, const char *key)
{
    return ebb_value_get_str(ebb__settings_value(s, map, key));
}

int64_t ebb__settings_duration(const struct ebb_settings *s, const struct ebb_value *map, const char *key,
                               int64_t otherwise)
{
    const struct ebb_value *v = ebb__settings_value(s, map, key);
    int64_t ms;

    if (ebb_value_get_str(v))
        return ebb_duration_parse(ebb_value_get_str(v), &ms, NULL) ? otherwise : ms;
    return ebb_value_get_int(v, otherwise);
}

int64_t ebb__settings_size(const struct ebb_settings *s, const struct ebb_value *map, const char *key)
{
    const struct ebb_value *v = ebb__settings_value(s, map, key);
    uint64_t bytes;

    if (ebb_value_get_str(v))
        return ebb_size_parse(ebb_value_get_str(v), &bytes, NULL) ? 0 : (int64_t)bytes;
    return ebb_value_get_int(v, 0);
}

int ebb__settings_zone(struct ebb_settings *s, const char *name, const struct ebb_tz **out, struct ebb_err *err)
{
    int rc;

    for (size_t i = 0; i < s->zone_count; i++)
        if (!strcmp(ebb_tz_name(s->zones[i]), name)) {
            *out = s->zones[i];
            return 0;
        }
    if (s->zone_count == EBB__SETTINGS_ZONES_MAX)
        return ebb_err_set(err, EBB_ECONFIG, "time zones: more than %d", EBB__SETTINGS_ZONES_MAX);
    rc = ebb_tz_load(name, &s->zones[s->zone_count], err);
    if (rc)
        return rc;
    *out = s->zones[s->zone_count++];
    return 0;
}

/* Keep what the binding said, for records. */
static int keep_site(struct ebb_settings *s, const struct ebb_settings_site *site, struct ebb_err *err)
{
    if (!site->params && !site->guard && !site->blackouts && !site->blackout_tz)
        return 0;
    s->site = ebb_value_new_map(NULL);
    ebb_value_put_copy(s->site, "params", site->params);
    ebb_value_put_copy(s->site, "guard", site->guard);
    ebb_value_put_copy(s->site, "blackouts", site->blackouts);
    ebb_value_put_str(s->site, "blackout_tz", site->blackout_tz);
    return ebb_value_check(s->site, "binding", err);
}

int ebb_settings_new_bound(const struct ebb_policy *policy, const struct ebb_settings_site *site,
                           const struct ebb_value *properties, struct ebb_settings **out, struct ebb_err *err)
{
    struct ebb_settings *s = calloc(1, sizeof *s);
    struct ebb_err local;
    int rc;

    *out = NULL;
    if (!s)
        return ebb_err_nomem(err);
    s->policy = policy;
    s->params = ebb_value_new_map(NULL);
    rc = s->params ? put_params(s, site->params, properties, &local) : ebb_err_nomem(&local);
    if (!rc)
        rc = ebb__settings_triggers(s, &local);
    if (!rc)
        rc = ebb__settings_guard(s, site, &local);
    if (!rc)
        rc = keep_site(s, site, &local);
    if (rc) {
        if (local.error != EBB_ENOMEM)
            rc = ebb_err_as(&local, EBB_ECONFIG, ebb_policy_get_name(policy));
        if (err)
            *err = local;
        ebb_settings_free(s);
    } else
        *out = s;
    return rc;
}

int ebb_settings_new(const struct ebb_policy *policy, const struct ebb_value *overrides,
                     const struct ebb_value *properties, struct ebb_settings **out, struct ebb_err *err)
{
    struct ebb_settings_site site = {.params = overrides};

    return ebb_settings_new_bound(policy, &site, properties, out, err);
}

void ebb_settings_free(struct ebb_settings *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->trigger_count; i++)
        ebb_calendar_free(s->calendars[i]);
    for (size_t i = 0; i < s->zone_count; i++)
        ebb_tz_free(s->zones[i]);
    ebb_value_free(s->params);
    ebb_value_free(s->site);
    free(s->blackouts);
    free(s);
}

const struct ebb_value *ebb_settings_get_params(const struct ebb_settings *s)
{
    return s->params;
}

size_t ebb_settings_get_trigger_count(const struct ebb_settings *s)
{
    return s->trigger_count;
}

const struct ebb_trigger *ebb_settings_get_trigger(const struct ebb_settings *s, size_t index)
{
    return index < s->trigger_count ? &s->triggers[index] : NULL;
}

const struct ebb_guard *ebb_settings_get_guard(const struct ebb_settings *s)
{
    return &s->guard;
}
