/* SPDX-License-Identifier: Apache-2.0 */
#include "table/result_json.h"

void ebb_file_notes_json(struct ebb_jsonw *w, const char *key, const struct ebb_file_notes *notes)
{
    ebb_jsonw_key(w, key);
    ebb_jsonw_begin(w, '[');
    for (size_t i = 0; i < notes->count; i++) {
        ebb_jsonw_begin(w, '{');
        ebb_jsonw_path(w, "path", notes->items[i].path, strlen(notes->items[i].path));
        ebb_jsonw_kstr(w, "why", notes->items[i].why);
        ebb_jsonw_end(w, '}');
    }
    ebb_jsonw_end(w, ']');
}

void ebb_apply_json(struct ebb_jsonw *w, const struct ebb_apply_result *r)
{
    ebb_jsonw_begin(w, '{');
    ebb_jsonw_kstr(w, "run", r->run);
    ebb_jsonw_kstr(w, "plan", r->plan);
    ebb_jsonw_kstr(w, "status", r->status);
    ebb_jsonw_kint(w, "moved", r->moved);
    ebb_jsonw_kint(w, "deleted", r->deleted);
    ebb_jsonw_kint(w, "returned", r->returned);
    ebb_jsonw_kint(w, "already_gone", r->already_gone);
    ebb_file_notes_json(w, "skipped", &r->skipped);
    ebb_file_notes_json(w, "failed", &r->failed);
    ebb_jsonw_kstr(w, "quarantine", r->quarantine);
    ebb_jsonw_end(w, '}');
}

void ebb_restore_json(struct ebb_jsonw *w, const struct ebb_restore_result *r)
{
    ebb_jsonw_begin(w, '{');
    ebb_jsonw_kstr(w, "run", r->run);
    ebb_jsonw_kint(w, "restored", r->restored);
    ebb_jsonw_kint(w, "already_there", r->already_there);
    ebb_file_notes_json(w, "conflicts", &r->conflicts);
    ebb_file_notes_json(w, "failed", &r->failed);
    ebb_jsonw_end(w, '}');
}

void ebb_purge_json(struct ebb_jsonw *w, const struct ebb_purge_result *r)
{
    ebb_jsonw_begin(w, '{');
    ebb_jsonw_key(w, "runs");
    ebb_jsonw_begin(w, '[');
    for (size_t i = 0; i < r->runs.count; i++)
        ebb_jsonw_str(w, r->runs.items[i]);
    ebb_jsonw_end(w, ']');
    ebb_jsonw_kint(w, "deleted", r->deleted);
    ebb_jsonw_key(w, "bytes");
    ebb_jsonw_uint(w, r->bytes);
    ebb_jsonw_kint(w, "restored", r->restored);
    ebb_file_notes_json(w, "kept", &r->kept);
    ebb_jsonw_end(w, '}');
}

void ebb_verify_json(struct ebb_jsonw *w, const char *table, const struct ebb_verify_result *r)
{
    ebb_jsonw_begin(w, '{');
    ebb_jsonw_kstr(w, "table", table);
    ebb_jsonw_kint(w, "checked", r->checked);
    ebb_file_notes_json(w, "missing", &r->missing);
    ebb_file_notes_json(w, "quarantined", &r->quarantined);
    ebb_jsonw_end(w, '}');
}
