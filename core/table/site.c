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
