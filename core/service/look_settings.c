/* SPDX-License-Identifier: Apache-2.0
 *
 * Settings of bindings, kept from table to table: reading calendars and zones costs more than judging them. What of a
 * table goes into settings are the properties that parameters name.
 */
#include <stdlib.h>

#include "service/look_priv.h"

#define KEPT_MS ((int64_t)10 * 60 * 1000) /* zone files may change */
#define KEY_MAX_BYTES 65536

struct ebb__look_kept {
    const struct ebb_bound *bound;
    char *key; /* values of the properties */
    struct ebb_settings *settings;
};

static void kept_fini(struct ebb__look_kept *k)
{
    free(k->key);
    ebb_settings_free(k->settings);
    memset(k, 0, sizeof *k);
}

void ebb__look_settings_forget(struct ebb_looker *looker)
{
    for (size_t i = 0; i < looker->kept_count; i++)
        kept_fini(&looker->kept[i]);
    free(looker->kept);
    looker->kept = NULL;
    looker->kept_count = 0;
}

static void write_key(const struct ebb_policy *policy, const struct ebb_value *properties, struct ebb_buf *out)
{
    const struct ebb_value *params = ebb_value_get(ebb_policy_get_manifest(policy), "params");

    ebb_buf_puts(out, "");
    for (size_t i = 0; i < ebb_value_get_count(params); i++) {
        const char *property = ebb_value_text_of(ebb_value_get_at(params, i), "property");
        const char *value = property ? ebb_value_text_of(properties, property) : NULL;

        if (property)
            ebb_buf_printf(out, "%zu:%s;", value ? strlen(value) : 0, value ? value : "-");
    }
}

/* Where it is kept, or is to be. */
static struct ebb__look_kept *place_of(struct ebb_looker *looker, const struct ebb_bound *bound)
{
    struct ebb__look_kept *grown;

    for (size_t i = 0; i < looker->kept_count; i++)
        if (looker->kept[i].bound == bound)
            return &looker->kept[i];
    grown = realloc(looker->kept, (looker->kept_count + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    looker->kept = grown;
    memset(&grown[looker->kept_count], 0, sizeof *grown);
    grown[looker->kept_count].bound = bound;
    return &grown[looker->kept_count++];
}

static int make(struct ebb__look_kept *k, const struct ebb_bound *bound, const struct ebb_value *properties,
                const char *key, struct ebb_err *err)
{
    struct ebb_settings_site site;
    int rc;

    kept_fini(k);
    k->bound = bound;
    ebb_binding_site(bound->binding, &site);
    rc = ebb_settings_new_bound(bound->policy, &site, properties, &k->settings, err);
    if (rc)
        return rc;
    k->key = strdup(key);
    return k->key ? 0 : ebb_err_nomem(err);
}

int ebb__look_settings(struct ebb_looker *looker, const struct ebb_bound *bound, const struct ebb_value *properties,
                       const struct ebb_settings **out, struct ebb_err *err)
{
    int64_t now_ms = ebb_clock_elapsed_ms();
    struct ebb__look_kept *k;
    struct ebb_buf key;
    int rc = 0;

    *out = NULL;
    if (now_ms - looker->kept_ms > KEPT_MS) {
        ebb__look_settings_forget(looker);
        looker->kept_ms = now_ms;
    }
    k = place_of(looker, bound);
    if (!k)
        return ebb_err_nomem(err);
    ebb_buf_init(&key, KEY_MAX_BYTES);
    write_key(bound->policy, properties, &key);
    rc = ebb_buf_check(&key, "properties", err);
    if (!rc && (!k->key || strcmp(k->key, ebb_buf_cstr(&key))))
        rc = make(k, bound, properties, ebb_buf_cstr(&key), err);
    ebb_buf_fini(&key);
    if (!rc)
        *out = k->settings;
    return rc;
}
