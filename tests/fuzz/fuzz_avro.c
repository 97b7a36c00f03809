/* SPDX-License-Identifier: Apache-2.0
 *
 * The Avro reader on arbitrary containers, with wants of each kind. Bytes are looked at, so that one outside is seen.
 */
#include <stdlib.h>

#include "format/avro.h"

static const struct ebb_avro_want WANTS[] = {
    {{1, 0, 0}, {"a", NULL, NULL}, EBB_AVRO_INT, false},
    {{2, 100, 0}, {"data_file", "file_path", NULL}, EBB_AVRO_BYTES, false},
    {{2, 3, 4}, {"data_file", "b", "c"}, EBB_AVRO_LONG, false},
    {{5, 0, 0}, {"d", NULL, NULL}, EBB_AVRO_PRESENT, false},
};
#define WANT_COUNT (sizeof WANTS / sizeof *WANTS)

static int on_meta(void *data, struct ebb_str key, struct ebb_str value, struct ebb_err *err)
{
    unsigned *sum = data;

    (void)err;
    for (size_t i = 0; i < key.n; i++)
        *sum += (unsigned char)key.p[i];
    for (size_t i = 0; i < value.n; i++)
        *sum += (unsigned char)value.p[i];
    return 0;
}

static int on_row(void *data, const struct ebb_avro_value *row, struct ebb_err *err)
{
    unsigned *sum = data;

    (void)err;
    for (size_t i = 0; i < WANT_COUNT; i++)
        for (size_t k = 0; row[i].is_set && k < row[i].bytes.n; k++)
            *sum += (unsigned char)row[i].bytes.p[k];
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct ebb_avro_reader *reader;
    struct ebb_err err;
    volatile unsigned keep;
    unsigned sum = 0;

    if (ebb_avro_reader_new(&reader, &err))
        return 0;
    for (int i = 0; i < 2; i++) /* the second time from the cache */
        (void)ebb_avro_read(reader, "fuzz", bytes, n, WANTS, WANT_COUNT, on_meta, on_row, &sum, &err);
    keep = sum;
    (void)keep;
    ebb_avro_reader_free(reader);
    return 0;
}
