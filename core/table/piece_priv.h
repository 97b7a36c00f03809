/* SPDX-License-Identifier: Apache-2.0
 *
 * Pieces of a table's metadata (manifest lists, manifests) and the files it names: where they are, and whether they may
 * be looked at. Metadata may name any URI; only the table's own schemes and buckets, mapped prefixes and those that
 * were allowed are opened.
 */
#ifndef EBB_TABLE_PIECE_PRIV_H
#define EBB_TABLE_PIECE_PRIV_H

#include "format/manifest.h"
#include "table/table.h"

#define EBB__PIECE_MAX_BYTES ((size_t)4 << 30)

/* Whether a name has neither scheme nor a leading slash: it is meant below the location of its own table. */
bool ebb__piece_is_relative(struct ebb_str path);
/* The URI of a piece as metadata names it, NUL terminated, in out (which is reset). read_also: prefixes that may be
 * read too, or NULL. EBB_EMETADATA, EBB_EBAD_LOCATION, EBB_ESCHEME, EBB_ELIMIT, EBB_ENOMEM. */
int ebb__piece_uri(const struct ebb_site *site, const struct ebb_table *table, const struct ebb_strs *read_also,
                   struct ebb_str path, struct ebb_buf *out, struct ebb_err *err);
/* Read it whole. missing: the error when it is not there; what: "manifest", "manifest list", for the message. */
int ebb__piece_read(const struct ebb_site *site, const struct ebb_table *table, const char *uri, enum ebb_error missing,
                    const char *what, struct ebb_buf *bytes, struct ebb_err *err);
/* Compare with what the list recorded; fewer entries, or another length, are EBB_EMANIFEST_CORRUPT. -1 in the record:
 * unknown. */
int ebb__piece_check_length(const struct ebb_table *table, const char *uri, int64_t recorded, int64_t found,
                            struct ebb_err *err);
int ebb__piece_check_counts(const struct ebb_site *site, const struct ebb_table *table, const char *uri,
                            const struct ebb_manifest_ref *ref, const struct ebb_manifest_counts *found,
                            struct ebb_err *err);
/* A counter of a snapshot's summary: -1 when absent or no number. */
int64_t ebb__piece_counter(const struct ebb_snapshot *s, const char *key);

#endif
