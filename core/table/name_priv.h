/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of a table's files: the way from a full URI to the bytes below the table's location and back. A name is what
 * every move and unlink takes, so it is proved, not computed: strictly inside the location by whole components, never
 * ebb's own quarantine. Pure functions.
 */
#ifndef EBB_TABLE_NAME_PRIV_H
#define EBB_TABLE_NAME_PRIV_H

#include "base/location.h"

/* Append the name of `uri` below `location`. EBB_EOUTSIDE: another scheme or authority, not strictly below, climbing,
 * or below the quarantine folder of the location. The name is a byte-exact tail of the URI. rules may be NULL. */
int ebb__name_of(const char *location, struct ebb_str uri, const struct ebb_prefix_rules *rules, struct ebb_buf *out,
                 struct ebb_err *err);
/* Whether bytes can be a name below a folder: relative, no NUL, no empty, "." or ".." component. */
bool ebb__name_is_safe(struct ebb_str name);
/* The folder part of a name ("" for one without), as a slice of it. */
struct ebb_str ebb__name_dir(struct ebb_str name);
/* Append "<location>/<name>", trailing slashes of the location dropped. */
void ebb__name_uri(const char *location, struct ebb_str name, struct ebb_buf *out);

#endif
