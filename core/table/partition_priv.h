/* SPDX-License-Identifier: Apache-2.0
 *
 * Partition tuples as Iceberg writes them into paths ("ds=2026-03-28/region=eu"): names and values of the transforms
 * for people, both URL-encoded, null as "null" (Iceberg's PartitionSpec.partitionToPath).
 */
#ifndef EBB_TABLE_PARTITION_PRIV_H
#define EBB_TABLE_PARTITION_PRIV_H

#include "format/manifest.h"
#include "format/metadata.h"

#define EBB__PARTITION_SPECS_MAX 1000               /* of one table; those beyond are not known */
#define EBB__PARTITION_TEXT_MAX ((size_t)64 * 1024) /* one value */

enum ebb__partition_kind {
    EBB__PARTITION_NULL, /* void */
    EBB__PARTITION_NUMBER,
    EBB__PARTITION_YEAR,
    EBB__PARTITION_MONTH,
    EBB__PARTITION_DATE, /* day, too */
    EBB__PARTITION_HOUR,
    EBB__PARTITION_TIME,      /* microseconds of the day */
    EBB__PARTITION_TIMESTAMP, /* microseconds or nanoseconds */
    EBB__PARTITION_BOOLEAN,
    EBB__PARTITION_FLOAT,
    EBB__PARTITION_DOUBLE,
    EBB__PARTITION_DECIMAL,
    EBB__PARTITION_TEXT,
    EBB__PARTITION_UUID,
    EBB__PARTITION_BINARY
};

/* One field of a spec, with what its values are. */
struct ebb__partition_field {
    const char *name; /* borrowed from the metadata */
    int field_id;
    enum ebb__partition_kind kind;
    int scale;      /* of a decimal */
    int per_second; /* of a timestamp: digits of a fraction, 6 or 9 */
    bool has_zone;  /* timestamptz */
};

/* How values of a transform over a column type ("decimal(9, 2)") are stored and written. false: not known. */
bool ebb__partition_kind_of(const char *transform, const char *type, struct ebb__partition_field *out);
/* How they are stored. */
enum ebb_avro_type ebb__partition_storage(enum ebb__partition_kind kind);
/* Append "name=value". false: the value is none of its type. */
bool ebb__partition_put(struct ebb_buf *out, const struct ebb__partition_field *field,
                        const struct ebb_avro_value *value);

/* The parts of it that are numbers of a kind of their own; false: not as many bytes as such a number has. */
bool ebb__partition_put_decimal(struct ebb_buf *out, struct ebb_str bytes, int scale);
bool ebb__partition_put_float(struct ebb_buf *out, struct ebb_str bytes, bool is_float);

/* The partition fields of all specs of a table. */
struct ebb__partition_spec {
    int64_t id;
    bool is_known; /* false: a transform or type that is not known, or too many fields */
    size_t first, count;
};
struct ebb__partition_specs {
    struct ebb__partition_spec *specs;
    size_t spec_count;
    struct ebb__partition_field *fields;
};
/* EBB_ENOMEM, EBB_EMETADATA (schemas that can't be read). m must outlive it. */
int ebb__partition_specs_init(struct ebb__partition_specs *specs, const struct ebb_metadata *m, struct ebb_err *err);
void ebb__partition_specs_fini(struct ebb__partition_specs *specs);
/* NULL: no such spec. */
const struct ebb__partition_spec *ebb__partition_specs_find(const struct ebb__partition_specs *specs, int64_t id);

#endif
