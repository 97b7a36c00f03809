/* SPDX-License-Identifier: Apache-2.0
 *
 * What was read off manifests is kept in the store, so that a table that did not change is not read twice.
 */
#include "service/facts_priv.h"

#define CACHE_MAX_BYTES ((size_t)2 << 20) /* of one table */

/* Numbers of another version of the program are not taken over: it may have counted otherwise. */
static void state_of(const struct ebb_table *table, struct ebb_buf *out)
{
    char id[EBB_STAT_ID_MAX];

    ebb_stat_id(&table->metadata_stat, id);
    ebb_buf_printf(out, "%s %s %s", EBB_VERSION, id, table->ref.metadata_uri);
}

int ebb__facts_cache_get(const struct ebb_site *site, const char *scope, const struct ebb_table *table,
                         struct ebb_value **found, struct ebb_err *err)
{
    struct ebb_value_limits limits = ebb_facts_limits();
    struct ebb_buf json, state;
    bool has = false;
    int rc = 0;

    *found = NULL;
    ebb_buf_init(&json, CACHE_MAX_BYTES);
    ebb_buf_init(&state, EBB_STAT_ID_MAX + 32 + 2 * EBB_LOCATION_MAX_BYTES);
    state_of(table, &state);
    if (site->store && table->metadata->uuid)
        rc = ebb_store_get_value(site->store, scope, table->metadata->uuid, &json, &has, err);
    if (!rc && has && !ebb_value_of_json("kept facts", json.data, json.len, &limits, found, NULL)) {
        const char *kept = ebb_value_text_of(*found, "state");

        if (!kept || strcmp(kept, ebb_buf_cstr(&state)) != 0) {
            ebb_value_free(*found);
            *found = NULL;
        }
    }
    ebb_buf_fini(&json);
    ebb_buf_fini(&state);
    return rc;
}

int ebb__facts_cache_put(const struct ebb_site *site, const char *scope, const struct ebb_table *table,
                         struct ebb_value *found, struct ebb_err *err)
{
    struct ebb_buf json, state;
    int rc = 0;

    if (!site->store || !table->metadata->uuid)
        return 0;
    ebb_buf_init(&json, CACHE_MAX_BYTES);
    ebb_buf_init(&state, EBB_STAT_ID_MAX + 32 + 2 * EBB_LOCATION_MAX_BYTES);
    state_of(table, &state);
    ebb_value_put_str(found, "state", ebb_buf_cstr(&state));
    rc = ebb_value_to_json(found, &json, err);
    if (!rc)
        rc = ebb_store_put_value(site->store, scope, table->metadata->uuid, ebb_buf_cstr(&json), err);
    else if (rc == -(int)EBB_ELIMIT)
        rc = 0;
    ebb_buf_fini(&json);
    ebb_buf_fini(&state);
    return rc;
}

/* Errors of this process; all others are of the table, and leave what was asked for unknown. */
static bool is_own(int rc)
{
    return rc == -(int)EBB_ENOMEM || rc == -(int)EBB_ECANCELLED || rc == -(int)EBB_ESTORE ||
           rc == -(int)EBB_ESTORE_CORRUPT || rc == -(int)EBB_EINTERNAL;
}

int ebb__facts_left_unknown(const struct ebb_site *site, const struct ebb_err *why, struct ebb_err *err)
{
    int rc = -(int)why->error;

    if (!is_own(rc)) {
        ebb_log_say(&site->log, EBB_LOG_WARN, "what manifests tell stays unknown: %s", why->message);
        return 0;
    }
    if (err)
        *err = *why;
    return rc;
}
