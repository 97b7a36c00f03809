/* SPDX-License-Identifier: Apache-2.0
 *
 * Timestamps, durations and sizes as text. Instants are ms since the epoch (UTC). Never uses the host's zone or locale.
 * Pure, but region names read the zone database (base/tz.h).
 */
#ifndef EBB_BASE_TIME_H
#define EBB_BASE_TIME_H

#include "base/buf.h"

/* Broken-down UTC or local time: proleptic Gregorian calendar. */
struct ebb_civil {
    int64_t year;
    int month; /* 1..12 */
    int day;   /* 1..31 */
    int hour, minute, second;
    int weekday; /* 0 = Sunday */
};
/* Days since 1970-01-01 of a date (any proleptic Gregorian date; years beyond 10^15 count as 10^15), and back. */
int64_t ebb_civil_days(int64_t year, int month, int day);
void ebb_civil_of_days(int64_t days, struct ebb_civil *out); /* fills the date and weekday, time 0 */
int ebb_civil_month_length(int64_t year, int month);         /* 0 when there is no such month */

/* Parse the form of case table timestamps.tsv. default_zone: what applies when the text has none ("" or NULL: such text
 * is an error). EBB_ETIME with a message that says what is wrong. */
int ebb_time_parse(const char *text, const char *default_zone, int64_t *out_ms, struct ebb_err *err);
/* Append "2026-06-01T00:00:00Z" (".123" only when ms are not 0). */
void ebb_time_iso(struct ebb_buf *out, int64_t ms);
/* Append "yyyy-MM-dd HH:mm:ss" in UTC, cut down to seconds. */
void ebb_time_sql(struct ebb_buf *out, int64_t ms);
/* "5d", "36h", "1h30m", "90s", "250ms": units ms s m h d w, each once, large to small; no sign, no white space. "0"
 * alone is not a duration, "0d" is. EBB_ETIME also on overflow. */
int ebb_duration_parse(const char *text, int64_t *out_ms, struct ebb_err *err);
/* Append the exact form with the largest units first ("1h30m", "30d", "0s"). Weeks are written as days; a negative
 * duration, which cannot be parsed, begins with '-'. */
void ebb_duration_format(struct ebb_buf *out, int64_t ms);
/* "1GiB", "500MB", "0B", "64 KiB": B, kB/MB/GB/TB/PB (powers of 1000), KiB… (powers of 1024); whole numbers or a
 * decimal fraction that comes out whole. EBB_EUSAGE. */
int ebb_size_parse(const char *text, uint64_t *out_bytes, struct ebb_err *err);

#endif
