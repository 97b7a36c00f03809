/* SPDX-License-Identifier: Apache-2.0 */
#include "io/inventory_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <openssl/evp.h>
#include <zlib.h>

#include "io/fd_priv.h"

#define IN_BYTES ((size_t)64 * 1024)
#define OUT_BYTES ((size_t)256 * 1024)

struct ebb__source {
    int fd;
    char *path;
    bool is_gzip;
    bool has_zlib;
    bool at_end;    /* nothing more to read from the file */
    bool in_member; /* gzip: a member has begun and not ended */
    int64_t size_bytes;
    EVP_MD_CTX *md5;
    z_stream z;
    char in[IN_BYTES];
    size_t in_len;
    char out[OUT_BYTES];
};

static int fill(struct ebb__source *s, struct ebb_err *err)
{
    ssize_t n;

    do
        n = read(s->fd, s->in, IN_BYTES);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return ebb__fd_fail(err, errno, s->path, "read");
    s->in_len = (size_t)n;
    s->at_end = n == 0;
    s->size_bytes += n;
    if (n && s->md5 && !EVP_DigestUpdate(s->md5, s->in, (size_t)n)) {
        EVP_MD_CTX_free(s->md5);
        s->md5 = NULL;
    }
    s->z.next_in = (Bytef *)s->in;
    s->z.avail_in = (uInt)n;
    return 0;
}

static int open_file(struct ebb__source *s, struct ebb_err *err)
{
    struct ebb_stat st;
    int rc;

    do
        s->fd = open(s->path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    while (s->fd < 0 && errno == EINTR);
    rc = s->fd < 0 ? errno : ebb__fd_stat(s->fd, "", &st);
    if (!rc && !st.is_file)
        rc = EBB__NOT_REGULAR;
    return rc ? ebb__fd_fail(err, rc, s->path, "read") : 0;
}

/* Where MD5 is forbidden the sum is told to be missing when it is asked for. */
static void start_md5(struct ebb__source *s)
{
    s->md5 = EVP_MD_CTX_new();
    if (s->md5 && !EVP_DigestInit_ex(s->md5, EVP_md5(), NULL)) {
        EVP_MD_CTX_free(s->md5);
        s->md5 = NULL;
    }
}

static int start(struct ebb__source *s, struct ebb_err *err)
{
    int rc = open_file(s, err);

    if (rc)
        return rc;
    start_md5(s);
    rc = fill(s, err);
    s->is_gzip = !rc && s->in_len >= 2 && !memcmp(s->in, "\x1f\x8b", 2);
    if (rc || !s->is_gzip)
        return rc;
    if (inflateInit2(&s->z, 16 + MAX_WBITS) != Z_OK)
        return ebb_err_nomem(err);
    s->has_zlib = s->in_member = true;
    return 0;
}

int ebb__source_open(const char *path, struct ebb__source **out, struct ebb_err *err)
{
    struct ebb__source *s = calloc(1, sizeof *s);
    int rc;

    *out = NULL;
    if (!s)
        return ebb_err_nomem(err);
    s->fd = -1;
    s->path = strdup(path);
    rc = s->path ? start(s, err) : ebb_err_nomem(err);
    if (rc)
        ebb__source_close(s);
    else
        *out = s;
    return rc;
}

void ebb__source_close(struct ebb__source *s)
{
    if (!s)
        return;
    if (s->has_zlib)
        inflateEnd(&s->z);
    EVP_MD_CTX_free(s->md5);
    ebb__fd_close(s->fd);
    free(s->path);
    free(s);
}

bool ebb__source_is_gzip(const struct ebb__source *s)
{
    return s->is_gzip;
}

static int next_plain(struct ebb__source *s, const char **p, size_t *n, struct ebb_err *err)
{
    int rc = s->in_len || s->at_end ? 0 : fill(s, err);

    *p = s->in;
    *n = s->in_len;
    s->in_len = 0;
    return rc;
}

static int gzip_fail(const struct ebb__source *s, const char *why, struct ebb_err *err)
{
    return ebb_err_set(err, EBB_EINVENTORY, "%s: gzip data: %s", s->path, why);
}

/* One call of inflate. Without progress at the end of the file the member was cut. */
static int inflate_some(struct ebb__source *s, struct ebb_err *err)
{
    uInt room = s->z.avail_out;
    int z = inflate(&s->z, Z_NO_FLUSH);

    if (z == Z_STREAM_END) {
        s->in_member = false;
        return 0;
    }
    if (z == Z_MEM_ERROR)
        return ebb_err_nomem(err);
    if (z != Z_OK && z != Z_BUF_ERROR)
        return gzip_fail(s, s->z.msg ? s->z.msg : "damaged", err);
    if (s->at_end && !s->z.avail_in && s->z.avail_out == room)
        return gzip_fail(s, "cut off in the middle", err);
    return 0;
}

static int next_gzip(struct ebb__source *s, const char **p, size_t *n, struct ebb_err *err)
{
    int rc = 0;

    s->z.next_out = (Bytef *)s->out;
    s->z.avail_out = (uInt)OUT_BYTES;
    while (!rc && s->z.avail_out) {
        if (!s->z.avail_in && !s->at_end)
            rc = fill(s, err);
        if (rc || (!s->z.avail_in && !s->in_member))
            break;
        if (!s->in_member) { /* a further member, or rubbish, which inflate refuses */
            inflateReset(&s->z);
            s->in_member = true;
        }
        rc = inflate_some(s, err);
    }
    *p = s->out;
    *n = OUT_BYTES - s->z.avail_out;
    return rc;
}

int ebb__source_next(struct ebb__source *s, const char **p, size_t *n, struct ebb_err *err)
{
    return s->is_gzip ? next_gzip(s, p, n, err) : next_plain(s, p, n, err);
}

int ebb__source_sum(struct ebb__source *s, int64_t *size_bytes, char md5[33], struct ebb_err *err)
{
    static const char HEX[] = "0123456789abcdef";
    unsigned char sum[EVP_MAX_MD_SIZE];
    unsigned n = 0;

    *size_bytes = s->size_bytes;
    if (!s->md5 || !EVP_DigestFinal_ex(s->md5, sum, &n) || n != 16)
        return ebb_err_set(err, EBB_EIO, "%s: cannot check: MD5 is not available here", s->path);
    for (unsigned i = 0; i < 16; i++) {
        md5[2 * i] = HEX[sum[i] >> 4];
        md5[2 * i + 1] = HEX[sum[i] & 15];
    }
    md5[32] = '\0';
    return 0;
}
