/* SPDX-License-Identifier: Apache-2.0 */
#include "base/time.h"
#include "table/plan.h"

void ebb_plan_json(struct ebb_jsonw *w, const char *id, const char *file, const char *table, const char *uuid,
                   const char *location, int64_t cutoff_ms, const struct ebb_plan_summary *s)
{
    struct ebb_buf cutoff;

    ebb_buf_init(&cutoff, 64);
    ebb_time_iso(&cutoff, cutoff_ms);
    ebb_jsonw_begin(w, '{');
    ebb_jsonw_kstr(w, "plan", id);
    ebb_jsonw_kstr(w, "file", file);
    ebb_jsonw_kstr(w, "status", s->status);
    ebb_jsonw_key(w, "held_by");
    ebb_jsonw_begin(w, '[');
    for (size_t i = 0; i < s->held_by.count; i++)
        ebb_jsonw_str(w, s->held_by.items[i]);
    ebb_jsonw_end(w, ']');
    ebb_jsonw_kstr(w, "table", table);
    ebb_jsonw_kstr(w, "uuid", uuid);
    ebb_jsonw_kstr(w, "location", location);
    ebb_jsonw_kstr(w, "cutoff", ebb_buf_cstr(&cutoff));
    ebb_jsonw_kint(w, "listed", s->listed);
    ebb_jsonw_kint(w, "reachable", s->reachable);
    ebb_jsonw_kint(w, "reachable_listed", s->reachable_listed);
    ebb_jsonw_kint(w, "too_young", s->too_young);
    ebb_jsonw_kint(w, "hidden", s->hidden);
    ebb_jsonw_kint(w, "candidates", s->candidates);
    ebb_jsonw_key(w, "candidate_bytes");
    ebb_jsonw_uint(w, s->candidate_bytes);
    ebb_jsonw_kint(w, "metadata_files_read", s->metadata_files_read);
    ebb_jsonw_kint(w, "kept", s->kept);
    ebb_jsonw_kint(w, "links", s->links);
    ebb_jsonw_kint(w, "mounts", s->mounts);
    ebb_jsonw_kstr(w, "sha256", s->sha256);
    ebb_jsonw_end(w, '}');
    ebb_buf_fini(&cutoff);
}
