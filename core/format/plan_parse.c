/* SPDX-License-Identifier: Apache-2.0 */
#include "format/plan_priv.h"

#include <inttypes.h>

#define COUNT(fields) (sizeof(fields) / sizeof((fields)[0]))

/* What a line holds besides its struct. */
struct header {
    struct ebb_plan_header h;
    const char *location; /* as h.scanned */
};

static int read_version(struct ebb__plan_reader *r, void *target, struct ebb_err *err)
{
    int rc = ebb__plan_want(r, EBB_JSON_INT, "ebb_plan", err);

    (void)target;
    if (!rc && r->j.number != EBB_PLAN_VERSION)
        rc = ebb_json_fail(&r->j, err, "ebb_plan: version %" PRId64 " is not known, only %d", r->j.number,
                           EBB_PLAN_VERSION);
    return rc;
}

static int read_snapshot_id(struct ebb__plan_reader *r, void *target, struct ebb_err *err)
{
    struct ebb_plan_header *h = target;

    h->has_snapshot = true;
    h->snapshot_id = r->j.number;
    return ebb__plan_want(r, EBB_JSON_INT, "snapshot_id", err);
}

#define OF_HEADER(member) offsetof(struct ebb_plan_header, member)

static int read_table(struct ebb__plan_reader *r, void *target, struct ebb_err *err)
{
    static const struct ebb__plan_field FIELDS[] = {
        {"catalog", EBB__PLAN_PATH, 0, OF_HEADER(catalog), NULL},
        {"namespace", EBB__PLAN_PATH, 0, OF_HEADER(namespace_), NULL},
        {"name", EBB__PLAN_PATH, 0, OF_HEADER(name), NULL},
        {"uuid", EBB__PLAN_PATH, 0, OF_HEADER(uuid), NULL},
        {"location", EBB__PLAN_PATH, 0, OF_HEADER(location), NULL},
        {"metadata", EBB__PLAN_PATH, 0, OF_HEADER(metadata), NULL},
        {"snapshot_id", EBB__PLAN_READ, EBB__PLAN_NULLABLE, 0, read_snapshot_id},
    };

    return ebb__plan_object(r, FIELDS, COUNT(FIELDS), target, err);
}

static int read_ownership(struct ebb__plan_reader *r, void *target, struct ebb_err *err)
{
    static const char *const NAMES[] = {"full", "metadata", "none"};
    struct ebb_plan_header *h = target;
    int rc = ebb__plan_want(r, EBB_JSON_STRING, "ownership", err);

    for (size_t i = 0; !rc && i < COUNT(NAMES); i++)
        if (ebb_json_is_text(&r->j, NAMES[i]))
            h->ownership = NAMES[i];
    if (!rc && !h->ownership)
        rc = ebb_json_fail(&r->j, err, "ownership: is none of full, metadata, none");
    return rc;
}

static const struct ebb__plan_field HEADER[] = {
    {"ebb_plan", EBB__PLAN_READ, 0, 0, read_version},
    {"id", EBB__PLAN_TEXT, 0, OF_HEADER(id), NULL},
    {"table", EBB__PLAN_READ, 0, 0, read_table},
    {"cutoff", EBB__PLAN_TIME, 0, OF_HEADER(cutoff_ms), NULL},
    {"older_than", EBB__PLAN_TEXT, 0, OF_HEADER(older_than), NULL},
    {"location", EBB__PLAN_PATH, 0, offsetof(struct header, location), NULL},
    {"scanned", EBB__PLAN_PATH, 0, OF_HEADER(scanned), NULL},
    {"ownership", EBB__PLAN_READ, 0, 0, read_ownership},
    {"listing", EBB__PLAN_PATH, 0, OF_HEADER(listing), NULL},
    {"engine_version", EBB__PLAN_TEXT, 0, OF_HEADER(engine_version), NULL},
    {"policy", EBB__PLAN_OBJECT, EBB__PLAN_NULLABLE, OF_HEADER(policy), NULL},
    {"limits", EBB__PLAN_OBJECT, 0, OF_HEADER(limits), NULL},
    {"options", EBB__PLAN_OBJECT, 0, OF_HEADER(options), NULL},
    {"created", EBB__PLAN_TIME, 0, OF_HEADER(created_ms), NULL},
};

static int check_header(struct ebb__plan_reader *r, const struct header *line, struct ebb_err *err)
{
    const struct ebb_plan_header *h = &line->h;

    if (!*h->id || !*h->location || !*h->metadata || !*h->scanned)
        return ebb_json_fail(&r->j, err, "id, table.location, table.metadata and scanned may not be empty");
    if (strcmp(line->location, h->scanned))
        return ebb_json_fail(&r->j, err, "location and scanned differ");
    return 0;
}

int ebb_plan_parse_header(const char *name, struct ebb_str line, struct ebb_arena *arena, struct ebb_plan_header *out,
                          struct ebb_err *err)
{
    struct ebb__plan_reader r;
    struct header header;
    int rc = ebb__plan_reader_init(&r, name, 1, line, arena, err);

    memset(&header, 0, sizeof header);
    if (!rc)
        rc = ebb__plan_object(&r, HEADER, COUNT(HEADER), &header, err);
    if (!rc)
        rc = check_header(&r, &header, err);
    rc = ebb__plan_reader_fini(&r, rc, err);
    if (!rc)
        *out = header.h;
    return rc;
}

static int read_mtime(struct ebb__plan_reader *r, void *target, struct ebb_err *err)
{
    struct ebb_plan_candidate *c = target;
    int rc = ebb__plan_want(r, EBB_JSON_INT, "mtime", err);

    c->mtime_ns = r->j.number;
    if (!rc && c->mtime_ns <= 0)
        rc = ebb_json_fail(&r->j, err, "mtime: a file of unknown age is no candidate");
    return rc;
}

static int read_kind(struct ebb__plan_reader *r, void *target, struct ebb_err *err)
{
    static const char *const NAMES[] = {
        [EBB_PLAN_DATA] = "data", [EBB_PLAN_METADATA] = "metadata", [EBB_PLAN_OTHER] = "other"};
    struct ebb_plan_candidate *c = target;
    int rc = ebb__plan_want(r, EBB_JSON_STRING, "kind", err);

    for (size_t i = 0; !rc && i < COUNT(NAMES); i++) {
        if (ebb_json_is_text(&r->j, NAMES[i])) {
            c->kind = (enum ebb_plan_kind)i;
            return 0;
        }
    }
    return rc ? rc : ebb_json_fail(&r->j, err, "kind: is none of data, metadata, other");
}

static int read_why(struct ebb__plan_reader *r, void *target, struct ebb_err *err)
{
    int rc = ebb__plan_want(r, EBB_JSON_STRING, "why", err);

    (void)target;
    if (!rc && !ebb_json_is_text(&r->j, "unreferenced"))
        rc = ebb_json_fail(&r->j, err, "why: is not unreferenced");
    return rc;
}

#define OF_CANDIDATE(member) offsetof(struct ebb_plan_candidate, member)

static const struct ebb__plan_field CANDIDATE[] = {
    {"path", EBB__PLAN_BYTES, 0, OF_CANDIDATE(path), NULL},
    {"size", EBB__PLAN_SIZE, 0, OF_CANDIDATE(size_bytes), NULL},
    {"mtime", EBB__PLAN_READ, 0, 0, read_mtime},
    {"id", EBB__PLAN_BYTES, EBB__PLAN_NULLABLE, OF_CANDIDATE(id), NULL},
    {"kind", EBB__PLAN_READ, 0, 0, read_kind},
    {"why", EBB__PLAN_READ, 0, 0, read_why},
    {"near", EBB__PLAN_BYTES, EBB__PLAN_OPTIONAL, OF_CANDIDATE(near_name), NULL},
};

int ebb_plan_parse_candidate(const char *name, int64_t line_number, struct ebb_str line, struct ebb_arena *arena,
                             struct ebb_plan_candidate *out, struct ebb_err *err)
{
    struct ebb__plan_reader r;
    int rc = ebb__plan_reader_init(&r, name, line_number, line, arena, err);

    memset(out, 0, sizeof *out);
    if (!rc)
        rc = ebb__plan_object(&r, CANDIDATE, COUNT(CANDIDATE), out, err);
    return ebb__plan_reader_fini(&r, rc, err);
}

static int read_status(struct ebb__plan_reader *r, void *target, struct ebb_err *err)
{
    static const char *const NAMES[] = {"ready", "held", "empty"};
    struct ebb_plan_summary *s = target;
    int rc = ebb__plan_want(r, EBB_JSON_STRING, "status", err);

    for (size_t i = 0; !rc && i < COUNT(NAMES); i++)
        if (ebb_json_is_text(&r->j, NAMES[i]))
            s->status = NAMES[i];
    if (!rc && !s->status)
        rc = ebb_json_fail(&r->j, err, "status: is none of ready, held, empty");
    return rc;
}

static int read_held_by(struct ebb__plan_reader *r, void *target, struct ebb_err *err)
{
    struct ebb_plan_summary *s = target;
    int rc = ebb__plan_want(r, EBB_JSON_ARRAY, "held_by", err);

    while (!rc) {
        rc = ebb_json_next(&r->j, err);
        if (rc || r->j.kind == EBB_JSON_ARRAY_END)
            break;
        rc = ebb__plan_want(r, EBB_JSON_STRING, "held_by", err);
        if (!rc && (r->j.text.n == 0 || memchr(r->j.text.p, '\0', r->j.text.n)))
            rc = ebb_json_fail(&r->j, err, "held_by: is not the name of a fuse");
        if (!rc)
            rc = ebb_strs_addn(&s->held_by, r->j.text.p, r->j.text.n, err);
    }
    return rc;
}

static int read_sha256(struct ebb__plan_reader *r, void *target, struct ebb_err *err)
{
    struct ebb_plan_summary *s = target;
    struct ebb_str text = r->j.text;
    int rc = ebb__plan_want(r, EBB_JSON_STRING, "sha256", err);
    bool is_good = !rc && text.n == sizeof s->sha256 - 1;

    for (size_t i = 0; is_good && i < text.n; i++)
        is_good = (text.p[i] >= '0' && text.p[i] <= '9') || (text.p[i] >= 'a' && text.p[i] <= 'f');
    if (is_good)
        memcpy(s->sha256, text.p, text.n);
    return rc || is_good ? rc : ebb_json_fail(&r->j, err, "sha256: is not 64 hex digits");
}

#define OF_SUMMARY(member) offsetof(struct ebb_plan_summary, member)

static const struct ebb__plan_field SUMMARY[] = {
    {"listed", EBB__PLAN_COUNT, 0, OF_SUMMARY(listed), NULL},
    {"reachable", EBB__PLAN_COUNT, 0, OF_SUMMARY(reachable), NULL},
    {"reachable_listed", EBB__PLAN_COUNT, 0, OF_SUMMARY(reachable_listed), NULL},
    {"too_young", EBB__PLAN_COUNT, 0, OF_SUMMARY(too_young), NULL},
    {"hidden", EBB__PLAN_COUNT, 0, OF_SUMMARY(hidden), NULL},
    {"kept", EBB__PLAN_COUNT, 0, OF_SUMMARY(kept), NULL},
    {"links", EBB__PLAN_COUNT, 0, OF_SUMMARY(links), NULL},
    {"mounts", EBB__PLAN_COUNT, 0, OF_SUMMARY(mounts), NULL},
    {"candidates", EBB__PLAN_COUNT, 0, OF_SUMMARY(candidates), NULL},
    {"candidate_bytes", EBB__PLAN_SIZE, 0, OF_SUMMARY(candidate_bytes), NULL},
    {"metadata_files_read", EBB__PLAN_COUNT, 0, OF_SUMMARY(metadata_files_read), NULL},
    {"status", EBB__PLAN_READ, 0, 0, read_status},
    {"held_by", EBB__PLAN_READ, 0, 0, read_held_by},
    {"sha256", EBB__PLAN_READ, 0, 0, read_sha256},
};

int ebb_plan_parse_summary(const char *name, int64_t line_number, struct ebb_str line, struct ebb_arena *arena,
                           struct ebb_plan_summary *out, struct ebb_err *err)
{
    struct ebb__plan_reader r;
    int rc = ebb__plan_reader_init(&r, name, line_number, line, arena, err);

    memset(out, 0, sizeof *out);
    ebb_strs_init(&out->held_by);
    if (!rc)
        rc = ebb__plan_object(&r, SUMMARY, COUNT(SUMMARY), out, err);
    if (!rc && !strcmp(out->status, "held") != (out->held_by.count > 0))
        rc = ebb_json_fail(&r.j, err, "status and held_by do not fit");
    rc = ebb__plan_reader_fini(&r, rc, err);
    if (rc)
        ebb_strs_fini(&out->held_by);
    return rc;
}
