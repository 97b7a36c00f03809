/* SPDX-License-Identifier: Apache-2.0
 *
 * A small Avro writer for tests: values, blocks with each codec, containers. It can also write what no writer should.
 */
#ifndef EBB_TESTS_AVRO_HELP_H
#define EBB_TESTS_AVRO_HELP_H

#include <libdeflate.h>
#include <snappy-c.h>
#include <stdlib.h>
#include <zstd.h>

#include "format/avro.h"

#define SYNC "0123456789abcdef"

static inline void put_long(struct ebb_buf *b, int64_t value)
{
    uint64_t n = (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);

    for (; n > 0x7f; n >>= 7)
        ebb_buf_putc(b, (char)(n | 0x80));
    ebb_buf_putc(b, (char)n);
}

static inline void put_bytes(struct ebb_buf *b, const void *bytes, size_t n)
{
    put_long(b, (int64_t)n);
    ebb_buf_append(b, bytes, n);
}

static inline void put_text(struct ebb_buf *b, const char *text)
{
    put_bytes(b, text, strlen(text));
}

/* The header; pairs of further keys and values end with NULL. codec NULL: no such key. */
static inline void put_header(struct ebb_buf *b, const char *schema, const char *codec, const char *const *more)
{
    int64_t count = 1 + (codec != NULL);

    for (size_t i = 0; more && more[i]; i += 2)
        count++;
    ebb_buf_append(b, "Obj\1", 4);
    put_long(b, count);
    for (size_t i = 0; more && more[i]; i++)
        put_text(b, more[i]);
    put_text(b, "avro.schema");
    put_text(b, schema);
    if (codec) {
        put_text(b, "avro.codec");
        put_text(b, codec);
    }
    put_long(b, 0);
    ebb_buf_append(b, SYNC, 16);
}

static inline void put_packed(struct ebb_buf *b, int64_t rows, const void *packed, size_t n)
{
    put_long(b, rows);
    put_bytes(b, packed, n);
    ebb_buf_append(b, SYNC, 16);
}

static inline size_t pack_deflate(struct ebb_str in, char *out, size_t max)
{
    struct libdeflate_compressor *c = libdeflate_alloc_compressor(6);
    size_t n = libdeflate_deflate_compress(c, in.p, in.n, out, max);

    libdeflate_free_compressor(c);
    return n;
}

static inline size_t pack_snappy(struct ebb_str in, char *out, size_t max)
{
    uint32_t sum = libdeflate_crc32(0, in.p, in.n);

    if (snappy_compress(in.p, in.n, out, &max) != SNAPPY_OK)
        abort();
    for (int i = 0; i < 4; i++)
        out[max + (size_t)i] = (char)(sum >> (24 - 8 * i));
    return max + 4;
}

/* As a stream: the frame does not tell its content size. */
static inline size_t pack_zstd(struct ebb_str in, char *out, size_t max)
{
    ZSTD_CStream *c = ZSTD_createCStream();
    ZSTD_inBuffer from = {in.p, in.n, 0};
    ZSTD_outBuffer to = {out, max, 0};

    ZSTD_initCStream(c, 1);
    ZSTD_compressStream(c, &to, &from);
    while (ZSTD_endStream(c, &to) > 0)
        ;
    ZSTD_freeCStream(c);
    return to.pos;
}

static inline size_t pack(const char *codec, struct ebb_str in, char *out, size_t max)
{
    if (codec && !strcmp(codec, "deflate"))
        return pack_deflate(in, out, max);
    if (codec && !strcmp(codec, "snappy"))
        return pack_snappy(in, out, max);
    if (codec && !strcmp(codec, "zstandard"))
        return pack_zstd(in, out, max);
    memcpy(out, in.p, in.n);
    return in.n;
}

static inline void put_block(struct ebb_buf *b, const char *codec, int64_t rows, const struct ebb_buf *payload)
{
    size_t max = 2 * payload->len + 1024;
    char *out = malloc(max);

    if (!out)
        abort();
    struct ebb_str in = {payload->len ? payload->data : "", payload->len};
    size_t n = pack(codec, in, out, max);
    put_packed(b, rows, out, n);
    free(out);
}

#endif
