/* SPDX-License-Identifier: Apache-2.0
 *
 * What people put into the store as statistics of a table.
 */
#include "io/store_objects.h"
#include "service/facts_priv.h"

#define NAMES_MAX 1000
#define BYTES_MAX ((size_t)1 << 20) /* of all names and values */
#define ENOUGH 1

struct listing {
    struct ebb_value *stats, *custom; /* custom NULL: there was none yet */
    size_t seen, bytes;
};

/* In a list of one; NULL: it is no value, or more than a script may hand over. */
static int read_value(const char *json, struct ebb_value **out, struct ebb_err *err)
{
    struct ebb_value_limits limits = ebb_value_limits_script();
    struct ebb_buf text;
    int rc;

    *out = NULL;
    limits.depth++;
    ebb_buf_init(&text, BYTES_MAX + 2);
    ebb_buf_printf(&text, "[%s]", json);
    rc = ebb_buf_check(&text, "statistic", err);
    if (!rc)
        rc = ebb_value_of_json("statistic", text.data, text.len, &limits, out, err);
    ebb_buf_fini(&text);
    return rc == -(int)EBB_ENOMEM ? rc : 0;
}

/* What is too much, or is no value, is unknown. */
static int on_statistic(void *data, const struct ebb_statistic *s, struct ebb_err *err)
{
    struct listing *l = data;
    size_t n = strlen(s->name) + strlen(s->json);
    struct ebb_value *value;
    int rc;

    if (l->seen++ == NAMES_MAX)
        return ENOUGH;
    if (n > BYTES_MAX - l->bytes)
        return 0;
    rc = read_value(s->json, &value, err);
    if (!rc && ebb_value_get_at(value, 0)) {
        l->bytes += n;
        if (!l->custom)
            l->custom = ebb_value_put_map(l->stats, "custom");
        ebb_value_put_copy(l->custom, s->name, ebb_value_get_at(value, 0));
    }
    ebb_value_free(value);
    return rc;
}

int ebb__facts_put_custom(const struct ebb_site *site, const struct ebb_table *t, struct ebb_value *stats,
                          struct ebb_err *err)
{
    struct ebb_statistic_filter filter = {.table = t->label};
    struct listing l = {.stats = stats};
    int rc = site->store ? ebb_store_list_statistics(site->store, &filter, on_statistic, &l, err) : 0;

    return rc == ENOUGH ? 0 : rc;
}
