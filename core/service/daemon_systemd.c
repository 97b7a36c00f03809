/* SPDX-License-Identifier: Apache-2.0
 *
 * What systemd is told, and the socket that it may have opened. Without systemd all of it does nothing.
 */
#include <inttypes.h>
#include <systemd/sd-daemon.h>
#include <time.h>

#include "service/daemon_priv.h"

#define STUCK_MS (15 * 60 * 1000) /* a look that takes longer hangs */

int ebb__systemd_socket(void)
{
    return sd_listen_fds(0) > 0 ? SD_LISTEN_FDS_START : -1;
}

static int64_t monotonic_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

void ebb__systemd_tell(struct ebb__daemon *d, const char *state)
{
    (void)d;
    if (!strcmp(state, "RELOADING=1"))
        sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%" PRId64, monotonic_us());
    else
        sd_notify(0, state);
}

static bool is_alive(const struct ebb__daemon *d)
{
    return !d->looks || ebb_clock_elapsed_ms() - d->look_since_ms < STUCK_MS;
}

void ebb__systemd_tick(struct ebb__daemon *d)
{
    uint64_t every_us;

    if (sd_watchdog_enabled(0, &every_us) > 0 && is_alive(d))
        sd_notify(0, "WATCHDOG=1");
}
