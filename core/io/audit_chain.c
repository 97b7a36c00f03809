/* SPDX-License-Identifier: Apache-2.0 */
/* The plain SHA-256 of libcrypto: unlike EVP it allocates nothing and so cannot fail. */
#define OPENSSL_API_COMPAT 10101

#include "io/audit_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/fd_priv.h"

#define TAIL_MAX (4 * EBB__AUDIT_LINE_MAX)
#define READ_CHUNK ((size_t)256 * 1024)

static void hash_line(struct ebb_str line, char out[EBB__AUDIT_HASH + 1])
{
    static const char HEX[] = "0123456789abcdef";
    unsigned char digest[SHA256_DIGEST_LENGTH];
    SHA256_CTX sha;

    SHA256_Init(&sha);
    SHA256_Update(&sha, line.p, line.n);
    SHA256_Final(digest, &sha);
    for (int i = 0; i < EBB__AUDIT_HASH / 2; i++) {
        out[2 * i] = HEX[digest[i] >> 4];
        out[2 * i + 1] = HEX[digest[i] & 15];
    }
    out[EBB__AUDIT_HASH] = '\0';
}

void ebb__audit_tail_init(struct ebb__audit_tail *tail)
{
    memset(tail, 0, sizeof *tail);
    memset(tail->prev, '0', EBB__AUDIT_HASH);
    ebb_buf_init(&tail->torn, EBB__AUDIT_LINE_MAX * 2);
}

void ebb__audit_tail_fini(struct ebb__audit_tail *tail)
{
    ebb_buf_fini(&tail->torn);
}

void ebb__audit_line(struct ebb__audit_tail *tail, struct ebb_buf *out, struct ebb_str event)
{
    size_t start = out->len;
    struct ebb_str line;

    tail->seq++;
    ebb_buf_printf(out, "{\"seq\":%" PRId64 ",\"prev\":\"%s\",", tail->seq, tail->prev);
    ebb_buf_add_str(out, event);
    ebb_buf_putc(out, '}');
    if (out->bad)
        return;
    line.p = out->data + start;
    line.n = out->len - start;
    hash_line(line, tail->prev);
    ebb_buf_putc(out, '\n');
}

static bool take(struct ebb_str *s, const char *word)
{
    struct ebb_str prefix = ebb_str_of(word);

    if (!ebb_str_has_prefix(*s, prefix))
        return false;
    s->p += prefix.n;
    s->n -= prefix.n;
    return true;
}

/* The head of a line, exactly as ebb__audit_line writes it. */
static bool read_head(struct ebb_str line, int64_t *seq, const char **prev)
{
    int64_t n = 0;
    size_t digits = 0;

    if (!take(&line, "{\"seq\":"))
        return false;
    while (line.n && line.p[0] >= '0' && line.p[0] <= '9' && digits < 18) {
        n = n * 10 + (line.p[0] - '0');
        line.p++;
        line.n--;
        digits++;
    }
    if (!digits || !take(&line, ",\"prev\":\"") || line.n < EBB__AUDIT_HASH + 3)
        return false;
    *seq = n;
    *prev = line.p;
    line.p += EBB__AUDIT_HASH;
    line.n -= EBB__AUDIT_HASH;
    return take(&line, "\",") && line.p[line.n - 1] == '}';
}

/* Whether a line continues the chain at the tail; moves the tail on. */
static bool step(struct ebb__audit_tail *tail, struct ebb_str line)
{
    const char *prev;
    int64_t seq;

    if (!read_head(line, &seq, &prev) || seq != tail->seq + 1 || memcmp(prev, tail->prev, EBB__AUDIT_HASH) != 0)
        return false;
    tail->seq = seq;
    hash_line(line, tail->prev);
    return true;
}

/* Split off the last line of *bytes: it begins behind the last line feed before its end. */
static struct ebb_str take_last_line(struct ebb_str *bytes)
{
    const char *feed = bytes->n ? memrchr(bytes->p, '\n', bytes->n) : NULL;
    size_t start = feed ? (size_t)(feed - bytes->p) + 1 : 0;
    struct ebb_str line = {bytes->p + start, bytes->n - start};

    bytes->n = feed ? start - 1 : 0;
    return line;
}

static int broken(struct ebb_err *err, const char *path, const char *why)
{
    int rc = ebb_err_set(err, EBB_EAUDIT, "%s: %s", path, why);

    ebb_err_hint(err, "keep the file for an inquiry and move it out of the state folder; a new log begins then");
    return rc;
}

/* bytes: the end of the log, cut at its front unless is_whole. */
static int judge_tail(struct ebb_str bytes, bool is_whole, const char *path, struct ebb__audit_tail *tail,
                      struct ebb_err *err)
{
    struct ebb_str torn = take_last_line(&bytes), last, before;
    const char *prev;
    int64_t seq;

    ebb_buf_add_str(&tail->torn, torn);
    tail->end -= (int64_t)torn.n;
    if (tail->end == 0)
        return ebb_buf_check(&tail->torn, path, err);
    last = take_last_line(&bytes);
    if (torn.n > EBB__AUDIT_LINE_MAX || last.n > EBB__AUDIT_LINE_MAX)
        return broken(err, path, "has a line that is too long");
    if (!read_head(last, &seq, &prev))
        return broken(err, path, "the last line is no event");
    if (seq > 1) {
        before = take_last_line(&bytes);
        if (before.n == 0 || before.n > EBB__AUDIT_LINE_MAX || !read_head(before, &tail->seq, &prev))
            return broken(err, path, "the line before the last is no event");
        hash_line(before, tail->prev);
    } else if (!is_whole || bytes.n) {
        return broken(err, path, "the last line says it is the first");
    }
    if (!step(tail, last))
        return broken(err, path, "the last line does not continue the chain");
    return ebb_buf_check(&tail->torn, path, err);
}

static size_t count_feeds(struct ebb_str bytes)
{
    size_t count = 0;

    for (size_t i = 0; i < bytes.n; i++)
        count += bytes.p[i] == '\n';
    return count;
}

/* The last bytes of the file: at least the two last whole lines, or all. */
static int read_window(int fd, int64_t size, struct ebb_buf *out, bool *is_whole)
{
    static const int64_t WINDOW[] = {64 * 1024, TAIL_MAX};
    bool is_cut;
    int failed = 0;

    for (size_t i = 0; i < 2 && !failed; i++) {
        int64_t from = size > WINDOW[i] ? size - WINDOW[i] : 0;

        ebb_buf_reset(out);
        *is_whole = from == 0;
        if (lseek(fd, from, SEEK_SET) < 0)
            return errno;
        failed = ebb__fd_read(fd, (size_t)(size - from), 0, out, &is_cut);
        if (*is_whole || count_feeds(ebb_buf_str(out)) >= 3)
            break;
    }
    return failed;
}

int ebb__audit_read_tail(int fd, const char *path, struct ebb__audit_tail *tail, struct ebb_err *err)
{
    struct ebb_buf bytes;
    struct stat st;
    bool is_whole = false;
    int failed, rc;

    if (fstat(fd, &st) != 0)
        return ebb_err_errno(err, errno, "%s: cannot stat", path);
    tail->end = st.st_size;
    if (!st.st_size)
        return 0;
    ebb_buf_init(&bytes, TAIL_MAX);
    failed = read_window(fd, st.st_size, &bytes, &is_whole);
    if (failed)
        rc = ebb_err_errno(err, failed, "%s: cannot read", path);
    else
        rc = judge_tail(ebb_buf_str(&bytes), is_whole, path, tail, err);
    ebb_buf_fini(&bytes);
    return rc;
}

int ebb__audit_open_file(int dir_fd, int *out)
{
    const int flags = O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    struct stat st;

    *out = openat(dir_fd, EBB__AUDIT_NAME, flags | O_CREAT | O_EXCL, 0600);
    if (*out >= 0)
        return fchmod(*out, 0600) != 0 ? errno : ebb__fd_sync_dir(dir_fd);
    if (errno == EEXIST)
        *out = openat(dir_fd, EBB__AUDIT_NAME, flags);
    if (*out < 0)
        return errno;
    if (fstat(*out, &st) != 0)
        return errno;
    return S_ISREG(st.st_mode) ? 0 : EINVAL;
}

int ebb__audit_lock(int fd, bool is_exclusive, const char *path, struct ebb_err *err)
{
    while (flock(fd, is_exclusive ? LOCK_EX : LOCK_SH) != 0)
        if (errno != EINTR)
            return ebb_err_errno(err, errno, "%s: cannot lock", path);
    return 0;
}

void ebb__audit_unlock(int fd)
{
    flock(fd, LOCK_UN);
}

static int bad_line(struct ebb_err *err, const char *path, int64_t number, const char *why)
{
    char text[96];

    snprintf(text, sizeof text, "line %" PRId64 " %s", number, why);
    return broken(err, path, text);
}

/* Check the whole lines in bytes; *used tells how far they reach. */
static int check_lines(struct ebb_str bytes, struct ebb__audit_tail *tail, const char *path, size_t *used,
                       struct ebb_err *err)
{
    const char *feed;

    *used = 0;
    while ((feed = memchr(bytes.p + *used, '\n', bytes.n - *used)) != NULL) {
        struct ebb_str line = {bytes.p + *used, (size_t)(feed - bytes.p) - *used};

        if (!step(tail, line))
            return bad_line(err, path, tail->seq + 1, "does not continue the chain");
        *used += line.n + 1;
    }
    if (bytes.n - *used > EBB__AUDIT_LINE_MAX)
        return bad_line(err, path, tail->seq + 1, "is too long");
    return 0;
}

static int check_file(int fd, const char *path, struct ebb__audit_tail *tail, struct ebb_err *err)
{
    struct ebb_buf bytes;
    bool is_more = true;
    int rc = 0;

    ebb_buf_init(&bytes, EBB__AUDIT_LINE_MAX + READ_CHUNK + 1);
    while (!rc && is_more) {
        char *to = ebb_buf_reserve(&bytes, READ_CHUNK);
        ssize_t got = to ? read(fd, to, READ_CHUNK) : 0;
        size_t used;

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            rc = ebb_err_errno(err, errno, "%s: cannot read", path);
            break;
        }
        bytes.len += (size_t)got;
        is_more = got > 0;
        rc = ebb_buf_check(&bytes, path, err);
        if (!rc && bytes.len)
            rc = check_lines(ebb_buf_str(&bytes), tail, path, &used, err);
        if (!rc && bytes.len) {
            memmove(bytes.data, bytes.data + used, bytes.len - used);
            bytes.len -= used;
        }
    }
    if (!rc && bytes.len)
        rc = bad_line(err, path, tail->seq + 1, "has no line feed: it was torn by a crash");
    ebb_buf_fini(&bytes);
    return rc;
}

int ebb_audit_verify(const char *state_dir, int64_t *lines_count, struct ebb_err *err)
{
    struct ebb__audit_tail tail;
    char path[PATH_MAX];
    int fd, rc;

    *lines_count = 0;
    if ((size_t)snprintf(path, sizeof path, "%s/%s", state_dir, EBB__AUDIT_NAME) >= sizeof path)
        return ebb_err_set(err, EBB_ELIMIT, "%s: the name is too long", state_dir);
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return errno == ENOENT ? 0 : ebb_err_errno(err, errno, "%s: cannot open", path);
    ebb__audit_tail_init(&tail);
    rc = ebb__audit_lock(fd, false, path, err);
    if (!rc)
        rc = check_file(fd, path, &tail, err);
    *lines_count = tail.seq;
    ebb__audit_tail_fini(&tail);
    ebb__fd_close(fd);
    return rc;
}
