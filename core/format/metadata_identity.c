/* SPDX-License-Identifier: Apache-2.0 */
#include "format/metadata_priv.h"

#include "format/gunzip_priv.h"

static bool has_suffix(struct ebb_str s, struct ebb_str suffix)
{
    return s.n >= suffix.n && !memcmp(s.p + s.n - suffix.n, suffix.p, suffix.n);
}

bool ebb_metadata_is_name(const char *name, bool *is_gzip)
{
    const char *slash = strrchr(name, '/');
    struct ebb_str file = ebb_str_of(slash ? slash + 1 : name);
    bool is_outer = has_suffix(file, EBB_STR(".metadata.json.gz"));
    bool is_inner = has_suffix(file, EBB_STR(".gz.metadata.json"));

    if (is_gzip)
        *is_gzip = is_outer || is_inner;
    return is_outer || has_suffix(file, EBB_STR(".metadata.json"));
}

bool ebb__metadata_clean_uuid(char *uuid)
{
    for (char *p = uuid; *p; p++) {
        unsigned char c = (unsigned char)*p;

        if (c < 0x20 || c == 0x7F)
            return false;
        if (c >= 'A' && c <= 'Z')
            *p = (char)(c - 'A' + 'a');
    }
    return *uuid != '\0';
}

void ebb__metadata_clean_location(char *location)
{
    size_t n = strlen(location);

    if (n < 2 || location[n - 1] != '/')
        return;
    if (location[n - 2] == ':' || (n >= 3 && location[n - 2] == '/' && location[n - 3] == ':') ||
        (n >= 4 && !memcmp(location + n - 4, ":///", 4)))
        return;
    location[n - 1] = '\0';
}

static int read_uuid(struct ebb_json *j, struct ebb_arena *arena, struct ebb_metadata_identity *out,
                     struct ebb_err *err)
{
    char *uuid;
    int rc = ebb_json_read_str(j, "table-uuid", arena, &uuid, err);

    if (!rc && !ebb__metadata_clean_uuid(uuid))
        rc = ebb_json_fail(j, err, "table-uuid: is empty or holds control characters");
    if (!rc)
        out->uuid = uuid;
    return rc;
}

static int read_location(struct ebb_json *j, struct ebb_arena *arena, struct ebb_metadata_identity *out,
                         struct ebb_err *err)
{
    char *location;
    int rc = ebb_json_read_str(j, "location", arena, &location, err);

    if (!rc && !*location)
        rc = ebb_json_fail(j, err, "location: is empty");
    if (rc)
        return rc;
    ebb__metadata_clean_location(location);
    out->location = location;
    return 0;
}

static int read_member(struct ebb_json *j, struct ebb_arena *arena, struct ebb_metadata_identity *out,
                       struct ebb_err *err)
{
    int rc;

    if (ebb_json_is_text(j, "table-uuid"))
        return read_uuid(j, arena, out, err);
    if (ebb_json_is_text(j, "location"))
        return read_location(j, arena, out, err);
    if (!ebb_json_is_text(j, "last-updated-ms"))
        return ebb_json_skip(j, err);
    rc = ebb_json_next(j, err);
    if (!rc && j->kind == EBB_JSON_INT)
        out->last_updated_ms = j->number;
    return rc ? rc : ebb_json_skip(j, err);
}

static int read_members(struct ebb_json *j, struct ebb_arena *arena, struct ebb_metadata_identity *out,
                        struct ebb_err *err)
{
    int rc = ebb_json_expect(j, EBB_JSON_OBJECT, "table metadata", err);

    while (!rc) {
        rc = ebb_json_next(j, err);
        if (rc || j->kind == EBB_JSON_OBJECT_END)
            break;
        rc = read_member(j, arena, out, err);
    }
    return rc ? rc : ebb_json_expect(j, EBB_JSON_END, "table metadata", err);
}

/* What was seen before a cut stands; before other damage only a uuid does. */
static int judge(int rc, struct ebb_json *j, struct ebb_metadata_identity *out, struct ebb_err *err)
{
    if (rc == -EBB_ECORRUPT && (out->uuid || (j->is_cut && out->location))) {
        out->is_cut = true;
        return 0;
    }
    out->is_cut = out->is_cut || j->is_cut;
    if (!rc && !out->uuid && !out->location)
        rc = ebb_json_fail(j, err, "neither table-uuid nor location");
    return rc;
}

int ebb_metadata_identify(const char *name, const void *bytes, size_t n, struct ebb_arena *arena,
                          struct ebb_metadata_identity *out, struct ebb_err *err)
{
    struct ebb_buf unzipped;
    struct ebb_str text = {bytes, n};
    struct ebb_json j;
    int rc = 0;

    memset(out, 0, sizeof *out);
    ebb_buf_init(&unzipped, EBB_METADATA_MAX_BYTES);
    if (ebb__gunzip_is_magic(bytes, n)) {
        rc = ebb__gunzip(name, bytes, n, &unzipped, &out->is_cut, err);
        text = ebb_buf_str(&unzipped);
    }
    ebb_json_init(&j, name, text.p, text.n);
    if (!rc)
        rc = judge(read_members(&j, arena, out, err), &j, out, err);
    ebb_json_fini(&j);
    ebb_buf_fini(&unzipped);
    return ebb__metadata_rc(rc, err);
}
