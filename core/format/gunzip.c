/* SPDX-License-Identifier: Apache-2.0 */
#include "format/gunzip_priv.h"

#define ZLIB_CONST
#include <zlib.h>

#define STEP_BYTES ((size_t)64 * 1024)
#define WINDOW_BITS_GZIP (15 + 16)

bool ebb__gunzip_is_magic(const void *bytes, size_t n)
{
    return n >= 2 && !memcmp(bytes, "\x1F\x8B", 2);
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

struct gunzip {
    z_stream z;
    const unsigned char *rest; /* not yet given to zlib */
    size_t rest_bytes;
    bool is_full; /* the limit of the output is reached */
};

static void feed(struct gunzip *g)
{
    size_t step = smaller(g->rest_bytes, (size_t)1 << 30);

    if (g->z.avail_in || !step)
        return;
    g->z.next_in = g->rest;
    g->z.avail_in = (uInt)step;
    g->rest += step;
    g->rest_bytes -= step;
}

/* One call of inflate: Z_OK, Z_STREAM_END, Z_BUF_ERROR (no progress possible), or what zlib found. */
static int step(struct gunzip *g, struct ebb_buf *out)
{
    size_t room = smaller(out->len > STEP_BYTES ? out->len : STEP_BYTES, out->max - out->len);
    char *to = ebb_buf_reserve(out, room);
    int z;

    if (!to)
        return Z_MEM_ERROR;
    room = smaller(room, (size_t)1 << 30);
    feed(g);
    g->z.next_out = (unsigned char *)to;
    g->z.avail_out = (uInt)room;
    z = inflate(&g->z, Z_NO_FLUSH);
    out->len += room - g->z.avail_out;
    g->is_full = z != Z_STREAM_END && !g->z.avail_out && out->len == out->max;
    return z == Z_BUF_ERROR && (g->z.avail_in || g->rest_bytes) && !g->is_full ? Z_OK : z;
}

static bool is_finished(const struct gunzip *g, int z)
{
    return z == Z_STREAM_END && !g->z.avail_in && !g->rest_bytes;
}

/* Until the last member ends, the bytes end, the output is full, or something is wrong. */
static int inflate_all(struct gunzip *g, struct ebb_buf *out)
{
    for (;;) {
        int z = step(g, out);

        if (is_finished(g, z) || g->is_full || (z != Z_OK && z != Z_STREAM_END))
            return z;
        if (z == Z_STREAM_END)
            inflateReset(&g->z);
    }
}

int ebb__gunzip(const char *name, const void *bytes, size_t n, struct ebb_buf *out, bool *is_cut, struct ebb_err *err)
{
    struct gunzip g;
    int z;

    memset(&g, 0, sizeof g);
    g.rest = bytes;
    g.rest_bytes = n;
    if (inflateInit2(&g.z, WINDOW_BITS_GZIP) != Z_OK)
        return ebb_err_nomem(err);
    z = inflate_all(&g, out);
    inflateEnd(&g.z);
    if (z == Z_MEM_ERROR)
        return ebb_err_nomem(err);
    if (is_cut) {
        *is_cut = !is_finished(&g, z);
        return 0;
    }
    if (z != Z_OK && z != Z_STREAM_END && z != Z_BUF_ERROR)
        return ebb_err_set(err, EBB_ECORRUPT, "%s: gzip: the data is damaged", name);
    if (g.is_full)
        return ebb_err_set(err, EBB_ELIMIT, "%s: gzip: the text is longer than %zu bytes", name, out->max);
    if (!is_finished(&g, z))
        return ebb_err_set(err, EBB_ECORRUPT, "%s: gzip: the data ends too early", name);
    return 0;
}
