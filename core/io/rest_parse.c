/* SPDX-License-Identifier: Apache-2.0
 *
 * Answers of listings, and of loading a table: read as they stand, no tree is built.
 */
#include <stdlib.h>
#include <strings.h>

#include "base/text.h"
#include "io/rest_priv.h"

/* ---- texts ---- */

/* The current token: text without NUL, copied; null leaves NULL. */
static int keep_text(struct ebb_json *j, const char *what, char **out, struct ebb_err *err)
{
    if (j->kind == EBB_JSON_NULL)
        return 0;
    if (j->kind != EBB_JSON_STRING || memchr(j->text.p, '\0', j->text.n))
        return ebb_json_fail(j, err, "%s: a text without NUL is wanted", what);
    free(*out);
    *out = strndup(j->text.p ? j->text.p : "", j->text.n);
    return *out ? 0 : ebb_err_nomem(err);
}

static int next_text(struct ebb_json *j, const char *what, char **out, struct ebb_err *err)
{
    int rc = ebb_json_next(j, err);

    return rc ? rc : keep_text(j, what, out, err);
}

static int end_of(struct ebb_json *j, struct ebb_err *err)
{
    return ebb_json_expect(j, EBB_JSON_END, "end", err);
}

/* ---- pages of names ---- */

static int add_item(struct ebb__rest_page *page, struct ebb__rest_name **out, struct ebb_err *err)
{
    if (page->count == page->cap) {
        size_t cap = page->cap ? page->cap * 2 : 64;
        struct ebb__rest_name *items = realloc(page->items, cap * sizeof *items);

        if (!items)
            return ebb_err_nomem(err);
        page->items = items;
        page->cap = cap;
    }
    *out = &page->items[page->count++];
    memset(*out, 0, sizeof **out);
    return 0;
}

/* Levels, behind the opening of their list. */
static int read_levels(struct ebb_json *j, struct ebb_strs *levels, struct ebb_err *err)
{
    int rc;

    while (!(rc = ebb_json_next(j, err)) && j->kind != EBB_JSON_ARRAY_END) {
        if (j->kind != EBB_JSON_STRING || !j->text.n || memchr(j->text.p, '\0', j->text.n))
            return ebb_json_fail(j, err, "namespace: levels are texts, not empty and without NUL");
        if (levels->count >= EBB__REST_DEPTH_MAX)
            return ebb_json_fail(j, err, "namespace: more than %d levels", EBB__REST_DEPTH_MAX);
        rc = ebb_strs_addn(levels, j->text.p, j->text.n, err);
        if (rc)
            return rc;
    }
    if (!rc && !levels->count)
        rc = ebb_json_fail(j, err, "namespace: no levels");
    return rc;
}

static int read_level_list(struct ebb_json *j, struct ebb_strs *levels, struct ebb_err *err)
{
    int rc = ebb_json_expect(j, EBB_JSON_ARRAY, "namespace", err);

    return rc ? rc : read_levels(j, levels, err);
}

static int read_identifier(struct ebb_json *j, struct ebb__rest_name *name, struct ebb_err *err)
{
    int rc = 0;

    if (j->kind != EBB_JSON_OBJECT)
        return ebb_json_fail(j, err, "identifiers: objects are wanted");
    while (!rc && !(rc = ebb_json_next(j, err)) && j->kind == EBB_JSON_KEY)
        if (ebb_json_is_text(j, "name"))
            rc = next_text(j, "name", &name->name, err);
        else if (ebb_json_is_text(j, "namespace"))
            rc = read_level_list(j, &name->levels, err);
        else
            rc = ebb_json_skip(j, err);
    if (!rc && (!name->name || !name->name[0] || !name->levels.count))
        rc = ebb_json_fail(j, err, "identifiers: name and namespace are wanted");
    return rc;
}

static int read_items(struct ebb_json *j, bool is_tables, struct ebb__rest_page *page, struct ebb_err *err)
{
    int rc = ebb_json_next(j, err);

    if (rc || j->kind != EBB_JSON_ARRAY)
        return rc ? rc : ebb_json_fail(j, err, "a list is wanted");
    while (!(rc = ebb_json_next(j, err)) && j->kind != EBB_JSON_ARRAY_END) {
        struct ebb__rest_name *name = NULL;

        rc = add_item(page, &name, err);
        if (!rc && !is_tables && j->kind != EBB_JSON_ARRAY)
            rc = ebb_json_fail(j, err, "namespaces: lists of levels are wanted");
        else if (!rc)
            rc = is_tables ? read_identifier(j, name, err) : read_levels(j, &name->levels, err);
        if (rc)
            return rc;
    }
    return rc;
}

int ebb__rest_parse_page(const char *what, bool is_tables, struct ebb_str json, struct ebb__rest_page *out,
                         struct ebb_err *err)
{
    struct ebb_json j;
    bool has_items = false;
    int rc;

    memset(out, 0, sizeof *out);
    ebb_json_init(&j, what, json.p, json.n);
    rc = ebb_json_expect(&j, EBB_JSON_OBJECT, "answer", err);
    while (!rc && !(rc = ebb_json_next(&j, err)) && j.kind == EBB_JSON_KEY) {
        if (ebb_json_is_text(&j, is_tables ? "identifiers" : "namespaces")) {
            has_items = true;
            rc = read_items(&j, is_tables, out, err);
        } else if (ebb_json_is_text(&j, "next-page-token")) {
            rc = next_text(&j, "next-page-token", &out->next, err);
        } else {
            rc = ebb_json_skip(&j, err);
        }
    }
    if (!rc && !has_items)
        rc = ebb_json_fail(&j, err, "no list of names is in it");
    if (!rc)
        rc = end_of(&j, err);
    if (!rc && out->next && !out->next[0]) {
        free(out->next);
        out->next = NULL;
    }
    ebb_json_fini(&j);
    if (rc)
        ebb__rest_page_fini(out);
    return rc;
}

/* ---- keys ---- */

void ebb__rest_keys_fini(struct ebb__rest_keys *k)
{
    free(k->prefix);
    free(k->id);
    free(k->secret);
    free(k->session);
    free(k->region);
    free(k->endpoint);
    memset(k, 0, sizeof *k);
}

static int add_keys(struct ebb__rest_table *t, struct ebb__rest_keys **out, struct ebb_err *err)
{
    if (t->key_count == t->key_cap) {
        size_t cap = t->key_cap ? t->key_cap * 2 : 4;
        struct ebb__rest_keys *keys = realloc(t->keys, cap * sizeof *keys);

        if (!keys)
            return ebb_err_nomem(err);
        t->keys = keys;
        t->key_cap = cap;
    }
    *out = &t->keys[t->key_count++];
    memset(*out, 0, sizeof **out);
    (*out)->path_style = -1;
    (*out)->expires_at_ms = INT64_MAX;
    return 0;
}

static bool is_true(const char *text)
{
    return text && !strcmp(text, "true");
}

/* One property of a configuration: at its key. */
static int read_property(struct ebb_json *j, struct ebb__rest_table *t, struct ebb__rest_keys *k, struct ebb_err *err)
{
    const struct {
        const char *key;
        char **to;
    } texts[] = {{"s3.access-key-id", &k->id},  {"s3.secret-access-key", &k->secret}, {"s3.session-token", &k->session},
                 {"client.region", &k->region}, {"s3.endpoint", &k->endpoint},        {"token", &t->token}};
    bool is_style = ebb_json_is_text(j, "s3.path-style-access");
    bool is_signing = ebb_json_is_text(j, "s3.remote-signing-enabled");
    bool is_end = ebb_json_is_text(j, "s3.session-token-expires-at-ms");
    char *flag = NULL;
    int rc;

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (ebb_json_is_text(j, texts[i].key))
            return next_text(j, texts[i].key, texts[i].to, err);
    if (!is_style && !is_signing && !is_end)
        return ebb_json_skip(j, err);
    rc = next_text(j, "config", &flag, err);
    if (!rc && is_style && flag)
        k->path_style = is_true(flag);
    if (!rc && is_signing)
        t->signs = is_true(flag);
    if (!rc && is_end && flag && !ebb_text_count(flag, &k->expires_at_ms))
        rc = ebb_json_fail(j, err, "s3.session-token-expires-at-ms: a number is wanted");
    free(flag);
    return rc;
}

static int read_properties(struct ebb_json *j, struct ebb__rest_table *t, struct ebb__rest_keys *k, struct ebb_err *err)
{
    int rc = ebb_json_next(j, err);

    if (rc || j->kind == EBB_JSON_NULL)
        return rc;
    if (j->kind != EBB_JSON_OBJECT)
        return ebb_json_fail(j, err, "config: an object is wanted");
    while (!(rc = ebb_json_next(j, err)) && j->kind == EBB_JSON_KEY)
        if ((rc = read_property(j, t, k, err)))
            return rc;
    return rc;
}

static int read_credential(struct ebb_json *j, struct ebb__rest_table *t, struct ebb_err *err)
{
    struct ebb__rest_keys *k = NULL;
    char *token = t->token;
    int rc = add_keys(t, &k, err);

    if (!rc && j->kind != EBB_JSON_OBJECT)
        return ebb_json_fail(j, err, "storage-credentials: objects are wanted");
    t->token = NULL; /* one in here is not the table's */
    while (!rc && !(rc = ebb_json_next(j, err)) && j->kind == EBB_JSON_KEY)
        if (ebb_json_is_text(j, "prefix"))
            rc = next_text(j, "prefix", &k->prefix, err);
        else if (ebb_json_is_text(j, "config"))
            rc = read_properties(j, t, k, err);
        else
            rc = ebb_json_skip(j, err);
    free(t->token);
    t->token = token;
    if (!rc && (!k->prefix || !k->prefix[0])) {
        free(k->prefix);
        k->prefix = NULL;
        rc = ebb_json_fail(j, err, "storage-credentials: a prefix is wanted");
    }
    return rc;
}

static int read_credentials(struct ebb_json *j, struct ebb__rest_table *t, struct ebb_err *err)
{
    int rc = ebb_json_next(j, err);

    if (rc || j->kind == EBB_JSON_NULL)
        return rc;
    if (j->kind != EBB_JSON_ARRAY)
        return ebb_json_fail(j, err, "storage-credentials: a list is wanted");
    while (!(rc = ebb_json_next(j, err)) && j->kind != EBB_JSON_ARRAY_END)
        if ((rc = read_credential(j, t, err)))
            return rc;
    return rc;
}

/* ---- a table ---- */

static int add_snapshot(struct ebb__rest_table *t, int64_t id, struct ebb_err *err)
{
    if (t->snapshot_count == t->snapshot_cap) {
        size_t cap = t->snapshot_cap ? t->snapshot_cap * 2 : 64;
        int64_t *all = realloc(t->snapshots, cap * sizeof *all);

        if (!all)
            return ebb_err_nomem(err);
        t->snapshots = all;
        t->snapshot_cap = cap;
    }
    t->snapshots[t->snapshot_count++] = id;
    return 0;
}

static int read_id(struct ebb_json *j, struct ebb__rest_table *t, struct ebb_err *err)
{
    int64_t id;
    int rc = ebb_json_read_int(j, "snapshot-id", &id, err);

    return rc ? rc : add_snapshot(t, id, err);
}

static int read_snapshot(struct ebb_json *j, struct ebb__rest_table *t, struct ebb_err *err)
{
    size_t before = t->snapshot_count;
    int rc = 0;

    if (j->kind != EBB_JSON_OBJECT)
        return ebb_json_fail(j, err, "snapshots: objects are wanted");
    while (!rc && !(rc = ebb_json_next(j, err)) && j->kind == EBB_JSON_KEY)
        if (ebb_json_is_text(j, "snapshot-id"))
            rc = read_id(j, t, err);
        else
            rc = ebb_json_skip(j, err);
    if (!rc && t->snapshot_count != before + 1)
        rc = ebb_json_fail(j, err, "snapshots: snapshot-id is missing");
    return rc;
}

static int read_snapshots(struct ebb_json *j, struct ebb__rest_table *t, struct ebb_err *err)
{
    int rc = ebb_json_next(j, err);

    if (rc || j->kind == EBB_JSON_NULL)
        return rc;
    if (j->kind != EBB_JSON_ARRAY)
        return ebb_json_fail(j, err, "snapshots: a list is wanted");
    while (!(rc = ebb_json_next(j, err)) && j->kind != EBB_JSON_ARRAY_END)
        if ((rc = read_snapshot(j, t, err)))
            return rc;
    return rc;
}

/* "name": {"snapshot-id": …, "type": …}: at its key. */
static int read_ref(struct ebb_json *j, struct ebb__rest_table *t, struct ebb_err *err)
{
    struct ebb__rest_ref ref = {strndup(j->text.p, j->text.n), -1};
    bool is_told = false;
    int rc = ref.name ? ebb_json_expect(j, EBB_JSON_OBJECT, "refs", err) : ebb_err_nomem(err);

    while (!rc && !(rc = ebb_json_next(j, err)) && j->kind == EBB_JSON_KEY) {
        bool is_id = ebb_json_is_text(j, "snapshot-id");

        rc = is_id ? ebb_json_read_int(j, "snapshot-id", &ref.snapshot, err) : ebb_json_skip(j, err);
        is_told = is_told || is_id;
    }
    if (!rc && !is_told)
        rc = ebb_json_fail(j, err, "refs: snapshot-id is missing");
    if (!rc && t->ref_count == t->ref_cap) {
        size_t cap = t->ref_cap ? t->ref_cap * 2 : 8;
        struct ebb__rest_ref *refs = realloc(t->refs, cap * sizeof *refs);

        rc = refs ? 0 : ebb_err_nomem(err);
        t->refs = refs ? refs : t->refs;
        t->ref_cap = refs ? cap : t->ref_cap;
    }
    if (rc) {
        free(ref.name);
        return rc;
    }
    t->refs[t->ref_count++] = ref;
    return 0;
}

static int read_refs(struct ebb_json *j, struct ebb__rest_table *t, struct ebb_err *err)
{
    int rc = ebb_json_next(j, err);

    if (rc || j->kind == EBB_JSON_NULL)
        return rc;
    if (j->kind != EBB_JSON_OBJECT)
        return ebb_json_fail(j, err, "refs: an object is wanted");
    while (!(rc = ebb_json_next(j, err)) && j->kind == EBB_JSON_KEY)
        if (memchr(j->text.p, '\0', j->text.n))
            return ebb_json_fail(j, err, "refs: a name holds NUL");
        else if ((rc = read_ref(j, t, err)))
            return rc;
    return rc;
}

/* null, -1 and nothing at all are one. */
static int read_current(struct ebb_json *j, struct ebb__rest_table *t, struct ebb_err *err)
{
    int rc = ebb_json_next(j, err);

    if (rc || j->kind == EBB_JSON_NULL)
        return rc;
    if (j->kind != EBB_JSON_INT)
        return ebb_json_fail(j, err, "current-snapshot-id: a number is wanted");
    t->current = j->number;
    return 0;
}

static int read_table_properties(struct ebb_json *j, struct ebb__rest_table *t, struct ebb_err *err)
{
    char *flag = NULL;
    int rc = ebb_json_next(j, err);

    if (rc || j->kind == EBB_JSON_NULL)
        return rc;
    if (j->kind != EBB_JSON_OBJECT)
        return ebb_json_fail(j, err, "properties: an object is wanted");
    while (!rc && !(rc = ebb_json_next(j, err)) && j->kind == EBB_JSON_KEY)
        rc = ebb_json_is_text(j, "gc.enabled") ? next_text(j, "gc.enabled", &flag, err) : ebb_json_skip(j, err);
    t->collects = !flag || !strcasecmp(flag, "true");
    free(flag);
    return rc;
}

static int read_metadata(struct ebb_json *j, struct ebb__rest_table *t, struct ebb_err *err)
{
    int rc = ebb_json_expect(j, EBB_JSON_OBJECT, "metadata", err);

    while (!rc && !(rc = ebb_json_next(j, err)) && j->kind == EBB_JSON_KEY)
        if (ebb_json_is_text(j, "table-uuid"))
            rc = next_text(j, "table-uuid", &t->uuid, err);
        else if (ebb_json_is_text(j, "location"))
            rc = next_text(j, "location", &t->location, err);
        else if (ebb_json_is_text(j, "snapshots"))
            rc = read_snapshots(j, t, err);
        else if (ebb_json_is_text(j, "refs"))
            rc = read_refs(j, t, err);
        else if (ebb_json_is_text(j, "current-snapshot-id"))
            rc = read_current(j, t, err);
        else if (ebb_json_is_text(j, "properties"))
            rc = read_table_properties(j, t, err);
        else
            rc = ebb_json_skip(j, err);
    if (!rc && !t->location)
        rc = ebb_json_fail(j, err, "metadata: location is missing");
    return rc;
}

/* The table's own configuration has the prefix "". */
static int read_config(struct ebb_json *j, struct ebb__rest_table *t, struct ebb_err *err)
{
    struct ebb__rest_keys *k = NULL;
    int rc = add_keys(t, &k, err);

    if (rc)
        return rc;
    k->prefix = strdup("");
    return k->prefix ? read_properties(j, t, k, err) : ebb_err_nomem(err);
}

void ebb__rest_table_fini(struct ebb__rest_table *t)
{
    for (size_t i = 0; i < t->key_count; i++)
        ebb__rest_keys_fini(&t->keys[i]);
    for (size_t i = 0; i < t->ref_count; i++)
        free(t->refs[i].name);
    free(t->refs);
    free(t->keys);
    free(t->etag);
    free(t->metadata_uri);
    free(t->uuid);
    free(t->location);
    free(t->snapshots);
    free(t->token);
    memset(t, 0, sizeof *t);
}

static int read_table(struct ebb_json *j, struct ebb__rest_table *t, bool is_whole, struct ebb_err *err)
{
    bool has_metadata = false;
    int rc = ebb_json_expect(j, EBB_JSON_OBJECT, "answer", err);

    while (!rc && !(rc = ebb_json_next(j, err)) && j->kind == EBB_JSON_KEY) {
        if (ebb_json_is_text(j, "storage-credentials")) {
            has_metadata = has_metadata || !is_whole;
            rc = read_credentials(j, t, err);
        } else if (is_whole && ebb_json_is_text(j, "metadata-location")) {
            rc = next_text(j, "metadata-location", &t->metadata_uri, err);
        } else if (is_whole && ebb_json_is_text(j, "metadata")) {
            has_metadata = true;
            rc = read_metadata(j, t, err);
        } else if (is_whole && ebb_json_is_text(j, "config")) {
            rc = read_config(j, t, err);
        } else {
            rc = ebb_json_skip(j, err);
        }
    }
    if (!rc && !has_metadata)
        rc = ebb_json_fail(j, err, is_whole ? "metadata is missing" : "storage-credentials is missing");
    return rc ? rc : end_of(j, err);
}

static int parse(const char *what, struct ebb_str json, bool is_whole, struct ebb__rest_table *out, struct ebb_err *err)
{
    struct ebb_json j;
    int rc;

    memset(out, 0, sizeof *out);
    out->current = -1;
    out->collects = true;
    ebb_json_init(&j, what, json.p, json.n);
    rc = read_table(&j, out, is_whole, err);
    ebb_json_fini(&j);
    if (rc)
        ebb__rest_table_fini(out);
    return rc;
}

int ebb__rest_parse_table(const char *what, struct ebb_str json, struct ebb__rest_table *out, struct ebb_err *err)
{
    return parse(what, json, true, out, err);
}

int ebb__rest_parse_credentials(const char *what, struct ebb_str json, struct ebb__rest_table *out, struct ebb_err *err)
{
    return parse(what, json, false, out, err);
}
