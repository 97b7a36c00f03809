/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines of a plan file: header, one line per candidate, summary. Bytes to structs and back, no I/O.
 * All paths are full URIs, raw bytes as the listing gave them; what is not UTF-8 stands as base64 under "<key>_b64".
 * Keys of the header besides those of the table: "location" and "scanned" both are the folder that was listed; times
 * are ISO 8601 in UTC; "snapshot_id" and "policy" may be null.
 */
#ifndef EBB_FORMAT_PLAN_H
#define EBB_FORMAT_PLAN_H

#include "base/text.h"

#define EBB_PLAN_VERSION 1
#define EBB_PLAN_MAX_LINE_BYTES ((size_t)256 * 1024)

struct ebb_plan_header {
    const char *id;
    const char *catalog, *namespace_, *name;
    const char *uuid;     /* "" for a v1 table without one */
    const char *location; /* of the table */
    const char *metadata; /* URI of the metadata file it was made from */
    bool has_snapshot;
    int64_t snapshot_id;
    int64_t cutoff_ms;
    const char *older_than; /* as asked for: "3d", "0d", or a timestamp */
    const char *scanned;    /* the folder that was listed: the location or one inside it */
    const char *ownership;  /* full | metadata | none */
    const char *listing;    /* "" = storage was walked; else the inventory file: such a plan can't be applied without a
                               fresh look */
    const char *engine_version;
    int64_t created_ms;
    struct ebb_str policy; /* JSON; n == 0: null */
    struct ebb_str limits; /* JSON object */
    struct ebb_str
        options; /* JSON object, all apply needs to rebuild the protection: "table" (the name or absolute path it is
                  * opened by), "map" (list of "FROM=TO"), and the members of ebb_protect_options_write */
};

enum ebb_plan_kind { EBB_PLAN_DATA, EBB_PLAN_METADATA, EBB_PLAN_OTHER };
struct ebb_plan_candidate {
    struct ebb_str path;
    uint64_t size_bytes;
    int64_t mtime_ns;
    struct ebb_str id; /* "dev:ino:ctime_ns"; an ETag; n == 0 unknown */
    enum ebb_plan_kind kind;
    struct ebb_str near_name; /* the referenced name it is equal to after decoding or folding; n == 0: none */
};

struct ebb_plan_summary {
    int64_t listed, reachable, reachable_listed, too_young, hidden, candidates;
    uint64_t candidate_bytes;
    int64_t metadata_files_read;
    int64_t
        kept; /* old, visible, unreferenced, but kept for another reason (unknown time, Flink, own files, neighbours) */
    int64_t links, mounts;
    const char *status; /* ready | held | empty */
    struct ebb_strs held_by;
    char sha256[65]; /* hex, of all lines before, with their line feeds */
};

/* Append one line with its line feed. Strings that are NULL are written empty; limits and options without text as {}.
 */
void ebb_plan_write_header(struct ebb_buf *out, const struct ebb_plan_header *header);
void ebb_plan_write_candidate(struct ebb_buf *out, const struct ebb_plan_candidate *candidate);
void ebb_plan_write_summary(struct ebb_buf *out, const struct ebb_plan_summary *summary);

/* Parse one line (without line feed). Strings live in arena. EBB_EPLAN: "<name>:<line>: …" for anything missing, of the
 * wrong type, out of range or unknown version, for unknown and repeated keys, lines over EBB_PLAN_MAX_LINE_BYTES, times
 * not after 1970 (mtime), and paths with NUL. */
int ebb_plan_parse_header(const char *name, struct ebb_str line, struct ebb_arena *arena, struct ebb_plan_header *out,
                          struct ebb_err *err);
int ebb_plan_parse_candidate(const char *name, int64_t line_number, struct ebb_str line, struct ebb_arena *arena,
                             struct ebb_plan_candidate *out, struct ebb_err *err);
/* held_by is owned by out (ebb_strs_fini). */
int ebb_plan_parse_summary(const char *name, int64_t line_number, struct ebb_str line, struct ebb_arena *arena,
                           struct ebb_plan_summary *out, struct ebb_err *err);

#endif
