/* SPDX-License-Identifier: Apache-2.0
 *
 * The clock of the day against the one that only goes forward: when they part, someone set the clock.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "service/daemon_priv.h"

#define STEP_MS 2000
#define FAR_MS (3600 * INT64_C(1000))

static void on_step(struct ebb__daemon *d, int64_t step_ms)
{
    char text[32];

    d->steps++;
    d->last_step_ms = step_ms;
    if (step_ms > FAR_MS)
        d->ahead_elapsed_ms = ebb_clock_elapsed_ms();
    ebb_metrics_add(d->metrics, EBB_METRIC_CLOCK_STEPS, NULL, 1);
    ebb__say(&d->log, EBB_LOG_WARN, NULL, "clock.stepped: %s by %" PRId64 " s", step_ms < 0 ? "back" : "forward",
             (step_ms < 0 ? -step_ms : step_ms) / 1000);
    snprintf(text, sizeof text, "%" PRId64, step_ms);
    ebb__daemon_news(d, "clock", "event", "clock.stepped", "step_ms", text, NULL);
    ebb__daemon_dirty(d);
    /* Wake times were told under the old time. */
    if (d->is_listed)
        ebb__daemon_look_all(d);
}

void ebb__clock_tick(struct ebb__daemon *d)
{
    int64_t wall_ms = ebb_clock_now(&d->clock), elapsed_ms = ebb_clock_elapsed_ms();
    int64_t step_ms = (wall_ms - d->wall_ms) - (elapsed_ms - d->elapsed_ms);
    bool is_first = !d->elapsed_ms;

    d->wall_ms = wall_ms;
    d->elapsed_ms = elapsed_ms;
    if (!is_first && (step_ms > STEP_MS || step_ms < -STEP_MS))
        on_step(d, step_ms);
}
