/* SPDX-License-Identifier: Apache-2.0
 *
 * Inventories: a list of files that takes the place of walking the storage (`--listing FILE`). TSV or CSV with a header line (columns path,
 * size, mtime in any order; mtime ISO-8601 with zone or epoch ms; gzip too), or an S3 Inventory given by its manifest.json (CSV, gzip). Streamed; one row
 * at a time. CSV as in RFC 4180; S3 Inventory keys are URL-encoded there and decoded here, once.
 */
#ifndef EBB_IO_INVENTORY_H
#define EBB_IO_INVENTORY_H

#include "base/buf.h"

struct ebb_inventory_row {
    struct ebb_str path; /* full URI, bytes as given */
    int64_t size_bytes;  /* -1 unknown */
    int64_t mtime_ms;    /* 0 unknown: such a row is listed but never a candidate */
    struct ebb_str id;   /* ETag, or n == 0 */
};
typedef int ebb_inventory_cb(void *data, const struct ebb_inventory_row *row, struct ebb_err *err);

/* EBB_EINVENTORY with file, line and column name: no header, missing column, a value that can't be read, a file cut in the middle (gzip or
 * S3 manifest checksum and row count). Non-zero from cb stops and is returned. */
int ebb_inventory_read(const char *file, ebb_inventory_cb *cb, void *data, struct ebb_err *err);

#endif
