/* SPDX-License-Identifier: Apache-2.0 */
#include "table/plan_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "table/plan_find_priv.h"
#include "table/plan_reader_priv.h"

#define ARENA_BYTES ((size_t)4 << 20)

struct ebb_plan_file {
    char *path;
    struct ebb_plan_reader *reader;
    struct ebb_arena arena; /* header and summary */
    struct ebb_plan_header header;
    struct ebb_plan_summary summary;
    int64_t given; /* candidates since the last rewind */
};

/* What the first reading adds up, to be held against the summary. */
struct tally {
    int64_t candidates;
    uint64_t bytes;
    struct ebb_buf last_path;
};

static int bad(struct ebb_plan_file *file, struct ebb_err *err, const char *why)
{
    return ebb_err_set(err, EBB_EPLAN, "%s: %s", file->path, why);
}

static int add_candidate(struct ebb_plan_file *file, struct tally *t, struct ebb_str line, int64_t number,
                         struct ebb_err *err)
{
    struct ebb_plan_candidate c;
    struct ebb_arena arena;
    int rc;

    ebb_arena_init(&arena, ARENA_BYTES);
    rc = ebb_plan_parse_candidate(file->path, number, line, &arena, &c, err);
    if (rc)
        goto out;
    if (t->candidates > 0 && ebb_str_compare(ebb_buf_str(&t->last_path), c.path) >= 0)
        rc = ebb_err_set(err, EBB_EPLAN, "%s:%lld: paths are not in ascending order", file->path, (long long)number);
    else if (t->bytes > UINT64_MAX - c.size_bytes)
        rc = ebb_err_set(err, EBB_EPLAN, "%s:%lld: sizes overflow", file->path, (long long)number);
    if (rc)
        goto out;
    t->candidates++;
    t->bytes += c.size_bytes;
    ebb_buf_reset(&t->last_path);
    ebb_buf_add_str(&t->last_path, c.path);
    rc = ebb_buf_check(&t->last_path, file->path, err);
out:
    ebb_arena_fini(&arena);
    return rc;
}

static int read_header(struct ebb_plan_file *file, struct ebb_err *err)
{
    struct ebb_str line;
    bool is_end;
    int rc;

    rc = ebb__plan_reader_next(file->reader, &line, &is_end, err);
    if (rc)
        return rc;
    if (is_end)
        return bad(file, err, "empty file");
    rc = ebb_plan_parse_header(file->path, line, &file->arena, &file->header, err);
    if (!rc && strlen(file->header.id) >= 40)
        rc = bad(file, err, "id is too long");
    return rc;
}

/* All lines after the header. The summary is the one that no other line follows, so each is looked at when the next one
 * is there. */
static int read_body(struct ebb_plan_file *file, struct tally *t, struct ebb_buf *held, struct ebb_err *err)
{
    struct ebb_str line;
    int64_t number = 1;
    bool is_end, has_held = false;
    int rc;

    for (;;) {
        rc = ebb__plan_reader_next(file->reader, &line, &is_end, err);
        if (rc || is_end)
            break;
        if (has_held)
            rc = add_candidate(file, t, ebb_buf_str(held), number, err);
        if (rc)
            break;
        ebb_buf_reset(held);
        ebb_buf_add_str(held, line);
        has_held = true;
        number++;
    }
    if (!rc)
        rc = ebb_buf_check(held, file->path, err);
    if (!rc && !has_held)
        rc = bad(file, err, "no summary line: the file is cut");
    if (!rc)
        rc = ebb_plan_parse_summary(file->path, number, ebb_buf_str(held), &file->arena, &file->summary, err);
    return rc;
}

static int check_summary(struct ebb_plan_file *file, const struct tally *t, struct ebb_err *err)
{
    const struct ebb_plan_summary *s = &file->summary;
    char sha256[65];
    int rc;

    rc = ebb__plan_reader_sha256(file->reader, sha256, err);
    if (rc)
        return rc;
    if (strcmp(sha256, s->sha256) != 0)
        return bad(file, err, "its hash does not match: the file was changed or damaged");
    if (s->candidates != t->candidates || s->candidate_bytes != t->bytes)
        return bad(file, err, "number or bytes of candidates differ from the summary");
    if (strcmp(s->status, "empty") == 0 && t->candidates > 0)
        return bad(file, err, "status is empty, but there are candidates");
    return 0;
}

static int read_whole(struct ebb_plan_file *file, struct ebb_err *err)
{
    struct tally t = {0, 0, {0}};
    struct ebb_buf held;
    int rc;

    ebb_buf_init(&held, EBB_PLAN_MAX_LINE_BYTES);
    ebb_buf_init(&t.last_path, EBB_PLAN_MAX_LINE_BYTES);
    rc = read_header(file, err);
    if (!rc)
        rc = read_body(file, &t, &held, err);
    if (!rc)
        rc = check_summary(file, &t, err);
    ebb_buf_fini(&t.last_path);
    ebb_buf_fini(&held);
    return rc;
}

int ebb_plan_file_open(const struct ebb_site *site, const char *plan, struct ebb_plan_file **out, struct ebb_err *err)
{
    struct ebb_plan_file *file = calloc(1, sizeof *file);
    int rc;

    *out = NULL;
    if (!file)
        return ebb_err_nomem(err);
    ebb_arena_init(&file->arena, ARENA_BYTES);
    rc = ebb__plan_find(site, plan, &file->path, err);
    if (!rc)
        rc = ebb__plan_reader_open(file->path, &file->reader, err);
    if (!rc)
        rc = read_whole(file, err);
    if (!rc)
        rc = ebb__plan_check_record(site, &file->header, file->summary.sha256, err);
    if (rc)
        ebb_plan_file_close(file);
    else
        *out = file;
    return rc;
}

void ebb_plan_file_close(struct ebb_plan_file *file)
{
    if (!file)
        return;
    ebb_strs_fini(&file->summary.held_by);
    ebb__plan_reader_close(file->reader);
    ebb_arena_fini(&file->arena);
    free(file->path);
    free(file);
}

const char *ebb_plan_file_path(const struct ebb_plan_file *file)
{
    return file->path;
}

const struct ebb_plan_header *ebb_plan_file_header(const struct ebb_plan_file *file)
{
    return &file->header;
}

const struct ebb_plan_summary *ebb_plan_file_summary(const struct ebb_plan_file *file)
{
    return &file->summary;
}

int ebb_plan_file_rewind(struct ebb_plan_file *file, struct ebb_err *err)
{
    struct ebb_str header;
    bool is_end;
    int rc;

    file->given = 0;
    rc = ebb__plan_reader_rewind(file->reader, err);
    return rc ? rc : ebb__plan_reader_next(file->reader, &header, &is_end, err);
}

int ebb_plan_file_next(struct ebb_plan_file *file, struct ebb_arena *arena, struct ebb_plan_candidate *out,
                       bool *is_end, struct ebb_err *err)
{
    struct ebb_str line;
    bool is_cut = false;
    int rc;

    *is_end = file->given == file->summary.candidates;
    if (*is_end)
        return 0;
    rc = ebb__plan_reader_next(file->reader, &line, &is_cut, err);
    if (!rc && is_cut)
        rc = bad(file, err, "the file was changed while it was read");
    if (!rc)
        rc = ebb_plan_parse_candidate(file->path, file->given + 2, line, arena, out, err);
    if (!rc)
        file->given++;
    return rc;
}

int ebb_plan_file_each(struct ebb_plan_file *file, ebb_plan_candidate_cb *cb, void *data, struct ebb_err *err)
{
    struct ebb_plan_candidate c;
    struct ebb_arena arena;
    bool is_end = false;
    int rc;

    rc = ebb_plan_file_rewind(file, err);
    while (!rc && !is_end) {
        ebb_arena_init(&arena, ARENA_BYTES);
        rc = ebb_plan_file_next(file, &arena, &c, &is_end, err);
        if (!rc && !is_end)
            rc = cb(data, &c, err);
        ebb_arena_fini(&arena);
    }
    return rc;
}
