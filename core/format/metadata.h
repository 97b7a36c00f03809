/* SPDX-License-Identifier: Apache-2.0
 *
 * Table metadata (*.metadata.json), format versions 1, 2, 3. What cannot be read with
 * certainty is refused: format version 4 or more, encryption, repeated keys, snapshots without manifests. Unknown keys
 * are ignored. Immutable once parsed.
 */
#ifndef EBB_FORMAT_METADATA_H
#define EBB_FORMAT_METADATA_H

#include "base/buf.h"

struct ebb_pair {
    char *key;
    char *value;
};

struct ebb_snapshot {
    int64_t id;
    int64_t parent_id; /* -1: none */
    int64_t sequence_number;
    int64_t timestamp_ms;
    int64_t schema_id;   /* -1: none */
    char *manifest_list; /* NULL: v1 with inline manifests */
    char **manifests;    /* inline, v1 only */
    size_t manifest_count;
    char *operation;          /* "" when the summary has none */
    struct ebb_pair *summary; /* with "operation"; values that are not text are left out */
    size_t summary_count;
};

struct ebb_ref {
    char *name;
    int64_t snapshot_id;
    bool is_branch;
    int64_t min_snapshots_to_keep, max_snapshot_age_ms; /* 0: not said */
};

struct ebb_statistics_file {
    int64_t snapshot_id;
    char *path;
    bool is_partition;
};

struct ebb_log_entry {
    int64_t timestamp_ms;
    char *file;
};

struct ebb_spec_field {
    int64_t spec_id;
    int64_t field_id, source_id; /* 0: the file does not say (version 1 without ids; several sources) */
    char *name;
    char *transform;
};

struct ebb_metadata {
    int format_version;
    char *uuid;     /* lower case; NULL: v1 without one */
    char *location; /* one trailing slash stripped (never that of a root) */
    int64_t last_updated_ms;
    int64_t last_sequence_number;
    bool has_current_snapshot;
    int64_t current_snapshot_id;
    struct ebb_snapshot *snapshots;
    size_t snapshot_count;
    const struct ebb_snapshot **by_id; /* all snapshots by ascending id */
    struct ebb_ref *refs;              /* "main" is added when there is a current snapshot and no refs at all */
    size_t ref_count;
    struct ebb_statistics_file *statistics;
    size_t statistics_count;
    struct ebb_log_entry *metadata_log;
    size_t metadata_log_count;
    struct ebb_pair *properties;
    size_t property_count;
    struct ebb_spec_field *spec_fields; /* of all specs */
    size_t spec_field_count;
    int64_t *spec_ids;
    size_t spec_count;
    int64_t default_spec_id;
    /* JSON text as in the file, NULL when absent: for policies. */
    struct ebb_str schema_json, spec_json, sort_order_json;
    struct ebb_str schemas_json; /* all schemas (an array), where there are partition fields; absent in old files */
    struct ebb_arena arena;
};

#define EBB_METADATA_MAX_BYTES ((size_t)1 << 30) /* of the JSON text, after unzipping */

/* Parse the bytes of a metadata file. name: its URI or file name; gzip is decided by name (".gz.metadata.json",
 * ".metadata.json.gz") or by the magic 1F 8B. Required: format-version, location,
 * last-updated-ms, for each snapshot its id, time and manifests; from version 2 on also table-uuid,
 * last-sequence-number, partition-specs. Memory: at most 16 bytes for each byte of the text and 1 MiB. The current
 * snapshot and those of refs must be in snapshots, ids must not repeat. EBB_EMETADATA, EBB_EVERSION, EBB_EENCRYPTED,
 * EBB_ENOMEM. *out is freed with ebb_metadata_free. */
int ebb_metadata_parse(const char *name, const void *bytes, size_t n, struct ebb_metadata **out, struct ebb_err *err);
void ebb_metadata_free(struct ebb_metadata *m);

/* Identity only, from a file that may be of any version: uuid and location (either may be NULL), last_updated_ms (0
 * unknown). Reads no more than what is given; the caller may give the first 64 KiB, also of a gzip file (decided by its
 * magic only). A document that is cut, or damaged behind its uuid, still answers with what was seen. is_cut: the
 * document was not read to its end; set also on error, when more bytes might have given an answer. EBB_EMETADATA when
 * it is not a JSON object or has neither uuid nor location, EBB_ENOMEM. Strings are owned by `arena`. */
struct ebb_metadata_identity {
    char *uuid;
    char *location;
    int64_t last_updated_ms;
    bool is_cut;
};
int ebb_metadata_identify(const char *name, const void *bytes, size_t n, struct ebb_arena *arena,
                          struct ebb_metadata_identity *out, struct ebb_err *err);

/* Value of a table property, or NULL. */
const char *ebb_metadata_property(const struct ebb_metadata *m, const char *key);
const struct ebb_snapshot *ebb_metadata_snapshot(const struct ebb_metadata *m, int64_t id);
const char *ebb_snapshot_summary(const struct ebb_snapshot *s, const char *key);
/* gc.enabled: only absent or "true" without case allows. */
bool ebb_metadata_is_gc_enabled(const struct ebb_metadata *m);
/* Whether a file name (or URI) is that of a metadata file, and whether the name says gzip (is_gzip may be NULL). */
bool ebb_metadata_is_name(const char *name, bool *is_gzip);

#endif
