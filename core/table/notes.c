/* SPDX-License-Identifier: Apache-2.0 */
#include "table/notes_priv.h"

#include <stdlib.h>

static char *copy(struct ebb_str s)
{
    char *p = malloc(s.n + 1);

    if (!p)
        return NULL;
    if (s.n > 0)
        memcpy(p, s.p, s.n);
    p[s.n] = '\0';
    return p;
}

static int grow(struct ebb_file_notes *notes, struct ebb_err *err)
{
    size_t cap = notes->cap ? notes->cap * 2 : 16;
    struct ebb_file_note *items = realloc(notes->items, cap * sizeof *items);

    if (!items)
        return ebb_err_nomem(err);
    notes->items = items;
    notes->cap = cap;
    return 0;
}

int ebb__notes_add(struct ebb_file_notes *notes, struct ebb_str path, const char *why, struct ebb_err *err)
{
    struct ebb_file_note note;

    if (notes->count >= EBB_NOTES_MAX)
        return 0;
    if (notes->count + 1 == EBB_NOTES_MAX) {
        path = EBB_STR("…");
        why = "the list is cut here; the journal of the run has all";
    }
    if (notes->count == notes->cap && grow(notes, err))
        return -EBB_ENOMEM;
    note.path = copy(path);
    note.why = copy(ebb_str_of(why));
    if (!note.path || !note.why) {
        free(note.path);
        free(note.why);
        return ebb_err_nomem(err);
    }
    notes->items[notes->count++] = note;
    return 0;
}

void ebb__notes_fini(struct ebb_file_notes *notes)
{
    size_t i;

    for (i = 0; i < notes->count; i++) {
        free(notes->items[i].path);
        free(notes->items[i].why);
    }
    free(notes->items);
    memset(notes, 0, sizeof *notes);
}

void ebb__notes_write(const struct ebb_file_notes *notes, size_t max, struct ebb_jsonw *w)
{
    size_t i;

    ebb_jsonw_begin(w, '[');
    for (i = 0; i < notes->count && i < max; i++) {
        ebb_jsonw_begin(w, '{');
        ebb_jsonw_path(w, "path", notes->items[i].path, strlen(notes->items[i].path));
        ebb_jsonw_kstr(w, "why", notes->items[i].why);
        ebb_jsonw_end(w, '}');
    }
    ebb_jsonw_end(w, ']');
}

void ebb_apply_result_fini(struct ebb_apply_result *result)
{
    ebb__notes_fini(&result->skipped);
    ebb__notes_fini(&result->failed);
    free(result->quarantine);
    result->quarantine = NULL;
}

void ebb_restore_result_fini(struct ebb_restore_result *result)
{
    ebb__notes_fini(&result->conflicts);
    ebb__notes_fini(&result->failed);
}

void ebb_purge_result_fini(struct ebb_purge_result *result)
{
    ebb_strs_fini(&result->runs);
    ebb__notes_fini(&result->kept);
}

void ebb_verify_result_fini(struct ebb_verify_result *result)
{
    ebb__notes_fini(&result->missing);
    ebb__notes_fini(&result->quarantined);
}
