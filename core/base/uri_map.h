/* SPDX-License-Identifier: Apache-2.0
 *
 * Where URIs are reachable here: `--map FROM=TO` and `locations = {…}`. Pairs of URI prefix and local folder, or prefix
 * of an object store ("s3://bucket/prefix"); matched by whole components of the normal form, longest FROM first.
 * `file:` URIs and bare absolute paths need no entry (they are themselves), but an entry for them wins. Built once,
 * then read only.
 */
#ifndef EBB_BASE_URI_MAP_H
#define EBB_BASE_URI_MAP_H

#include "base/location.h"

struct ebb_uri_map;
/* An empty map; free(NULL) is fine. EBB_ENOMEM. */
int ebb_uri_map_new(struct ebb_uri_map **out, struct ebb_err *err);
void ebb_uri_map_free(struct ebb_uri_map *map);
/* to: a local path (absolute or relative to the working directory), a file: URI, or "s3://bucket/prefix". The same FROM
 * again replaces the entry. EBB_EUSAGE when either is unusable. */
int ebb_uri_map_add(struct ebb_uri_map *map, const char *from, const char *to, struct ebb_err *err);
/* Parse "FROM=TO" (the last '=' that leaves both sides usable splits; FROM may hold '='). */
int ebb_uri_map_add_text(struct ebb_uri_map *map, const char *from_to, struct ebb_err *err);
/* Append where a URI is reachable: a local path, or ("*is_remote") an "s3://bucket/key" whose key is exact, never
 * normalised but for "." and ".." segments below a FROM. s3:, s3a: and s3n: URIs without an entry are themselves.
 * Errors as of ebb_uri_map_local. */
int ebb_uri_map_target(const struct ebb_uri_map *map, const char *uri, struct ebb_buf *out, bool *is_remote,
                       struct ebb_err *err);
/* Append the local path of a URI; what lies in an object store is EBB_ESCHEME. A path that climbs is EBB_ELOCATION; a
 * scheme that is neither mapped nor file is EBB_ESCHEME (names the scheme; hint tells --map). Bytes of the path below
 * FROM are kept exactly as written (slash runs too), except that a path with "." or ".." segments gives its normal
 * form. */
int ebb_uri_map_local(const struct ebb_uri_map *map, const char *uri, struct ebb_buf *out, struct ebb_err *err);
/* The way back, for a table that was opened by a local path: the URI prefix under which `local` is known, if an entry
 * covers it (longest TO first), else the path itself as "file:" URI. Appends to out. */
int ebb_uri_map_uri(const struct ebb_uri_map *map, const char *local, struct ebb_buf *out, struct ebb_err *err);
/* Whether an explicit entry covers the URI. */
bool ebb_uri_map_has(const struct ebb_uri_map *map, const char *uri);

#endif
