/* SPDX-License-Identifier: Apache-2.0 */
/* The plain SHA-256 of libcrypto: unlike EVP it allocates nothing and so cannot fail. */
#define OPENSSL_API_COMPAT 10101

#include "table/plan_reader_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/sha.h>

#include "base/text.h"
#include "format/plan.h"

#define CHUNK_BYTES ((size_t)1 << 20)
#define DIGEST_BYTES 32

struct ebb_plan_reader {
    char *path;
    int fd;
    unsigned char *chunk;
    size_t chunk_len, chunk_at, chunk_number;
    bool is_over;
    unsigned char (*digests)[DIGEST_BYTES];
    size_t digest_count, digest_cap;
    bool is_known;     /* the first reading came to the end */
    SHA256_CTX sha256; /* of the lines before `line` */
    struct ebb_buf line;
    bool has_line; /* `line` is not yet in sha256 */
};

static int open_regular(const char *path, int *fd, struct ebb_err *err)
{
    struct stat st;

    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (*fd < 0 && errno == ENOENT)
        return ebb_err_set(err, EBB_ENOT_FOUND, "plan %s: no such file", path);
    if (*fd < 0)
        return ebb_err_errno(err, errno, "plan %s", path);
    if (fstat(*fd, &st) != 0)
        return ebb_err_errno(err, errno, "plan %s", path);
    if (!S_ISREG(st.st_mode))
        return ebb_err_set(err, EBB_EPLAN, "plan %s: not a regular file", path);
    return 0;
}

int ebb__plan_reader_open(const char *path, struct ebb_plan_reader **out, struct ebb_err *err)
{
    struct ebb_plan_reader *r = calloc(1, sizeof *r);
    int rc = 0;

    *out = NULL;
    if (!r)
        return ebb_err_nomem(err);
    r->fd = -1;
    ebb_buf_init(&r->line, EBB_PLAN_MAX_LINE_BYTES);
    r->path = strdup(path);
    r->chunk = malloc(CHUNK_BYTES);
    SHA256_Init(&r->sha256);
    if (!r->path || !r->chunk)
        rc = ebb_err_nomem(err);
    if (!rc)
        rc = open_regular(path, &r->fd, err);
    if (rc)
        ebb__plan_reader_close(r);
    else
        *out = r;
    return rc;
}

void ebb__plan_reader_close(struct ebb_plan_reader *r)
{
    if (!r)
        return;
    if (r->fd >= 0)
        close(r->fd);
    ebb_buf_fini(&r->line);
    free(r->digests);
    free(r->chunk);
    free(r->path);
    free(r);
}

static int changed(struct ebb_plan_reader *r, struct ebb_err *err)
{
    return ebb_err_set(err, EBB_EPLAN, "%s: the file was changed while it was read", r->path);
}

static int read_chunk(struct ebb_plan_reader *r, struct ebb_err *err)
{
    ssize_t n;

    r->chunk_len = r->chunk_at = 0;
    while (r->chunk_len < CHUNK_BYTES) {
        n = read(r->fd, r->chunk + r->chunk_len, CHUNK_BYTES - r->chunk_len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return ebb_err_errno(err, errno, "plan %s", r->path);
        if (n == 0)
            break;
        r->chunk_len += (size_t)n;
    }
    return 0;
}

static int grow_digests(struct ebb_plan_reader *r, struct ebb_err *err)
{
    size_t cap = r->digest_cap ? r->digest_cap * 2 : 16;
    void *digests = realloc(r->digests, cap * DIGEST_BYTES);

    if (!digests)
        return ebb_err_nomem(err);
    r->digests = digests;
    r->digest_cap = cap;
    return 0;
}

static int check_chunk(struct ebb_plan_reader *r, struct ebb_err *err)
{
    unsigned char digest[DIGEST_BYTES];
    SHA256_CTX sha;

    SHA256_Init(&sha);
    SHA256_Update(&sha, r->chunk, r->chunk_len);
    SHA256_Final(digest, &sha);
    if (r->is_known) {
        if (r->chunk_number >= r->digest_count || memcmp(r->digests[r->chunk_number], digest, DIGEST_BYTES) != 0)
            return changed(r, err);
    } else {
        if (r->digest_count == r->digest_cap && grow_digests(r, err))
            return -EBB_ENOMEM;
        memcpy(r->digests[r->digest_count++], digest, DIGEST_BYTES);
    }
    r->chunk_number++;
    return 0;
}

/* Make bytes ready at chunk_at, or find the end. */
static int fill(struct ebb_plan_reader *r, struct ebb_err *err)
{
    int rc;

    if (r->is_over || r->chunk_at < r->chunk_len)
        return 0;
    rc = read_chunk(r, err);
    if (rc)
        return rc;
    if (r->chunk_len > 0)
        return check_chunk(r, err);
    if (r->is_known && r->chunk_number != r->digest_count)
        return changed(r, err);
    r->is_over = true;
    return 0;
}

static void hash_line(struct ebb_plan_reader *r)
{
    if (r->is_known || !r->has_line)
        return;
    SHA256_Update(&r->sha256, r->line.data ? r->line.data : "", r->line.len);
    SHA256_Update(&r->sha256, "\n", 1);
}

/* Move what the chunk has of the line over; true when its line feed was there. */
static bool take_line(struct ebb_plan_reader *r)
{
    const unsigned char *p = r->chunk + r->chunk_at;
    size_t rest = r->chunk_len - r->chunk_at;
    const unsigned char *end = memchr(p, '\n', rest);
    size_t n = end ? (size_t)(end - p) : rest;

    ebb_buf_append(&r->line, p, n);
    r->chunk_at += end ? n + 1 : n;
    return end != NULL;
}

int ebb__plan_reader_next(struct ebb_plan_reader *r, struct ebb_str *line, bool *is_end, struct ebb_err *err)
{
    int rc;

    *is_end = false;
    rc = fill(r, err);
    if (rc)
        return rc;
    if (r->is_over) {
        *is_end = true;
        return 0;
    }
    hash_line(r);
    ebb_buf_reset(&r->line);
    r->has_line = true;
    while (!take_line(r)) {
        if (ebb_buf_check(&r->line, r->path, err))
            return ebb_err_as(err, EBB_EPLAN, NULL);
        rc = fill(r, err);
        if (rc)
            return rc;
        if (r->is_over)
            return ebb_err_set(err, EBB_EPLAN, "%s: the last line is cut", r->path);
    }
    if (ebb_buf_check(&r->line, r->path, err))
        return ebb_err_as(err, EBB_EPLAN, NULL);
    *line = ebb_buf_str(&r->line);
    return 0;
}

int ebb__plan_reader_sha256(struct ebb_plan_reader *r, char out[65], struct ebb_err *err)
{
    unsigned char digest[DIGEST_BYTES];
    struct ebb_buf hex;
    int rc;

    if (!r->is_over)
        return ebb_err_set(err, EBB_EINTERNAL, "plan %s: hash before the end", r->path);
    ebb_buf_init(&hex, 64);
    SHA256_Final(digest, &r->sha256);
    ebb_text_hex(&hex, digest, DIGEST_BYTES);
    rc = ebb_buf_check(&hex, "hash", err);
    if (!rc) {
        memcpy(out, hex.data, 65);
        r->is_known = true;
    }
    ebb_buf_fini(&hex);
    return rc;
}

int ebb__plan_reader_rewind(struct ebb_plan_reader *r, struct ebb_err *err)
{
    if (!r->is_known)
        return ebb_err_set(err, EBB_EINTERNAL, "plan %s: read twice before it was read once", r->path);
    if (lseek(r->fd, 0, SEEK_SET) != 0)
        return ebb_err_errno(err, errno, "plan %s", r->path);
    r->chunk_len = r->chunk_at = r->chunk_number = 0;
    r->is_over = false;
    return 0;
}
