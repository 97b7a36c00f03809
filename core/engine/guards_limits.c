/* SPDX-License-Identifier: Apache-2.0
 *
 * Guards that look at how much a run would do.
 */
#include "engine/guards_priv.h"

#include <stdio.h>

/* Only a plan knows: what is beyond the limits is held there. */
void ebb__guard_deletes(struct ebb__guards *g, const struct ebb__eval *e)
{
    const struct ebb_guard *guard = ebb_settings_get_guard(e->settings);
    struct ebb__guard_row *row;
    int n;

    if (!guard->deletes_max_files && guard->deletes_max_share <= 0 && !guard->deletes_max_bytes)
        return;
    row = ebb__guard_add(g, "guard.deletes", true);
    n = snprintf(row->text, sizeof row->text, "checked by the plan:");
    if (guard->deletes_max_files)
        n += snprintf(row->text + n, sizeof row->text - (size_t)n, " %lld files", (long long)guard->deletes_max_files);
    if (guard->deletes_max_share > 0)
        n += snprintf(row->text + n, sizeof row->text - (size_t)n, " %.4g %%", guard->deletes_max_share * 100);
    if (guard->deletes_max_bytes)
        snprintf(row->text + n, sizeof row->text - (size_t)n, " %lld bytes", (long long)guard->deletes_max_bytes);
}

struct amount {
    int64_t files, bytes;
};

/* What a partition of the facts holds; false: it is not known. */
static bool amount_of(const struct ebb__eval *e, const char *key, struct amount *out)
{
    const struct ebb_value *list = ebb_value_get(e->table, "partitions");

    for (size_t i = 0; key && i < ebb_value_get_count(list); i++) {
        const struct ebb_value *p = ebb_value_get_at(list, i);
        const char *own = ebb_value_text_of(p, "key");

        if (!own || strcmp(own, key))
            continue;
        *out = (struct amount){ebb_value_int_of(p, "files", -1), ebb_value_int_of(p, "bytes", -1)};
        return out->files >= 0 && out->bytes >= 0;
    }
    return false;
}

/* Whether one more fits; then it is added. */
static bool fits(const struct ebb_guard *guard, struct amount *sum, const struct amount *one)
{
    struct amount both;

    if (__builtin_add_overflow(sum->files, one->files, &both.files) ||
        __builtin_add_overflow(sum->bytes, one->bytes, &both.bytes))
        return false;
    if ((guard->rewrites_max_files && both.files > guard->rewrites_max_files) ||
        (guard->rewrites_max_bytes && both.bytes > guard->rewrites_max_bytes))
        return false;
    *sum = both;
    return true;
}

/* The partitions, best first, that fit into the limits together; a list of NULL: how many that are. */
static size_t take_fitting(const struct ebb__eval *e, const struct ebb_value *keys, struct ebb_value *list)
{
    const struct ebb_guard *guard = ebb_settings_get_guard(e->settings);
    struct amount sum = {0, 0}, one;
    size_t taken = 0;

    for (size_t i = 0; i < ebb_value_get_count(keys); i++) {
        const struct ebb_value *key = ebb_value_get_at(keys, i);

        if (!amount_of(e, ebb_value_get_str(key), &one) || !fits(guard, &sum, &one))
            continue;
        if (list)
            ebb_value_add_copy(list, key);
        taken++;
    }
    return taken;
}

/* Cut the action down to the partitions that fit. */
static bool trim(struct ebb__eval *e)
{
    struct ebb_value *cut = NULL;
    const struct ebb_value *keys = ebb_value_get(e->action, "partitions");

    if (ebb_value_dup(e->action, NULL, &cut, NULL))
        return false;
    take_fitting(e, keys, ebb_value_put_list(cut, "partitions"));
    if (ebb_value_check(cut, "action", NULL)) {
        ebb_value_free(cut);
        return false;
    }
    ebb_value_free(e->action);
    e->action = cut;
    return true;
}

/* Whether a rewrite of the whole table fits. */
static bool table_fits(const struct ebb__eval *e)
{
    const struct ebb_value *stats = ebb_value_get(e->table, "stats");
    struct amount none = {0, 0};
    struct amount all = {ebb_value_int_of(stats, "data_files", -1), ebb_value_int_of(stats, "bytes", -1)};

    return all.files >= 0 && all.bytes >= 0 && fits(ebb_settings_get_guard(e->settings), &none, &all);
}

bool ebb__guard_rewrites(struct ebb__guards *g, struct ebb__eval *e)
{
    const struct ebb_guard *guard = ebb_settings_get_guard(e->settings);
    const struct ebb_value *keys = ebb_value_get(e->action, "partitions");
    const char *type = ebb_value_text_of(e->action, "type");
    size_t count = ebb_value_get_count(keys), taken = 0;
    struct ebb__guard_row *row;
    bool is_good;

    if ((!guard->rewrites_max_files && !guard->rewrites_max_bytes) || !type || strcmp(type, "rewrite_data_files"))
        return true;
    if (keys)
        taken = take_fitting(e, keys, NULL);
    is_good = keys ? taken == count : table_fits(e);
    if (!is_good && taken && guard->rewrites_on_exceed == EBB_EXCEED_TRIM)
        is_good = trim(e);
    row = ebb__guard_add(g, "guard.rewrites", is_good);
    if (keys && (is_good || taken))
        snprintf(row->text, sizeof row->text, "%zu of %zu partitions fit", taken, count);
    else if (!is_good)
        snprintf(row->text, sizeof row->text, "%s",
                 keys ? "no partition fits, as far as known" : "the table does not fit, as far as known");
    return is_good;
}
