/* SPDX-License-Identifier: Apache-2.0
 *
 * gzip (RFC 1952) in memory. No state between calls.
 */
#ifndef EBB_FORMAT_GUNZIP_PRIV_H
#define EBB_FORMAT_GUNZIP_PRIV_H

#include "base/buf.h"

bool ebb__gunzip_is_magic(const void *bytes, size_t n);
/* Append what all members hold to out, whose limit bounds the memory. is_cut NULL: EBB_ECORRUPT when the bytes end too
 * early, EBB_ELIMIT when the text is longer than the limit. is_cut given: then what was there is enough, *is_cut tells.
 * Damage and bytes behind the last member are EBB_ECORRUPT. */
int ebb__gunzip(const char *name, const void *bytes, size_t n, struct ebb_buf *out, bool *is_cut, struct ebb_err *err);

#endif
