/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside of a time zone, for tz_*.c and the calendar. A zone is a sorted list of changes of the offset: the ones of the
 * file, then those that its footer's rule makes for a little over 400 years. The Gregorian calendar repeats after 400
 * years, so later instants are looked up in the last 400 years of the list.
 */
#ifndef EBB_BASE_TZ_PRIV_H
#define EBB_BASE_TZ_PRIV_H

#include "base/tz.h"

#define EBB_TZ_NAME_MAX 64
/* Instants and wall times beyond these (some 9 million years) count as these. */
#define EBB_TZ_MIN_S (-(INT64_C(1) << 48))
#define EBB_TZ_MAX_S (INT64_C(1) << 48)
/* Before and after every instant. */
#define EBB_TZ_START_S (2 * EBB_TZ_MIN_S)
#define EBB_TZ_END_S (2 * EBB_TZ_MAX_S)
/* 400 years. */
#define EBB_TZ_CYCLE_S (INT64_C(146097) * 86400)
/* RFC 8536 section 3.2: offsets lie between -24:59:59 and +25:59:59. */
#define EBB_TZ_OFFSET_MIN_S (-89999)
#define EBB_TZ_OFFSET_MAX_S 93599

/* From at_s on, the wall is offset_s seconds east of UTC. Neighbours differ in offset_s. */
struct ebb_tz_change {
    int64_t at_s;
    int32_t offset_s;
};

/* Stretches of 2^25 s (a good year) from 1970 to beyond 2440, in which changes are looked up directly. */
#define EBB_TZ_HINT_BITS 25
#define EBB_TZ_HINTS 448

struct ebb_tz {
    char name[EBB_TZ_NAME_MAX];
    struct ebb_tz_change *changes; /* never empty; [0].at_s is EBB_TZ_START_S */
    size_t count;
    size_t cap;
    bool repeats;                     /* a summer time rule goes on for ever */
    uint32_t hints[EBB_TZ_HINTS + 1]; /* of the last change at or before the start of each stretch */
};

/* A stretch of time with one offset: [from_s, to_s). */
struct ebb_tz_span {
    int64_t from_s;
    int64_t to_s;
    int32_t offset_s;
};

/* The stretch that holds an instant. Neighbouring stretches differ in offset; the first begins at EBB_TZ_START_S, the
 * last ends at EBB_TZ_END_S. */
struct ebb_tz_span ebb__tz_span(const struct ebb_tz *tz, int64_t utc_s);
/* Append a change; one that is not later than the last, or changes nothing, is left out. EBB_ENOMEM. */
int ebb__tz_add(struct ebb_tz *tz, int64_t at_s, int32_t offset_s, struct ebb_err *err);

/* All changes are there: make them quick to find. */
void ebb__tz_finish(struct ebb_tz *tz);

/* The footer of a TZif file: a POSIX TZ string (RFC 8536 section 3.3). */
enum ebb_tz_day_kind { EBB_TZ_DAY_JULIAN, EBB_TZ_DAY_ZERO, EBB_TZ_DAY_WEEK };

struct ebb_tz_rule_day {
    enum ebb_tz_day_kind kind;
    int month;      /* EBB_TZ_DAY_WEEK */
    int week;       /* EBB_TZ_DAY_WEEK: 5 = the last */
    int day;        /* day of the year, or weekday */
    int32_t time_s; /* wall time of the change, may lie on another day */
};

struct ebb_tz_rule {
    bool has_summer;
    int32_t offset_s;
    int32_t summer_offset_s;
    struct ebb_tz_rule_day start;
    struct ebb_tz_rule_day end;
};

/* False when the text is not such a string. */
bool ebb__tz_rule_parse(const char *text, struct ebb_tz_rule *out);
/* Append the changes that the rule makes after the last change of the file. EBB_ENOMEM. */
int ebb__tz_rule_expand(const struct ebb_tz_rule *rule, struct ebb_tz *tz, struct ebb_err *err);

#endif
