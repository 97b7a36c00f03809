/* SPDX-License-Identifier: Apache-2.0 */
#include "service/doctor_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/text.h"
#include "io/audit.h"
#include "io/store_look.h"
#include "service/daemon.h"
#include "service/workspace.h"

#define SPACE_FAIL ((uint64_t)64 << 20)
#define SPACE_WARN ((uint64_t)1 << 30)
#define STORE_LARGE (INT64_C(8) << 30)
#define WAL_LARGE (INT64_C(512) << 20)

static const char *sized(char out[32], uint64_t bytes)
{
    struct ebb_buf text;

    ebb_buf_init(&text, 64);
    ebb_text_size(&text, bytes);
    snprintf(out, 32, "%s", ebb_buf_cstr(&text));
    ebb_buf_fini(&text);
    return out;
}

/* ---- the folder ---- */

static void look_at_space(struct ebb__doctor *d, const char *folder)
{
    struct statvfs fs;
    uint64_t left;
    char text[32];

    if (statvfs(folder, &fs) != 0)
        return;
    left = (uint64_t)fs.f_bavail * fs.f_frsize;
    if (left < SPACE_WARN)
        ebb__doctor_say(d, left < SPACE_FAIL ? EBB_DOCTOR_FAIL : EBB_DOCTOR_WARN, "state",
                        "without room for records no work is begun: make room, or name another folder with --state",
                        "%s: %s free", folder, sized(text, left));
}

static void look_at_rights(struct ebb__doctor *d, const char *folder, const struct stat *st)
{
    if (st->st_uid != geteuid() && geteuid() != 0)
        ebb__doctor_say(d, EBB_DOCTOR_WARN, "state", "run ebb as the user who owns it", "%s: belongs to user %u",
                        folder, (unsigned)st->st_uid);
    if (st->st_mode & (S_IWGRP | S_IWOTH | S_IRWXO))
        ebb__doctor_say(d, EBB_DOCTOR_WARN, "state", "chmod 0700", "%s: others get in (mode %04o)", folder,
                        (unsigned)(st->st_mode & 07777));
    if (access(folder, R_OK | W_OK | X_OK) != 0)
        ebb__doctor_say(d, EBB_DOCTOR_FAIL, "state", "what can't be recorded is not done: make it writable", "%s: %s",
                        folder, strerror(errno));
    else
        ebb__doctor_say(d, EBB_DOCTOR_OK, "state", "", "%s: writable", folder);
}

/* Whether there is anything to look at. */
static bool look_at_folder(struct ebb__doctor *d, const char *folder)
{
    struct stat st;

    if (stat(folder, &st) != 0 && errno == ENOENT) {
        ebb__doctor_say(d, EBB_DOCTOR_OK, "state", "", "%s: is not there yet, it is made when needed", folder);
        return false;
    }
    if (stat(folder, &st) != 0 || !S_ISDIR(st.st_mode)) {
        ebb__doctor_say(d, EBB_DOCTOR_FAIL, "state", "name a folder with --state",
                        "%s: is no folder that can be reached", folder);
        return false;
    }
    look_at_rights(d, folder, &st);
    look_at_space(d, folder);
    ebb__doctor_clock_of(d, folder);
    return true;
}

/* ---- the store ---- */

static void tell_size(struct ebb__doctor *d, const struct ebb_store_look *look)
{
    char size[32], unused[32];

    if (look->size_bytes > STORE_LARGE)
        ebb__doctor_say(d, EBB_DOCTOR_WARN, "store", "shorten serve.keep; sqlite3 ebb.db VACUUM while nothing runs",
                        "ebb.db has %s, of which %s are free for new records", sized(size, (uint64_t)look->size_bytes),
                        sized(unused, (uint64_t)look->free_bytes));
    if (look->wal_bytes > WAL_LARGE)
        ebb__doctor_say(d, EBB_DOCTOR_WARN, "store", "some process reads it for very long: end that",
                        "ebb.db-wal has %s", sized(size, (uint64_t)look->wal_bytes));
}

static void tell_store(struct ebb__doctor *d, const struct ebb_store_look *look)
{
    int64_t days = look->oldest_ms ? (ebb_clock_now(&d->o->clock) - look->oldest_ms) / 86400000 : 0;
    char size[32];

    ebb__doctor_say(d, EBB_DOCTOR_OK, "store", "",
                    "schema version %" PRId64 ", %s, records %" PRId64 ", the oldest of %" PRId64 " days ago, sound",
                    look->schema, sized(size, (uint64_t)look->size_bytes), look->records, days > 0 ? days : 0);
    tell_size(d, look);
}

static void tell_daemon(struct ebb__doctor *d, const char *folder, const struct ebb_store_look *look)
{
    struct ebb_daemon_place place;

    memset(&place, 0, sizeof place);
    if (ebb_daemon_find(folder, &place, NULL))
        ebb__doctor_say(d, EBB_DOCTOR_WARN, "daemon", "when it stays so, its log tells why",
                        "runs, pid %ld, but serves no HTTP yet", look->leader_pid);
    else
        ebb__doctor_say(d, EBB_DOCTOR_OK, "daemon", "", "runs, pid %ld, %s://%s", look->leader_pid, place.scheme,
                        place.address);
    memset(&place, 0, sizeof place);
}

static void look_at_store(struct ebb__doctor *d, const char *folder)
{
    struct ebb_store_look look;
    struct ebb_err why = {0};
    int rc = ebb_store_look(folder, true, &look, &why);

    if (rc)
        ebb__doctor_error(d, EBB_DOCTOR_FAIL, "store", &why);
    else if (!look.exists)
        ebb__doctor_say(d, EBB_DOCTOR_OK, "store", "", "ebb.db is not there yet");
    else if (look.schema > look.newest_schema)
        ebb__doctor_say(d, EBB_DOCTOR_FAIL, "store", "use the newer ebb that wrote it, or another state folder",
                        "schema version %" PRId64 ", this program knows versions up to %" PRId64, look.schema,
                        look.newest_schema);
    else
        tell_store(d, &look);
    if (look.is_led)
        tell_daemon(d, folder, &look);
    else
        ebb__doctor_say(d, EBB_DOCTOR_OK, "daemon", "", "no daemon works on this state folder");
}

static void look_at_audit(struct ebb__doctor *d, const char *folder)
{
    struct ebb_err why = {0};
    int64_t lines;

    if (ebb_audit_verify(folder, &lines, &why))
        ebb__doctor_error(d, EBB_DOCTOR_FAIL, "audit", &why);
    else
        ebb__doctor_say(d, EBB_DOCTOR_OK, "audit", "", "audit.jsonl: lines %" PRId64 ", each continues the chain",
                        lines);
}

void ebb__doctor_state(struct ebb__doctor *d)
{
    struct ebb_err why = {0};

    if (ebb_workspace_state_dir(d->o->state_dir, &d->state, &why)) {
        ebb__doctor_error(d, EBB_DOCTOR_FAIL, "state", &why);
    } else if (look_at_folder(d, ebb_buf_cstr(&d->state))) {
        look_at_store(d, ebb_buf_cstr(&d->state));
        look_at_audit(d, ebb_buf_cstr(&d->state));
    }
}
