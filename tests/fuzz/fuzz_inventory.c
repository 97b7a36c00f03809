/* SPDX-License-Identifier: Apache-2.0
 *
 * Inventories: the first byte says what the rest is (list, S3 data file, S3 manifest) and where it is cut into two
 * pieces.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "io/inventory_priv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int on_row(void *data, const struct ebb_inventory_row *row, struct ebb_err *err)
{
    (void)data;
    (void)err;
    if (!row->path.n || memchr(row->path.p, '\0', row->path.n) || row->size_bytes < -1)
        abort();
    return 0;
}

static void feed(struct ebb__rows *rows, const char *p, size_t n, size_t cut)
{
    struct ebb_err err;
    int rc;

    cut = cut < n ? cut : n;
    rc = ebb__inventory_rows_feed(rows, p, cut, &err);
    if (!rc)
        rc = ebb__inventory_rows_feed(rows, p + cut, n - cut, &err);
    if (!rc)
        ebb__inventory_rows_end(rows, &err);
    ebb__inventory_rows_fini(rows);
}

static void manifest(const char *p, size_t n)
{
    struct ebb__s3_manifest m;
    struct ebb_err err;

    ebb__s3_manifest_parse("fuzz", p, n, &m, &err);
    ebb__s3_manifest_fini(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *p = (const char *)data + 1;
    struct ebb__rows rows;
    struct ebb_err err;

    if (!size)
        return 0;
    if (data[0] % 3 == 0) {
        ebb__inventory_rows_init(&rows, "fuzz", false, on_row, NULL);
        feed(&rows, p, size - 1, data[0] / 3);
    } else if (data[0] % 3 == 1) {
        ebb__inventory_rows_init_s3(&rows, "fuzz",
                                    EBB_STR("Bucket, Key, IsLatest, IsDeleteMarker, Size, LastModifiedDate, ETag"),
                                    on_row, NULL, &err);
        feed(&rows, p, size - 1, data[0] / 3);
    } else {
        manifest(p, size - 1);
    }
    return 0;
}
