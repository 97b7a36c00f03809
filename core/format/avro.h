/* SPDX-License-Identifier: Apache-2.0
 *
 * Avro object containers, read with projection (Avro 1.11 specification). The writer's schema is compiled to
 * a flat program that skips what is not asked for; wanted fields are found by Iceberg field-id (by name only in a file
 * that carries no ids at all). Codecs null, deflate, zstandard, snappy. No length, count or index of the input is
 * trusted; a file must end exactly after a block's sync marker. One reader per thread; buffers are reused from file to
 * file, so a callback may not read another file with the same reader (EBB_EINTERNAL).
 */
#ifndef EBB_FORMAT_AVRO_H
#define EBB_FORMAT_AVRO_H

#include "base/buf.h"

#define EBB_AVRO_MAX_BLOCK_BYTES ((size_t)1 << 30)

/* A wanted field: its path of field ids (e.g. {2, 100} = data_file.file_path), its name path for files without ids, and
 * where its value goes: slot number in the row. */
enum ebb_avro_type {
    EBB_AVRO_INT,
    EBB_AVRO_LONG = EBB_AVRO_INT,
    EBB_AVRO_BYTES /* bytes, string or fixed */,
    EBB_AVRO_PRESENT /* only whether it is not null */,
    EBB_AVRO_RAW /* boolean, float or double, as the 1, 4 or 8 bytes that it is stored in (little endian) */
};
struct ebb_avro_want {
    int ids[3]; /* 0-terminated */
    const char *names[3];
    enum ebb_avro_type type;
    bool required; /* the schema must have it and the value must not be null, else EBB_ECORRUPT */
};

struct ebb_avro_value {
    bool is_set; /* present in the schema and not null; else number is 0 and bytes are empty */
    int64_t number;
    struct ebb_str bytes; /* borrowed from the block: valid only during the row callback */
};

struct ebb_avro_reader;
/* A reader keeps its buffers and decompressors from file to file. One per thread. EBB_ENOMEM. */
int ebb_avro_reader_new(struct ebb_avro_reader **out, struct ebb_err *err);
void ebb_avro_reader_free(struct ebb_avro_reader *reader);

/* Called for each row; row has one value per want. Non-zero stops and is returned. */
typedef int ebb_avro_row_cb(void *data, const struct ebb_avro_value *row, struct ebb_err *err);
/* Called once after the header is read, for each metadata key and value; may be NULL. */
typedef int ebb_avro_meta_cb(void *data, struct ebb_str key, struct ebb_str value, struct ebb_err *err);

/* Read a whole container from memory. name is for messages. EBB_ECORRUPT (bytes), EBB_EENCRYPTED (starts with "AGS1"),
 * EBB_ECORRUPT also for an unknown codec, EBB_ELIMIT for a block or schema over the limits, EBB_ENOMEM, or what a
 * callback returned. At most 64 wants. */
int ebb_avro_read(struct ebb_avro_reader *reader, const char *name, const void *bytes, size_t n,
                  const struct ebb_avro_want *wants, size_t want_count, ebb_avro_meta_cb *meta, ebb_avro_row_cb *row,
                  void *data, struct ebb_err *err);

#endif
