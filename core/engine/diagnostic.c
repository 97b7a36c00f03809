/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/diagnostic.h"

#include <stdlib.h>

void ebb_diagnostics_init(struct ebb_diagnostics *list)
{
    memset(list, 0, sizeof *list);
}

static void free_item(struct ebb_diagnostic *item)
{
    free(item->file);
    free(item->message);
    free(item->hint);
    free(item->text);
}

void ebb_diagnostics_fini(struct ebb_diagnostics *list)
{
    for (size_t i = 0; i < list->count; i++)
        free_item(&list->items[i]);
    free(list->items);
    ebb_diagnostics_init(list);
}

static bool grow(struct ebb_diagnostics *list)
{
    size_t cap = list->cap ? list->cap * 2 : 8;
    struct ebb_diagnostic *items;

    if (list->count < list->cap)
        return true;
    items = realloc(list->items, cap * sizeof *items);
    if (!items)
        return false;
    list->items = items;
    list->cap = cap;
    return true;
}

void ebb_diagnostics_add(struct ebb_diagnostics *list, const struct ebb_diagnostic *item)
{
    struct ebb_diagnostic copy;

    if (!list)
        return;
    if (item->is_error)
        list->error_count++;
    else
        list->warning_count++;
    if (list->count == EBB_DIAGNOSTICS_MAX || !grow(list))
        return;
    copy = *item;
    copy.file = strdup(item->file ? item->file : "");
    copy.message = strdup(item->message ? item->message : "");
    copy.hint = strdup(item->hint ? item->hint : "");
    copy.text = strdup(item->text ? item->text : "");
    if (copy.file && copy.message && copy.hint && copy.text)
        list->items[list->count++] = copy;
    else
        free_item(&copy);
}

static bool is_before(const struct ebb_diagnostic *a, const struct ebb_diagnostic *b)
{
    int c = strcmp(a->file, b->file);

    if (c || a->line != b->line)
        return c ? c < 0 : a->line < b->line;
    return a->column < b->column;
}

void ebb_diagnostics_sort(struct ebb_diagnostics *list)
{
    for (size_t i = 1; i < list->count; i++) {
        struct ebb_diagnostic item = list->items[i];
        size_t at = i;

        for (; at > 0 && is_before(&item, &list->items[at - 1]); at--)
            list->items[at] = list->items[at - 1];
        list->items[at] = item;
    }
}

static void write_item(const struct ebb_diagnostic *item, struct ebb_jsonw *w)
{
    ebb_jsonw_begin(w, '{');
    ebb_jsonw_path(w, "file", item->file, strlen(item->file));
    ebb_jsonw_kint(w, "line", item->line);
    ebb_jsonw_kint(w, "column", item->column);
    ebb_jsonw_kstr(w, "severity", item->is_error ? "error" : "warning");
    ebb_jsonw_kstr(w, "code", item->code);
    ebb_jsonw_kstr(w, "message", item->message);
    if (item->hint[0])
        ebb_jsonw_kstr(w, "hint", item->hint);
    ebb_jsonw_end(w, '}');
}

void ebb_diagnostics_write(const struct ebb_diagnostics *list, struct ebb_jsonw *w)
{
    ebb_jsonw_begin(w, '[');
    for (size_t i = 0; i < list->count; i++)
        write_item(&list->items[i], w);
    ebb_jsonw_end(w, ']');
}
