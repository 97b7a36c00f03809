/* SPDX-License-Identifier: Apache-2.0 */
#include "service/doctor_priv.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <inttypes.h>
#include <microhttpd.h>
#include <openssl/crypto.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/timex.h>
#include <unistd.h>
#include <uv.h>
#include <zstd.h>

#include "base/tz.h"
#include "engine/lua_version.h"
#include "service/look.h"

#define CLOCK_WARN_MS 2000
#define CLOCK_FAIL_MS 60000
#define FILES_MIN 1024
#define YEAR_MS INT64_C(31557600000)

/* ---- clocks ---- */

/* A file without a name: nobody sees it, and no folder changes. */
bool ebb__doctor_clock_ahead(struct ebb__doctor *d, const char *folder, int64_t *ahead_ms)
{
    int fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    struct stat st;
    bool is_known;

    if (fd < 0)
        return false;
    is_known = write(fd, "", 1) == 1 && fstat(fd, &st) == 0;
    if (is_known)
        *ahead_ms = (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000 - ebb_clock_now(&d->o->clock);
    close(fd);
    return is_known;
}

void ebb__doctor_clock_of(struct ebb__doctor *d, const char *folder)
{
    int64_t ahead, by;

    if (!ebb__doctor_clock_ahead(d, folder, &ahead))
        return;
    by = ahead < 0 ? -ahead : ahead;
    if (by > CLOCK_WARN_MS)
        ebb__doctor_say(d, by > CLOCK_FAIL_MS ? EBB_DOCTOR_FAIL : EBB_DOCTOR_WARN, "clock",
                        "the age of files is told by the clock of their storage: set both by the same NTP servers",
                        "%s: the clock of its file system is %" PRId64 " ms %s", folder, by,
                        ahead < 0 ? "behind" : "ahead");
    else
        ebb__doctor_say(d, EBB_DOCTOR_OK, "clock", "", "%s: its file system has the same time", folder);
}

static void look_at_ntp(struct ebb__doctor *d)
{
    struct timex t;
    int state;

    memset(&t, 0, sizeof t);
    state = adjtimex(&t);
    if (state < 0)
        ebb__doctor_say(d, EBB_DOCTOR_WARN, "clock", "", "whether it is synchronized can't be told here");
    else if (state == TIME_ERROR || (t.status & STA_UNSYNC))
        ebb__doctor_say(d, EBB_DOCTOR_WARN, "clock", "systemctl enable --now systemd-timesyncd, or chrony",
                        "the kernel says that it is not synchronized");
    else
        ebb__doctor_say(d, EBB_DOCTOR_OK, "clock", "", "synchronized, error at most %ld ms", t.maxerror / 1000);
}

static void look_at_zones(struct ebb__doctor *d)
{
    int64_t now = ebb_clock_now(&d->o->clock);
    struct ebb_tz *tz = NULL;
    char version[16];

    ebb_tz_version(version);
    if (ebb_tz_load("Europe/Berlin", &tz, NULL))
        ebb__doctor_say(d, EBB_DOCTOR_FAIL, "zones", "install tzdata", "there is no zone database");
    else if (!version[0])
        ebb__doctor_say(d, EBB_DOCTOR_WARN, "zones", "install tzdata of the distribution",
                        "the version of the zone database can't be told");
    else if (strtol(version, NULL, 10) + 2 < 1970 + (long)(now / YEAR_MS))
        ebb__doctor_say(d, EBB_DOCTOR_WARN, "zones", "update tzdata", "tzdata %s is old", version);
    else
        ebb__doctor_say(d, EBB_DOCTOR_OK, "zones", "", "tzdata %s", version);
    ebb_tz_free(tz);
}

/* ---- limits ---- */

static int64_t read_number(const char *file)
{
    char text[32] = "";
    int fd = open(file, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return -1;
    if (read(fd, text, sizeof text - 1) <= 0)
        text[0] = '\0';
    close(fd);
    return text[0] ? strtoll(text, NULL, 10) : -1;
}

static void look_at_limits(struct ebb__doctor *d)
{
    int64_t watches = read_number("/proc/sys/fs/inotify/max_user_watches");
    struct rlimit files = {0};

    getrlimit(RLIMIT_NOFILE, &files);
    if (files.rlim_cur != RLIM_INFINITY && files.rlim_cur < FILES_MIN)
        ebb__doctor_say(d, EBB_DOCTOR_WARN, "limits", "ulimit -n 4096, or LimitNOFILE= of the unit",
                        "open files: at most %lu", (unsigned long)files.rlim_cur);
    if (watches >= 0 && watches < d->tables + 64)
        ebb__doctor_say(d, EBB_DOCTOR_WARN, "limits",
                        "sysctl fs.inotify.max_user_watches=524288; until then changes are "
                        "found by polling",
                        "inotify watches: at most %" PRId64 ", tables %" PRId64, watches, d->tables);
    ebb__doctor_say(d, EBB_DOCTOR_OK, "limits", "", "open files %lu, inotify watches %" PRId64,
                    (unsigned long)files.rlim_cur, watches);
}

static void look_at_scripts(struct ebb__doctor *d)
{
    struct ebb_err why = {0};

    if (ebb_looker_check(&why))
        ebb__doctor_error(d, EBB_DOCTOR_FAIL, "program", &why);
}

static void tell_versions(struct ebb__doctor *d)
{
    ebb__doctor_say(d, EBB_DOCTOR_OK, "versions", "",
                    "ebb %s, Lua %s, SQLite %s, libuv %s, libmicrohttpd %s, libcurl %s, zstd %s, %s", EBB_VERSION,
                    ebb_lua_version(), sqlite3_libversion(), uv_version_string(), MHD_get_version(),
                    curl_version_info(CURLVERSION_NOW)->version, ZSTD_versionString(),
                    OpenSSL_version(OPENSSL_VERSION));
}

void ebb__doctor_system(struct ebb__doctor *d)
{
    look_at_ntp(d);
    look_at_zones(d);
    look_at_limits(d);
    look_at_scripts(d);
    tell_versions(d);
}
