/* SPDX-License-Identifier: Apache-2.0
 *
 * Metadata of other tables among the listed files that nothing references: a table that no catalog names may live here.
 */
#include "table/plan_priv.h"

#define HEAD_BYTES ((size_t)64 * 1024)
#define WHOLE_BYTES ((size_t)64 << 20)

static int refuse(const struct ebb_planning *p, const char *uri, const struct ebb_metadata_identity *identity,
                  struct ebb_err *err)
{
    int rc;

    if (identity->uuid) {
        rc = ebb_err_set(err, EBB_EFOREIGN_UUID, "%s: %s is metadata of another table (uuid %s)", p->table->label, uri,
                         identity->uuid);
        ebb_err_hint(
            err, "if that table was dropped, say --dropped %s; if it lives, it must move or be left out with --exclude",
            identity->uuid);
        return rc;
    }
    if (identity->location)
        rc = ebb_err_set(err, EBB_EFOREIGN_UUID, "%s: %s is metadata of another table (location %s, without uuid)",
                         p->table->label, uri, identity->location);
    else
        rc = ebb_err_set(err, EBB_EFOREIGN_UUID,
                         "%s: %s is metadata, and whose can't be told: no uuid in its first %zu bytes", p->table->label,
                         uri, WHOLE_BYTES);
    ebb_err_hint(err, "leave the place out with --exclude, or remove the file if that table is gone");
    return rc;
}

/* No JSON, or no table's: ordinary litter. Version 1 may have no uuid: then the location tells whose it is. */
static int judge(const struct ebb_planning *p, const char *uri, const struct ebb_metadata_identity *identity,
                 struct ebb_err *err)
{
    if (identity->uuid)
        return ebb_protect_is_known_uuid(p->protect, identity->uuid) ? 0 : refuse(p, uri, identity, err);
    if (!identity->location && !identity->is_cut)
        return 0;
    if (identity->location && ebb__zone_relate(&p->zone, identity->location) == EBB_ZONE_EQUAL)
        return 0;
    return refuse(p, uri, identity, err);
}

/* Who wrote a file, from its first max bytes. What is no metadata has neither uuid nor location. */
static int identify(struct ebb_planning *p, const char *uri, size_t max, struct ebb_arena *arena,
                    struct ebb_metadata_identity *out, struct ebb_err *err)
{
    struct ebb_buf bytes;
    int rc;

    memset(out, 0, sizeof *out);
    ebb_buf_init(&bytes, max);
    rc = ebb_storage_read_head(p->site->storage, uri, max, &bytes, err);
    if (!rc)
        rc = ebb_metadata_identify(uri, bytes.data ? bytes.data : "", bytes.len, arena, out, err);
    if (rc == -(int)EBB_EMETADATA) {
        rc = 0;
        out->is_cut = out->is_cut && bytes.len == max; /* else there is no more to read */
    }
    ebb_buf_fini(&bytes);
    return rc;
}

static int look(struct ebb_planning *p, const char *uri, bool *is_litter, struct ebb_err *err)
{
    struct ebb_metadata_identity identity;
    struct ebb_arena arena;
    int rc;

    ebb_arena_init(&arena, (size_t)1 << 20);
    rc = identify(p, uri, HEAD_BYTES, &arena, &identity, err);
    if (!rc && !identity.uuid && identity.is_cut) {
        ebb_arena_fini(&arena);
        ebb_arena_init(&arena, WHOLE_BYTES);
        rc = identify(p, uri, WHOLE_BYTES, &arena, &identity, err);
    }
    if (rc == -(int)EBB_ENOENT) {
        *is_litter = false; /* gone since it was listed */
        rc = 0;
    } else if (!rc) {
        rc = judge(p, uri, &identity, err);
    }
    ebb_arena_fini(&arena);
    return rc;
}

int ebb__plan_check_foreign(struct ebb_planning *p, const struct ebb_listed *f, bool *is_litter, struct ebb_err *err)
{
    struct ebb_buf text;
    bool is_gzip;
    int rc;

    *is_litter = true;
    ebb_buf_init(&text, 2 * EBB_LOCATION_MAX_BYTES);
    ebb_buf_add_str(&text, f->name);
    rc = ebb_buf_check(&text, "a listed name", err);
    if (!rc && ebb_metadata_is_name(ebb_buf_cstr(&text), &is_gzip)) {
        ebb_buf_reset(&text);
        ebb_buf_add_str(&text, f->uri);
        rc = ebb_buf_check(&text, "a listed name", err);
        if (!rc)
            rc = look(p, ebb_buf_cstr(&text), is_litter, err);
    }
    ebb_buf_fini(&text);
    return rc;
}
