/* SPDX-License-Identifier: Apache-2.0 */
#include "table/quarantine.h"

#include <stdio.h>

#include "base/text.h"
#include "format/json.h"
#include "table/name_priv.h"

#define LINE_ARENA_BYTES ((size_t)4 << 20)

enum line_kind { LINE_FILE, LINE_TORN, LINE_END };

struct line {
    enum line_kind kind;
    struct ebb_run_file file;
    bool has_seq, has_size, has_mtime;
    int64_t version;
    const char *run;
    struct ebb_str plan;
};

static int read_text(struct ebb_json *j, struct ebb_arena *arena, struct ebb_str *out, struct ebb_err *err)
{
    char *p;

    if (ebb_json_next(j, err))
        return -EBB_ECORRUPT;
    if (j->kind != EBB_JSON_STRING)
        return ebb_json_fail(j, err, "a text is expected");
    p = ebb_arena_dup(arena, j->text.p ? j->text.p : "", j->text.n);
    if (!p)
        return ebb_err_nomem(err);
    out->p = p;
    out->n = j->text.n;
    return 0;
}

static int read_base64(struct ebb_json *j, struct ebb_arena *arena, struct ebb_str *out, struct ebb_err *err)
{
    struct ebb_buf bytes;
    int rc;

    ebb_buf_init(&bytes, EBB_LOCATION_MAX_BYTES);
    rc = ebb_json_next(j, err);
    if (!rc && (j->kind != EBB_JSON_STRING || !ebb_text_unbase64(&bytes, j->text.p, j->text.n)))
        rc = ebb_json_fail(j, err, "base64 is expected");
    if (!rc)
        rc = ebb_buf_check(&bytes, "path", err);
    if (!rc) {
        out->p = ebb_arena_dup(arena, bytes.data ? bytes.data : "", bytes.len);
        out->n = bytes.len;
        if (!out->p)
            rc = ebb_err_nomem(err);
    }
    ebb_buf_fini(&bytes);
    return rc;
}

static int read_number(struct ebb_json *j, const char *what, int64_t *out, bool *is_seen, struct ebb_err *err)
{
    *is_seen = true;
    return ebb_json_read_int(j, what, out, err);
}

static int read_size(struct ebb_json *j, struct line *l, struct ebb_err *err)
{
    int64_t size = -1;
    int rc = read_number(j, "size", &size, &l->has_size, err);

    if (!rc && size < 0)
        return ebb_json_fail(j, err, "size is negative");
    l->file.size_bytes = (uint64_t)size;
    return rc;
}

static int read_member(struct ebb_json *j, struct ebb_arena *arena, struct line *l, struct ebb_err *err)
{
    struct ebb_str key = j->text, run = {NULL, 0};
    bool ignored;
    int rc;

    if (ebb_str_is_equal(key, EBB_STR("path")))
        return read_text(j, arena, &l->file.path, err);
    if (ebb_str_is_equal(key, EBB_STR("path_b64")))
        return read_base64(j, arena, &l->file.path, err);
    if (ebb_str_is_equal(key, EBB_STR("target")))
        return read_text(j, arena, &l->file.target, err);
    if (ebb_str_is_equal(key, EBB_STR("target_b64")))
        return read_base64(j, arena, &l->file.target, err);
    if (ebb_str_is_equal(key, EBB_STR("id")))
        return read_text(j, arena, &l->file.id, err);
    if (ebb_str_is_equal(key, EBB_STR("seq")))
        return read_number(j, "seq", &l->file.seq, &l->has_seq, err);
    if (ebb_str_is_equal(key, EBB_STR("mtime")))
        return read_number(j, "mtime", &l->file.mtime_ns, &l->has_mtime, err);
    if (ebb_str_is_equal(key, EBB_STR("size")))
        return read_size(j, l, err);
    if (ebb_str_is_equal(key, EBB_STR("ebb_run")))
        return read_number(j, "ebb_run", &l->version, &ignored, err);
    if (ebb_str_is_equal(key, EBB_STR("plan")))
        return ebb_json_raw(j, &l->plan, err);
    if (ebb_str_is_equal(key, EBB_STR("run"))) {
        rc = read_text(j, arena, &run, err);
        l->run = run.p;
        return rc;
    }
    if (ebb_str_is_equal(key, EBB_STR("torn")))
        l->kind = LINE_TORN;
    else if (ebb_str_is_equal(key, EBB_STR("end")))
        l->kind = LINE_END;
    return ebb_json_skip(j, err);
}

static int parse_line(const char *name, struct ebb_str bytes, struct ebb_arena *arena, struct line *l,
                      struct ebb_err *err)
{
    struct ebb_json j;
    int rc;

    memset(l, 0, sizeof *l);
    ebb_json_init(&j, name, bytes.p, bytes.n);
    rc = ebb_json_expect(&j, EBB_JSON_OBJECT, "line", err);
    while (!rc) {
        rc = ebb_json_next(&j, err);
        if (rc || j.kind != EBB_JSON_KEY)
            break;
        rc = read_member(&j, arena, l, err);
    }
    if (!rc)
        rc = ebb_json_expect(&j, EBB_JSON_END, "end of line", err);
    ebb_json_fini(&j);
    return rc;
}

static int bad_line(const char *name, int64_t number, const char *why, struct ebb_err *err)
{
    return ebb_err_set(err, EBB_EQUARANTINE, "%s/" EBB_QUARANTINE_RECORD ":%lld: %s", name, (long long)number, why);
}

static int give_header(const char *name, struct ebb_str bytes, const struct ebb_run_reader *reader, struct ebb_err *err)
{
    struct ebb_run_header header;
    struct ebb_arena arena;
    struct line l;
    int rc;

    ebb_arena_init(&arena, LINE_ARENA_BYTES);
    rc = parse_line(name, bytes, &arena, &l, err);
    if (!rc && (l.version != EBB_RUN_VERSION || !l.run || l.plan.n == 0))
        rc = bad_line(name, 1, "not the first line of a run record of version 1", err);
    header.run = l.run;
    if (!rc)
        rc = ebb_plan_parse_header(name, l.plan, &arena, &header.plan, err);
    if (rc)
        rc = ebb_err_as(err, EBB_EQUARANTINE, NULL);
    else
        rc = reader->header(reader->data, &header, err);
    ebb_arena_fini(&arena);
    return rc;
}

static int check_file(const char *name, int64_t number, const struct line *l, struct ebb_err *err)
{
    if (!l->has_seq || !l->has_size || !l->has_mtime || l->file.path.n == 0 || l->file.target.n == 0 ||
        l->file.id.n == 0 || l->file.id.n >= EBB_STAT_ID_MAX)
        return bad_line(name, number, "a file needs seq, path, target, size, mtime and id", err);
    if (!ebb__name_is_safe(l->file.target))
        return bad_line(name, number, "target leads outside the run folder", err);
    if (memchr(l->file.path.p, '\0', l->file.path.n))
        return bad_line(name, number, "path has a NUL byte", err);
    return 0;
}

/* Whether the next line says that the one before was cut by a crash. */
static bool is_torn_mark(struct ebb_str rest)
{
    struct ebb_str mark = EBB_STR("{\"torn\":true}\n");

    return ebb_str_has_prefix(rest, mark);
}

static int unreadable(int64_t number, struct ebb_err *err)
{
    char prefix[64];

    snprintf(prefix, sizeof prefix, EBB_QUARANTINE_RECORD ": line %lld", (long long)number);
    return ebb_err_as(err, EBB_EQUARANTINE, prefix);
}

static int give_line(const char *name, int64_t number, struct ebb_str bytes, struct ebb_str rest,
                     const struct ebb_run_reader *reader, struct ebb_err *err)
{
    struct ebb_arena arena;
    struct line l;
    int rc;

    ebb_arena_init(&arena, LINE_ARENA_BYTES);
    rc = parse_line(name, bytes, &arena, &l, err);
    if (rc && rc != -EBB_ENOMEM && is_torn_mark(rest))
        rc = 0;
    else if (rc && rc != -EBB_ENOMEM)
        rc = unreadable(number, err);
    else if (!rc && l.kind == LINE_FILE) {
        rc = check_file(name, number, &l, err);
        if (!rc)
            rc = reader->file(reader->data, &l.file, err);
    }
    ebb_arena_fini(&arena);
    return rc;
}

int ebb_run_record_parse(const char *name, struct ebb_str bytes, const struct ebb_run_reader *reader,
                         struct ebb_err *err)
{
    int64_t number = 0;
    int rc = 0;

    while (bytes.n > 0 && !rc) {
        const char *end = memchr(bytes.p, '\n', bytes.n);
        struct ebb_str line = {bytes.p, end ? (size_t)(end - bytes.p) : bytes.n};

        if (!end)
            break; /* torn by a crash: its files were not moved yet */
        bytes.p += line.n + 1;
        bytes.n -= line.n + 1;
        number++;
        if (number == 1)
            rc = give_header(name, line, reader, err);
        else if (line.n > 0)
            rc = give_line(name, number, line, bytes, reader, err);
    }
    if (!rc && number == 0)
        rc = bad_line(name, 1, "no whole first line", err);
    return rc;
}
