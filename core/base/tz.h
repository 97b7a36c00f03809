/* SPDX-License-Identifier: Apache-2.0
 *
 * Time zones: TZif files read by our own code (RFC 8536), with the footer's POSIX rule for later years. No global TZ,
 * no localtime(). A zone is immutable and may be shared between threads.
 */
#ifndef EBB_BASE_TZ_H
#define EBB_BASE_TZ_H

#include "base/time.h"

struct ebb_tz;
/* Load a zone by IANA name ("Europe/Berlin") or "UTC" from the system's zone database ($TZDIR is not consulted). Names
 * are checked: letters, digits, '_', '+', '-', '/' between them, no "..", no leading '/'; abbreviations such as "EST"
 * or "PST" are refused. EBB_ETIME: unknown or unreadable. The caller frees. */
int ebb_tz_load(const char *name, struct ebb_tz **out, struct ebb_err *err);
/* Parse the bytes of one TZif file. EBB_ETIME when damaged; never trusts a count. */
int ebb_tz_parse(const char *name, const void *bytes, size_t n, struct ebb_tz **out, struct ebb_err *err);
void ebb_tz_free(struct ebb_tz *tz);
const char *ebb_tz_name(const struct ebb_tz *tz);
/* Version of the installed zone database ("2024a"), "" when unknown. out holds at least 16 bytes. */
void ebb_tz_version(char out[16]);

/* Seconds east of UTC in force at an instant (seconds). */
int32_t ebb_tz_offset(const struct ebb_tz *tz, int64_t utc_s);
/* Local wall time of an instant. */
void ebb_tz_civil(const struct ebb_tz *tz, int64_t utc_s, struct ebb_civil *out);
/* The instants at which the local wall time reads `local_s` (seconds since the epoch as if the wall were UTC): count 0
 * (gap), 1, or 2 (overlap), ascending in at[]. In a gap at[0] is the first instant after it. Returns the count. */
int ebb_tz_instants(const struct ebb_tz *tz, int64_t local_s, int64_t at[2]);

#endif
