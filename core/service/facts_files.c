/* SPDX-License-Identifier: Apache-2.0
 *
 * Facts that are read off manifests: files and partitions of the current snapshot.
 */
#include "service/facts_priv.h"
#include "table/files.h"

#define CACHE_SCOPE "facts.files"

static void put_totals(struct ebb_value *found, const struct ebb_files *f)
{
    struct ebb_value *stats = ebb_value_put_map(found, "stats");

    ebb_value_put_int(stats, "data_files", f->data_files);
    ebb_value_put_int(stats, "bytes", f->bytes);
    ebb_value_put_int(stats, "delete_files", f->delete_files);
    ebb_value_put_int(stats, "delete_records", f->delete_records);
    ebb_value_put_int(stats, "small_files", f->small_files);
    ebb_value_put_int(stats, "manifests", f->manifests);
}

static void put_partition(struct ebb_value *list, const struct ebb_partition *p)
{
    struct ebb_value *v = ebb_value_add_map(list);

    ebb_value_put_str(v, "key", p->key);
    ebb_value_put_int(v, "spec_id", p->spec_id);
    ebb_value_put_int(v, "files", p->files);
    ebb_value_put_int(v, "bytes", p->bytes);
    ebb_value_put_int(v, "records", p->records);
    ebb_value_put_int(v, "delete_files", p->delete_files);
    ebb_value_put_int(v, "delete_records", p->delete_records);
    ebb_value_put_int(v, "avg_file", p->files ? p->bytes / p->files : 0);
    ebb_value_put_int(v, "max_file", p->max_file);
    if (p->last_write_ms >= 0)
        ebb_value_put_int(v, "last_write", p->last_write_ms);
}

static int read_files(const struct ebb_site *site, const struct ebb_table *table, struct ebb_value **out,
                      struct ebb_err *err)
{
    struct ebb_value_limits limits = ebb_facts_limits();
    struct ebb_value *found, *list;
    struct ebb_files *f = NULL;
    int rc = ebb_files_read(site, table, &f, err);

    if (rc)
        return rc;
    found = ebb_value_new_map(&limits);
    put_totals(found, f);
    if (f->has_partitions) {
        list = ebb_value_put_list(found, "partitions");
        for (size_t i = 0; i < f->partition_count; i++)
            put_partition(list, &f->partitions[i]);
    } else {
        ebb_log_say(&site->log, EBB_LOG_WARN, "%s: its partitions stay unknown: %s", table->label, f->why);
    }
    ebb_files_free(f);
    rc = ebb_value_check(found, "files", err);
    if (rc)
        ebb_value_free(found);
    else
        *out = found;
    return rc;
}

static int find_files(const struct ebb_site *site, const struct ebb_table *table, struct ebb_value **out,
                      struct ebb_err *err)
{
    int rc = ebb__facts_cache_get(site, CACHE_SCOPE, table, out, err);

    if (rc || *out)
        return rc;
    rc = read_files(site, table, out, err);
    if (!rc)
        rc = ebb__facts_cache_put(site, CACHE_SCOPE, table, *out, err);
    if (rc) {
        ebb_value_free(*out);
        *out = NULL;
    }
    return rc;
}

int ebb__facts_put_files(const struct ebb_site *site, const struct ebb_table *table, struct ebb_value *t,
                         struct ebb_value *stats, struct ebb_err *err)
{
    struct ebb_value *found = NULL;
    const struct ebb_value *totals;
    struct ebb_err why;

    memset(&why, 0, sizeof why);
    if (find_files(site, table, &found, &why))
        return ebb__facts_left_unknown(site, &why, err);
    totals = ebb_value_get(found, "stats");
    for (size_t i = 0; i < ebb_value_get_count(totals); i++)
        ebb_value_put_copy(stats, ebb_value_get_key(totals, i).p, ebb_value_get_at(totals, i));
    ebb_value_put_copy(t, "partitions", ebb_value_get(found, "partitions"));
    ebb_value_free(found);
    return 0;
}
