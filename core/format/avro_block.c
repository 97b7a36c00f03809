/* SPDX-License-Identifier: Apache-2.0 */
#include "format/avro_priv.h"

#include <libdeflate.h>
#include <snappy-c.h>
#include <stdlib.h>
#include <zstd.h>

#define FIRST_BYTES ((size_t)256 << 10) /* first size of the output buffer */
#define KEEP_BYTES ((size_t)64 << 20)   /* a larger one is not kept past the file */
#define SNAPPY_MAX_RATIO 64             /* a copy element of two or more bytes gives at most 64 */

struct ebb__avro_codecs {
    struct libdeflate_decompressor *deflate;
    ZSTD_DCtx *zstd;
    char *data;
    size_t cap;
};

static const struct {
    const char *name;
    enum ebb__avro_codec codec;
} CODECS[] = {
    {"", EBB__AVRO_PLAIN},        {"null", EBB__AVRO_PLAIN},     {"deflate", EBB__AVRO_DEFLATE},
    {"snappy", EBB__AVRO_SNAPPY}, {"zstandard", EBB__AVRO_ZSTD},
};

int ebb__avro_codec_find(struct ebb_str codec_name, const char *name, enum ebb__avro_codec *out, struct ebb_err *err)
{
    int n = (int)(codec_name.n < 64 ? codec_name.n : 64);

    for (size_t i = 0; i < sizeof CODECS / sizeof *CODECS; i++)
        if (ebb_str_is_equal(codec_name, ebb_str_of(CODECS[i].name))) {
            *out = CODECS[i].codec;
            return 0;
        }
    return ebb_err_set(err, EBB_ECORRUPT, "%s: codec \"%.*s\" cannot be read (only null, deflate, snappy, zstandard)",
                       name, n, codec_name.p);
}

int ebb__avro_codecs_new(struct ebb__avro_codecs **out, struct ebb_err *err)
{
    struct ebb__avro_codecs *c = calloc(1, sizeof *c);

    *out = NULL;
    if (!c)
        return ebb_err_nomem(err);
    c->deflate = libdeflate_alloc_decompressor();
    c->zstd = ZSTD_createDCtx();
    if (!c->deflate || !c->zstd) {
        ebb__avro_codecs_free(c);
        return ebb_err_nomem(err);
    }
    *out = c;
    return 0;
}

void ebb__avro_codecs_free(struct ebb__avro_codecs *codecs)
{
    if (!codecs)
        return;
    libdeflate_free_decompressor(codecs->deflate);
    ZSTD_freeDCtx(codecs->zstd);
    free(codecs->data);
    free(codecs);
}

void ebb__avro_codecs_trim(struct ebb__avro_codecs *codecs)
{
    if (codecs->cap <= KEEP_BYTES)
        return;
    free(codecs->data);
    codecs->data = NULL;
    codecs->cap = 0;
}

static int over_limit(const char *what, struct ebb_err *err)
{
    return ebb_err_set(err, EBB_ELIMIT, "%s: more than %zu bytes when decompressed", what, EBB_AVRO_MAX_BLOCK_BYTES);
}

/* Make room for need bytes; the first `used` ones are kept. */
static int make_room(struct ebb__avro_codecs *c, size_t need, size_t used, const char *what, struct ebb_err *err)
{
    size_t cap = c->cap ? c->cap : FIRST_BYTES;
    char *data;

    if (need <= c->cap)
        return 0;
    if (need > EBB_AVRO_MAX_BLOCK_BYTES)
        return over_limit(what, err);
    while (cap < need)
        cap *= 2;
    if (cap > EBB_AVRO_MAX_BLOCK_BYTES)
        cap = EBB_AVRO_MAX_BLOCK_BYTES;
    data = malloc(cap);
    if (!data)
        return ebb_err_nomem(err);
    if (used)
        memcpy(data, c->data, used);
    free(c->data);
    c->data = data;
    c->cap = cap;
    return 0;
}

/* Python writers cut a zlib stream to size and leave the first three of the four bytes of its Adler-32 behind the data.
 */
static bool is_zlib_rest(const struct ebb__avro_codecs *c, size_t n, struct ebb_str rest)
{
    uint32_t sum = libdeflate_adler32(1, c->data, n);
    char bytes[4] = {(char)(sum >> 24), (char)(sum >> 16), (char)(sum >> 8), (char)sum};

    return rest.n <= sizeof bytes && !memcmp(rest.p, bytes, rest.n);
}

static int inflate(struct ebb__avro_codecs *c, const char *what, struct ebb_str in, size_t *n, struct ebb_err *err)
{
    size_t taken = 0;
    int rc = make_room(c, 1, 0, what, err);

    while (!rc) {
        switch (libdeflate_deflate_decompress_ex(c->deflate, in.p, in.n, c->data, c->cap, &taken, n)) {
        case LIBDEFLATE_SUCCESS:
            if (taken != in.n && !is_zlib_rest(c, *n, (struct ebb_str){in.p + taken, in.n - taken}))
                return ebb_err_set(err, EBB_ECORRUPT, "%s: bytes are left over after the deflate data", what);
            return 0;
        case LIBDEFLATE_INSUFFICIENT_SPACE:
            rc = c->cap >= EBB_AVRO_MAX_BLOCK_BYTES ? over_limit(what, err) : make_room(c, c->cap + 1, 0, what, err);
            break;
        default:
            return ebb_err_set(err, EBB_ECORRUPT, "%s: deflate data is damaged", what);
        }
    }
    return rc;
}

static uint32_t read_be32(const char *bytes)
{
    const unsigned char *p = (const unsigned char *)bytes;

    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static int unsnap(struct ebb__avro_codecs *c, const char *what, struct ebb_str in, size_t *n, struct ebb_err *err)
{
    size_t packed = in.n < 4 ? 0 : in.n - 4;
    int rc;

    if (packed == 0 || snappy_uncompressed_length(in.p, packed, n) != SNAPPY_OK)
        return ebb_err_set(err, EBB_ECORRUPT, "%s: snappy data is damaged", what);
    if (*n > EBB_AVRO_MAX_BLOCK_BYTES)
        return over_limit(what, err);
    if (*n / SNAPPY_MAX_RATIO > packed)
        return ebb_err_set(err, EBB_ECORRUPT, "%s: snappy data is damaged", what);
    rc = make_room(c, *n ? *n : 1, 0, what, err);
    if (rc)
        return rc;
    if (snappy_uncompress(in.p, packed, c->data, n) != SNAPPY_OK)
        return ebb_err_set(err, EBB_ECORRUPT, "%s: snappy data is damaged", what);
    if (libdeflate_crc32(0, c->data, *n) != read_be32(in.p + packed))
        return ebb_err_set(err, EBB_ECORRUPT, "%s: checksum of the snappy data is wrong", what);
    return 0;
}

/* One or more whole frames, until the input is used up. The size is not known before: frames of a stream do not tell
 * it. */
static int unzstd(struct ebb__avro_codecs *c, const char *what, struct ebb_str in, size_t *n, struct ebb_err *err)
{
    ZSTD_inBuffer from = {in.p, in.n, 0};
    size_t left = 1;

    ZSTD_DCtx_reset(c->zstd, ZSTD_reset_session_only);
    while (left != 0 || from.pos < from.size) {
        int rc = make_room(c, *n + 1, *n, what, err);
        ZSTD_outBuffer to = {c->data, c->cap, *n};

        if (rc)
            return rc;
        left = ZSTD_decompressStream(c->zstd, &to, &from);
        if (ZSTD_isError(left))
            return ebb_err_set(err, EBB_ECORRUPT, "%s: zstandard data is damaged: %s", what, ZSTD_getErrorName(left));
        *n = to.pos;
        if (left != 0 && from.pos == from.size && to.pos < to.size)
            return ebb_err_set(err, EBB_ECORRUPT, "%s: zstandard data is cut short", what);
    }
    return 0;
}

int ebb__avro_codecs_decode(struct ebb__avro_codecs *codecs, enum ebb__avro_codec codec, const char *what,
                            struct ebb_str in, struct ebb_str *out, struct ebb_err *err)
{
    size_t n = 0;
    int rc = 0;

    *out = in;
    if (codec == EBB__AVRO_DEFLATE)
        rc = inflate(codecs, what, in, &n, err);
    else if (codec == EBB__AVRO_SNAPPY)
        rc = unsnap(codecs, what, in, &n, err);
    else if (codec == EBB__AVRO_ZSTD)
        rc = unzstd(codecs, what, in, &n, err);
    else
        return in.n > EBB_AVRO_MAX_BLOCK_BYTES ? over_limit(what, err) : 0;
    out->p = codecs->data;
    out->n = n;
    return rc;
}
