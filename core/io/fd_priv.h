/* SPDX-License-Identifier: Apache-2.0
 *
 * File descriptors: whole reads, whole writes, syncs, stats. All retry EINTR. Functions return 0 or an errno value
 * (positive), so that the caller can name the file.
 */
#ifndef EBB_IO_FD_PRIV_H
#define EBB_IO_FD_PRIV_H

#include <limits.h>
#include <sys/types.h>

#include "base/buf.h"
#include "io/place.h"

/* ebb__fd_read_regular: the descriptor is no regular file. Larger than any errno value. */
#define EBB__NOT_REGULAR 100000

/* Close unless negative; errno is kept. */
void ebb__fd_close(int fd);
/* Append at most max bytes, up to the end of the file whatever its size says; *is_cut: there was more. size_hint may be
 * 0. ENOMEM when out goes bad. */
int ebb__fd_read(int fd, size_t max, uint64_t size_hint, struct ebb_buf *out, bool *is_cut);
/* The same for a regular file only (else EBB__NOT_REGULAR); st is filled. */
int ebb__fd_read_regular(int fd, size_t max, struct ebb_buf *out, bool *is_cut, struct ebb_stat *st);
int ebb__fd_write(int fd, const void *bytes, size_t n);
int ebb__fd_sync(int fd);
/* As ebb__fd_sync; a file system that can't sync folders (EINVAL, EOPNOTSUPP) is not an error. */
int ebb__fd_sync_dir(int fd);
/* Open a regular file in a folder for appending, or make it (mode 0600, *is_new). Never follows a link. Descriptor or
 * -errno. */
int ebb__fd_open_append(int dir, const char *name, bool *is_new);
/* Append to a file opened so; on failure it is cut back to the length it had. sync: fsync it. EBB__NOT_REGULAR. */
int ebb__fd_append(int fd, const void *bytes, size_t n, bool sync);
/* Stat a name relative to a folder handle, never following a link in the last component; "" is the handle itself. */
int ebb__fd_stat(int fd, const char *name, struct ebb_stat *st);
/* "not a regular file" for EBB__NOT_REGULAR, else as ebb_err_errno; the message is "<name>: <why>". */
int ebb__fd_fail(struct ebb_err *err, int errno_value, const char *name, const char *verb);
/* Create a new file in a folder under a free hidden name (".ebb-tmp-<16 hex digits>"), mode 0600, write the bytes and
 * sync it, then rename it to `name`, replacing what is there, and sync the folder. On failure the temporary file is
 * removed. */
int ebb__fd_replace(int dir, const char *name, const void *bytes, size_t n);

#endif
