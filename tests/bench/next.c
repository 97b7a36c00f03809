/* SPDX-License-Identifier: Apache-2.0
 *
 * What a new zone database costs: the next fire of 100,000 triggers, one for each (policy, table), in ten zones. The
 * yardsticks of the same run: one localtime_r and one mktime of the C library in one zone, which is less than a next
 * fire, and the same with the zone set for each, as a program without zones of its own would have to.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/calendar_priv.h"

#define PAIRS 100000
#define ROUNDS 5
#define PEERS 20000
#define START_MS ((int64_t)1774742400000) /* 2026-03-29T00:00Z: an hour before clocks change in Europe */

static const char *const ZONES[] = {
    "UTC",          "Europe/Berlin",     "America/New_York", "Australia/Lord_Howe", "America/Santiago",
    "Asia/Kolkata", "Africa/Casablanca", "Asia/Tokyo",       "America/St_Johns",    "Pacific/Auckland"};
static const char *const TEXTS[] = {"Sun 02:00",    "02:30",          "*:00/15",     "Mon..Fri 22:00",
                                    "*-*-01 03:30", "last Sun 02:00", "*-*-31 12:00"};
#define N(list) (sizeof(list) / sizeof *(list))

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void die(const char *what, const struct ebb_err *err)
{
    fprintf(stderr, "%s: %s\n", what, err->message);
    exit(1);
}

static double ours(struct ebb_calendar **all, int64_t after_ms, int64_t *sum)
{
    double start = now_ns();

    for (size_t i = 0; i < PAIRS; i++) {
        int64_t at;

        if (ebb_calendar_next(all[i], after_ms + (int64_t)(i % 1000) * 60000, &at))
            *sum += at;
    }
    return (now_ns() - start) / PAIRS;
}

static double theirs(bool sets_zone, int64_t *sum)
{
    double start = now_ns();

    for (size_t i = 0; i < PEERS; i++) {
        time_t at = (time_t)(START_MS / 1000) + (time_t)(i % 1000) * 60;
        struct tm wall;

        if (sets_zone) {
            setenv("TZ", ZONES[1 + i % (N(ZONES) - 1)], 1);
            tzset();
        }
        localtime_r(&at, &wall);
        wall.tm_mday += 7 - wall.tm_wday;
        wall.tm_hour = 2;
        wall.tm_min = wall.tm_sec = 0;
        wall.tm_isdst = -1;
        *sum += mktime(&wall);
    }
    return (now_ns() - start) / PEERS;
}

static double best(double a, double b)
{
    return a == 0 || b < a ? b : a;
}

static void measure(struct ebb_calendar **all)
{
    double fire = 0, plain = 0, set = 0;
    int64_t sum = 0;

    setenv("TZ", "Europe/Berlin", 1);
    tzset();
    for (int i = 0; i < ROUNDS; i++) {
        fire = best(fire, ours(all, START_MS + i * INT64_C(86400000), &sum));
        plain = best(plain, theirs(false, &sum));
    }
    set = theirs(true, &sum);
    printf("%d triggers, %zu zones (check %lld)\n", PAIRS, N(ZONES), (long long)(sum % 1000));
    printf("next fire                       %7.1f ns   all %.2f ms\n", fire, fire * PAIRS / 1e6);
    printf("localtime_r + mktime, one zone  %7.1f ns   a fire is %.2f of it\n", plain, fire / plain);
    printf("the same with setenv(TZ)        %7.1f ns   a fire is %.4f of it\n", set, fire / set);
    printf("a trigger                       %7zu bytes\n", sizeof(struct ebb_calendar));
}

int main(void)
{
    struct ebb_calendar **all = calloc(PAIRS, sizeof(struct ebb_calendar *));
    struct ebb_tz *zones[N(ZONES)];
    struct ebb_err err;

    if (!all)
        return 1;
    for (size_t i = 0; i < N(ZONES); i++)
        if (ebb_tz_load(ZONES[i], &zones[i], &err))
            die(ZONES[i], &err);
    for (size_t i = 0; i < PAIRS; i++)
        if (ebb_calendar_parse(TEXTS[i % N(TEXTS)], zones[i % N(ZONES)], &all[i], &err))
            die(TEXTS[i % N(TEXTS)], &err);
    measure(all);
    for (size_t i = 0; i < PAIRS; i++)
        ebb_calendar_free(all[i]);
    for (size_t i = 0; i < N(ZONES); i++)
        ebb_tz_free(zones[i]);
    free(all);
    return 0;
}
