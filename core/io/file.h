/* SPDX-License-Identifier: Apache-2.0
 *
 * Files of ebb's own (plans, audit log, configuration), by plain local path. Not for table storage: that is io/place.h.
 */
#ifndef EBB_IO_FILE_H
#define EBB_IO_FILE_H

#include "base/buf.h"

/* Read a whole regular file (out->max bounds it). EBB_ENOENT, EBB_EPERMISSION, EBB_EIO, EBB_ELIMIT. */
int ebb_file_read(const char *path, struct ebb_buf *out, struct ebb_err *err);
/* Write path atomically: temporary file beside it (mode 0600), fsync, rename, fsync of the folder. */
int ebb_file_replace(const char *path, const void *bytes, size_t n, struct ebb_err *err);
/* Make a new file (mode 0644, less the umask) and fill it. EBB_EEXIST when anything has the name. */
int ebb_file_create(const char *path, const void *bytes, size_t n, struct ebb_err *err);
/* Make a folder and those above it (0700 for new ones). */
int ebb_file_make_dirs(const char *path, struct ebb_err *err);
/* Append to a file and fsync it; made with mode 0600 when missing (then its folder is synced too). */
int ebb_file_append(const char *path, const void *bytes, size_t n, struct ebb_err *err);

#endif
