/* SPDX-License-Identifier: Apache-2.0
 *
 * How long writers take. A snapshot never changes, so each is measured once and remembered as long as it counts.
 */
#include <inttypes.h>
#include <stdio.h>

#include "service/facts_priv.h"
#include "table/files.h"

#define WINDOW_MS ((int64_t)30 * 24 * 3600 * 1000)
#define SCOPE "facts.writes"
#define KEPT_MAX_BYTES ((size_t)2 << 20)
#define TOO_MANY (-2) /* remembered of a snapshot that added more files than are looked at */

struct measuring {
    const struct ebb_site *site;
    const struct ebb_table *table;
    struct ebb_writes *writes; /* made when it is needed */
    struct ebb_value *kept;    /* snapshot id to ms, of earlier times; or NULL */
    struct ebb_value *next;    /* the same, as of now */
    int64_t longest_ms;        /* -1 nothing was measured */
    bool is_new;
};

static int load_kept(struct measuring *m, struct ebb_err *err)
{
    struct ebb_buf json;
    bool has = false;
    int rc = 0;

    ebb_buf_init(&json, KEPT_MAX_BYTES);
    if (m->site->store && m->table->metadata->uuid)
        rc = ebb_store_get_value(m->site->store, SCOPE, m->table->metadata->uuid, &json, &has, err);
    if (!rc && has)
        ebb_value_of_json("kept facts", json.data, json.len, NULL, &m->kept, NULL);
    ebb_buf_fini(&json);
    return rc;
}

static int save_kept(const struct measuring *m, struct ebb_err *err)
{
    struct ebb_buf json;
    int rc = 0;

    if (!m->is_new || !m->site->store || !m->table->metadata->uuid)
        return 0;
    ebb_buf_init(&json, KEPT_MAX_BYTES);
    if (!ebb_value_to_json(m->next, &json, NULL)) /* what is too long is measured again */
        rc = ebb_store_put_value(m->site->store, SCOPE, m->table->metadata->uuid, ebb_buf_cstr(&json), err);
    ebb_buf_fini(&json);
    return rc;
}

/* The id alone may come again after a rollback of the catalog: its time must be the same, too. */
static void key_of(const struct ebb_snapshot *s, char key[48])
{
    snprintf(key, 48, "%" PRId64 " %" PRId64, s->id, s->timestamp_ms);
}

static int measure_one(struct measuring *m, const struct ebb_snapshot *s, struct ebb_err *err)
{
    const struct ebb_value *kept;
    bool is_first = !m->writes;
    char key[48];
    int64_t ms = 0;
    int rc = 0;

    key_of(s, key);
    kept = ebb_value_get(m->kept, key);
    if (ebb_value_get_kind(kept) == EBB_VALUE_INT) {
        ms = ebb_value_get_int(kept, 0);
    } else {
        m->is_new = true;
        if (!m->writes)
            rc = ebb_writes_new(m->site, m->table, &m->writes, err);
        if (!rc)
            rc = ebb_writes_measure(m->writes, s, &ms, err);
        if (rc == -(int)EBB_ELIMIT && is_first) /* by itself it is too much, and will be */
            ms = TOO_MANY;
    }
    if (!rc || ms == TOO_MANY)
        ebb_value_put_int(m->next, key, ms);
    if (!rc && ms == TOO_MANY)
        rc = ebb_err_set(err, EBB_ELIMIT, "%s: a snapshot added more than %" PRId64 " files", m->table->label,
                         EBB_WRITES_FILES_MAX);
    if (!rc && ms > m->longest_ms)
        m->longest_ms = ms;
    return rc;
}

static int measure_all(struct measuring *m, int64_t now_ms, struct ebb_err *err)
{
    const struct ebb_metadata *md = m->table->metadata;
    int saved, rc = load_kept(m, err);

    for (size_t i = 0; !rc && i < md->snapshot_count; i++)
        if (md->snapshots[i].timestamp_ms > now_ms - WINDOW_MS)
            rc = measure_one(m, &md->snapshots[i], err);
    saved = save_kept(m, rc ? NULL : err); /* after a limit, too: the next time there is less to do */
    return rc ? rc : saved;
}

int ebb__facts_put_writes(const struct ebb_site *site, const struct ebb_table *table, struct ebb_value *stats,
                          int64_t now_ms, struct ebb_err *err)
{
    struct measuring m = {.site = site, .table = table, .next = ebb_value_new_map(NULL), .longest_ms = -1};
    struct ebb_err why;
    int rc;

    memset(&why, 0, sizeof why);
    rc = measure_all(&m, now_ms, &why);
    if (!rc && m.longest_ms >= 0) {
        ebb_value_put_int(stats, "longest_write", m.longest_ms);
        ebb_value_put_str(stats, "longest_write_source", "mtime");
    }
    ebb_writes_free(m.writes);
    ebb_value_free(m.kept);
    ebb_value_free(m.next);
    return rc ? ebb__facts_left_unknown(site, &why, err) : 0;
}
