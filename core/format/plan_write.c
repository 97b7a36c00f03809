/* SPDX-License-Identifier: Apache-2.0 */
#include "format/plan.h"

#include "base/time.h"

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

static void put_path(struct ebb_jsonw *w, const char *key, const char *path)
{
    ebb_jsonw_path(w, key, or_empty(path), strlen(or_empty(path)));
}

static void put_time(struct ebb_jsonw *w, const char *key, int64_t ms)
{
    struct ebb_buf text;

    ebb_buf_init(&text, 64);
    ebb_time_iso(&text, ms);
    ebb_jsonw_kstr(w, key, ebb_buf_cstr(&text));
    w->out->bad |= text.bad;
    ebb_buf_fini(&text);
}

/* JSON that was written elsewhere, perhaps over several lines: outside of strings a line feed is but a space, inside it
 * can't be. */
static void put_raw(struct ebb_jsonw *w, const char *key, struct ebb_str json, const char *when_empty)
{
    size_t begin;

    if (json.n == 0)
        json = ebb_str_of(when_empty);
    ebb_jsonw_key(w, key);
    begin = w->out->len;
    ebb_jsonw_raw(w, json.p, json.n);
    for (size_t i = begin; i < w->out->len; i++)
        if (w->out->data[i] == '\n' || w->out->data[i] == '\r')
            w->out->data[i] = ' ';
}

static void put_table(struct ebb_jsonw *w, const struct ebb_plan_header *header)
{
    ebb_jsonw_key(w, "table");
    ebb_jsonw_begin(w, '{');
    put_path(w, "catalog", header->catalog);
    put_path(w, "namespace", header->namespace_);
    put_path(w, "name", header->name);
    put_path(w, "uuid", header->uuid);
    put_path(w, "location", header->location);
    put_path(w, "metadata", header->metadata);
    ebb_jsonw_key(w, "snapshot_id");
    if (header->has_snapshot)
        ebb_jsonw_int(w, header->snapshot_id);
    else
        ebb_jsonw_null(w);
    ebb_jsonw_end(w, '}');
}

void ebb_plan_write_header(struct ebb_buf *out, const struct ebb_plan_header *header)
{
    struct ebb_jsonw w;

    ebb_jsonw_init(&w, out);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kint(&w, "ebb_plan", EBB_PLAN_VERSION);
    ebb_jsonw_kstr(&w, "id", or_empty(header->id));
    put_table(&w, header);
    put_time(&w, "cutoff", header->cutoff_ms);
    ebb_jsonw_kstr(&w, "older_than", or_empty(header->older_than));
    put_path(&w, "location", header->scanned);
    put_path(&w, "scanned", header->scanned);
    ebb_jsonw_kstr(&w, "ownership", or_empty(header->ownership));
    put_path(&w, "listing", header->listing);
    ebb_jsonw_kstr(&w, "engine_version", or_empty(header->engine_version));
    put_raw(&w, "policy", header->policy, "null");
    put_raw(&w, "limits", header->limits, "{}");
    put_raw(&w, "options", header->options, "{}");
    put_time(&w, "created", header->created_ms);
    ebb_jsonw_end(&w, '}');
    ebb_buf_putc(out, '\n');
}

static const char *kind_name(enum ebb_plan_kind kind)
{
    switch (kind) {
    case EBB_PLAN_DATA:
        return "data";
    case EBB_PLAN_METADATA:
        return "metadata";
    default:
        return "other";
    }
}

void ebb_plan_write_candidate(struct ebb_buf *out, const struct ebb_plan_candidate *candidate)
{
    struct ebb_jsonw w;

    ebb_jsonw_init(&w, out);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_path(&w, "path", candidate->path.p, candidate->path.n);
    ebb_jsonw_key(&w, "size");
    ebb_jsonw_uint(&w, candidate->size_bytes);
    ebb_jsonw_kint(&w, "mtime", candidate->mtime_ns);
    if (candidate->id.n)
        ebb_jsonw_path(&w, "id", candidate->id.p, candidate->id.n);
    else
        ebb_jsonw_kstr(&w, "id", NULL);
    ebb_jsonw_kstr(&w, "kind", kind_name(candidate->kind));
    ebb_jsonw_kstr(&w, "why", "unreferenced");
    if (candidate->near_name.n)
        ebb_jsonw_path(&w, "near", candidate->near_name.p, candidate->near_name.n);
    ebb_jsonw_end(&w, '}');
    ebb_buf_putc(out, '\n');
}

static void put_counts(struct ebb_jsonw *w, const struct ebb_plan_summary *summary)
{
    ebb_jsonw_kint(w, "listed", summary->listed);
    ebb_jsonw_kint(w, "reachable", summary->reachable);
    ebb_jsonw_kint(w, "reachable_listed", summary->reachable_listed);
    ebb_jsonw_kint(w, "too_young", summary->too_young);
    ebb_jsonw_kint(w, "hidden", summary->hidden);
    ebb_jsonw_kint(w, "kept", summary->kept);
    ebb_jsonw_kint(w, "links", summary->links);
    ebb_jsonw_kint(w, "mounts", summary->mounts);
    ebb_jsonw_kint(w, "candidates", summary->candidates);
    ebb_jsonw_key(w, "candidate_bytes");
    ebb_jsonw_uint(w, summary->candidate_bytes);
    ebb_jsonw_kint(w, "metadata_files_read", summary->metadata_files_read);
}

void ebb_plan_write_summary(struct ebb_buf *out, const struct ebb_plan_summary *summary)
{
    struct ebb_jsonw w;

    ebb_jsonw_init(&w, out);
    ebb_jsonw_begin(&w, '{');
    put_counts(&w, summary);
    ebb_jsonw_kstr(&w, "status", or_empty(summary->status));
    ebb_jsonw_key(&w, "held_by");
    ebb_jsonw_begin(&w, '[');
    for (size_t i = 0; i < summary->held_by.count; i++)
        ebb_jsonw_str(&w, summary->held_by.items[i]);
    ebb_jsonw_end(&w, ']');
    ebb_jsonw_kstr(&w, "sha256", summary->sha256);
    ebb_jsonw_end(&w, '}');
    ebb_buf_putc(out, '\n');
}
