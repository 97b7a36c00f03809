/* SPDX-License-Identifier: Apache-2.0
 *
 * Paths of a read set, as they stand in records: t.stats.bytes, t.properties["owner.timezone"],
 * ctx.events(commit.failed); "*" is everything. Pure.
 */
#ifndef EBB_ENGINE_READS_H
#define EBB_ENGINE_READS_H

#include "base/buf.h"

/* Take the next name of a path into `out` (emptied first), the quoted form undone; *at moves behind it. False: there is
 * none, at the end or before the brackets of a call. */
bool ebb_reads_next_name(const char **at, struct ebb_buf *out);

#endif
