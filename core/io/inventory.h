/* SPDX-License-Identifier: Apache-2.0
 *
 * Inventories: a list of files that takes the place of walking the storage (`--listing FILE`). TSV or CSV with a header
 * line (columns path, size, mtime in any order, optionally id; others are ignored; mtime ISO-8601 with zone or epoch
 * ms; gzip too), or an S3 Inventory given by its manifest.json (any file named *.json; CSV, gzip). Streamed; one row at
 * a time, of at most 64 KiB. CSV as in RFC 4180; TSV (a tab in the first line) has no quoting. S3 Inventory keys are
 * URL-encoded there and decoded here, once; old versions and delete markers are left out. Empty cells of size and mtime
 * are unknown. Epoch values that look like seconds or microseconds are refused. In a plain list whose last line has no
 * line end that row's size and mtime count as unknown: the file may have been cut there.
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

/* EBB_EINVENTORY with file, line and column name: no header, missing column, a value that can't be read, a file cut in
 * the middle (gzip or size and checksum of an S3 manifest's file). Rows before the fault were already given: on an
 * error forget them. A file that can't be read is EBB_ENOENT, EBB_EPERMISSION, EBB_EIO. Non-zero from cb stops and is
 * returned. */
int ebb_inventory_read(const char *file, ebb_inventory_cb *cb, void *data, struct ebb_err *err);

#endif
