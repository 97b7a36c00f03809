/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines of a plan file, read twice. The first reading takes a digest of each megabyte; every later one compares it
 * before it gives out a line, so that nothing is acted on that was not in the file when it was checked.
 */
#ifndef EBB_TABLE_PLAN_READER_PRIV_H
#define EBB_TABLE_PLAN_READER_PRIV_H

#include "base/buf.h"

struct ebb_plan_reader;
/* A regular file. EBB_ENOT_FOUND, EBB_EPERMISSION, EBB_EIO. */
int ebb__plan_reader_open(const char *path, struct ebb_plan_reader **out, struct ebb_err *err);
void ebb__plan_reader_close(struct ebb_plan_reader *reader);
/* The next line without its line feed, valid until the next call. EBB_EPLAN: a line that is too long or has no line
 * feed, or a file that differs from the first reading. */
int ebb__plan_reader_next(struct ebb_plan_reader *reader, struct ebb_str *line, bool *is_end, struct ebb_err *err);
/* After the first reading is over: SHA-256 (hex) of all lines but the last, with their line feeds. */
int ebb__plan_reader_sha256(struct ebb_plan_reader *reader, char out[65], struct ebb_err *err);
/* Start again. Only after a whole first reading. */
int ebb__plan_reader_rewind(struct ebb_plan_reader *reader, struct ebb_err *err);

#endif
