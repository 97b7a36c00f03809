/* SPDX-License-Identifier: Apache-2.0 */
#include "io/inventory_priv.h"

int ebb__inventory_pump(struct ebb__source *source, struct ebb__rows *rows, struct ebb_err *err)
{
    const char *p;
    size_t n;
    int rc;

    do {
        rc = ebb__source_next(source, &p, &n, err);
        if (!rc)
            rc = n ? ebb__inventory_rows_feed(rows, p, n, err) : ebb__inventory_rows_end(rows, err);
    } while (!rc && n);
    return rc;
}

static int read_list(const char *file, ebb_inventory_cb *cb, void *data, struct ebb_err *err)
{
    struct ebb__source *source = NULL;
    struct ebb__rows rows;
    int rc = ebb__source_open(file, &source, err);

    if (rc)
        return rc;
    ebb__inventory_rows_init(&rows, file, ebb__source_is_gzip(source), cb, data);
    rc = ebb__inventory_pump(source, &rows, err);
    ebb__inventory_rows_fini(&rows);
    ebb__source_close(source);
    return rc;
}

int ebb_inventory_read(const char *file, ebb_inventory_cb *cb, void *data, struct ebb_err *err)
{
    size_t n = strlen(file);

    if (n >= 5 && !strcmp(file + n - 5, ".json"))
        return ebb__inventory_read_s3(file, cb, data, err);
    return read_list(file, cb, data, err);
}
