/* SPDX-License-Identifier: Apache-2.0 */
#include "table/site.h"

bool ebb_site_is_cancelled(const struct ebb_site *site)
{
    if (site->cancelled && atomic_load_explicit(site->cancelled, memory_order_relaxed))
        return true;
    return site->deadline_ms > 0 && ebb_clock_elapsed_ms() > site->deadline_ms;
}

void ebb_site_progress(const struct ebb_site *site, const char *phase, int64_t done, int64_t total)
{
    struct ebb_progress progress = {phase, done, total};

    if (site->progress)
        site->progress(site->progress_data, &progress);
}

void ebb_site_began(const struct ebb_site *site, const char *run)
{
    if (site->began)
        site->began(site->began_data, run);
}

int ebb_site_say_versioned(const struct ebb_site *site, struct ebb_place *place, struct ebb_err *err)
{
    int is_versioned = 0;
    int rc = ebb_place_is_versioned(place, &is_versioned, err);

    if (!rc && is_versioned == 1)
        ebb_log_say(&site->log, EBB_LOG_WARN,
                    "%s: the bucket keeps versions: what is removed gets a delete marker and stays as an older version "
                    "until the bucket's lifecycle rules remove it",
                    ebb_place_uri(place));
    return rc;
}
