/* SPDX-License-Identifier: Apache-2.0
 *
 * What people put into the store, or a catalog keeps, as statistics of a table.
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

/* What is too much is unknown; json_bytes: how long it is as text. */
static void put(struct listing *l, const char *name, const struct ebb_value *value, size_t json_bytes)
{
    size_t n = strlen(name) + json_bytes;

    if (n > BYTES_MAX - l->bytes || !value)
        return;
    l->bytes += n;
    if (!l->custom)
        l->custom = ebb_value_put_map(l->stats, "custom");
    ebb_value_put_copy(l->custom, name, value);
}

static int on_statistic(void *data, const struct ebb_statistic *s, struct ebb_err *err)
{
    struct listing *l = data;
    struct ebb_value *value;
    int rc;

    if (l->seen++ == NAMES_MAX)
        return ENOUGH;
    if (strlen(s->json) > BYTES_MAX)
        return 0;
    rc = read_value(s->json, &value, err);
    if (!rc)
        put(l, s->name, ebb_value_get_at(value, 0), strlen(s->json));
    ebb_value_free(value);
    return rc;
}

/* ---- of the catalog ---- */

static int put_told(struct listing *l, const struct ebb_value *one, struct ebb_err *err)
{
    const char *name = ebb_value_text_of(one, "name");
    struct ebb_value *list = ebb_value_new_list(NULL), *value = NULL;
    struct ebb_buf json;
    int rc;

    ebb_buf_init(&json, BYTES_MAX);
    ebb_value_add_copy(list, ebb_value_get(one, "value"));
    rc = ebb_value_to_json(list, &json, err);
    if (!rc && name && json.len > 2) {
        json.data[json.len - 1] = '\0'; /* what is between the brackets */
        rc = read_value(json.data + 1, &value, err);
        if (!rc)
            put(l, name, ebb_value_get_at(value, 0), json.len - 2);
    }
    ebb_value_free(value);
    ebb_value_free(list);
    ebb_buf_fini(&json);
    return rc == -(int)EBB_ELIMIT ? 0 : rc;
}

static int put_answer(struct listing *l, const struct ebb_buf *answer, struct ebb_err *err)
{
    struct ebb_value *root = NULL;
    const struct ebb_value *list;
    int rc = ebb_value_of_json("statistics", answer->data, answer->len, NULL, &root, err);

    if (rc && rc != -(int)EBB_ENOMEM)
        return ebb_err_as(err, EBB_ECATALOG, "the catalog's answer can't be understood");
    list = ebb_value_get(root, "statistics");
    for (size_t i = 0; !rc && i < ebb_value_get_count(list) && i < NAMES_MAX; i++)
        rc = put_told(l, ebb_value_get_at(list, i), err);
    ebb_value_free(root);
    return rc;
}

static int put_of_catalog(const struct ebb_site *site, const struct ebb_table_ref *ref, struct listing *l,
                          struct ebb_err *err)
{
    struct ebb_buf answer;
    int rc = 0;

    ebb_buf_init(&answer, (size_t)64 << 20);
    for (size_t i = 0; !rc && i < site->catalog_count; i++)
        if (!strcmp(ebb_catalog_name(site->catalogs[i]), ref->catalog))
            rc = ebb_catalog_statistics(site->catalogs[i], ref->namespace_, ref->name, &answer, err);
    if (!rc && answer.len)
        rc = put_answer(l, &answer, err);
    ebb_buf_fini(&answer);
    return rc;
}

int ebb__facts_put_custom(const struct ebb_site *site, const struct ebb_table *t, struct ebb_value *stats,
                          struct ebb_err *err)
{
    struct ebb_statistic_filter filter = {.table = t->label};
    struct listing l = {.stats = stats};
    int rc = site->store ? ebb_store_list_statistics(site->store, &filter, on_statistic, &l, err) : 0;

    return rc && rc != ENOUGH ? rc : put_of_catalog(site, &t->ref, &l, err);
}
