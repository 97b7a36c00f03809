/* SPDX-License-Identifier: Apache-2.0
 *
 * What a neighbour was found to hold, kept in the store for as long as its metadata file is the same: a metadata file
 * names its snapshots for ever, so a catalog of many tables need not be read whole for each plan. Only folders outside
 * the neighbour's own location are kept: the location itself is compared each time.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/text.h"
#include "format/json.h"
#include "table/owner_cache_priv.h"

#define SCOPE "neighbour"
#define CACHE_MAX_BYTES ((size_t)1 << 20)
#define FOLDERS_MAX 1000

/* What must be the same for the answer to hold. */
static void identity(const struct ebb_table *t, struct ebb_buf *out)
{
    const struct ebb_stat *st = &t->metadata_stat;

    ebb_buf_printf(out, "%" PRIu64 ":%" PRIu64 ":%" PRIu64 ":%" PRId64 ":%" PRId64, st->dev, st->ino, st->size_bytes,
                   st->mtime_ns, st->ctime_ns);
    if (st->etag[0]) /* of an object only its name tells it from another one with the same content */
        ebb_buf_printf(out, ":%s:%s", st->etag, t->ref.metadata_uri);
}

/* {"id": identity, "folders": […]} */
static int read_entry(struct ebb_json *j, const char *id, struct ebb_strs *folders, bool *is_same, struct ebb_err *err)
{
    int rc = ebb_json_expect(j, EBB_JSON_OBJECT, "neighbour", err);

    while (!rc && !(rc = ebb_json_next(j, err)) && j->kind == EBB_JSON_KEY) {
        bool is_id = ebb_str_is_equal(j->text, EBB_STR("id"));

        rc = ebb_json_next(j, err);
        if (!rc && is_id)
            *is_same = j->kind == EBB_JSON_STRING && ebb_str_is_equal(j->text, ebb_str_of(id));
        while (!rc && !is_id && !(rc = ebb_json_next(j, err)) && j->kind == EBB_JSON_STRING)
            rc = ebb_strs_addn(folders, j->text.p, j->text.n, err);
    }
    return rc;
}

int ebb__owner_cache_get(const struct ebb_site *site, const struct ebb_table *t, struct ebb_strs *folders, bool *found,
                         struct ebb_err *err)
{
    struct ebb_buf json, id;
    struct ebb_json j;
    int rc;

    *found = false;
    if (!site->store)
        return 0;
    ebb_buf_init(&json, CACHE_MAX_BYTES);
    ebb_buf_init(&id, 256);
    identity(t, &id);
    rc = ebb_store_get_value(site->store, SCOPE, t->ref.metadata_uri, &json, found, err);
    if (!rc && *found) {
        ebb_json_init(&j, "neighbour", json.data ? json.data : "", json.len);
        *found = false;
        if (read_entry(&j, ebb_buf_cstr(&id), folders, found, NULL))
            *found = false; /* not ours, or of another version: read again */
        ebb_json_fini(&j);
    }
    ebb_buf_fini(&json);
    ebb_buf_fini(&id);
    return rc;
}

int ebb__owner_cache_put(const struct ebb_site *site, const struct ebb_table *t, const struct ebb_strs *folders,
                         struct ebb_err *err)
{
    struct ebb_buf json, id;
    struct ebb_jsonw w;
    int rc = 0;

    if (!site->store || folders->count > FOLDERS_MAX)
        return 0;
    ebb_buf_init(&json, CACHE_MAX_BYTES);
    ebb_buf_init(&id, 256);
    identity(t, &id);
    ebb_jsonw_init(&w, &json);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kstr(&w, "id", ebb_buf_cstr(&id));
    ebb_jsonw_key(&w, "folders");
    ebb_jsonw_begin(&w, '[');
    for (size_t i = 0; i < folders->count; i++) {
        if (!ebb_text_is_utf8(folders->items[i], strlen(folders->items[i])))
            json.bad = true; /* not kept: JSON can't hold it */
        ebb_jsonw_str(&w, folders->items[i]);
    }
    ebb_jsonw_end(&w, ']');
    ebb_jsonw_end(&w, '}');
    if (!json.bad)
        rc = ebb_store_put_value(site->store, SCOPE, t->ref.metadata_uri, ebb_buf_cstr(&json), err);
    ebb_buf_fini(&json);
    ebb_buf_fini(&id);
    return rc;
}
