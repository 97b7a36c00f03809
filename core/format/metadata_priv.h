/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading table metadata: objects by tables of their fields, arrays by a function for each item. A field's reader is
 * called when the first token of its value is current, and leaves the last one current. Errors are EBB_ECORRUPT; the
 * entry functions turn them into EBB_EMETADATA.
 */
#ifndef EBB_FORMAT_METADATA_PRIV_H
#define EBB_FORMAT_METADATA_PRIV_H

#include "format/json.h"
#include "format/metadata.h"

/* Growing array in plain memory, copied into the arena when complete. */
struct ebb__rows {
    char *data;
    size_t count, cap, item_bytes;
};

void ebb__rows_init(struct ebb__rows *rows, size_t item_bytes);
void ebb__rows_fini(struct ebb__rows *rows);
/* A zeroed item at the end, valid until the next add; NULL when memory is exhausted. */
void *ebb__rows_add(struct ebb__rows *rows);
/* Copy into *out and *count; rows is empty afterwards, its memory is kept. EBB_ENOMEM. */
int ebb__rows_take(struct ebb__rows *rows, struct ebb_arena *arena, void *out, size_t *count, struct ebb_err *err);

/* Values of the top level that need others to be understood. */
struct ebb__metadata_top {
    int64_t format_version;
    int64_t last_updated_ms, last_sequence_number;
    int64_t current_snapshot_id;
    int64_t current_schema_id, default_spec_id, default_sort_order_id;
    struct ebb_str schemas, schema, specs, spec, sort_orders; /* borrowed from the document */
    bool has_refs;
};

struct ebb__metadata_reader {
    struct ebb_json j;
    struct ebb_metadata *m;
    int64_t version;
    char *empty; /* "" */
    struct ebb__metadata_top top;
    struct ebb__rows snapshots, refs, statistics, log, properties, spec_fields, spec_ids, v1_fields;
    struct ebb__rows pairs, paths; /* of the snapshot that is being read */
};

enum ebb__field_kind {
    EBB__FIELD_INT,  /* int64_t */
    EBB__FIELD_TEXT, /* char * */
    EBB__FIELD_PATH, /* char *, not empty */
    EBB__FIELD_RAW_OBJECT,
    EBB__FIELD_RAW_ARRAY, /* struct ebb_str, borrowed from the document */
    EBB__FIELD_READ       /* by its own function */
};

#define EBB__REQUIRED 1u
#define EBB__REQUIRED_V2 2u /* from format version 2 on */
#define EBB__NULLABLE 4u    /* null counts as absent */

struct ebb__field {
    const char *name;
    enum ebb__field_kind kind;
    unsigned flags;
    size_t offset; /* in the target */
    int (*read)(struct ebb__metadata_reader *r, void *target, struct ebb_err *err);
};

/* Check the kind of the current token. */
int ebb__metadata_want(struct ebb__metadata_reader *r, enum ebb_json_kind kind, const char *what, struct ebb_err *err);
/* Copy the current string or key. No NUL inside. */
int ebb__metadata_text(struct ebb__metadata_reader *r, const char *what, char **out, struct ebb_err *err);
/* Read an object; unknown fields are skipped, at most 64 fields in the table. */
int ebb__metadata_object(struct ebb__metadata_reader *r, const char *what, const struct ebb__field *fields,
                         size_t count, void *target, struct ebb_err *err);
int ebb__metadata_array(struct ebb__metadata_reader *r, const char *what,
                        int (*item)(struct ebb__metadata_reader *r, struct ebb_err *err), struct ebb_err *err);

/* Readers of the members of the top level; target is not used. */
int ebb__metadata_snapshots(struct ebb__metadata_reader *r, void *target, struct ebb_err *err);
int ebb__metadata_refs(struct ebb__metadata_reader *r, void *target, struct ebb_err *err);
int ebb__metadata_statistics(struct ebb__metadata_reader *r, void *target, struct ebb_err *err);
int ebb__metadata_partition_statistics(struct ebb__metadata_reader *r, void *target, struct ebb_err *err);
int ebb__metadata_log(struct ebb__metadata_reader *r, void *target, struct ebb_err *err);
int ebb__metadata_properties(struct ebb__metadata_reader *r, void *target, struct ebb_err *err);
int ebb__metadata_specs(struct ebb__metadata_reader *r, void *target, struct ebb_err *err);
int ebb__metadata_v1_spec(struct ebb__metadata_reader *r, void *target, struct ebb_err *err);

/* After the document: order the snapshots, check that ids are unique and that everything that names one exists. */
int ebb__metadata_check_snapshots(struct ebb__metadata_reader *r, struct ebb_err *err);
/* After the document: specs, schema, spec and sort order in force. */
int ebb__metadata_choose(struct ebb__metadata_reader *r, struct ebb_err *err);

/* In place: lower case; false when empty or with control characters. */
bool ebb__metadata_clean_uuid(char *uuid);
/* In place: one trailing slash dropped, but never that of a root. */
void ebb__metadata_clean_location(char *location);
/* The kinds of error that a reader of metadata gives: damage and limits become EBB_EMETADATA. */
int ebb__metadata_rc(int rc, struct ebb_err *err);

#endif
