/* SPDX-License-Identifier: Apache-2.0 */
#include "io/inventory_priv.h"

#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#include "format/json.h"
#include "io/file.h"

#define MANIFEST_MAX_BYTES ((size_t)64 * 1024 * 1024)

/* ---- manifest.json ---- */

static struct ebb__s3_file *add_file(struct ebb__s3_manifest *m, struct ebb_err *err)
{
    if (m->count == m->cap) {
        size_t cap = m->cap ? m->cap * 2 : 16;
        struct ebb__s3_file *files = realloc(m->files, cap * sizeof *files);

        if (!files) {
            ebb_err_nomem(err);
            return NULL;
        }
        m->files = files;
        m->cap = cap;
    }
    memset(&m->files[m->count], 0, sizeof *m->files);
    return &m->files[m->count++];
}

static int check_file(struct ebb_json *j, const struct ebb__s3_file *f, struct ebb_err *err)
{
    if (!f->key)
        return ebb_json_fail(j, err, "a file without key");
    if (!f->md5 || strlen(f->md5) != 32)
        return ebb_json_fail(j, err, "%s: no MD5checksum", f->key);
    return f->size_bytes < 0 ? ebb_json_fail(j, err, "%s: no size", f->key) : 0;
}

static int read_file(struct ebb_json *j, struct ebb__s3_manifest *m, struct ebb_err *err)
{
    struct ebb__s3_file *f = add_file(m, err);
    int rc;

    if (!f)
        return -EBB_ENOMEM;
    f->size_bytes = -1;
    while (!(rc = ebb_json_next(j, err)) && j->kind == EBB_JSON_KEY) {
        if (ebb_json_is_text(j, "key"))
            rc = ebb_json_read_str(j, "key", &m->arena, &f->key, err);
        else if (ebb_json_is_text(j, "MD5checksum"))
            rc = ebb_json_read_str(j, "MD5checksum", &m->arena, &f->md5, err);
        else if (ebb_json_is_text(j, "size"))
            rc = ebb_json_read_int(j, "size", &f->size_bytes, err);
        else
            rc = ebb_json_skip(j, err);
        if (rc)
            return rc;
    }
    return rc ? rc : check_file(j, f, err);
}

static int read_files(struct ebb_json *j, struct ebb__s3_manifest *m, struct ebb_err *err)
{
    int rc = ebb_json_expect(j, EBB_JSON_ARRAY, "files", err);

    while (!rc && !(rc = ebb_json_next(j, err)) && j->kind != EBB_JSON_ARRAY_END) {
        if (j->kind != EBB_JSON_OBJECT)
            return ebb_json_fail(j, err, "files: an entry that is no object");
        rc = read_file(j, m, err);
    }
    return rc;
}

struct top {
    char *format;
    bool has_files;
};

static int read_key(struct ebb_json *j, struct ebb__s3_manifest *m, struct top *top, struct ebb_err *err)
{
    if (ebb_json_is_text(j, "fileFormat"))
        return ebb_json_read_str(j, "fileFormat", &m->arena, &top->format, err);
    if (ebb_json_is_text(j, "fileSchema"))
        return ebb_json_read_str(j, "fileSchema", &m->arena, &m->schema, err);
    if (!ebb_json_is_text(j, "files"))
        return ebb_json_skip(j, err);
    top->has_files = true;
    return read_files(j, m, err);
}

static int check_top(struct ebb_json *j, const struct ebb__s3_manifest *m, const struct top *top, struct ebb_err *err)
{
    int rc;

    if (!top->format || !top->has_files)
        return ebb_json_fail(j, err, "not an S3 Inventory manifest: no %s", top->format ? "files" : "fileFormat");
    if (strcasecmp(top->format, "CSV")) {
        rc = ebb_json_fail(j, err, "fileFormat %s is not supported", top->format);
        ebb_err_hint(err, "configure the S3 Inventory for CSV output");
        return rc;
    }
    return m->schema ? 0 : ebb_json_fail(j, err, "not an S3 Inventory manifest: no fileSchema");
}

static int read_top(struct ebb_json *j, struct ebb__s3_manifest *m, struct ebb_err *err)
{
    struct top top = {NULL, false};
    int rc = ebb_json_expect(j, EBB_JSON_OBJECT, "manifest", err);

    while (!rc && !(rc = ebb_json_next(j, err)) && j->kind == EBB_JSON_KEY)
        rc = read_key(j, m, &top, err);
    if (!rc)
        rc = check_top(j, m, &top, err);
    return rc ? rc : ebb_json_expect(j, EBB_JSON_END, "end of the manifest", err);
}

int ebb__s3_manifest_parse(const char *name, const void *bytes, size_t n, struct ebb__s3_manifest *out,
                           struct ebb_err *err)
{
    struct ebb_json j;
    int rc;

    memset(out, 0, sizeof *out);
    ebb_arena_init(&out->arena, MANIFEST_MAX_BYTES);
    ebb_json_init(&j, name, bytes, n);
    rc = read_top(&j, out, err);
    ebb_json_fini(&j);
    return rc == -EBB_ECORRUPT ? ebb_err_as(err, EBB_EINVENTORY, NULL) : rc;
}

void ebb__s3_manifest_fini(struct ebb__s3_manifest *m)
{
    free(m->files);
    ebb_arena_fini(&m->arena);
}

/* ---- data files ---- */

/* Where a data file lies: beside the manifest, or in ../data/ as S3 writes it. Only the last part of its key counts. */
static int locate(const char *manifest, const struct ebb__s3_file *f, struct ebb_buf *out, struct ebb_err *err)
{
    const char *slash = strrchr(manifest, '/'), *base = strrchr(f->key, '/');
    static const char *const FOLDERS[] = {"", "../data/"};

    base = base ? base + 1 : f->key;
    if (!*base || !strcmp(base, ".") || !strcmp(base, ".."))
        return ebb_err_set(err, EBB_EINVENTORY, "%s: %s: not the key of a file", manifest, f->key);
    for (size_t i = 0; i < sizeof FOLDERS / sizeof *FOLDERS; i++) {
        ebb_buf_reset(out);
        ebb_buf_append(out, manifest, slash ? (size_t)(slash - manifest) + 1 : 0);
        ebb_buf_puts(out, FOLDERS[i]);
        ebb_buf_puts(out, base);
        if (out->bad)
            return ebb_buf_check(out, manifest, err);
        if (!access(out->data, F_OK))
            return 0;
    }
    return ebb_err_set(err, EBB_EINVENTORY, "%s: %s lies neither beside it nor in ../data/", manifest, base);
}

static int check_sum(struct ebb__source *source, const char *path, const struct ebb__s3_file *f, struct ebb_err *err)
{
    char md5[33];
    int64_t size_bytes;
    int rc = ebb__source_sum(source, &size_bytes, md5, err);

    if (rc)
        return rc;
    if (size_bytes != f->size_bytes || strcasecmp(md5, f->md5))
        return ebb_err_set(err, EBB_EINVENTORY, "%s: not the file its manifest names: size or MD5 differ", path);
    return 0;
}

static int read_data(const char *path, const struct ebb__s3_manifest *m, const struct ebb__s3_file *f,
                     ebb_inventory_cb *cb, void *data, struct ebb_err *err)
{
    struct ebb__source *source = NULL;
    struct ebb__rows rows;
    int rc = ebb__source_open(path, &source, err);

    if (rc)
        return rc;
    rc = ebb__inventory_rows_init_s3(&rows, path, ebb_str_of(m->schema), cb, data, err);
    if (!rc)
        rc = ebb__inventory_pump(source, &rows, err);
    if (!rc)
        rc = check_sum(source, path, f, err);
    ebb__inventory_rows_fini(&rows);
    ebb__source_close(source);
    return rc;
}

int ebb__inventory_read_s3(const char *file, ebb_inventory_cb *cb, void *data, struct ebb_err *err)
{
    struct ebb__s3_manifest m = {0};
    struct ebb_buf bytes, path;
    int rc;

    ebb_buf_init(&bytes, MANIFEST_MAX_BYTES);
    ebb_buf_init(&path, 64 * 1024);
    rc = ebb_file_read(file, &bytes, err);
    if (!rc)
        rc = ebb__s3_manifest_parse(file, bytes.data, bytes.len, &m, err);
    for (size_t i = 0; !rc && i < m.count; i++) {
        rc = locate(file, &m.files[i], &path, err);
        if (!rc)
            rc = read_data(path.data, &m, &m.files[i], cb, data, err);
    }
    ebb__s3_manifest_fini(&m);
    ebb_buf_fini(&path);
    ebb_buf_fini(&bytes);
    return rc;
}
