/* SPDX-License-Identifier: Apache-2.0
 *
 * Answers of Glue: read as they stand, no tree is built.
 */
#include <stdlib.h>
#include <strings.h>

#include "io/glue_priv.h"

static void item_fini(struct ebb__glue_item *item)
{
    free(item->name);
    free(item->account);
    free(item->location);
    free(item->metadata_uri);
    free(item->table_type);
    free(item->target_account);
    free(item->target_database);
    free(item->target_name);
}

void ebb__glue_items_fini(struct ebb__glue_items *items)
{
    for (size_t i = 0; i < items->count; i++)
        item_fini(&items->items[i]);
    free(items->items);
    free(items->next);
    memset(items, 0, sizeof *items);
}

static int add_item(struct ebb__glue_items *list, struct ebb__glue_item **out, struct ebb_err *err)
{
    if (list->count == list->cap) {
        size_t cap = list->cap ? list->cap * 2 : 64;
        struct ebb__glue_item *items = realloc(list->items, cap * sizeof *items);

        if (!items)
            return ebb_err_nomem(err);
        list->items = items;
        list->cap = cap;
    }
    *out = &list->items[list->count++];
    memset(*out, 0, sizeof **out);
    return 0;
}

/* The value that comes next: text without NUL, copied; null leaves NULL. */
static int next_text(struct ebb_json *j, const char *what, char **out, struct ebb_err *err)
{
    int rc = ebb_json_next(j, err);

    if (rc || j->kind == EBB_JSON_NULL)
        return rc;
    if (j->kind != EBB_JSON_STRING || memchr(j->text.p, '\0', j->text.n))
        return ebb_json_fail(j, err, "%s: a text without NUL is wanted", what);
    free(*out);
    *out = strndup(j->text.p ? j->text.p : "", j->text.n);
    return *out ? 0 : ebb_err_nomem(err);
}

/* A key whose value is an object (true), or null, which is passed over. */
static int enter(struct ebb_json *j, const char *what, bool *is_there, struct ebb_err *err)
{
    int rc = ebb_json_next(j, err);

    *is_there = !rc && j->kind == EBB_JSON_OBJECT;
    if (!rc && !*is_there && j->kind != EBB_JSON_NULL)
        rc = ebb_json_fail(j, err, "%s: an object is wanted", what);
    return rc;
}

static int read_parameters(struct ebb_json *j, struct ebb__glue_item *item, struct ebb_err *err)
{
    bool is_there;
    int rc = enter(j, "Parameters", &is_there, err);

    while (!rc && is_there && !(rc = ebb_json_next(j, err)) && j->kind == EBB_JSON_KEY)
        if (ebb_json_is_text(j, "table_type"))
            rc = next_text(j, "table_type", &item->table_type, err);
        else if (ebb_json_is_text(j, "metadata_location"))
            rc = next_text(j, "metadata_location", &item->metadata_uri, err);
        else
            rc = ebb_json_skip(j, err);
    return rc;
}

static int read_storage(struct ebb_json *j, struct ebb__glue_item *item, struct ebb_err *err)
{
    bool is_there;
    int rc = enter(j, "StorageDescriptor", &is_there, err);

    while (!rc && is_there && !(rc = ebb_json_next(j, err)) && j->kind == EBB_JSON_KEY)
        if (ebb_json_is_text(j, "Location"))
            rc = next_text(j, "Location", &item->location, err);
        else
            rc = ebb_json_skip(j, err);
    return rc;
}

static int read_target(struct ebb_json *j, struct ebb__glue_item *item, struct ebb_err *err)
{
    int rc = enter(j, "target", &item->is_link, err);

    while (!rc && item->is_link && !(rc = ebb_json_next(j, err)) && j->kind == EBB_JSON_KEY)
        if (ebb_json_is_text(j, "CatalogId"))
            rc = next_text(j, "CatalogId", &item->target_account, err);
        else if (ebb_json_is_text(j, "DatabaseName"))
            rc = next_text(j, "DatabaseName", &item->target_database, err);
        else if (ebb_json_is_text(j, "Name"))
            rc = next_text(j, "Name", &item->target_name, err);
        else
            rc = ebb_json_skip(j, err);
    return rc;
}

static int read_type(struct ebb_json *j, struct ebb__glue_item *item, struct ebb_err *err)
{
    int rc = ebb_json_next(j, err);

    if (!rc && j->kind == EBB_JSON_STRING)
        item->is_view = ebb_json_is_text(j, "VIRTUAL_VIEW");
    else if (!rc)
        rc = ebb_json_skip(j, err);
    return rc;
}

/* Behind the opening of a database or table. */
static int read_item(struct ebb_json *j, struct ebb__glue_item *item, struct ebb_err *err)
{
    int rc = 0;

    if (j->kind != EBB_JSON_OBJECT)
        return ebb_json_fail(j, err, "an object is wanted");
    while (!rc && !(rc = ebb_json_next(j, err)) && j->kind == EBB_JSON_KEY)
        if (ebb_json_is_text(j, "Name"))
            rc = next_text(j, "Name", &item->name, err);
        else if (ebb_json_is_text(j, "CatalogId"))
            rc = next_text(j, "CatalogId", &item->account, err);
        else if (ebb_json_is_text(j, "Parameters"))
            rc = read_parameters(j, item, err);
        else if (ebb_json_is_text(j, "StorageDescriptor"))
            rc = read_storage(j, item, err);
        else if (ebb_json_is_text(j, "TargetTable") || ebb_json_is_text(j, "TargetDatabase"))
            rc = read_target(j, item, err);
        else if (ebb_json_is_text(j, "TableType"))
            rc = read_type(j, item, err);
        else
            rc = ebb_json_skip(j, err);
    if (!rc && (!item->name || !item->name[0]))
        rc = ebb_json_fail(j, err, "Name is missing");
    if (!rc && item->is_link && (!item->target_database || !item->target_database[0]))
        rc = ebb_json_fail(j, err, "%s: a link without the database it leads to", item->name);
    return rc;
}

static int read_one(struct ebb_json *j, struct ebb__glue_items *out, struct ebb_err *err)
{
    struct ebb__glue_item *item = NULL;
    int rc = add_item(out, &item, err);

    return rc ? rc : read_item(j, item, err);
}

static int read_list(struct ebb_json *j, struct ebb__glue_items *out, struct ebb_err *err)
{
    int rc = ebb_json_expect(j, EBB_JSON_ARRAY, "list", err);

    while (!rc && !(rc = ebb_json_next(j, err)) && j->kind != EBB_JSON_ARRAY_END)
        rc = read_one(j, out, err);
    return rc;
}

static int read_answer(struct ebb_json *j, struct ebb__glue_items *out, bool *has_list, struct ebb_err *err)
{
    int rc = ebb_json_expect(j, EBB_JSON_OBJECT, "answer", err);

    while (!rc && !(rc = ebb_json_next(j, err)) && j->kind == EBB_JSON_KEY)
        if (ebb_json_is_text(j, "DatabaseList") || ebb_json_is_text(j, "TableList")) {
            *has_list = true;
            rc = read_list(j, out, err);
        } else if (ebb_json_is_text(j, "Database") || ebb_json_is_text(j, "Table")) {
            *has_list = true;
            rc = ebb_json_next(j, err);
            if (!rc)
                rc = read_one(j, out, err);
        } else if (ebb_json_is_text(j, "NextToken")) {
            rc = next_text(j, "NextToken", &out->next, err);
        } else {
            rc = ebb_json_skip(j, err);
        }
    return rc ? rc : ebb_json_expect(j, EBB_JSON_END, "end", err);
}

int ebb__glue_parse(const char *what, struct ebb_str json, struct ebb__glue_items *out, struct ebb_err *err)
{
    struct ebb_json j;
    bool has_list = false;
    int rc;

    free(out->next);
    out->next = NULL;
    ebb_json_init(&j, what, json.p, json.n);
    rc = read_answer(&j, out, &has_list, err);
    if (!rc && !has_list) /* never taken for "there are none" */
        rc = ebb_json_fail(&j, err, "no list is in the answer");
    ebb_json_fini(&j);
    if (out->next && !out->next[0]) {
        free(out->next);
        out->next = NULL;
    }
    return rc == -(int)EBB_ECORRUPT ? ebb_err_as(err, EBB_ECATALOG, NULL) : rc;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct ebb__glue_item *)a)->name, ((const struct ebb__glue_item *)b)->name);
}

void ebb__glue_items_sort(struct ebb__glue_items *list)
{
    size_t kept = 0;

    if (list->count)
        qsort(list->items, list->count, sizeof *list->items, by_name);
    for (size_t i = 0; i < list->count; i++)
        if (kept && !strcmp(list->items[kept - 1].name, list->items[i].name))
            item_fini(&list->items[i]);
        else
            list->items[kept++] = list->items[i];
    list->count = kept;
}

/* ---- errors ---- */

static void copy_cut(char *out, size_t max, struct ebb_str text)
{
    size_t n = text.n < max ? text.n : max - 1;

    while (n && n < text.n && ((unsigned char)text.p[n] & 0xC0) == 0x80)
        n--;
    if (n)
        memcpy(out, text.p, n);
    out[n] = '\0';
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)out[i] < ' ')
            out[i] = ' ';
}

void ebb__glue_parse_error(struct ebb_str json, char type[64], char message[320])
{
    struct ebb_json j;
    int rc;

    type[0] = message[0] = '\0';
    ebb_json_init(&j, "error", json.p, json.n);
    rc = ebb_json_expect(&j, EBB_JSON_OBJECT, "error", NULL);
    while (!rc && !(rc = ebb_json_next(&j, NULL)) && j.kind == EBB_JSON_KEY) {
        bool is_type = ebb_json_is_text(&j, "__type");
        bool is_text = ebb_json_is_text(&j, "message") || ebb_json_is_text(&j, "Message");

        rc = ebb_json_next(&j, NULL);
        if (!rc && j.kind == EBB_JSON_STRING && (is_type || is_text)) {
            struct ebb_str text = j.text;
            const char *hash = is_type && text.n ? memrchr(text.p, '#', text.n) : NULL; /* "com.amazon.coral#Name" */

            if (hash) {
                text.n -= (size_t)(hash + 1 - text.p);
                text.p = hash + 1;
            }
            copy_cut(is_type ? type : message, is_type ? 64 : 320, text);
        } else if (!rc) {
            rc = ebb_json_skip(&j, NULL);
        }
    }
    ebb_json_fini(&j);
}
