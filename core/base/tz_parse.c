/* SPDX-License-Identifier: Apache-2.0 */
#include "base/tz_priv.h"

#include <stdlib.h>

/* RFC 8536 section 3.1. */
enum { HEADER_BYTES = 44, TYPE_BYTES = 6, TYPES_MAX = 256, FOOTER_MAX = 128 };

struct header {
    unsigned char version;
    uint32_t isut_count, isstd_count, leap_count, time_count, type_count, char_count;
};

/* One data block: where its parts are. */
struct block {
    struct header header;
    size_t time_bytes; /* 4 in the first block, 8 in the second */
    const unsigned char *times;
    const unsigned char *indexes;
    const unsigned char *types;
    const unsigned char *end;
};

static uint32_t read_u32(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static int64_t read_time(const struct block *b, size_t i)
{
    const unsigned char *p = b->times + i * b->time_bytes;

    if (b->time_bytes == 4)
        return (int32_t)read_u32(p);
    return (int64_t)((uint64_t)read_u32(p) << 32 | read_u32(p + 4));
}

static const char *parse_header(const unsigned char *p, size_t n, struct header *out)
{
    if (n < HEADER_BYTES || memcmp(p, "TZif", 4) != 0)
        return "not a TZif file";
    out->version = p[4];
    out->isut_count = read_u32(p + 20);
    out->isstd_count = read_u32(p + 24);
    out->leap_count = read_u32(p + 28);
    out->time_count = read_u32(p + 32);
    out->type_count = read_u32(p + 36);
    out->char_count = read_u32(p + 40);
    return NULL;
}

/* Find the parts of the block at p; every count is checked against the bytes that are there. */
static const char *parse_block(const unsigned char *p, size_t n, size_t time_bytes, struct block *out)
{
    const struct header *h = &out->header;
    const char *why = parse_header(p, n, &out->header);
    uint64_t body;

    if (why)
        return why;
    body = (uint64_t)h->time_count * (time_bytes + 1) + (uint64_t)h->type_count * TYPE_BYTES + h->char_count +
           (uint64_t)h->leap_count * (time_bytes + 4) + h->isstd_count + h->isut_count;
    if (body > n - HEADER_BYTES)
        return "cut short";
    out->time_bytes = time_bytes;
    out->times = p + HEADER_BYTES;
    out->indexes = out->times + (size_t)h->time_count * time_bytes;
    out->types = out->indexes + h->time_count;
    out->end = p + HEADER_BYTES + body;
    return NULL;
}

/* The block that counts: the second when there is one (version 2 and later). */
static const char *find_block(const unsigned char *p, size_t n, struct block *out)
{
    const char *why = parse_block(p, n, 4, out);

    if (!why && out->header.version >= '2')
        why = parse_block(out->end, n - (size_t)(out->end - p), 8, out);
    if (why)
        return why;
    if (out->header.leap_count)
        return "counts leap seconds";
    if (!out->header.type_count || out->header.type_count > TYPES_MAX)
        return "has a wrong number of types";
    return NULL;
}

/* Offset of a type; false when there is no such type or it is out of range. */
static bool type_offset(const struct block *b, unsigned type, int32_t *out_s)
{
    if (type >= b->header.type_count)
        return false;
    *out_s = (int32_t)read_u32(b->types + type * TYPE_BYTES);
    return *out_s >= EBB_TZ_OFFSET_MIN_S && *out_s <= EBB_TZ_OFFSET_MAX_S;
}

static int refuse(const char *name, const char *why, struct ebb_err *err)
{
    return ebb_err_set(err, EBB_ETIME, "time zone \"%.64s\": the zone file %s", name, why);
}

static int add_changes(struct ebb_tz *tz, const struct block *b, struct ebb_err *err)
{
    int64_t previous_s = INT64_MIN;
    int32_t offset_s;
    int rc;

    if (!type_offset(b, 0, &offset_s))
        return refuse(tz->name, "has a wrong offset", err);
    rc = ebb__tz_add(tz, EBB_TZ_START_S, offset_s, err);
    for (size_t i = 0; i < b->header.time_count && !rc; i++) {
        int64_t at_s = read_time(b, i);

        if (i && at_s <= previous_s)
            return refuse(tz->name, "is not in order", err);
        if (!type_offset(b, b->indexes[i], &offset_s))
            return refuse(tz->name, "has a wrong offset", err);
        previous_s = at_s;
        if (at_s <= EBB_TZ_MIN_S)
            tz->changes[0].offset_s = offset_s;
        else if (at_s <= EBB_TZ_MAX_S)
            rc = ebb__tz_add(tz, at_s, offset_s, err);
    }
    return rc;
}

/* The footer stands between two line feeds after the second block; it may be empty. */
static int add_footer(struct ebb_tz *tz, const unsigned char *p, size_t n, struct ebb_err *err)
{
    char text[FOOTER_MAX + 1];
    struct ebb_tz_rule rule;
    const unsigned char *end = n > 1 ? memchr(p + 1, '\n', n - 1) : NULL;
    size_t length;

    if (!end || *p != '\n')
        return refuse(tz->name, "has no footer", err);
    length = (size_t)(end - p) - 1;
    if (!length)
        return 0;
    if (length > FOOTER_MAX || memchr(p + 1, 0, length))
        return refuse(tz->name, "has a wrong footer", err);
    memcpy(text, p + 1, length);
    text[length] = '\0';
    if (!ebb__tz_rule_parse(text, &rule))
        return refuse(tz->name, "has a wrong footer", err);
    return ebb__tz_rule_expand(&rule, tz, err);
}

int ebb_tz_parse(const char *name, const void *bytes, size_t n, struct ebb_tz **out, struct ebb_err *err)
{
    const unsigned char *p = bytes;
    struct block block;
    const char *why;
    struct ebb_tz *tz;
    int rc;

    *out = NULL;
    if (strlen(name) >= EBB_TZ_NAME_MAX)
        return ebb_err_set(err, EBB_ETIME, "time zone \"%.64s\": the name is too long", name);
    memset(&block, 0, sizeof block);
    why = find_block(p, n, &block);
    if (why)
        return refuse(name, why, err);
    tz = calloc(1, sizeof *tz);
    if (!tz)
        return ebb_err_nomem(err);
    memcpy(tz->name, name, strlen(name) + 1);
    rc = add_changes(tz, &block, err);
    if (!rc && block.time_bytes == 8)
        rc = add_footer(tz, block.end, n - (size_t)(block.end - p), err);
    if (rc)
        goto out;
    ebb__tz_finish(tz);
    *out = tz;
    tz = NULL;
out:
    ebb_tz_free(tz);
    return rc;
}
