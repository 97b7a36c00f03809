/* SPDX-License-Identifier: Apache-2.0 */
#include "table/piece_priv.h"

#include <inttypes.h>

#include "base/text.h"

bool ebb__piece_is_relative(struct ebb_str path)
{
    size_t i = 0;

    while (i < path.n && path.p[i] != ':' && path.p[i] != '/')
        i++;
    if (i == path.n || path.p[i] == '/')
        return i > 0;
    return i == 0 || (i == 1 && (path.n < 3 || path.p[2] != '/')); /* "C:/" is absolute, too */
}

static bool has_prefix_of(const char *trusted, const struct ebb_location *piece)
{
    struct ebb_location loc;

    return !ebb_location_split(trusted, strlen(trusted), &loc, NULL) && ebb_prefix_is_equal(NULL, &loc, piece);
}

static int check_readable(const struct ebb_site *site, const struct ebb_table *table, const struct ebb_strs *read_also,
                          const char *uri, struct ebb_err *err)
{
    struct ebb_location piece;
    bool inside = false;
    int rc = ebb_location_split(uri, strlen(uri), &piece, err);

    if (rc)
        return ebb_err_as(err, EBB_EBAD_LOCATION, table->label);
    if (has_prefix_of(table->metadata->location, &piece) || has_prefix_of(table->ref.metadata_uri, &piece) ||
        ebb_uri_map_has(ebb_storage_map(site->storage), uri))
        return 0;
    for (size_t i = 0; read_also && i < read_also->count; i++)
        if (!ebb_location_contains(read_also->items[i], uri, NULL, &inside, NULL) && inside)
            return 0;
    rc = ebb_err_set(err, EBB_ESCHEME, "%s: metadata names %s, which is not under the scheme and bucket of the table",
                     table->label, uri);
    ebb_err_hint(err, "if it may be read, say --read-also with its prefix");
    return rc;
}

int ebb__piece_uri(const struct ebb_site *site, const struct ebb_table *table, const struct ebb_strs *read_also,
                   struct ebb_str path, struct ebb_buf *out, struct ebb_err *err)
{
    int rc;

    if (!path.n || memchr(path.p, '\0', path.n))
        return ebb_err_set(err, EBB_EMETADATA, "%s: metadata names a piece with an empty name or a NUL in it",
                           table->label);
    ebb_buf_reset(out);
    if (ebb__piece_is_relative(path))
        ebb_buf_printf(out, "%s/", table->metadata->location);
    ebb_buf_add_str(out, path);
    rc = ebb_buf_check(out, "a name in the metadata", err);
    return rc ? rc : check_readable(site, table, read_also, ebb_buf_cstr(out), err);
}

int ebb__piece_read(const struct ebb_site *site, const struct ebb_table *table, const char *uri, enum ebb_error missing,
                    const char *what, struct ebb_buf *bytes, struct ebb_err *err)
{
    struct ebb_buf prefix;
    int rc = ebb_storage_read(site->storage, uri, bytes, NULL, err);
    enum ebb_error as = rc == -(int)EBB_ENOENT ? missing : EBB_EMETADATA;

    if (!rc || rc == -(int)EBB_ENOMEM || rc == -(int)EBB_ESCHEME)
        return rc;
    ebb_buf_init(&prefix, EBB_ERR_MESSAGE_MAX);
    ebb_buf_printf(&prefix, "%s: %s", table->label, what);
    rc = ebb_err_as(err, as, ebb_buf_cstr(&prefix));
    ebb_buf_fini(&prefix);
    return rc;
}

static int check_count(const struct ebb_site *site, const struct ebb_table *table, const char *uri, const char *what,
                       int64_t recorded, int64_t found, struct ebb_err *err)
{
    if (recorded < 0 || found == recorded)
        return 0;
    if (found > recorded) {
        ebb_log_say(&site->log, EBB_LOG_WARN, "%s: %s holds %" PRId64 " %s entries, its list says %" PRId64,
                    table->label, uri, found, what, recorded);
        return 0;
    }
    return ebb_err_set(err, EBB_EMANIFEST_CORRUPT,
                       "%s: manifest %s holds %" PRId64 " %s entries, its list says %" PRId64, table->label, uri, found,
                       what, recorded);
}

int ebb__piece_check_counts(const struct ebb_site *site, const struct ebb_table *table, const char *uri,
                            const struct ebb_manifest_ref *ref, const struct ebb_manifest_counts *found,
                            struct ebb_err *err)
{
    int rc = check_count(site, table, uri, "added", ref->added_files, found->added, err);

    if (!rc)
        rc = check_count(site, table, uri, "existing", ref->existing_files, found->existing, err);
    if (!rc)
        rc = check_count(site, table, uri, "deleted", ref->deleted_files, found->deleted, err);
    return rc;
}

int ebb__piece_check_length(const struct ebb_table *table, const char *uri, int64_t recorded, int64_t found,
                            struct ebb_err *err)
{
    if (recorded < 0 || recorded == found)
        return 0;
    return ebb_err_set(err, EBB_EMANIFEST_CORRUPT, "%s: manifest %s has %" PRId64 " bytes, its list says %" PRId64,
                       table->label, uri, found, recorded);
}

int64_t ebb__piece_counter(const struct ebb_snapshot *s, const char *key)
{
    int64_t value;

    return ebb_text_count(ebb_snapshot_summary(s, key), &value) ? value : -1;
}
