/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside of resolved settings.
 */
#ifndef EBB_ENGINE_SETTINGS_PRIV_H
#define EBB_ENGINE_SETTINGS_PRIV_H

#include "engine/policy_priv.h"

/* Windows of the policy and of the binding. */
#define EBB__SETTINGS_QUIET_MAX (2 * EBB_POLICY_QUIET_MAX)
#define EBB__SETTINGS_ZONES_MAX (EBB_POLICY_TRIGGERS_MAX + EBB__SETTINGS_QUIET_MAX + 1)

struct ebb_settings {
    const struct ebb_policy *policy;
    struct ebb_value *params;
    struct ebb_value *site; /* what the binding said: params, guard, blackouts, blackout_tz; NULL nothing */
    struct ebb_trigger triggers[EBB_POLICY_TRIGGERS_MAX];
    struct ebb_calendar *calendars[EBB_POLICY_TRIGGERS_MAX]; /* NULL where there is none */
    size_t trigger_count;
    struct ebb_guard guard;
    struct ebb_quiet quiet[EBB__SETTINGS_QUIET_MAX];
    struct ebb_blackout *blackouts; /* NULL none */
    struct ebb_tz *zones[EBB__SETTINGS_ZONES_MAX];
    size_t zone_count;
};

/* A value of the manifest with a reference replaced by the parameter; NULL when missing. Durations and sizes may be
 * texts or typed. */
const struct ebb_value *ebb__settings_value(const struct ebb_settings *s, const struct ebb_value *map, const char *key);
const char *ebb__settings_text(const struct ebb_settings *s, const struct ebb_value *map, const char *key);
int64_t ebb__settings_duration(const struct ebb_settings *s, const struct ebb_value *map, const char *key,
                               int64_t otherwise);
int64_t ebb__settings_size(const struct ebb_settings *s, const struct ebb_value *map, const char *key);
int ebb__settings_zone(struct ebb_settings *s, const char *name, const struct ebb_tz **out, struct ebb_err *err);
/* Fill triggers (settings_triggers.c) and guard (settings_guard.c). */
int ebb__settings_triggers(struct ebb_settings *s, struct ebb_err *err);
int ebb__settings_guard(struct ebb_settings *s, const struct ebb_settings_site *site, struct ebb_err *err);
/* Make each guard as strict as `site`, which was read from `written`: what is not written there stays. EBB_ECONFIG when
 * something written is looser. Quiet windows are not looked at. */
int ebb__guard_tighten(struct ebb_guard *g, const struct ebb_guard *site, const struct ebb_value *written,
                       struct ebb_err *err);

#endif
