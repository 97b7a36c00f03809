/* SPDX-License-Identifier: Apache-2.0 */
#include "format/avro_priv.h"

#include <stdio.h>
#include <stdlib.h>

#define PROGRAMS 8 /* kept from file to file */
#define SYNC_BYTES 16
#define MAGIC_BYTES 4

struct ebb_avro_reader {
    struct ebb__avro_codecs *codecs;
    struct ebb__avro_program *programs[PROGRAMS];
    size_t next_program; /* the one to give up next */
    bool is_busy;        /* its buffers are lent to a callback */
    struct ebb_avro_value row[EBB__AVRO_WANTS];
};

/* A container that is being read. */
struct file {
    const char *name;
    const unsigned char *start, *p, *end;
    struct ebb_str schema, codec_name;
    const unsigned char *sync;
};

int ebb_avro_reader_new(struct ebb_avro_reader **out, struct ebb_err *err)
{
    struct ebb_avro_reader *reader = calloc(1, sizeof *reader);
    int rc;

    *out = NULL;
    if (!reader)
        return ebb_err_nomem(err);
    rc = ebb__avro_codecs_new(&reader->codecs, err);
    if (rc) {
        ebb_avro_reader_free(reader);
        return rc;
    }
    *out = reader;
    return 0;
}

void ebb_avro_reader_free(struct ebb_avro_reader *reader)
{
    if (!reader)
        return;
    for (size_t i = 0; i < PROGRAMS; i++)
        ebb__avro_program_free(reader->programs[i]);
    ebb__avro_codecs_free(reader->codecs);
    free(reader);
}

static int fail(const struct file *f, struct ebb_err *err, const char *why)
{
    return ebb_err_set(err, EBB_ECORRUPT, "%s: offset %zu: %s", f->name, (size_t)(f->p - f->start), why);
}

static int read_long(struct file *f, const char *what, int64_t *out, struct ebb_err *err)
{
    const unsigned char *p = ebb__avro_long_read(f->p, f->end, out);

    if (!p)
        return ebb_err_set(err, EBB_ECORRUPT, "%s: offset %zu: %s is cut short or too long", f->name,
                           (size_t)(f->p - f->start), what);
    f->p = p;
    return 0;
}

static int read_sized(struct file *f, const char *what, struct ebb_str *out, struct ebb_err *err)
{
    int64_t n;
    int rc = read_long(f, what, &n, err);

    if (rc)
        return rc;
    if (n < 0 || (uint64_t)n > (uint64_t)(f->end - f->p))
        return ebb_err_set(err, EBB_ECORRUPT, "%s: offset %zu: %s runs past the end of the file", f->name,
                           (size_t)(f->p - f->start), what);
    out->p = (const char *)f->p;
    out->n = (size_t)n;
    f->p += n;
    return 0;
}

static int check_magic(struct file *f, struct ebb_err *err)
{
    size_t n = (size_t)(f->end - f->p);

    if (n >= MAGIC_BYTES && !memcmp(f->p, "AGS1", MAGIC_BYTES))
        return ebb_err_set(err, EBB_EENCRYPTED, "%s: the file is encrypted", f->name);
    if (n < MAGIC_BYTES || memcmp(f->p, "Obj\1", MAGIC_BYTES) != 0)
        return ebb_err_set(err, EBB_ECORRUPT, "%s: not an Avro file", f->name);
    f->p += MAGIC_BYTES;
    return 0;
}

static int note_entry(struct file *f, struct ebb_str key, struct ebb_str value, struct ebb_err *err)
{
    struct ebb_str *to = NULL;

    if (ebb_str_is_equal(key, EBB_STR("avro.schema")))
        to = &f->schema;
    else if (ebb_str_is_equal(key, EBB_STR("avro.codec")))
        to = &f->codec_name;
    if (to && to->p)
        return fail(f, err, "a header key occurs twice");
    if (to)
        *to = value;
    return 0;
}

/* Count of the next block of the header map; *block_end as far as it is stated. */
static int read_map_block(struct file *f, int64_t *count, const unsigned char **block_end, struct ebb_err *err)
{
    int64_t size;
    int rc = read_long(f, "header", count, err);

    *block_end = NULL;
    if (rc || *count >= 0)
        return rc;
    if (*count == INT64_MIN)
        return fail(f, err, "header is damaged");
    *count = -*count;
    rc = read_long(f, "header", &size, err);
    if (rc)
        return rc;
    if (size < 0 || (uint64_t)size > (uint64_t)(f->end - f->p))
        return fail(f, err, "header runs past the end of the file");
    *block_end = f->p + size;
    return 0;
}

static int read_entry(struct file *f, ebb_avro_meta_cb *meta, void *data, struct ebb_err *err)
{
    struct ebb_str key, value;
    int rc = read_sized(f, "header key", &key, err);

    if (!rc)
        rc = read_sized(f, "header value", &value, err);
    if (rc)
        return rc;
    return meta ? meta(data, key, value, err) : note_entry(f, key, value, err);
}

/* Walk the header map, for the caller or, without meta, for ourselves. */
static int walk_map(struct file *f, ebb_avro_meta_cb *meta, void *data, struct ebb_err *err)
{
    const unsigned char *block_end;
    int64_t count;
    int rc;

    for (;;) {
        rc = read_map_block(f, &count, &block_end, err);
        if (rc || count == 0)
            return rc;
        for (int64_t i = 0; i < count; i++) {
            rc = read_entry(f, meta, data, err);
            if (rc)
                return rc;
        }
        if (block_end && block_end != f->p)
            return fail(f, err, "header is damaged");
    }
}

static int read_header(struct file *f, ebb_avro_meta_cb *meta, void *data, struct ebb_err *err)
{
    int rc = check_magic(f, err);
    struct file again = *f;

    if (!rc)
        rc = walk_map(f, NULL, NULL, err);
    if (rc)
        return rc;
    if (!f->schema.p)
        return ebb_err_set(err, EBB_ECORRUPT, "%s: header has no avro.schema", f->name);
    if (f->end - f->p < SYNC_BYTES)
        return fail(f, err, "header is cut short");
    f->sync = f->p;
    f->p += SYNC_BYTES;
    return meta ? walk_map(&again, meta, data, err) : 0;
}

/* The program for this schema and these wants, from the cache or made now. */
static int find_program(struct ebb_avro_reader *reader, const struct file *f, const struct ebb_avro_want *wants,
                        size_t want_count, const struct ebb__avro_program **out, struct ebb_err *err)
{
    struct ebb__avro_program *made;
    int rc;

    for (size_t i = 0; i < PROGRAMS; i++)
        if (reader->programs[i] && ebb__avro_program_is_for(reader->programs[i], f->schema, wants, want_count)) {
            *out = reader->programs[i];
            return 0;
        }
    rc = ebb__avro_program_new(&made, f->name, f->schema, wants, want_count, err);
    if (rc)
        return rc;
    ebb__avro_program_free(reader->programs[reader->next_program]);
    reader->programs[reader->next_program] = made;
    reader->next_program = (reader->next_program + 1) % PROGRAMS;
    *out = made;
    return 0;
}

/* What of a block stands before its data, the data themselves, and the marker after them. */
static int read_frame(struct file *f, int64_t *row_count, struct ebb_str *packed, struct ebb_err *err)
{
    int rc = read_long(f, "row count of a block", row_count, err);

    if (!rc && *row_count < 0)
        rc = fail(f, err, "the row count of a block is negative");
    if (!rc)
        rc = read_sized(f, "a block", packed, err);
    if (rc)
        return rc;
    if (f->end - f->p < SYNC_BYTES)
        return fail(f, err, "the file is cut short: no sync marker after a block");
    if (memcmp(f->p, f->sync, SYNC_BYTES) != 0)
        return fail(f, err, "wrong sync marker after a block");
    f->p += SYNC_BYTES;
    return 0;
}

static int read_blocks(struct ebb_avro_reader *reader, struct file *f, enum ebb__avro_codec codec,
                       const struct ebb__avro_program *program, ebb_avro_row_cb *row, void *data, struct ebb_err *err)
{
    int rc = 0;

    while (!rc && f->p < f->end) {
        char what[512];
        struct ebb_str packed, block;
        int64_t row_count;

        snprintf(what, sizeof what, "%s: block at %zu", f->name, (size_t)(f->p - f->start));
        rc = read_frame(f, &row_count, &packed, err);
        if (!rc)
            rc = ebb__avro_codecs_decode(reader->codecs, codec, what, packed, &block, err);
        if (!rc)
            rc = ebb__avro_run(program, what, block, row_count, reader->row, row, data, err);
    }
    return rc;
}

int ebb_avro_read(struct ebb_avro_reader *reader, const char *name, const void *bytes, size_t n,
                  const struct ebb_avro_want *wants, size_t want_count, ebb_avro_meta_cb *meta, ebb_avro_row_cb *row,
                  void *data, struct ebb_err *err)
{
    struct file f = {.name = name, .start = bytes, .p = bytes, .end = (const unsigned char *)bytes + n};
    const struct ebb__avro_program *program;
    enum ebb__avro_codec codec = EBB__AVRO_PLAIN;
    int rc;

    if (want_count > EBB__AVRO_WANTS)
        return ebb_err_set(err, EBB_EINTERNAL, "%s: more than %d fields are wanted", name, EBB__AVRO_WANTS);
    if (reader->is_busy)
        return ebb_err_set(err, EBB_EINTERNAL, "%s: the Avro reader is used from its own callback", name);
    reader->is_busy = true;
    rc = read_header(&f, meta, data, err);
    if (!rc)
        rc = ebb__avro_codec_find(f.codec_name, name, &codec, err);
    if (!rc)
        rc = find_program(reader, &f, wants, want_count, &program, err);
    if (!rc)
        rc = read_blocks(reader, &f, codec, program, row, data, err);
    ebb__avro_codecs_trim(reader->codecs);
    reader->is_busy = false;
    return rc;
}
