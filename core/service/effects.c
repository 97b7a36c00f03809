/* SPDX-License-Identifier: Apache-2.0
 *
 * What actions do to the facts of a table.
 */
#include "service/effects.h"

#include <stdlib.h>

#define TARGET_BYTES ((int64_t)512 * 1024 * 1024)
#define FILES_PER_MANIFEST ((int64_t)20000)

void ebb_effect_add(struct ebb_effect *sum, const struct ebb_effect *e)
{
    sum->files_deleted += e->files_deleted;
    sum->bytes_deleted += e->bytes_deleted;
    sum->files_rewritten += e->files_rewritten;
    sum->bytes_rewritten += e->bytes_rewritten;
    sum->files_written += e->files_written;
    sum->snapshots_expired += e->snapshots_expired;
}

int64_t ebb_effect_number(const char *text)
{
    int64_t n = 0;

    if (!text || !*text)
        return -1;
    for (; *text; text++)
        if (*text < '0' || *text > '9' || __builtin_mul_overflow(n, (int64_t)10, &n) ||
            __builtin_add_overflow(n, (int64_t)(*text - '0'), &n))
            return -1;
    return n;
}

int64_t ebb_effect_target_bytes(const struct ebb_value *facts)
{
    const struct ebb_value *properties = ebb_value_get(ebb_value_get(facts, "table"), "properties");
    int64_t n = ebb_effect_number(ebb_value_text_of(properties, "write.target-file-size-bytes"));

    return n > 0 ? n : TARGET_BYTES;
}

/* A copy of the statistics below changes, to be altered. */
static struct ebb_value *new_stats(struct ebb_value *changes, const struct ebb_value *stats)
{
    ebb_value_put_copy(changes, "table.stats", stats);
    if (!stats)
        ebb_value_put_map(changes, "table.stats");
    return (struct ebb_value *)ebb_value_get(changes, "table.stats"); /* of our own tree */
}

static void put_if_known(struct ebb_value *map, const char *key, int64_t n)
{
    if (ebb_value_get(map, key))
        ebb_value_put_int(map, key, n > 0 ? n : 0);
}

static int64_t positive(const struct ebb_value *map, const char *key)
{
    int64_t n = ebb_value_int_of(map, key, 0);

    return n > 0 ? n : 0;
}

/* ---- remove_orphan_files ---- */

static void remove_orphans(const struct ebb_value *stats, int64_t now_ms, struct ebb_effect *out,
                           struct ebb_value *changes)
{
    const struct ebb_value *found = ebb_value_get(stats, "orphans");
    struct ebb_value *orphans = ebb_value_put_map(new_stats(changes, stats), "orphans");

    out->files_deleted = positive(found, "files");
    out->bytes_deleted = positive(found, "bytes");
    ebb_value_put_int(orphans, "files", 0);
    ebb_value_put_int(orphans, "bytes", 0);
    ebb_value_put_int(orphans, "at", now_ms);
}

/* ---- expire_snapshots ---- */

static bool is_named(const struct ebb_value *refs, int64_t id)
{
    for (size_t i = 0; i < ebb_value_get_count(refs); i++)
        if (ebb_value_int_of(ebb_value_get_at(refs, i), "snapshot_id", -1) == id)
            return true;
    return false;
}

static bool is_in(const struct ebb_value *list, const struct ebb_value *value)
{
    for (size_t i = 0; i < ebb_value_get_count(list); i++)
        if (ebb_value_is_equal(ebb_value_get_at(list, i), value))
            return true;
    return false;
}

static bool is_expired(const struct ebb_value *table, const struct ebb_value *action, const struct ebb_value *snapshot,
                       bool is_kept)
{
    int64_t id = ebb_value_int_of(snapshot, "id", -1);
    const struct ebb_value *ids = ebb_value_get(action, "snapshot_ids");

    if (is_named(ebb_value_get(table, "refs"), id) ||
        id == ebb_value_int_of(ebb_value_get(table, "current_snapshot"), "id", -1))
        return false;
    if (is_in(ids, ebb_value_get(snapshot, "id")))
        return true;
    return !is_kept && ebb_value_get(action, "older_than") &&
           ebb_value_int_of(snapshot, "at", INT64_MAX) < ebb_value_int_of(action, "older_than", INT64_MIN);
}

static void expire(const struct ebb_value *table, const struct ebb_value *action, struct ebb_effect *out,
                   struct ebb_value *changes)
{
    const struct ebb_value *snapshots = ebb_value_get(table, "snapshots");
    struct ebb_value *kept = ebb_value_put_list(changes, "table.snapshots");
    struct ebb_value *stats = new_stats(changes, ebb_value_get(table, "stats"));
    size_t count = ebb_value_get_count(snapshots), retain = (size_t)positive(action, "retain_last");

    retain = retain ? retain : 1;
    for (size_t i = 0; i < count; i++) {
        const struct ebb_value *s = ebb_value_get_at(snapshots, i);
        int64_t deleted = ebb_effect_number(ebb_value_text_of(ebb_value_get(s, "summary"), "deleted-data-files"));

        if (!is_expired(table, action, s, count - i <= retain)) {
            ebb_value_add_copy(kept, s);
            continue;
        }
        out->snapshots_expired++;
        out->files_deleted += 1 + (deleted > 0 && deleted < INT64_C(1) << 40 ? deleted : 0);
    }
    put_if_known(stats, "snapshots", positive(stats, "snapshots") - out->snapshots_expired);
}

/* ---- rewrite_data_files ---- */

static int64_t ideal_files(int64_t bytes, int64_t target)
{
    return bytes > 0 ? (bytes - 1) / target + 1 : 0;
}

static int64_t target_of(const struct ebb_value *facts, const struct ebb_value *action)
{
    int64_t target = ebb_value_int_of(action, "target_file_size", 0);

    return target > 0 ? target : ebb_effect_target_bytes(facts);
}

/* What a rewrite takes off the counters of the table. */
struct shrink {
    int64_t files, delete_files, delete_records;
};

static void rewrite_part(struct ebb_value *p, int64_t target, int64_t now_ms, struct ebb_effect *out,
                         struct shrink *less)
{
    int64_t files = positive(p, "files"), bytes = positive(p, "bytes"), ideal = ideal_files(bytes, target);

    out->files_rewritten += files;
    out->bytes_rewritten += bytes;
    out->files_written += ideal;
    less->files += files - ideal;
    less->delete_files += positive(p, "delete_files");
    less->delete_records += positive(p, "delete_records");
    put_if_known(p, "records", positive(p, "records") - positive(p, "delete_records"));
    put_if_known(p, "delete_files", 0);
    put_if_known(p, "delete_records", 0);
    put_if_known(p, "files", ideal);
    put_if_known(p, "avg_file", ideal ? bytes / ideal : 0);
    put_if_known(p, "max_file", bytes < target ? bytes : target);
    put_if_known(p, "last_write", now_ms);
}

static void rewrite_whole(const struct ebb_value *stats, int64_t target, struct ebb_effect *out, struct shrink *less)
{
    int64_t files = positive(stats, "data_files"), bytes = positive(stats, "bytes");

    out->files_rewritten = files;
    out->bytes_rewritten = bytes;
    out->files_written = ideal_files(bytes, target);
    *less =
        (struct shrink){files - out->files_written, positive(stats, "delete_files"), positive(stats, "delete_records")};
}

static void rewrite(const struct ebb_value *facts, const struct ebb_value *action, int64_t now_ms,
                    struct ebb_effect *out, struct ebb_value *changes)
{
    const struct ebb_value *table = ebb_value_get(facts, "table"), *stats = ebb_value_get(table, "stats");
    const struct ebb_value *parts = ebb_value_get(table, "partitions"), *wanted = ebb_value_get(action, "partitions");
    struct ebb_value *list, *left = new_stats(changes, stats);
    struct shrink less = {0, 0, 0};
    int64_t target = target_of(facts, action);

    if (!parts) {
        rewrite_whole(stats, target, out, &less);
    } else {
        list = ebb_value_put_list(changes, "table.partitions");
        for (size_t i = 0; i < ebb_value_get_count(parts); i++) {
            const struct ebb_value *p = ebb_value_get_at(parts, i);

            ebb_value_add_copy(list, p);
            if (!wanted || is_in(wanted, ebb_value_get(p, "key")))
                rewrite_part((struct ebb_value *)ebb_value_get_at(list, i), target, now_ms, out, &less);
        }
    }
    put_if_known(left, "data_files", positive(stats, "data_files") - less.files);
    put_if_known(left, "small_files", positive(stats, "small_files") - less.files);
    put_if_known(left, "delete_files", positive(stats, "delete_files") - less.delete_files);
    put_if_known(left, "delete_records", positive(stats, "delete_records") - less.delete_records);
    out->commits = out->files_rewritten > 0;
}

/* ---- rewrite_manifests ---- */

static void merge_manifests(const struct ebb_value *stats, struct ebb_effect *out, struct ebb_value *changes)
{
    int64_t files = positive(stats, "data_files") + positive(stats, "delete_files");
    int64_t ideal = ideal_files(files, FILES_PER_MANIFEST);

    if (positive(stats, "manifests") > ideal)
        put_if_known(new_stats(changes, stats), "manifests", ideal);
    out->commits = true;
}

/* ---- all ---- */

int ebb_effect_of(const struct ebb_value *facts, const struct ebb_value *action, int64_t now_ms, struct ebb_effect *out,
                  struct ebb_value **changes, struct ebb_err *err)
{
    const struct ebb_value *table = ebb_value_get(facts, "table"), *stats = ebb_value_get(table, "stats");
    const char *type = ebb_value_text_of(action, "type");
    int rc;

    memset(out, 0, sizeof *out);
    *changes = ebb_value_new_map(NULL);
    type = type ? type : "";
    if (!strcmp(type, "remove_orphan_files"))
        remove_orphans(stats, now_ms, out, *changes);
    else if (!strcmp(type, "expire_snapshots"))
        expire(table, action, out, *changes);
    else if (!strcmp(type, "rewrite_data_files"))
        rewrite(facts, action, now_ms, out, *changes);
    else if (!strcmp(type, "rewrite_manifests"))
        merge_manifests(stats, out, *changes);
    rc = ebb_value_check(*changes, "effects", err);
    if (rc) {
        ebb_value_free(*changes);
        *changes = NULL;
    }
    return rc;
}
