/* SPDX-License-Identifier: Apache-2.0 */
#include "table/spool_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CHUNK_BYTES ((size_t)6 << 20)
#define READ_BYTES ((size_t)64 << 10)

struct head {
    uint64_t size_bytes;
    int64_t mtime_ns;
    uint32_t path_n, id_n, near_n;
    uint32_t kind;
};

/* One sorted run in the file, or the last chunk in memory. */
struct run {
    off_t at, end;
    char *buffer; /* NULL: in memory, see the spool's chunk */
    size_t have, used;
    struct ebb_plan_candidate now;
    bool is_over;
};

struct ebb_spool {
    char *dir;
    int fd;
    off_t file_bytes;
    char *chunk;
    size_t chunk_used;
    size_t *index; /* offsets of the records in the chunk */
    size_t index_count, index_cap;
    size_t index_next; /* of the merge, for the run in memory */
    struct run *runs;
    size_t run_count, run_cap;
};

int ebb__spool_new(const char *dir, struct ebb_spool **out, struct ebb_err *err)
{
    struct ebb_spool *s = calloc(1, sizeof *s);

    if (!s)
        return ebb_err_nomem(err);
    s->fd = -1;
    s->dir = strdup(dir);
    s->chunk = malloc(CHUNK_BYTES);
    if (!s->dir || !s->chunk) {
        ebb__spool_free(s);
        return ebb_err_nomem(err);
    }
    *out = s;
    return 0;
}

void ebb__spool_free(struct ebb_spool *s)
{
    if (!s)
        return;
    if (s->fd >= 0)
        close(s->fd);
    for (size_t i = 0; i < s->run_count; i++)
        free(s->runs[i].buffer);
    free(s->runs);
    free(s->index);
    free(s->chunk);
    free(s->dir);
    free(s);
}

static size_t record_bytes(const struct head *h)
{
    return (sizeof *h + h->path_n + h->id_n + h->near_n + 7) & ~(size_t)7;
}

static void unpack(const char *at, struct ebb_plan_candidate *out)
{
    struct head h;

    memcpy(&h, at, sizeof h);
    at += sizeof h;
    out->size_bytes = h.size_bytes;
    out->mtime_ns = h.mtime_ns;
    out->kind = (enum ebb_plan_kind)h.kind;
    out->path = (struct ebb_str){at, h.path_n};
    out->id = (struct ebb_str){at + h.path_n, h.id_n};
    out->near_name = (struct ebb_str){at + h.path_n + h.id_n, h.near_n};
}

/* By path; of equal paths the newest first. */
static int order(const struct ebb_plan_candidate *a, const struct ebb_plan_candidate *b)
{
    int c = ebb_str_compare(a->path, b->path);

    return c ? c : a->mtime_ns < b->mtime_ns ? 1 : -(a->mtime_ns > b->mtime_ns);
}

static int compare(const void *a, const void *b, void *chunk)
{
    struct ebb_plan_candidate x, y;

    unpack((const char *)chunk + *(const size_t *)a, &x);
    unpack((const char *)chunk + *(const size_t *)b, &y);
    return order(&x, &y);
}

static int open_file(struct ebb_spool *s, struct ebb_err *err)
{
    char name[4096];
    int n = snprintf(name, sizeof name, "%s/.spool-XXXXXX", s->dir);

    if (s->fd >= 0)
        return 0;
    if (n < 0 || (size_t)n >= sizeof name)
        return ebb_err_set(err, EBB_ELIMIT, "%s: path too long", s->dir);
    s->fd = mkostemp(name, O_CLOEXEC);
    if (s->fd < 0)
        return ebb_err_errno(err, errno, "%s: temporary file", name);
    unlink(name);
    return 0;
}

static int write_all(struct ebb_spool *s, const char *bytes, size_t n, struct ebb_err *err)
{
    while (n > 0) {
        ssize_t done = pwrite(s->fd, bytes, n, s->file_bytes);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return ebb_err_errno(err, done ? errno : ENOSPC, "%s: temporary file for the plan", s->dir);
        s->file_bytes += done;
        bytes += done;
        n -= (size_t)done;
    }
    return 0;
}

static struct run *add_run(struct ebb_spool *s)
{
    struct run *run;

    if (s->run_count == s->run_cap) {
        size_t cap = s->run_cap ? s->run_cap * 2 : 16;
        struct run *runs = realloc(s->runs, cap * sizeof *runs);

        if (!runs)
            return NULL;
        s->runs = runs;
        s->run_cap = cap;
    }
    run = &s->runs[s->run_count++];
    memset(run, 0, sizeof *run);
    return run;
}

static int spill(struct ebb_spool *s, struct ebb_err *err)
{
    struct run *run = add_run(s);
    int rc = run ? open_file(s, err) : ebb_err_nomem(err);

    if (rc)
        return rc;
    run->at = s->file_bytes;
    if (s->index_count)
        qsort_r(s->index, s->index_count, sizeof *s->index, compare, s->chunk);
    for (size_t i = 0; !rc && i < s->index_count; i++) {
        struct head h;

        memcpy(&h, s->chunk + s->index[i], sizeof h);
        rc = write_all(s, s->chunk + s->index[i], record_bytes(&h), err);
    }
    run->end = s->file_bytes;
    s->index_count = 0;
    s->chunk_used = 0;
    return rc;
}

static int grow_index(struct ebb_spool *s, struct ebb_err *err)
{
    size_t cap = s->index_cap ? s->index_cap * 2 : 4096;
    size_t *index;

    if (s->index_count < s->index_cap)
        return 0;
    index = realloc(s->index, cap * sizeof *index);
    if (!index)
        return ebb_err_nomem(err);
    s->index = index;
    s->index_cap = cap;
    return 0;
}

int ebb__spool_add(struct ebb_spool *s, const struct ebb_plan_candidate *c, struct ebb_err *err)
{
    struct head h = {c->size_bytes,    c->mtime_ns, (uint32_t)c->path.n, (uint32_t)c->id.n, (uint32_t)c->near_name.n,
                     (uint32_t)c->kind};
    size_t need = record_bytes(&h);
    char *at;
    int rc = 0;

    if (c->path.n > EBB_PLAN_MAX_LINE_BYTES || c->id.n > 4096 || c->near_name.n > EBB_PLAN_MAX_LINE_BYTES)
        return ebb_err_set(err, EBB_ELIMIT, "a listed name is longer than %zu bytes", EBB_PLAN_MAX_LINE_BYTES);
    if (s->chunk_used + need > CHUNK_BYTES)
        rc = spill(s, err);
    if (!rc)
        rc = grow_index(s, err);
    if (rc)
        return rc;
    at = s->chunk + s->chunk_used;
    memset(at, 0, need);
    memcpy(at, &h, sizeof h);
    at += sizeof h;
    memcpy(at, c->path.p, c->path.n);
    if (c->id.n)
        memcpy(at + c->path.n, c->id.p, c->id.n);
    if (c->near_name.n)
        memcpy(at + c->path.n + c->id.n, c->near_name.p, c->near_name.n);
    s->index[s->index_count++] = s->chunk_used;
    s->chunk_used += need;
    return 0;
}

/* ---- merge ---- */

static int refill(struct ebb_spool *s, struct run *run, size_t need, struct ebb_err *err)
{
    if (!run->buffer) {
        run->buffer = malloc(READ_BYTES + EBB_PLAN_MAX_LINE_BYTES * 3);
        if (!run->buffer)
            return ebb_err_nomem(err);
    }
    memmove(run->buffer, run->buffer + run->used, run->have - run->used);
    run->have -= run->used;
    run->used = 0;
    while (run->have < need) {
        size_t room = READ_BYTES + EBB_PLAN_MAX_LINE_BYTES * 3 - run->have;
        size_t left = (size_t)(run->end - run->at);
        ssize_t got = pread(s->fd, run->buffer + run->have, left < room ? left : room, run->at);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return ebb_err_errno(err, got ? errno : EIO, "%s: temporary file for the plan", s->dir);
        run->have += (size_t)got;
        run->at += got;
    }
    return 0;
}

static int advance_file(struct ebb_spool *s, struct run *run, struct ebb_err *err)
{
    struct head h;
    int rc;

    if (run->used == run->have && run->at == run->end) {
        run->is_over = true;
        return 0;
    }
    if (run->have - run->used < sizeof h) {
        rc = refill(s, run, sizeof h, err);
        if (rc)
            return rc;
    }
    memcpy(&h, run->buffer + run->used, sizeof h);
    if (run->have - run->used < record_bytes(&h)) {
        rc = refill(s, run, record_bytes(&h), err);
        if (rc)
            return rc;
    }
    unpack(run->buffer + run->used, &run->now);
    run->used += record_bytes(&h);
    return 0;
}

static void advance_memory(struct ebb_spool *s, struct run *run)
{
    run->is_over = s->index_next == s->index_count;
    if (!run->is_over)
        unpack(s->chunk + s->index[s->index_next++], &run->now);
}

static int advance(struct ebb_spool *s, size_t i, struct ebb_err *err)
{
    struct run *run = &s->runs[i];

    if (i + 1 < s->run_count)
        return advance_file(s, run, err);
    advance_memory(s, run);
    return 0;
}

static bool is_less(const struct ebb_spool *s, size_t a, size_t b)
{
    if (s->runs[a].is_over || s->runs[b].is_over)
        return !s->runs[a].is_over;
    return order(&s->runs[a].now, &s->runs[b].now) < 0;
}

static void sift(const struct ebb_spool *s, size_t *heap, size_t count, size_t at)
{
    for (;;) {
        size_t least = at;

        for (size_t child = 2 * at + 1; child <= 2 * at + 2; child++)
            if (child < count && is_less(s, heap[child], heap[least]))
                least = child;
        if (least == at)
            return;
        size_t swap = heap[at];
        heap[at] = heap[least];
        heap[least] = swap;
        at = least;
    }
}

static int merge(struct ebb_spool *s, size_t *heap, ebb_spool_cb *cb, void *data, struct ebb_err *err)
{
    struct ebb_buf last;
    int rc = 0;

    ebb_buf_init(&last, EBB_PLAN_MAX_LINE_BYTES);
    for (size_t i = s->run_count; i-- > 0;)
        sift(s, heap, s->run_count, i);
    while (!rc && !s->runs[heap[0]].is_over) {
        const struct ebb_plan_candidate *c = &s->runs[heap[0]].now;

        if (!last.data || !ebb_str_is_equal(ebb_buf_str(&last), c->path))
            rc = cb(data, c, err);
        ebb_buf_reset(&last);
        ebb_buf_add_str(&last, c->path);
        if (!rc)
            rc = advance(s, heap[0], err);
        sift(s, heap, s->run_count, 0);
    }
    ebb_buf_fini(&last);
    return rc;
}

int ebb__spool_each(struct ebb_spool *s, ebb_spool_cb *cb, void *data, struct ebb_err *err)
{
    size_t *heap = NULL;
    int rc = add_run(s) ? 0 : ebb_err_nomem(err); /* the chunk in memory */

    if (rc)
        return rc;
    if (s->index_count)
        qsort_r(s->index, s->index_count, sizeof *s->index, compare, s->chunk);
    heap = calloc(s->run_count, sizeof *heap);
    if (!heap)
        return ebb_err_nomem(err);
    for (size_t i = 0; !rc && i < s->run_count; i++) {
        heap[i] = i;
        rc = advance(s, i, err);
    }
    if (!rc)
        rc = merge(s, heap, cb, data, err);
    free(heap);
    return rc;
}
